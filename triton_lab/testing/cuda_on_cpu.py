"""Makes ``cuda`` mean the CPU in a test session on a machine without a GPU.

Tests of Triton's kernels make their tensors with ``device="cuda"`` and skip if ``torch.cuda.is_available()`` is false.
Here a torch function mode intercepts every call made in Python. It takes the CPU's memory where the GPU's is requested,
and remembers by storage which tensors count as being on the GPU. Those report it (``x.device``, ``x.is_cuda``), results
computed from them count as on the GPU, too, and a move between the two makes a copy, as it would with a GPU.

Not covered, and as on a machine without a GPU: ``torch.compile``, autocast of ``cuda``, CUDA graphs, CUDA extensions,
``torch.version.cuda``; other threads and processes; torch's errors for tensors on different devices. Triton's driver
tells a test that its target is an H100, ``GPUTarget("cuda", 90, 32)``; Triton itself compiles for ``cpu``.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import Any
from unittest import mock

import torch
from torch.autograd.function import BackwardCFunction
from torch.overrides import TorchFunctionMode, _get_current_function_mode_stack
from torch.utils import _device
from torch.utils._device import _device_constructors
from triton.backends.compiler import GPUTarget

from triton_lab.backend.driver import CPUDriver
from triton_lab.testing.cuda_functions import ACCELERATOR, CUDA, GPU, Generator, is_gpu

_MARK = "_triton_lab_on_gpu"
_PLAIN = {"cpu", "cuda", "to", "copy_", "pin_memory", "is_pinned", "record_stream", "get_device"}


def _storage(tensor: Any) -> Any:
    try:
        return tensor.untyped_storage()
    except (RuntimeError, NotImplementedError):  # sparse tensors have none
        return None


class Mode(TorchFunctionMode):
    """Intercepts torch's calls; see the module."""

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        named = kwargs or {}
        # Our own code needs the memory's real device.
        if func is torch.device or sys._getframe(1).f_globals.get("__name__", "").startswith("triton_lab."):
            return func(*args, **named)
        name = getattr(func, "__name__", "")
        if name == "__get__":
            answer = self._property(getattr(func.__self__, "__name__", ""), args[0])
            if answer is not None:
                return answer
        elif name in _PLAIN and args and isinstance(args[0], torch.Tensor):
            return self._moved(name, func, args, named)
        return self._called(func, args, named)

    def on_gpu(self, tensor: torch.Tensor) -> bool:
        """Whether a tensor counts as on the GPU; tensors that autograd makes in a backward pass do."""
        storage = _storage(tensor)
        known = getattr(storage, _MARK, None)
        return torch._C._current_graph_task_id() != -1 if known is None else bool(known)

    def _property(self, name: str, tensor: Any) -> Any:
        if name == "device" and tensor.device.type == "cpu" and self.on_gpu(tensor):
            return GPU
        if name in ("is_cuda", "is_cpu") and tensor.is_cpu:
            return self.on_gpu(tensor) == (name == "is_cuda")
        return None

    def _called(self, func: Any, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
        asked = _asked(func, named)
        wanted = is_gpu(asked) or any(map(is_gpu, args))
        if wanted:
            args = tuple("cpu" if is_gpu(value) else value for value in args)
            named = {**named, **({"device": "cpu"} if asked is not None else {})}
        result = func(*args, **named)
        if wanted or (asked is None and self._among(args, named)):
            self._mark(result, args)
        elif asked is not None:
            self._mark(result, args, False)
        return result

    def _among(self, args: tuple[Any, ...], named: dict[str, Any]) -> bool:
        """Whether one of the given tensors is on the GPU."""
        tensors = [value for value in (*args, *named.values()) if isinstance(value, (torch.Tensor, list, tuple))]
        flat = [each for value in tensors for each in (value if isinstance(value, (list, tuple)) else (value,))]
        return any(self.on_gpu(each) for each in flat if isinstance(each, torch.Tensor))

    def _mark(self, result: Any, args: tuple[Any, ...], where: bool = True) -> None:
        for each in result if isinstance(result, (list, tuple)) else (result,):
            # A tensor that was written in place keeps its device.
            if isinstance(each, torch.Tensor) and not any(each is one for one in args):
                storage = _storage(each)
                if storage is not None:
                    setattr(storage, _MARK, where)

    def _moved(self, name: str, func: Any, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
        tensor, rest = args[0], args[1:]
        before = self.on_gpu(tensor)
        if name == "get_device":
            return 0 if before else -1
        if name == "is_pinned":
            return False
        if name == "pin_memory":
            return tensor
        if name == "record_stream":
            return None
        if name == "copy_":
            return func(*args, **named)
        after = self._goal(name, rest, named, before)
        if name == "cuda":
            func, rest = torch.Tensor.to, ("cpu",)
            named = {key: value for key, value in named.items() if key in ("non_blocking", "memory_format")}
        rest = tuple("cpu" if _is_named(value) or is_gpu(value) else value for value in rest[:1]) + rest[1:]
        if is_gpu(_asked(func, named)):
            named = {**named, "device": "cpu"}
        result = func(tensor, *rest, **named)
        if after != before and _storage(result) is _storage(tensor):
            result = result.clone()
        if after != before or result is not tensor:
            self._mark(result, (), after)
        return result

    def _goal(self, name: str, rest: tuple[Any, ...], named: dict[str, Any], before: bool) -> bool:
        """Whether a tensor is on the GPU after a move."""
        if name in ("cpu", "cuda"):
            return name == "cuda"
        for value in (*rest[:1], named.get("device"), named.get("other")):
            if isinstance(value, torch.Tensor):
                return self.on_gpu(value)
            if isinstance(value, (torch.device, str)) or _is_named(value):
                return _is_named(value) or is_gpu(value)
        return before


def _is_named(device: Any) -> bool:
    """Whether a GPU is given by its number."""
    return isinstance(device, int) and not isinstance(device, bool)


def _asked(func: Any, named: dict[str, Any]) -> Any:
    """The device requested for a function's result; None if there is none."""
    device = named.get("device")
    if device is None and func in _device_constructors():
        device = _device.CURRENT_DEVICE  # set by `torch.set_default_device` or `with torch.device(...)`
    return GPU if _is_named(device) else device


def _apart(name: str, value: Any) -> Any:
    """A separate object: torch's compiler knows each of these by identity."""
    if isinstance(value, type):
        return type(name, (value,), {})
    return lambda *given, **named: value(*given, **named)


@contextlib.contextmanager
def in_place_of_a_gpu() -> Iterator[Mode]:
    """Serve requests for an NVIDIA GPU from the CPU's memory inside, on this thread."""
    mode = Mode()

    accelerator = getattr(torch, "accelerator", None)
    tables: list[tuple[Any, dict[str, Any]]] = [
        (torch.cuda, CUDA),
        (torch, {"Generator": Generator}),
        *([(accelerator, ACCELERATOR)] if accelerator is not None else []),
    ]
    with contextlib.ExitStack() as stack:
        for owner, table in tables:
            for name, value in table.items():
                if hasattr(owner, name):
                    stack.enter_context(mock.patch.object(owner, name, _apart(name, value)))
        stack.enter_context(mock.patch.object(BackwardCFunction, "apply", _backward_under(mode)))
        stack.enter_context(mock.patch.object(CPUDriver, "get_current_target", _target_of_a_gpu()))
        stack.enter_context(mode)
        yield mode


def _target_of_a_gpu() -> Any:
    """What tells the code of tests that the driver's target is a GPU, and Triton and us which it is."""
    before: Any = CPUDriver.get_current_target

    def get_current_target(self: CPUDriver) -> GPUTarget:
        asking = sys._getframe(1).f_globals.get("__name__", "")
        if asking.partition(".")[0] in ("triton", "triton_lab", "torch"):
            target: GPUTarget = before(self)
            return target
        return GPUTarget("cuda", 90, 32)

    return get_current_target


def _backward_under(mode: Mode) -> Any:
    """The function that calls the backward of a `torch.autograd.Function`, which is code of a test or a library.

    While a call such as ``loss.backward()`` is intercepted, torch has set the mode aside.
    """
    before: Any = BackwardCFunction.apply

    def apply(self: Any, *gradients: Any) -> Any:
        if any(each is mode for each in _get_current_function_mode_stack()):  # type: ignore[no-untyped-call]
            return before(self, *gradients)
        with mode:
            return before(self, *gradients)

    return apply
