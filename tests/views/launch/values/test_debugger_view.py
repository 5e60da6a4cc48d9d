from __future__ import annotations

import pytest

from tests.launch.debugging.kernels import SIZE, launched, stopping, summed
from triton_lab.launch.debugging.block_expression import ConditionError
from triton_lab.launch.debugging.breakpoints import BreakpointError
from triton_lab.launch.launch import Launch

FIRST = summed.starting_line_number


@pytest.fixture(scope="module")
def sums() -> Launch:
    return launched(summed, 4, 3)


def test_it_stands_in_the_program_and_line_of_a_breakpoint_in_the_kernel() -> None:
    view = launched(stopping).plot.debugger()
    scene = view.scene()
    step = view.steps.trace.steps[scene["stops"][0]]
    assert view.program == scene["steps"]["program"] == 2
    assert (step.kind, step.name) == ("assign", "v")
    assert view.line == stopping.starting_line_number + 6
    assert scene["steps"]["step"] == scene["stops"][0]


def test_a_line_stops_in_each_iteration_after_what_came_before_it(sums: Launch) -> None:
    view = sums.plot.debugger(1, [(FIRST + 8, "k > 0")])  # the line that calls a helper
    found = [view.steps.trace.steps[step] for step in view.stops]
    assert [(step.name, step.line) for step in found] == [("v", FIRST + 7)] * 2
    assert view.scene()["lines"] == [FIRST + 8] * 2


def test_of_two_lines_after_one_step_the_first_is_named(sums: Launch) -> None:
    view = launched(stopping).plot.debugger(2, [stopping.starting_line_number + 7])
    assert view.lines == [stopping.starting_line_number + 6, stopping.starting_line_number + 7]
    assert view.scene()["lines"] == view.lines[:1]


def test_the_steps_next_to_the_stop_have_their_numbers(sums: Launch) -> None:
    view = sums.plot.debugger(1, [(FIRST + 8, "k == 2")])
    view.steps.numbers = 3 * SIZE
    kept = [k for k, step in enumerate(view.scene()["steps"]["steps"]) if step["block"] is not None]
    assert view.stops[0] in kept and max(abs(k - view.stops[0]) for k in kept) < len(view.steps.trace) / 2


def test_watched_expressions_have_their_value_at_each_step(sums: Launch) -> None:
    view = sums.plot.debugger(1, watch=["acc.max() + k", "1 + 1"])
    watch = view.scene()["watches"][0]
    assert watch["values"][0] == "-" and len(watch["steps"]) == len(watch["values"])
    last = max(view.steps.trace.alive(len(view.steps.trace) - 1)["acc"].values) + 2
    assert watch["values"][-1].startswith(f"{last:.0f}")
    assert len(view.scene()["watches"][1]["values"]) == 1


def test_another_program_has_its_value_at_the_same_visit(sums: Launch) -> None:
    view = sums.plot.debugger(1, beside=2)
    beside = view.scene()["beside"]
    assert beside is not None and len(beside["values"]) == len(view.steps.trace)
    other = sums.plot.steps(2)
    theirs = {(step.kind, step.line, step.name): other.shown(step)[1] for step in other.trace.steps}
    mine = {
        (step.kind, step.line, step.name): value
        for step, value in zip(view.steps.trace.steps, beside["values"], strict=True)
    }
    shared = mine.keys() & theirs.keys()
    assert len(shared) > 8 and all(mine[place] == theirs[place] for place in shared)
    assert "" in beside["values"]  # a branch that program 2 does not take


def test_each_form_has_watches_and_the_other_program(sums: Launch) -> None:
    view = sums.plot.debugger(1, ["acc changes"], ["acc.sum()"], 2)
    assert "acc.sum()" in view.text() and "(2, 0, 0)" in view.text()
    assert view.figure().axes is not None


def test_another_program_is_picked_with_the_same_breakpoints(sums: Launch) -> None:
    view = sums.plot.debugger(1, [FIRST + 8], ["k"])
    assert list(view.live()["parts"]) == ["debugger@1"]
    other = view.part("debugger@3")
    assert other["steps"]["program"] == 3 and len(other["stops"]) == 3 and other["watches"]
    with pytest.raises(LookupError):
        view.part("debugger@x")


def test_bad_requests_are_refused(sums: Launch) -> None:
    with pytest.raises(ConditionError):
        sums.plot.debugger(breakpoints=["missing > 3"])
    with pytest.raises(ConditionError):
        sums.plot.debugger(watch=["f(x)"])
    with pytest.raises(BreakpointError):
        sums.plot.debugger(breakpoints=[1])
    with pytest.raises(LookupError):
        sums.plot.debugger(beside=9)
    with pytest.raises(LookupError):
        sums.plot.debugger(9)
