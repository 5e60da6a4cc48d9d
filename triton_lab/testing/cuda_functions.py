"""What stands for the functions of `torch.cuda` and `torch.accelerator` where `cuda` means the CPU."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import torch

from triton_lab.backend.targets.benchmark_events import Event, Stream

NAME = "triton-lab's CPU target, instead of an NVIDIA H100"
GPU = torch.device("cuda", 0)
_NAMED = re.compile(r"cuda(:\d+)?")


def is_gpu(device: Any) -> bool:
    """Whether an argument of torch's names a GPU."""
    if isinstance(device, torch.device):
        return device.type == "cuda"
    return isinstance(device, str) and _NAMED.fullmatch(device) is not None


class CudaDevice(contextlib.AbstractContextManager[Any]):
    """``torch.cuda.device`` and similar contexts: there is one device."""

    def __init__(self, *_: Any, **__: Any) -> None:
        self.idx = 0

    def __exit__(self, *_: object) -> None:
        return None


class _Event(Event):
    def __init__(self, enable_timing: bool = True, *_: Any, **__: Any) -> None:
        super().__init__(enable_timing)

    def wait(self, stream: Any = None) -> None:
        """Do nothing: all work is already done."""


class _Stream(Stream):
    def __init__(self, *_: Any, **__: Any) -> None:
        self.device = GPU

    def wait_event(self, event: Any) -> None:
        """Do nothing: all work is already done."""

    def record_event(self, event: Any = None) -> Any:
        event = event or _Event()
        event.record()
        return event

    def query(self) -> bool:
        return True

    def __enter__(self) -> _Stream:
        return self

    def __exit__(self, *_: object) -> None:
        return None


class Generator(torch.Generator):
    """A generator of random numbers that is on the CPU, also if a GPU is named."""

    def __new__(cls, device: Any = "cpu") -> Generator:
        return super().__new__(cls, device="cpu" if is_gpu(device) else device)  # type: ignore[call-arg]


def _memory() -> tuple[int, int]:
    """The free and the total memory of this machine in bytes: tests that need more should be skipped."""
    page = os.sysconf("SC_PAGE_SIZE")
    return os.sysconf("SC_AVPHYS_PAGES") * page, os.sysconf("SC_PHYS_PAGES") * page


def _properties(*_: Any) -> Any:
    return SimpleNamespace(
        name=NAME,
        major=9,
        minor=0,
        total_memory=_memory()[1],
        multi_processor_count=132,
        warp_size=32,
        max_threads_per_block=1024,
        max_threads_per_multi_processor=2048,
        regs_per_multiprocessor=65536,
        shared_memory_per_block=48 << 10,
        shared_memory_per_block_optin=227 << 10,
        shared_memory_per_multiprocessor=228 << 10,
        L2_cache_size=50 << 20,
        is_integrated=False,
        is_multi_gpu_board=False,
        gcnArchName="",
        uuid="",
    )


def _answer(value: Any) -> Callable[..., Any]:
    return lambda *_, **__: value


def _state(*_: Any) -> Any:
    return torch.get_rng_state()


def _set_state(state: Any, *_: Any, **__: Any) -> None:
    torch.set_rng_state(state[0] if isinstance(state, (list, tuple)) else state)


def _seed(seed: int) -> None:
    torch.default_generator.manual_seed(seed)


_NOTHING = ("synchronize", "empty_cache", "ipc_collect", "init", "_lazy_init", "set_device", "set_stream")
_NO_BYTES = ("memory_allocated", "max_memory_allocated", "memory_reserved", "max_memory_reserved")
_FORGOTTEN = ("reset_peak_memory_stats", "reset_max_memory_allocated", "reset_accumulated_memory_stats")
# The replacements of functions of `torch.cuda`.
CUDA: dict[str, Any] = {
    "is_available": _answer(True),
    "is_initialized": _answer(True),
    "is_bf16_supported": _answer(True),
    "is_current_stream_capturing": _answer(False),
    "device_count": _answer(1),
    "current_device": _answer(0),
    "get_device_name": _answer(NAME),
    "get_device_capability": _answer((9, 0)),
    "get_device_properties": _properties,
    "get_arch_list": _answer(["sm_90"]),
    "mem_get_info": lambda *_: _memory(),
    "memory_stats": _answer({}),
    "device": CudaDevice,
    "device_of": CudaDevice,
    "stream": CudaDevice,
    "Event": _Event,
    "Stream": _Stream,
    "current_stream": lambda *_: _Stream(),
    "default_stream": lambda *_: _Stream(),
    "manual_seed": _seed,
    "manual_seed_all": _seed,
    "get_rng_state": _state,
    "get_rng_state_all": lambda: [torch.get_rng_state()],
    "set_rng_state": _set_state,
    "set_rng_state_all": _set_state,
    **dict.fromkeys((*_NOTHING, *_FORGOTTEN), _answer(None)),
    **dict.fromkeys(_NO_BYTES, _answer(0)),
}
ACCELERATOR: dict[str, Any] = {
    "is_available": _answer(True),
    "device_count": _answer(1),
    "current_accelerator": _answer(torch.device("cuda")),
    "current_device_index": _answer(0),
    "synchronize": _answer(None),
}
