"""Wrong answers of the classes that declared cases seldom show, and right answers in other styles."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import triton
import triton.language as tl

from tests.course.told_fault import told_fault
from triton_lab.course.cases import case, tensor
from triton_lab.course.exercise_registry import exercise
from triton_lab.course.hard_cases import RANGES, hard_cases


@triton.jit
def _negated(x_ptr, out_ptr, n, EACH: tl.constexpr, BLOCK: tl.constexpr):
    first = tl.program_id(0) * EACH * BLOCK
    for start in range(first, first + EACH * BLOCK, BLOCK):
        i = start + tl.arange(0, BLOCK)
        tl.store(out_ptr + i, -tl.load(x_ptr + i, mask=i < n), mask=i < n)


@triton.jit
def _softmax(x_ptr, out_ptr, columns, s0, s1, o0, o1, BLOCK: tl.constexpr):
    """In three passes, with exp2."""
    row, high, total = tl.program_id(0), float("-inf"), 0.0
    for start in range(0, columns, BLOCK):
        j = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * s0 + j * s1, mask=j < columns, other=float("-inf")).to(tl.float32)
        high = tl.maximum(high, tl.max(x, axis=0))
    for start in range(0, columns, BLOCK):
        j = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * s0 + j * s1, mask=j < columns, other=float("-inf")).to(tl.float32)
        total += tl.sum(tl.exp2((x - high) * 1.4426950408889634), axis=0)
    for start in range(0, columns, BLOCK):
        j = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * s0 + j * s1, mask=j < columns, other=0.0).to(tl.float32)
        y = tl.exp2((x - high) * 1.4426950408889634) / total
        tl.store(out_ptr + row * o0 + j * o1, y, mask=j < columns)


@triton.jit
def _range(x_ptr, out_ptr, columns, s0, s1, AROUND: tl.constexpr, BLOCK: tl.constexpr):
    j = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + tl.program_id(0) * s0 + j * s1, mask=j < columns, other=0.0)
    high, low = tl.where(j < columns, x, -AROUND), tl.where(j < columns, x, AROUND)
    tl.store(out_ptr + tl.program_id(0), tl.max(high, axis=0) - tl.min(low, axis=0))


@triton.jit
def _energy(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0).to(tl.float32)
    tl.atomic_add(out_ptr, tl.sum(x * x, axis=0))


@triton.jit
def _best(x_ptr, best_ptr, lock_ptr, n, HOW: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=float("-inf"))
    high, place = tl.max(x, axis=0), (tl.program_id(0) * BLOCK + tl.argmax(x, axis=0)).to(tl.float32)
    if HOW == "two atomics":
        if high > tl.atomic_max(best_ptr, high):
            tl.atomic_xchg(best_ptr + 1, place)
    else:
        while tl.atomic_cas(lock_ptr, 0, 1) == 1:
            pass
        better = high > tl.load(best_ptr)
        if better:
            tl.store(best_ptr, high)
            if HOW == "no barrier":
                tl.store(best_ptr + 1, place)
        if HOW == "two turns":
            tl.debug_barrier()
            tl.atomic_xchg(lock_ptr, 0)
            while tl.atomic_cas(lock_ptr, 0, 1) == 1:
                pass
            if better:
                tl.store(best_ptr + 1, place)
            tl.debug_barrier()
        tl.atomic_xchg(lock_ptr, 0)


def negated(grid: int | None = None, each: int = 1, block: int = 64) -> Callable[[Any], Any]:
    def answer(x: Any) -> Any:
        out = torch.empty_like(x)
        programs = triton.cdiv(x.numel(), each * block)
        _negated[(programs if grid is None else grid,)](x, out, x.numel(), EACH=each, BLOCK=block)
        return out

    return answer


def softmax(x: Any, out: Any = None) -> Any:
    out = torch.empty(x.shape, dtype=x.dtype) if out is None else out
    if len(x):
        _softmax[(len(x),)](x, out, x.shape[1], *x.stride(), *out.stride(), BLOCK=64)
    return out


def row_range(x: Any) -> Any:
    out = torch.empty(len(x))
    if len(x):
        block = triton.next_power_of_2(x.shape[1])
        _range[(len(x),)](x, out, x.shape[1], *x.stride(), AROUND=1000.0, BLOCK=block)
    return out


def energy(x: Any) -> Any:
    out = torch.zeros(1)
    _energy[(triton.cdiv(len(x), 64),)](x, out, len(x), BLOCK=64)
    return out.int()


@triton.jit
def _mapped_rows(x_ptr, out_ptr, columns, s0, s1, HOW: tl.constexpr, BLOCK: tl.constexpr):
    j = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + tl.program_id(0) * s0 + j * s1, mask=j < columns, other=float("-inf"))
    if HOW == "max":
        tl.store(out_ptr + tl.program_id(0), tl.max(x, axis=0))
    else:
        e = tl.exp(x - tl.max(x, axis=0))
        tl.store(out_ptr + tl.program_id(0) * columns + j, e / tl.sum(e, axis=0), mask=j < columns)


def in_one_block(how: str, block: int) -> Callable[[Any], Any]:
    """A row in a block of a size that does not grow."""

    def answer(x: Any) -> Any:
        out = torch.empty(len(x) if how == "max" else x.shape)
        if len(x):
            _mapped_rows[(len(x),)](x, out, x.shape[1], *x.stride(), HOW=how, BLOCK=block)
        return out

    return answer


def kept(by: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """`negated` with one result for all calls with vectors of a length."""
    there: dict[Any, Any] = {}

    def answer(x: Any) -> Any:
        out = there.setdefault(by(x), torch.empty_like(x))
        _negated[(triton.cdiv(len(x), 64),)](x, out, len(x), EACH=1, BLOCK=64)
        return out

    return answer


@triton.jit
def _doubled(x_ptr, out_ptr, M, N, s0, s1, T: tl.constexpr):
    across = tl.cdiv(N, T)
    for tile in range(0, tl.where(tl.program_id(0) == 0, tl.cdiv(M, T) * across, 0)):
        i, j = tile // across * T + tl.arange(0, T), tile % across * T + tl.arange(0, T)
        mask = (i < M)[:, None] & (j < N)[None, :]
        x = tl.load(x_ptr + i[:, None] * s0 + j[None, :] * s1, mask=mask)
        tl.store(out_ptr + i[:, None] * N + j[None, :], 2 * x, mask=mask)


def doubled(x: Any) -> Any:
    out = torch.empty(x.shape, dtype=x.dtype)
    _doubled[(4,)](x, out, *x.shape, *x.stride(), T=32)
    return out


@triton.jit
def _cut(x_ptr, q_ptr, scale_ptr, columns, BLOCK: tl.constexpr):
    j = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + tl.program_id(0) * columns + j, mask=j < columns, other=0.0)
    most = tl.max(tl.abs(x), axis=0)
    scale = tl.where(most > 0, most / 448.0, 1.0)
    kept = ((x / scale).to(tl.int32, bitcast=True) & -(1 << 20)).to(tl.float32, bitcast=True)
    tl.store(scale_ptr + tl.program_id(0), scale)
    tl.store(q_ptr + tl.program_id(0) * columns + j, kept.to(tl.float8e4nv), mask=j < columns)


def cut(x: Any) -> Any:
    """Bits are cut off instead of rounded."""
    q, scales = torch.empty(x.shape, dtype=torch.float8_e4m3fn), torch.empty(len(x))
    if len(x):
        _cut[(len(x),)](x, q, scales, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
    return q, scales


def best(how: str) -> Callable[[Any], Any]:
    def answer(x: Any) -> Any:
        kept, lock = torch.tensor([float("-inf"), -1.0]), torch.zeros(1, dtype=torch.int32)
        _best[(triton.cdiv(len(x), 64),)](x, kept, lock, len(x), HOW=how, BLOCK=64)
        return kept

    return answer


@pytest.mark.parametrize(
    ("name", "answer", "facts"),
    [
        ("negated", negated(grid=16), ("(79,)", "(16,)", "[1024]")),
        ("negated", negated(each=64, block=1), ("1 element",)),
        ("negated", negated(grid=1, each=128), ("one program",)),
        ("row_maxima", in_one_block("max", 1024), ("x (3, 8201)", "smaller sizes")),
        ("shares", in_one_block("softmax", 4096), ("x (3, 8201)", "smaller sizes")),
        ("negated", kept(len), ("earlier result",)),
        ("double_tiles", doubled, ("program (0, 0, 0)", "100 %", "4 programs")),
        ("quantise_rows", cut, ("Result 1 is",)),
        ("softmax", lambda x: softmax(x, torch.empty_like(x)), ("(1, 9)", "(17, 1)")),
        ("row_range", row_range, ("x (7, 100)",)),
        ("energy", energy, ("float32", "int32")),
        ("best", best("two atomics"), ("lock",)),
        ("best", best("no barrier"), ("tl.debug_barrier()",)),
        ("best", best("two turns"), ("lock",)),
    ],
    ids=[
        "grid",
        "scalars",
        "one program",
        "1,024 columns",
        "4,096 columns",
        "kept",
        "idle",
        "cut",
        "strides",
        "sentinels",
        "float32 sum",
        "atomics",
        "no barrier",
        "two turns",
    ],
)
def test_a_wrong_answer_that_few_cases_show_is_rejected(name: str, answer: Any, facts: tuple[str, ...]) -> None:
    fault = str(told_fault(name, answer, lambda fault: all(fact in str(fault) for fact in facts)))
    assert all(fact in fault for fact in facts), fault


def test_three_passes_with_exp2_are_right() -> None:
    assert str(exercise("softmax").judge(softmax) or "right") == "right"


def test_the_hard_cases_keep_what_the_declared_sizes_have_in_common() -> None:
    declared = [
        case(q=tensor(2, 50, 16), k=tensor(2, 50, 16)),
        case(q=tensor(1, 33, 32), k=tensor(1, 33, 32)),
    ]
    large, *ranged = hard_cases(declared, tuple(RANGES))
    made = large.made()
    assert made["q"].shape == made["k"].shape == (2, 300, 16)
    assert len(ranged) == len(RANGES) and all(one.hard for one in ranged)
    vectors = hard_cases([case(a=tensor(65), b=tensor(65)), case(a=tensor(64), b=tensor(64))], ())
    assert [one.made()["b"].shape for one in vectors] == [(5001,)]
    steps = hard_cases([case(x=tensor(36, 68)), case(x=tensor(4, 32))], ())
    assert [one.made()["x"].shape for one in steps] == [(200, 300), (8204, 4), (4, 8204)]
    assert hard_cases([case(rows=3, columns=4)], tuple(RANGES)) == ()
