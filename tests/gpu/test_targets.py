"""Switching targets where there is a GPU."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest
import torch
import triton
import triton.language as tl
import triton.testing
from triton.runtime import driver

import triton_lab as lab
from triton_lab.backend.driver import CPUDriver

pytestmark = pytest.mark.gpu


@pytest.fixture(autouse=True)
def untouched() -> Iterator[None]:
    yield
    assert lab.target() == "gpu", "a test left another target behind"


@triton.jit
def double(x, y, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    tl.store(y + offsets, tl.load(x + offsets, mask=inside) * 2, mask=inside)


def doubled(x: torch.Tensor) -> torch.Tensor:
    y = torch.zeros_like(x)
    double[(triton.cdiv(x.numel(), 64),)](x, y, x.numel(), BLOCK=64)
    return y


def test_nothing_changes_until_asked():
    assert lab.target() == "gpu"
    assert driver.active is driver.default and not isinstance(driver.active, CPUDriver)
    assert type(driver.active).__module__.startswith("triton.backends")
    x = torch.arange(100.0, device="cuda")
    assert torch.equal(doubled(x), x * 2)
    with pytest.raises(ValueError, match="cpu tensor"):
        doubled(torch.arange(100.0))


def test_a_kernel_runs_on_both_targets_back_and_forth_and_is_compiled_once_for_each():
    x = torch.arange(100.0, device="cuda")
    kernels: dict[str, set[int]] = {"cpu": set(), "gpu": set(), "auto": set()}
    for _ in range(3):
        for name, seen in kernels.items():
            with lab.target(name):
                y = torch.zeros_like(x)
                kernel = double[(2,)](x, y, 100, BLOCK=64)
                assert torch.equal(y, x * 2)
                assert ("cubin" in kernel.asm) == (name != "cpu")
                seen.add(id(kernel))
    assert all(len(seen) == 1 for seen in kernels.values())
    assert len(set.union(*kernels.values())) == 3


def test_the_gpus_number_is_its_number_under_either_driver():
    with lab.target("gpu"):
        device = driver.active.get_current_device()
        assert int(device) == torch.cuda.current_device() and device != torch.cuda.current_device()
        assert torch.cuda.get_device_properties(device).name == torch.cuda.get_device_name()
        assert driver.active.get_current_target() == driver.default.get_current_target()
        assert driver.active.get_active_torch_device() == torch.device("cuda", torch.cuda.current_device())
        assert driver.active.utils.get_device_properties(device)["max_shared_mem"] > 0


def test_choices_of_an_autotuner_stay_apart():
    @triton.autotune([triton.Config({"BLOCK": block}) for block in (32, 128)], key=["n"])
    @triton.jit
    def tuned(x, y, n, BLOCK: tl.constexpr):
        offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(y + offsets, tl.load(x + offsets, mask=offsets < n) + 1, mask=offsets < n)

    def launch() -> dict:
        x = torch.arange(1000.0, device="cuda")
        y = torch.zeros_like(x)
        tuned[lambda meta: (triton.cdiv(1000, meta["BLOCK"]),)](x, y, 1000)
        assert torch.equal(y, x + 1)
        return {key: id(config) for key, config in tuned.cache.items()}, tuned.configs_timings

    on_gpu, timings = launch()
    assert all(time < 1 for times in timings.values() for time in times), "measured by the GPU's own clock"
    with lab.target("cpu"):
        assert tuned.cache == {}
        launch()
    assert launch()[0] == on_gpu
    with lab.target("gpu"):
        assert launch()[0] == on_gpu, "it is the same GPU"


def test_do_bench_measures_the_target_it_is_called_on():
    x = torch.arange(1000.0, device="cuda")
    assert triton.testing.do_bench(lambda: doubled(x), warmup=1, rep=5) > 0
    with lab.target("cpu"):
        assert triton.testing.do_bench(lambda: doubled(x), warmup=1, rep=5) > 0
    with lab.target("gpu"):
        assert triton.testing.do_bench(lambda: doubled(x), warmup=1, rep=5) > 0


def test_kernels_may_be_forgotten_under_the_other_target():
    def used_once() -> None:
        fresh = triton.jit(double.fn)
        x = torch.ones(4, device="cuda")
        fresh[(1,)](x, x, 4, BLOCK=4)

    for first, then in (("cpu", "auto"), ("auto", "cpu"), ("gpu", "cpu"), ("cpu", "gpu")):
        with lab.target(first):
            used_once()
        with lab.target(then):
            gc.collect()
            used_once()


def test_a_compiled_kernel_can_be_launched_on_the_target_it_was_compiled_for():
    x = torch.arange(8.0, device="cuda")
    for name in ("cpu", "gpu", "auto"):
        with lab.target(name):
            y = torch.zeros_like(x)
            kernel = triton.jit(double.fn).warmup(x, y, 8, BLOCK=8, grid=(1,))
            kernel[(1, 1, 1)](x, y, 8, 8)
            assert torch.equal(y, x * 2)


@pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")  # by a module of torch's own
@pytest.mark.parametrize("name", ["auto", "cpu", "gpu"])
def test_torch_compile_keeps_using_the_gpu(name):
    torch.compiler.reset()
    f = torch.compile(lambda x: torch.softmax(x * 2 + 1, -1))
    x = torch.randn(64, 64, device="cuda")
    with lab.target(name):
        torch.testing.assert_close(f(x), torch.softmax(x * 2 + 1, -1))
