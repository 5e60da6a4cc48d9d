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
from triton.tools.tensor_descriptor import TensorDescriptor

import triton_lab as lab
from triton_lab.launch.checks.analysis import int32_overflow, overflow_taint
from triton_lab.launch.checks.analysis.evidence import Evidence
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


def looked(launch: Launch, places: bool = False) -> dict[tuple[str, str], list[Any]]:
    """The same of a launch, by the words of its source's comments; or the addresses of the lanes."""
    names = [line.partition("# ")[2] for line in launch.source.splitlines()]
    line_of = {index: place.line - launch.first_line for index, place in launch.lines.items() if place}
    found: dict[tuple[str, str], list[Any]] = {}
    for watcher in int32_overflow.wraps(Evidence(launch, launch.tape)):
        for (origin, index), tally in watcher.reached.items():
            lanes = tally.listed()
            assert tally.count == len(lanes) <= 100
            pairs = list(zip(lanes.program.tolist(), lanes.lane.tolist(), strict=True))
            found[names[line_of[origin]], names[line_of[index]]] = lanes.address.tolist() if places else pairs
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
@settings(deadline=None, max_examples=30)
def test_marks_of_elements_are_those_of_each_lane(numbers: np.ndarray, n: int) -> None:
    x = torch.zeros(128, dtype=torch.int32)
    launch = recorded(lambda: elementwise_kernel[(PROGRAMS,)](x, torch.from_numpy(numbers), n, BLOCK=BLOCK))
    assert looked(launch) == elementwise(numbers, n)


@triton.jit
def sums_kernel(x_ptr, a_ptr, BLOCK: tl.constexpr, REVERSE: tl.constexpr):
    program, lane = tl.program_id(0), tl.arange(0, BLOCK)
    rows = program * (BLOCK * BLOCK) + lane[:, None] * BLOCK + lane[None, :]
    a = tl.load(a_ptr + rows)
    b = a + a  # b
    total = tl.sum(a, axis=0)  # total
    running = tl.cumsum(a, axis=1, reverse=REVERSE)  # running
    of_rows = tl.sum(b, axis=1)  # of rows
    of_all = tl.sum(of_rows, axis=0)  # of all
    tl.store(x_ptr + total % 64 + 64, 1)  # at total
    tl.store(x_ptr + running % 64 + 64, 2)  # at running
    tl.store(x_ptr + of_rows % 64 + 64, 3)  # at rows
    tl.store(x_ptr + of_all % 64 + 64, 4)  # at all
    tl.store(x_ptr + lane, 5, mask=of_all > 0)  # masked
    tl.store(x_ptr + tl.trans(b) % 64 + 64, 6)  # turned
    tl.store(x_ptr + (total[None, :] % 64) + (of_rows[:, None] % 64) + 128, 7)  # of both


def summed(name: str, terms: list[Number]) -> Number:
    exact, marks = sum(term.value for term in terms), frozenset().union(*(term.marks for term in terms))
    return Number(wrapped(exact), marks or (frozenset() if wrapped(exact) == exact else frozenset({name})))


def sums(numbers: np.ndarray, reverse: bool) -> Reached:
    found: Reached = {}
    lanes = range(BLOCK)
    for program, row in enumerate(numbers.reshape(PROGRAMS, BLOCK, BLOCK).tolist()):
        a = [[Number(each) for each in line] for line in row]
        b = [[computed("b", operator.add, each, each) for each in line] for line in a]
        total = [summed("total", [a[i][j] for i in lanes]) for j in lanes]
        of_rows = [summed("of rows", b[i]) for i in lanes]
        of_all = summed("of all", of_rows)
        for i in lanes:
            reach(found, "at total", (program, i), total[i], None)
        for i in lanes:
            # A running sum is wrong from where it has wrapped on, of its exact terms.
            before = [a[i][j:] if reverse else a[i][: j + 1] for j in lanes]
            for j in lanes:
                reach(found, "at running", (program, BLOCK * i + j), summed("running", before[j]), None)
                reach(found, "turned", (program, BLOCK * i + j), b[j][i], None)
                reach(found, "of both", (program, BLOCK * i + j), passed(0, total[j], of_rows[i]), None)
            reach(found, "at rows", (program, i), of_rows[i], None)
            reach(found, "masked", (program, i), Number(0), passed(of_all.value > 0, of_all))
        reach(found, "at all", (program, 0), of_all, None)
    return found


@pytest.mark.parametrize("reverse", [False, True])
@given(numbers=rows(BLOCK * BLOCK))
@settings(deadline=None, max_examples=15)
def test_marks_of_sums_are_those_of_their_terms(reverse: bool, numbers: np.ndarray) -> None:
    x = torch.zeros(256, dtype=torch.int32)
    launch = recorded(lambda: sums_kernel[(PROGRAMS,)](x, torch.from_numpy(numbers), BLOCK=BLOCK, REVERSE=reverse))
    assert looked(launch) == sums(numbers, reverse)


@triton.jit
def narrowed_kernel(x_ptr, a_ptr, BLOCK: tl.constexpr):
    program, lane = tl.program_id(0), tl.arange(0, BLOCK)
    a = tl.load(a_ptr + program * BLOCK + lane)
    cut = a.to(tl.int32)  # cut
    tl.store(x_ptr + cut % 64 + 64, 1)  # at cut
    whole = a.to(tl.uint32)  # whole
    tl.store(x_ptr + whole.to(tl.int64) % 64 + 64, 2)  # at whole


@given(st.lists(st.sampled_from([0, 5, 2**31 - 1, 2**31, -(2**31), -(2**31) - 1, 2**32 - 1, 2**32, -(2**40)]),
                min_size=PROGRAMS * BLOCK, max_size=PROGRAMS * BLOCK))  # fmt: skip
@settings(deadline=None, max_examples=15)
def test_a_narrowing_is_to_blame_for_numbers_that_are_of_neither_sign(numbers: list[int]) -> None:
    """What is narrowed to unsigned numbers may have been meant as signed ones, and keeps its bits."""
    x = torch.zeros(128, dtype=torch.int32)
    launch = recorded(lambda: narrowed_kernel[(PROGRAMS,)](x, torch.tensor(numbers), BLOCK=BLOCK))
    expected: Reached = {}
    for at, number in enumerate(numbers):
        place = divmod(at, BLOCK)
        if not -(2**31) <= number < 2**31:
            expected.setdefault(("cut", "at cut"), []).append(place)
        if not -(2**31) <= number < 2**32:
            expected.setdefault(("whole", "at whole"), []).append(place)
    assert looked(launch) == expected


@triton.jit
def counted_kernel(x_ptr, a_ptr, BLOCK: tl.constexpr):
    program = tl.program_id(0)
    first = tl.load(a_ptr + program * 3)
    second = tl.load(a_ptr + program * 3 + 1)
    step = tl.load(a_ptr + program * 3 + 2)
    low = first + second  # low
    high = second * 2  # high
    stride = step * step  # stride
    mixed = first * 1664525  # mixed
    for k in range(low % 4, high % 8, 1):  # loop
        tl.store(x_ptr + k + 64, 1)
    for k in range(0, 9, stride % 4 + 5):  # stepped
        tl.store(x_ptr + k + 64, 2)
    for k in range(0, mixed % 4, 1):  # drawn
        tl.store(x_ptr + k + 64, 3)
    lane = tl.arange(0, BLOCK)
    tl.store(x_ptr + lane, 4, mask=lane < mixed)  # masked
    tl.store(x_ptr + mixed % 64 + 64, 5)  # there


@given(rows(3))
@settings(deadline=None, max_examples=20)
def test_loops_whose_bounds_have_wrapped_are_told_by_program(numbers: np.ndarray) -> None:
    """Of a generator of random numbers neither loops nor masks tell, but where it makes an access go."""
    x = torch.zeros(128, dtype=torch.int32)
    launch = recorded(lambda: counted_kernel[(PROGRAMS,)](x, torch.from_numpy(numbers), BLOCK=BLOCK))
    expected: Reached = {}
    for program, (first, second, step) in enumerate(numbers.tolist()):
        low = computed("low", operator.add, Number(first), Number(second))
        high = computed("high", operator.mul, Number(second), Number(2))
        stride = computed("stride", operator.mul, Number(step), Number(step))
        mixed = computed("mixed", operator.mul, Number(first), Number(1664525))
        for access, numbered in (("loop", passed(0, low, high)), ("stepped", stride), ("there", mixed)):
            reach(expected, access, (program, 0), numbered, None)
    found = looked(launch)
    stored = {key: value for key, value in found.items() if key[1] in ("loop", "stepped", "there", "drawn", "masked")}
    assert stored == expected


@triton.jit
def described_kernel(x_desc, a_ptr, n, SIDE: tl.constexpr):
    program = tl.program_id(0)
    a = tl.load(a_ptr + program * 4)
    b = tl.load(a_ptr + program * 4 + 1)
    row = a + b  # row
    column = a - b  # column
    tile = x_desc.load([row, column])  # loaded
    plain = x_desc.load([tl.load(a_ptr + program * 4 + 2), b % 8])  # plain
    x_desc.store([row % 16, 0], tile + plain)  # stored


@given(rows(4))
@settings(deadline=None, max_examples=15)
def test_tiles_at_wrapped_coordinates_are_told_with_where_they_begin(numbers: np.ndarray) -> None:
    """A tile beside its tensor is nowhere, and a wrong one all the same."""
    x = torch.zeros(32, 64, dtype=torch.int16)
    launch = recorded(
        lambda: described_kernel[(PROGRAMS,)](
            TensorDescriptor.from_tensor(x, [4, 8]), torch.from_numpy(numbers), 0, SIDE=4
        )
    )
    expected: Reached = {}
    places: dict[tuple[str, str], list[int]] = {}
    for program, (first, second, *_) in enumerate(numbers.tolist()):
        row = computed("row", operator.add, Number(first), Number(second))
        column = computed("column", operator.sub, Number(first), Number(second))
        at = {"loaded": (row.value, column.value), "stored": (remainder(row.value, 16), 0)}
        for access, blamed in (("loaded", row), ("loaded", column), ("stored", row)):
            reach(expected, access, (program, 0), blamed, None)
            for origin in blamed.marks:
                i, j = at[access]
                places.setdefault((origin, access), []).append(x.data_ptr() + 2 * (64 * i + j))
    assert looked(launch) == expected
    assert looked(launch, places=True) == places


@pytest.mark.parametrize("most", [1, 2, 5])
def test_of_an_operation_that_wraps_everywhere_few_programs_are_kept_as_examples(
    most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(overflow_taint, "_MOST_EXAMPLES", most)
    numbers = torch.full((PROGRAMS, 2 * BLOCK + 1), 2**31 - 1, dtype=torch.int32)
    launch = recorded(
        lambda: elementwise_kernel[(PROGRAMS,)](torch.zeros(128, dtype=torch.int32), numbers, 0, BLOCK=BLOCK)
    )
    (found,) = int32_overflow.wraps(Evidence(launch, launch.tape))
    programs: dict[int, set[int]] = {}
    for origin, program in found.examples:
        programs.setdefault(origin, set()).add(program)
    assert programs and all(each == set(range(min(most, PROGRAMS))) for each in programs.values())
    words = {example.words for example in found.examples.values()}
    assert f"{2**31 - 1} + {2**31 - 1} =" in words
    assert {(example.exact, example.wrapped, example.bits) for example in found.examples.values()} >= {
        (2**32 - 2, -2, 32),
        ((2**31 - 1) ** 2, 1, 32),
    }
