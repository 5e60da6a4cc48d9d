"""Code for arm64 runs, where QEMU and a compiler for it are installed; `python -m tests.native.emulated` runs more."""

from __future__ import annotations

import shutil

import pytest
import torch

from tests.native.emulated import COMPILER, EMULATOR, PROCESSORS, Emulated, emulating
from tests.native.harness import forcing
from tests.native.launches import add, counted, gather, on_both
from tests.native.waits import locked, met
from triton_lab.native import engine
from triton_lab.native.llvm import jit
from triton_lab.native.runtime.transaction import WAITED

HERE = shutil.which(EMULATOR) and shutil.which(COMPILER)
pytestmark = pytest.mark.skipif(not HERE, reason="no QEMU and compiler for arm64 are installed")


@pytest.fixture(params=PROCESSORS)
def emulated(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(engine, "_kernel_of", engine.NativeKernel)
    with emulating(request.param) as found:
        yield found


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.int64])
def test_blocks_and_gathers_have_numpys_bits(dtype: torch.dtype, emulated: Emulated) -> None:
    n = 1000
    x, y = (torch.randn(n, generator=torch.Generator().manual_seed(k)).mul(100).to(dtype) for k in (1, 2))
    out, where = torch.zeros(n, dtype=dtype), torch.arange(n, dtype=torch.int32).flip(0).contiguous()
    for launch in (
        lambda: add[(8,)](x, y, out, n, BLOCK=128),
        lambda: gather[(8,)](x, where, out, n, BLOCK=128),
    ):
        before = emulated.calls
        error, ran = on_both(launch, out)
        assert (error, ran.engine, ran.handed) == ("", "native", 0)
        assert emulated.calls > before


def test_a_guard_that_fails_there_is_met_here(emulated: Emulated) -> None:
    x, where, out = torch.arange(8.0), torch.tensor([0, 1, 2, 900], dtype=torch.int32), torch.zeros(4)
    error, _ = on_both(lambda: gather[(1,)](x, where, out, 4, BLOCK=4), out)
    assert "lane 3 of program (0, 0, 0)" in error
    assert emulated.calls


def test_a_loop_that_asks_whether_to_go_on_is_told_to(emulated: Emulated) -> None:
    out = torch.zeros(1, dtype=torch.int64)
    assert on_both(lambda: counted[(1,)](out, 1000), out)[1].engine == "native"
    assert emulated.calls


def test_a_transaction_is_kept_there_and_put_back_here(emulated: Emulated) -> None:
    x, lock, total = torch.arange(128, dtype=torch.int32), *(torch.zeros(n, dtype=torch.int32) for n in (1, 16))
    assert on_both(lambda: locked[(8,)](lock, total, x, 16, ROW=16), lock, total)[1].engine == "native"
    before, flags, out = emulated.calls, torch.zeros(12, dtype=torch.int32), torch.zeros(12, dtype=torch.int32)
    assert on_both(lambda: met[(12,)](flags, out), flags, out)[1].why == WAITED
    assert emulated.calls > before


def test_a_guard_that_is_forced_to_fail_does_so_there(emulated: Emulated) -> None:
    x, out = torch.ones(64), torch.zeros(64)
    with forcing() as forced:
        on_both(lambda: add[(1,)](x, x, out, 64, BLOCK=64), out)
        forced.fail(forced.sites[0])
        assert on_both(lambda: add[(1,)](x, x, out, 64, BLOCK=64), out)[1].handed == 1
        assert forced.has_failed(forced.sites[0])


def test_a_wrong_instruction_would_be_seen(emulated: Emulated, monkeypatch: pytest.MonkeyPatch) -> None:
    own = jit.object_code
    monkeypatch.setattr(jit, "object_code", lambda text, target: own(text.replace(" = fadd ", " = fsub "), target))
    x, out = torch.ones(64), torch.zeros(64)
    with pytest.raises(AssertionError):
        on_both(lambda: add[(1,)](x, x, out, 64, BLOCK=64), out)
