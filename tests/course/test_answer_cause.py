"""A change is a reason only if it makes all cases right; what else is told about wrong numbers is a fact about them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import triton
import triton.language as tl

from triton_lab.course.cases import Case, case, tensor
from triton_lab.course.exercise_answer import LocalAnswer
from triton_lab.course.exercise_registry import exercise
from triton_lab.course.trial.answer_cause import cause_lines
from triton_lab.course.trial.case_pattern import pattern_line
from triton_lab.course.trial.case_run import CaseRun, Demands
from triton_lab.course.trial.change_check import CheckedCase, SideOfAll, confirmation
from triton_lab.course.trial.explained_fault import descends
from triton_lab.ir.effects import is_access
from triton_lab.launch.comparison.numerics import Switch
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.launch.recording.replay_error import CannotReplay

Answer = Callable[..., Any]


def runs(answer: Answer, reference: Answer, *cases: Case) -> list[CaseRun]:
    asked = Demands(reference, (), (1e-6, 1e-6), (), frozenset(), True, False, False, None)
    found: list[CaseRun] = []
    for number, one in enumerate(cases):
        found.append(CaseRun(one, LocalAnswer(answer).attempt, asked, number, number + 100, found))
    return found


def checked(run: CaseRun) -> CheckedCase:
    found = CheckedCase.of(run)
    assert found is not None
    return found


def cause_of(one: CheckedCase) -> Switch:
    """The change that a comparison of this case alone takes for the cause."""
    causes = one.comparison().causes(seconds=20.0)
    switch = next(each.switch for each in causes.experiments if each.names_it)
    assert switch is not None
    return switch


@triton.jit
def _in_blocks(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """The order of the blocks is reversed, and not that of their elements."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    at = (tl.num_programs(0) - 1 - tl.program_id(0)) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + at, mask=at < n, other=0.0), mask=i < n)


def in_blocks(x: Any) -> Any:
    out = torch.empty_like(x)
    _in_blocks[(triton.cdiv(x.numel(), 64),)](x, out, x.numel(), BLOCK=64)
    return out


@triton.jit
def _doubled(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, 2 * tl.load(x_ptr + i, mask=i < n), mask=i < n)


def doubled(programs: Callable[[int], int], block: int = 64) -> Answer:
    def answer(x: Any) -> Any:
        out = torch.empty_like(x)
        _doubled[(programs(x.numel()),)](x, out, x.numel(), BLOCK=block)
        return out

    return answer


def test_a_change_that_makes_one_case_right_is_refuted_by_another() -> None:
    one, other = map(checked, runs(in_blocks, lambda x: x.flip(0), case(x=tensor(64)), case(x=tensor(192))))
    assert one.is_wrong and other.is_wrong
    switch = cause_of(one)
    alone, both = confirmation(switch, one, ()), confirmation(switch, one, (other,))
    assert alone is not None and (alone.right, alone.refuted) == (1, None)
    assert both is not None and both.refuted is other
    side = SideOfAll("", one.written, {each.name: each.b for each in one.plain}, case=one, others=(other,))
    with pytest.raises(CannotReplay):
        side.run(switch)


def test_a_change_that_mends_other_cases_and_spoils_none_is_the_reason() -> None:
    halved = runs(doubled(lambda n: n // 64), lambda x: 2 * x, *(case(x=tensor(n)) for n in (65, 128, 300)))
    one, right, other = map(checked, halved)
    assert (one.is_wrong, right.is_wrong, other.is_wrong) == (True, False, True)
    outcome = confirmation(cause_of(one), one, (right, other))
    # Another grid: its number is that of the case, and where the grid is right already there is nothing to ask.
    assert outcome is not None and (outcome.right, outcome.mended, outcome.refuted) == (2, 2, None)


@triton.jit
def _counted(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    tl.atomic_add(out_ptr, tl.sum((x != 0).to(tl.int32), axis=0))


def test_one_number_in_each_of_many_cases_shows_a_cause_together() -> None:
    def counted(x: Any) -> Any:
        out = torch.zeros(1, dtype=torch.int32)
        _counted[(triton.cdiv(x.numel(), 64),)](x, out, x.numel(), BLOCK=64)
        return out

    found = runs(counted, lambda x: (x > 0).sum().int().reshape(1), *(case(x=tensor(n)) for n in (64, 65, 200, 700)))
    (told,) = cause_lines(found[0], found[1:])
    line = _counted.fn.__code__.co_firstlineno + 4
    assert "> instead of !=" in told and f"line {line}" in told and "all 4 " in told


@triton.jit
def _seeded(out_ptr, n, seed, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.rand(seed + tl.program_id(0), i), mask=i < n)


def test_a_program_id_that_is_always_zero_is_no_cause() -> None:
    def seeded(n: int, seed: int) -> Any:
        out = torch.empty(n)
        _seeded[(triton.cdiv(n, 64),)](out, n, seed, BLOCK=64)
        return out

    @triton.jit
    def right(out_ptr, n, seed, BLOCK: tl.constexpr):
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(out_ptr + i, tl.rand(seed, i), mask=i < n)

    def expected(n: int, seed: int) -> Any:
        out = torch.empty(n)
        right[(triton.cdiv(n, 64),)](out, n, seed, BLOCK=64)
        return out

    found = runs(seeded, expected, *(case(n=n, seed=3) for n in (200, 300)))
    told = cause_lines(found[0], found[1:])
    assert told and not any("program_id(1)" in each for each in told)


@triton.jit
def _summed(x_ptr, out_ptr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    tl.store(out_ptr + row, tl.sum(tl.load(x_ptr + row * BLOCK + tl.arange(0, BLOCK)), axis=0))


def test_a_maximum_for_a_sum_is_a_cause_in_a_reduction() -> None:
    def summed(x: Any) -> Any:
        out = torch.empty(len(x))
        _summed[(len(x),)](x, out, BLOCK=x.shape[1])
        return out

    found = runs(summed, lambda x: x.amax(1), *(case(x=tensor(rows, 16)) for rows in (9, 12, 20)))
    (told,) = cause_lines(found[0], found[1:])
    assert "max" in told and "sum" in told and "all 3 " in told


def test_what_the_wrong_cases_have_in_common_is_told() -> None:
    sizes = (64, 65, 10, 300, 1, 700, 100)
    found = runs(doubled(lambda n: 1), lambda x: 2 * x, *(case(x=tensor(n)) for n in sizes))
    wrong = [run for run in found if run.fault is not None]
    told = pattern_line(wrong[0], [run for run in found if run is not wrong[0]])
    assert "x.shape[0]" in told and "64" in told and "4 of 4" in told


@triton.jit
def _apart(x_ptr, y_ptr, out_ptr, rest_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i))
    tl.store(rest_ptr + i, tl.load(y_ptr + i))


def test_a_finding_is_a_reason_only_for_what_is_computed_from_its_operation() -> None:
    import triton_lab as lab

    with lab.record() as launches:
        _apart[(1,)](*(torch.ones(16) for _each in range(4)), BLOCK=16)
    (launch,) = launches
    x, y = (op.index for op in launch.executable.plan.walk() if is_access(op) and op.name == "tt.load")
    for op, argument in ((x, "out_ptr"), (y, "rest_ptr")):
        finding = Finding("non-finite", "", "", op=op)
        assert [descends(launch, name, finding) for name in ("out_ptr", "rest_ptr")] == [
            name == argument for name in ("out_ptr", "rest_ptr")
        ]


@triton.jit
def _too_wide(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.maximum(tl.load(x_ptr + i, mask=i < BLOCK), 0.0), mask=i < n)


def test_a_launch_that_is_stopped_is_told_with_what_to_do() -> None:
    def relu(x: Any) -> Any:
        out = torch.empty_like(x)
        _too_wide[(triton.cdiv(x.numel(), 128),)](x, out, x.numel(), BLOCK=128)
        return out

    fault = exercise("relu").judge(relu)
    assert fault is not None and fault.launch is not None
    assert fault.launch.findings[0].hint in fault.lines


@triton.jit
def _rows_shifted(x_ptr, out_ptr, n, AWAY: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    at = (i * 3 + 5 * tl.program_id(0) * AWAY) % n
    tl.store(out_ptr + i, tl.load(x_ptr + at, mask=i < n) * 2.0, mask=i < n)


def rows_shifted(x: Any) -> Any:
    out = torch.empty_like(x)
    n = x.numel()
    _rows_shifted[(triton.cdiv(n, 16),)](x, out, n, AWAY=1, BLOCK=16)
    return out


def test_without_a_reason_the_inputs_that_decide_are_told() -> None:
    cases = [case(x=tensor(50)), case(x=tensor(37))]
    wrong, *others = runs(rows_shifted, lambda x: 2 * x[torch.arange(len(x)) * 3 * len(x) // 7 % len(x)], *cases)
    assert any(" x[" in line for line in cause_lines(wrong, others))


@triton.jit
def _spread(x_ptr, b_ptr, out_ptr, rows, columns, T: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    i = tl.program_id(ROWS) * T + tl.arange(0, T)[:, None]
    j = tl.program_id(COLUMNS) * T + tl.arange(0, T)[None, :]
    inside = (i < rows) & (j < columns)
    x = tl.maximum(tl.load(x_ptr + i * columns + j, mask=inside), 0.0)
    tl.store(out_ptr + i * columns + j, x + tl.load(b_ptr + j, mask=j < columns), mask=inside)


def spread(axes: tuple[int, int], turned: bool) -> Answer:
    def answer(x: Any, b: Any) -> Any:
        (rows, columns), out = x.shape, torch.zeros_like(x)
        grid = (triton.cdiv(rows, 16), triton.cdiv(columns, 16))
        grid = grid[::-1] if turned else grid
        _spread[grid](x, b, out, rows, columns, T=16, ROWS=axes[0], COLUMNS=axes[1])
        return out

    return answer


@pytest.mark.parametrize(
    ("answer", "reference", "told", "lines"),
    [
        # The first case has one program along an axis: there another id would be 0, and two exchanged ones are not.
        (spread((0, 1), turned=True), lambda x, b: x.clamp(min=0) + b, "program_id(0) and program_id(1)", (2, 3)),
        # Both axes take one id: what makes the narrow case right is refuted by the next, where the search goes on.
        (spread((0, 0), turned=False), lambda x, b: x.clamp(min=0) + b, "program_id(1) instead of", (3,)),
        # The sum and the maximum change places, and neither stands for the other.
        (spread((0, 1), turned=False), lambda x, b: (x + b).clamp(min=0), "after +", (6,)),
    ],
)
def test_the_reason_holds_for_all_cases(answer: Answer, reference: Answer, told: str, lines: tuple[int, ...]) -> None:
    shapes = ((37, 9), (45, 40), (20, 70), (16, 16))
    found = runs(answer, reference, *(case(x=tensor(*shape), b=tensor(shape[1])) for shape in shapes))
    wrong = next(run for run in found if run.unlike is not None)
    said = " ".join(cause_lines(wrong, [run for run in found if run is not wrong]))
    first = _spread.fn.__code__.co_firstlineno
    assert told in said and all(str(first + line) in said for line in lines), said
