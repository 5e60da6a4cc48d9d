from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from triton.backends import Backend, backends
from triton.runtime import driver

import triton_lab as lab
from tests.backend import fake_gpu
from tests.backend.fake_device import FakeDevice
from triton_lab.backend.plugin import device_mirror
from triton_lab.backend.targets import active_target


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch) -> FakeDevice:
    """A device whose addresses the CPU cannot touch."""
    fake = FakeDevice()
    monkeypatch.setitem(device_mirror.devices, "fake", fake)
    return fake


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A machine with a GPU: Triton's own choice is the GPU's driver."""
    monkeypatch.setitem(backends, "fakegpu", Backend(compiler=fake_gpu.FakeCompiler, driver=fake_gpu.FakeDriver))
    monkeypatch.setattr(active_target, "_drivers", {})
    monkeypatch.setattr(driver, "_default", None)
    monkeypatch.setattr(driver, "_active", None)
    # A buffer made on "the GPU" counts as its memory, which it reaches without a mirror, as it does pinned memory.
    empty = torch.empty
    monkeypatch.setattr(torch.Tensor, "is_pinned", lambda self: self.untyped_storage().data_ptr() in fake_gpu.memory)
    monkeypatch.setattr(torch, "empty", lambda *a, **k: _kept(empty(*a, **k)))
    fake_gpu.memory.clear()
    fake_gpu.launches.clear()
    fake_gpu.benchmarks.clear()
    fake_gpu.clock.reset()
    yield
    assert lab.target() == "gpu", "a test left another target behind"


def _kept(tensor: torch.Tensor) -> torch.Tensor:
    if tensor.dtype == torch.uint8:
        fake_gpu.memory[tensor.untyped_storage().data_ptr()] = tensor
    return tensor
