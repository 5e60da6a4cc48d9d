"""What the CPU target accepts is what Triton compiles for a GPU of sm_90: every operation, every type of number.

Both answer for the Triton that is installed. Operations that the CPU target takes are compiled for the GPU in one
kernel for a type, halved where that fails until the culprits stand alone; those that it refuses one by one. A run asks
about every third operation, and about another third for the next type; ``TRITON_LAB_EVERY_OPERATION=1`` asks about all,
which takes minutes.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
import torch
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget

from tests.backend.operations import DTYPES, OPERATIONS, compiled
from triton_lab.backend.compiler import TARGET
from triton_lab.backend.targets.sm90_limits import NotCompilable
from triton_lab.interpreter.bound_plan import Executable
from triton_lab.ir import parse_plan

EVERY = bool(os.environ.get("TRITON_LAB_EVERY_OPERATION"))
HOPPER = GPUTarget("cuda", 90, 32)


@pytest.fixture(scope="module", autouse=True)
def compile_anew(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRITON_CACHE_DIR", str(tmp_path_factory.mktemp("triton")))
        yield


def refusal(operations: list[str], dtype: str, target: GPUTarget) -> str | None:
    """Why the target does not take the operations; None if it does."""
    try:
        kernel = compiled(operations, dtype, target)
        if target == TARGET:
            Executable.of(parse_plan(kernel.asm["plan"].decode()))
    except Exception as error:  # whatever a compiler raises: its errors have no class in common
        return f"{type(error).__name__}: {error}"
    return None


def refused_among(operations: list[str], dtype: str) -> dict[str, str]:
    """Those of the operations that do not compile for the GPU, with its reasons."""
    reason = refusal(operations, dtype, HOPPER) if operations else None
    if reason is None:
        return {}
    if len(operations) == 1:
        return {operations[0]: reason}
    middle = len(operations) // 2
    return refused_among(operations[:middle], dtype) | refused_among(operations[middle:], dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_cpu_target_takes_what_a_gpu_takes(dtype, capfd):
    names = list(OPERATIONS) if EVERY else list(OPERATIONS)[list(DTYPES).index(dtype) % 3 :: 3]
    ours = {name: refusal([name], dtype, TARGET) for name in names}
    taken = [name for name, reason in ours.items() if reason is None]
    assert refused_among(taken, dtype) == {}, "run here, and do not compile for sm_90"
    only_there = {
        name: reason for name, reason in ours.items() if reason is not None and not refusal([name], dtype, HOPPER)
    }
    assert only_there == {}, "compile for sm_90, and are refused here"
    capfd.readouterr()  # Triton prints each module that a pass fails on
    # Neither side may have refused everything for a reason of the test's own.
    assert len(taken) > len(names) / (4 if "fp8" in dtype else 2) or dtype in ("fp8e4b8", "fp8e5b16")


@triton.jit
def half_of_all(x, out, N: tl.constexpr):
    value = tl.load(x + tl.arange(0, N))
    scaled = value *   value  # fmt: skip
    tl.store(out + tl.arange(0, N), scaled)


@triton.jit
def in_a_library(x, out, N: tl.constexpr):
    tl.store(out, tl.sum(tl.load(x + tl.arange(0, N))))


@triton.jit
def between(x, out, N: tl.constexpr):
    k = tl.arange(0, N)
    tl.store(out + k, tl.load(x + k).to(tl.float64))


@triton.jit
def widened(x, out, N: tl.constexpr):
    k = tl.arange(0, N)
    value = tl.load(x + k).to(tl.float32)
    tl.store(out + k, (value * value).to(out.dtype.element_ty))


@pytest.mark.parametrize(
    ("kernel", "line", "words"),
    [
        (half_of_all, 3, ("multiplication in tl.float8e4nv", "scaled = value *", "x.to(tl.float32)")),
        (in_a_library, 2, ("a reduction (tl.sum", "tl.float8e4nv", "x.to(tl.float32)")),
        (between, 3, ("from tl.float8e4nv to tl.float64", "x.to(tl.float32).to(tl.float64)")),
    ],
)
def test_fp8_arithmetic_is_refused_when_it_is_compiled(kernel, line, words):
    x = torch.ones(16).to(torch.float8_e4m3fn)
    out = torch.zeros(16, dtype=torch.float64) if kernel is between else torch.zeros_like(x)
    with pytest.raises(NotCompilable) as caught:
        kernel.warmup(x, out, N=16, grid=(1,))
    text = str(caught.value)
    assert f"{__file__}, line {kernel.starting_line_number + line}, " in text and kernel.__name__ in text
    assert all(word in text for word in words), text
    with pytest.raises(RuntimeError, match="sm_90"):  # as from Triton's own passes
        kernel[(1,)](x, out, N=16)
    assert not out.to(torch.float32).any(), "something ran"


def test_the_remedy_of_the_message_works():
    x = torch.linspace(-2, 2, 16).to(torch.float8_e5m2)
    out = torch.zeros_like(x)
    widened[(1,)](x, out, N=16)
    assert torch.equal(out.float(), (x.float() ** 2).to(torch.float8_e5m2).float())
