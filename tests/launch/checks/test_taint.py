"""Which lanes go wrong because of what has wrapped, against a walk lane by lane in Python's numbers."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from hypothesis import given, settings
from hypothesis import strategies as st

import triton_lab as lab
from triton_lab.launch.checks import overflow
from triton_lab.launch.checks.evidence import Evidence
from triton_lab.launch.launch import Launch

BLOCK, PROGRAMS = 4, 3
Marks = frozenset[str]
Reached = dict[tuple[str, str], list[tuple[int, int]]]  # by what wrapped and what it reached: (program, lane)


@dataclass(frozen=True)
class Number:
    """A number of one lane, and the operations because of which it is wrong."""

    value: int
    marks: Marks = frozenset()


def wrapped(value: int, bits: int = 32) -> int:
    return (value + (1 << (bits - 1))) % (1 << bits) - (1 << (bits - 1))


def computed(name: str, function: Callable[[int, int], int], left: Number, right: Number) -> Number:
    """An operation that is to blame where it wraps, unless its operands are wrong already."""
    exact, marks = function(left.value, right.value), left.marks | right.marks
    value = wrapped(exact)
    return Number(value, marks or (frozenset() if value == exact else frozenset({name})))


def passed(value: int, *numbers: Number) -> Number:
    return Number(value, frozenset().union(*(each.marks for each in numbers)))


def decided(which: str, left: Number, right: Number) -> Number:
    """``and`` and ``or``: a side counts where the other does not decide alone, or is wrong itself."""
    deciding = which == "or"
    marks = {mark for one, other in ((left, right), (right, left)) for mark in one.marks
             if bool(other.value) != deciding or mark in other.marks}  # fmt: skip
    value = left.value or right.value if which == "or" else left.value and right.value
    return Number(int(bool(value)), frozenset(marks))


def remainder(left: int, right: int) -> int:
    return (abs(left) % right) * (1 if left >= 0 else -1)


def reach(found: Reached, access: str, place: tuple[int, int], address: Number, mask: Number | None) -> None:
    """A lane that is on, or would perhaps be."""
    if mask is not None and not mask.value and not mask.marks:
        return
    for origin in address.marks | (mask.marks if mask else frozenset()):
        found.setdefault((origin, access), []).append(place)


def looked(launch: Launch) -> Reached:
    """The same of a launch, by the words of its source's comments."""
    names = [line.partition("# ")[2] for line in launch.source.splitlines()]
    line_of = {index: place.line - launch.first_line for index, place in launch.lines.items()}
    found: Reached = {}
    for taint in overflow._looked(Evidence(launch, launch.tape)):
        for (origin, index), tally in taint.reached.items():
            lanes = tally.listed()
            assert tally.count == len(lanes) <= 100
            pairs = list(zip(lanes.program.tolist(), lanes.lane.tolist(), strict=True))
            found[names[line_of[origin]], names[line_of[index]]] = pairs
    return found


def recorded(call: Callable[[], Any]) -> Launch:
    with lab.record() as launches:
        call()
    return launches[0]


@triton.jit
def elementwise_kernel(x_ptr, a_ptr, n, BLOCK: tl.constexpr):
    program, lane = tl.program_id(0), tl.arange(0, BLOCK)
    a = tl.load(a_ptr + program * (2 * BLOCK + 1) + lane)
    b = tl.load(a_ptr + program * (2 * BLOCK + 1) + BLOCK + lane)
    s = tl.load(a_ptr + program * (2 * BLOCK + 1) + 2 * BLOCK)
    p = a + b  # p
    q = a * s  # q
    r = p - q  # r
    u = s - b  # u
    t = s + s  # t
    w = b << 5  # w
    chosen = tl.where(a > b, p, q)
    either = (a > 0) | (q < n)
    both = (p >= 0) & (q < n)
    one = (p >= 0) ^ (u < n)
    alone = (t > 0) & (u > 0)
    tl.store(x_ptr + chosen % 64 + 64, 1, mask=both)  # both
    tl.store(x_ptr + r % 64 + 64, 2, mask=either)  # either
    tl.store(x_ptr + lane, 3, mask=one)  # one
    tl.store(x_ptr + t % 64 + 64, 4, mask=t > 0)  # scalar
    tl.store(x_ptr + lane, 5, mask=alone)  # alone
    tl.store(x_ptr + tl.maximum(u, p) // (1 << 26) + 64, 6)  # unmasked
    tl.store(x_ptr + tl.minimum(w, a) % 64 + 64, 7, mask=s > 0)  # on
    tl.store(x_ptr + chosen % 64 + 64, 8, mask=p < n)  # same


def elementwise(numbers: np.ndarray, n: int) -> Reached:
    found: Reached = {}
    for program, row in enumerate(numbers.tolist()):
        for lane in range(BLOCK):
            a, b, s = Number(row[lane]), Number(row[BLOCK + lane]), Number(row[-1])
            p, q = computed("p", operator.add, a, b), computed("q", operator.mul, a, s)
            r, u = computed("r", operator.sub, p, q), computed("u", operator.sub, s, b)
            t, w = computed("t", operator.add, s, s), computed("w", operator.lshift, b, Number(5))
            chosen = p if a.value > b.value else q
            either = decided("or", Number(a.value > 0), passed(q.value < n, q))
            both = decided("and", passed(p.value >= 0, p), passed(q.value < n, q))
            one = passed((p.value >= 0) != (u.value < n), p, u)
            alone = decided("and", passed(t.value > 0, t), passed(u.value > 0, u))
            most, least = max(u.value, p.value), min(w.value, a.value)
            there, nowhere = (program, lane), Number(0)
            reach(found, "both", there, passed(remainder(chosen.value, 64), chosen), both)
            reach(found, "either", there, r, either)
            reach(found, "one", there, nowhere, one)
            if lane == 0:
                reach(found, "scalar", there, t, passed(t.value > 0, t))
            reach(found, "alone", there, nowhere, alone)
            reach(found, "unmasked", there, passed(most, u, p), None)
            reach(found, "on", there, passed(least, w, a), Number(s.value > 0))
            reach(found, "same", there, chosen, passed(p.value < n, p))
    return found


small, large = st.integers(-9, 9), st.sampled_from([2**31 - 1, 2**31 - 5, -(2**31), 1 << 30, -(1 << 30) - 3, 1 << 26])


def rows(columns: int) -> st.SearchStrategy[np.ndarray]:
    row = st.lists(st.one_of(small, large), min_size=columns, max_size=columns)
    return st.lists(row, min_size=PROGRAMS, max_size=PROGRAMS).map(lambda found: np.array(found, np.int32))


@given(rows(2 * BLOCK + 1), st.sampled_from([0, 1 << 30]))
@settings(deadline=None, max_examples=50)
def test_marks_of_elements_are_those_of_each_lane(numbers: np.ndarray, n: int) -> None:
    x = torch.zeros(128, dtype=torch.int32)
    launch = recorded(lambda: elementwise_kernel[(PROGRAMS,)](x, torch.from_numpy(numbers), n, BLOCK=BLOCK))
    assert looked(launch) == elementwise(numbers, n)
