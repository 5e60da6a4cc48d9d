"""Registers and shared memory of a kernel: what Triton's own compiler says for sm_90, when somebody asks."""

from __future__ import annotations

import operator

import pytest
import torch
import triton
import triton.language as tl
from hypothesis import given
from hypothesis import strategies as st
from triton.backends.compiler import GPUTarget

from tests.wordings import Wording
from triton_lab.backend.targets.sm90_resources import _ARITHMETIC, Measured
from triton_lab.compiled import sm90_kernels


@triton.jit
def softmax(x, y, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    row = tl.load(x + tl.program_id(0) * n + offsets, mask=offsets < n, other=float("-inf"))
    part = tl.exp(row - tl.max(row, 0))
    tl.store(y + tl.program_id(0) * n + offsets, part / tl.sum(part, 0), mask=offsets < n)


@triton.jit
def product(x, y, z, BLOCK: tl.constexpr):
    rows, columns = tl.arange(0, BLOCK)[:, None], tl.arange(0, BLOCK)[None, :]
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for step in range(0, 4):
        a = tl.load(x + rows * 4 * BLOCK + step * BLOCK + columns)
        total += tl.dot(a, tl.load(y + (step * BLOCK + rows) * BLOCK + columns))
    tl.store(z + rows * BLOCK + columns, total)


FLOATS = torch.zeros(4 * 128 * 128)
HALVES = FLOATS.half()
CASES = [
    (softmax, (FLOATS, FLOATS, 781), {"BLOCK": 1024, "num_warps": 8}),
    (softmax, (HALVES, FLOATS, 9), {"BLOCK": 16, "num_warps": 1}),
    (product, (HALVES, HALVES, FLOATS), {"BLOCK": 64, "num_stages": 3}),
    (softmax, (FLOATS, FLOATS, 781), {"BLOCK": 8192, "num_warps": 1}),  # registers are spilled by every Triton
]


@pytest.mark.parametrize(("kernel", "arguments", "options"), CASES)
def test_they_are_those_of_a_compilation_for_the_gpu(kernel, arguments, options) -> None:
    compiled = kernel.warmup(*arguments, **options, grid=(1,))
    assert compiled.metadata.shared == 0, "nothing has been loaded yet"
    compiled._init_handles()
    fixed = {name: options[name] for name in ("num_warps", "num_stages") if name in options}
    real = triton.compile(compiled.src, target=GPUTarget("cuda", 90, 32), options={**fixed, "enable_fp_fusion": True})
    assert compiled.metadata.shared == real.metadata.shared
    assert (real.metadata.shared > 0) == (options.get("num_warps") != 1), "one warp exchanges by shuffles"
    assert 8 <= compiled.n_regs <= 255
    assert (compiled.n_spills > 0) == (options == CASES[-1][2])
    # As a tutorial counts how many programs a processor holds.
    assert type(65536 // (compiled.n_regs * 32 * compiled.metadata.num_warps)) is int


def test_a_launch_does_not_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sm90_kernels, "_resources", lambda *_: pytest.fail("compiled for sm_90"))
    y = torch.zeros(2, 4)
    compiled = softmax[(2,)](torch.zeros(2, 4), y, 4, BLOCK=4)
    compiled[(2, 1, 1)](torch.ones(2, 4), y, 4, 4)
    compiled[(2, 1, 1)](torch.ones(2, 4), y, 4, 4)
    assert y.tolist() == [[0.25] * 4] * 2


def test_a_kernel_too_large_for_the_gpu_runs_and_tells_what_it_would_need() -> None:
    x = torch.zeros(4 * 128 * 128)
    compiled = product[(1,)](x, x, torch.zeros(128 * 128), BLOCK=128, num_warps=8, num_stages=4)
    assert compiled.metadata.shared > 232448


def test_a_kernel_that_the_compiler_refuses_is_named(monkeypatch: pytest.MonkeyPatch, wording: Wording) -> None:
    compiled = softmax.warmup(FLOATS, FLOATS, 4, BLOCK=4, grid=(1,))
    compiled._init_handles()
    monkeypatch.setattr(sm90_kernels, "_resources", lambda name, _, options: ORIGINAL(name, "not MLIR", options))
    with pytest.raises(RuntimeError) as caught:
        print(compiled.n_regs)
    wording(str(caught.value).partition(":")[0], kernel="softmax", target="sm_90")


ORIGINAL = sm90_kernels._resources


@given(st.integers(0, 10**6), st.integers(1, 50), st.sampled_from(_ARITHMETIC))
def test_a_measured_number_counts_as_any_other(a: int, b: int, name: str) -> None:
    apply = getattr(operator, f"__{name}__")
    small = a % 60  # a shift or a power of more takes the machine's memory
    assert apply(Measured(lambda: small), b) == apply(small, b) == apply(small, Measured(lambda: b))
    assert (Measured(lambda: a) < b, Measured(lambda: a) >= b, Measured(lambda: a) == a) == (a < b, a >= b, True)
    assert (int(Measured(lambda: a)), f"{Measured(lambda: a):8d}", repr(Measured(lambda: a))) == (a, f"{a:8d}", str(a))
    assert list(range(5))[Measured(lambda: a % 5)] == a % 5
