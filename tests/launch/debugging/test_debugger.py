from __future__ import annotations

import numpy as np
import pytest
import triton
import triton.language as tl

from tests.launch.debugging.kernels import SIZE, halved, in_python, launched, stopping, summed
from triton_lab.launch.debugging import program_tape
from triton_lab.launch.debugging.block_expression import ConditionError
from triton_lab.launch.debugging.breakpoints import BreakpointError
from triton_lab.launch.debugging.debugger import Debugger
from triton_lab.launch.launch import Launch
from triton_lab.launch.recording.replay_error import CannotReplay


def line_of(kernel: triton.JITFunction, text: str) -> int:
    """The line of a kernel's source that contains ``text``."""
    return next(kernel.starting_line_number + n for n, line in enumerate(kernel.raw_src) if text in line)


@pytest.fixture(scope="module")
def sums() -> Launch:
    return launched(summed, 4, 3)


@pytest.fixture
def debugger(sums: Launch) -> Debugger:
    return Debugger(sums, program=1)


@pytest.mark.parametrize(("program", "count"), [(0, 0), (1, 3), (3, 5)])
def test_each_statement_and_its_variables_are_those_of_python(program: int, count: int) -> None:
    debugger = Debugger(launched(summed, 4, count), program)
    events, out = in_python(program, count)
    for name, line, known in events:
        stack = debugger.stack()
        assert (stack[0].function.name, debugger.line) == (name, line)
        ours = {one.name: one.value for one in debugger.locals() if one.name not in ("x", "out")}
        assert ours.keys() == known.keys()
        for variable, value in known.items():
            assert np.array_equal(ours[variable], value), (line, variable)
        debugger.step()
    assert debugger.at_end
    acc = next(one.value for one in debugger.locals() if one.name == "acc")
    assert np.array_equal(acc, out[program * SIZE : (program + 1) * SIZE])


def test_steps_back_visit_the_same_places_in_reverse(debugger: Debugger) -> None:
    forwards = [debugger.position]
    while not debugger.at_end:
        debugger.step()
        forwards.append(debugger.line)
    backwards = [debugger.line]
    while debugger.position:
        debugger.step(back=True)
        backwards.append(debugger.line)
    assert forwards[1:-1] == backwards[::-1][1:-1]


def test_next_stays_in_the_kernel_and_out_returns_to_it(debugger: Debugger) -> None:
    call = line_of(summed, "acc += halved")
    debugger.break_at(call)
    debugger.continue_()
    assert debugger.line == call
    debugger.step()
    assert [place.function.name for place in debugger.stack()] == ["halved", "summed"]
    assert debugger.stack()[1].line == call
    debugger.out()
    assert debugger.line == line_of(summed, "if k == 1")
    debugger.next(back=True)
    assert debugger.line == call
    debugger.next()
    assert debugger.line == line_of(summed, "if k == 1")


def test_each_call_of_a_helper_has_variables_of_its_own(debugger: Debugger) -> None:
    debugger.break_at(line_of(halved, "return w"))
    found = []
    while debugger.continue_(programs=False).reason == "breakpoint":
        found.append((int(debugger.evaluate("k")), float(debugger.evaluate("w[0]"))))
    assert found == [(0, 4.0), (0, 4.0), (1, 4.0), (0, 4.0), (2, 5.0), (0, 4.0)]
    debugger.continue_(back=True)
    assert int(debugger.evaluate("k", depth=1)) == 2  # the kernel's


def test_over_a_loop_and_through_its_iterations(debugger: Debugger) -> None:
    body = line_of(summed, "v = tl.load")
    debugger.break_at(body)
    debugger.continue_()
    seen = []
    while debugger.line == body:
        seen.append(int(debugger.evaluate("k")))
        debugger.iteration()
    assert seen == [0, 1, 2]
    assert debugger.line == line_of(summed, "left = n")
    debugger.iteration(back=True)
    debugger.continue_(back=True)
    assert (debugger.line, int(debugger.evaluate("k"))) == (body, 2)
    debugger.iteration(back=True)
    assert int(debugger.evaluate("k")) == 1
    debugger.clear(1)
    debugger.until()
    assert debugger.line > body


@pytest.mark.parametrize(
    ("condition", "hits", "lines"),
    [
        ("k == 1", "", [1]),
        ("", ">= 2", [1, 2]),
        ("", "2", [1]),
        ("", "% 2", [1]),
        ("acc.max() > 20 and k < 3", "", [2]),
        ("pid == 1", "", [0, 1, 2]),
        ("pid == 2", "", []),
    ],
)
def test_a_condition_and_a_number_of_visits(sums: Launch, condition: str, hits: str, lines: list[int]) -> None:
    debugger = Debugger(sums, program=1)
    debugger.break_at(line_of(summed, "v = tl.load"), condition, hits)
    found = []
    while debugger.continue_(programs=False).reason == "breakpoint":
        found.append(int(debugger.evaluate("k")))
    assert found == lines
    back = []
    while debugger.continue_(back=True).reason == "breakpoint":
        back.append(int(debugger.evaluate("k")))
    assert back == lines[::-1]


def test_a_condition_that_names_the_program_stops_in_that_program(sums: Launch) -> None:
    debugger = Debugger(sums)
    debugger.break_at(line_of(summed, "left = n"), "pid == 3")
    assert debugger.continue_().breakpoint == 1
    assert debugger.program == 3


def test_a_condition_without_a_line_stops_where_it_becomes_true(debugger: Debugger) -> None:
    debugger.break_at(None, "acc changes")
    lines = []
    while debugger.continue_(programs=False).reason == "breakpoint":
        lines.append(debugger.line)
    assert lines[0] == line_of(summed, "if k == 1")
    assert lines[-1] == line_of(summed, "tl.store")


@triton.jit
def rooted(x, out, SIZE: tl.constexpr):
    i = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    v = tl.load(x + i)
    for turn in range(4):  # noqa: B007 (its value is asked for)
        v = tl.sqrt(v - 1)
    tl.store(out + i, v)


def test_it_stops_where_a_value_becomes_nan() -> None:
    debugger = Debugger(launched(rooted, 1))
    debugger.break_at(None, "v becomes NaN")
    arrival = debugger.continue_()
    assert arrival.breakpoint == 1
    assert int(debugger.evaluate("turn")) == 0
    assert int(debugger.evaluate("isnan(v).sum()")) == 1  # of 0 alone
    assert debugger.continue_().reason == "end"


def test_a_breakpoint_in_the_source_stops_the_program_that_reaches_it() -> None:
    debugger = Debugger(launched(stopping))
    assert debugger.continue_().breakpoint == 0
    assert (debugger.program, debugger.line) == (2, line_of(stopping, "breakpoint()"))
    assert debugger.continue_().reason == "end"


def test_to_where_an_element_was_stored(debugger: Debugger) -> None:
    store = line_of(summed, "tl.store")
    assert debugger.stored("out", SIZE + 3).reason == "store"
    assert (debugger.program, debugger.line) == (1, store)
    assert debugger.stored("out", (3 * SIZE,)).reason == "store"
    assert (debugger.program, debugger.line) == (3, store)
    with pytest.raises(LookupError):
        debugger.stored("out", 4 * SIZE)
    with pytest.raises(LookupError):
        debugger.stored("SIZE", 0)


def test_two_programs_side_by_side(debugger: Debugger) -> None:
    debugger.break_at(line_of(summed, "if pid == 1"))
    debugger.continue_()
    told = {one.name: one for one in debugger.beside(2)}
    assert not told["acc"].equal and told["n"].equal
    assert debugger.program == 1
    debugger.next()  # into the branch that program 2 does not take
    assert debugger.select(2).remark
    assert debugger.at_end


def test_watches_are_computed_where_the_program_stands(debugger: Debugger) -> None:
    debugger.watch("acc.sum() + pid")
    (text, value) = debugger.watches()[0]
    assert text == "acc.sum() + pid" and isinstance(value, ConditionError)
    debugger.until(line_of(summed, "for k"))
    assert float(debugger.watches()[0][1]) == 1  # type: ignore[arg-type]


def test_a_line_without_a_statement_moves_to_the_next(debugger: Debugger) -> None:
    made = debugger.break_at(line_of(summed, '"""Sums'))
    assert made.line == line_of(summed, "pid = ") and made.remark
    assert not debugger.break_at(line_of(summed, "pid = ")).remark


def test_bad_requests_are_refused_by_name(debugger: Debugger, sums: Launch) -> None:
    with pytest.raises(BreakpointError, match="no function"):
        debugger.break_at(1)
    with pytest.raises(ConditionError, match="'ac'"):
        debugger.break_at(line_of(summed, "tl.store"), "ac > 3")
    with pytest.raises(ConditionError, match="'acc'"):
        debugger.break_at(line_of(halved, "return"), "acc > 3")
    with pytest.raises(BreakpointError):
        debugger.break_at(line_of(summed, "tl.store"), "", "often")
    with pytest.raises(BreakpointError):
        debugger.break_at(None)
    with pytest.raises(BreakpointError):
        debugger.clear(7)
    with pytest.raises(LookupError, match="17"):
        Debugger(sums, 17)


def test_values_beyond_the_limit_are_found_by_replays(monkeypatch: pytest.MonkeyPatch, sums: Launch) -> None:
    whole = Debugger(sums, 2)
    monkeypatch.setattr(program_tape, "MOST_BYTES", 256)
    short = Debugger(sums, 2)
    assert len(short.tape.values) < len(whole.tape.values)
    while not whole.at_end:
        assert [(one.name, np.array(one.value).tolist()) for one in short.locals()] == [
            (one.name, np.array(one.value).tolist()) for one in whole.locals()
        ]
        whole.step()
        short.step()


def test_a_tape_that_is_too_long_says_so(monkeypatch: pytest.MonkeyPatch, sums: Launch) -> None:
    monkeypatch.setattr(program_tape, "MOST_EVENTS", 30)
    debugger = Debugger(sums)
    arrival = debugger.continue_(programs=False)
    assert arrival.reason == "end" and "30" in arrival.remark


def test_a_launch_that_was_stopped_ends_at_the_failing_statement() -> None:
    import torch

    import triton_lab as lab

    with lab.record() as launches, pytest.raises(Exception, match="x"):
        summed[(3,)](torch.zeros(2 * SIZE), torch.zeros(3 * SIZE), 1, SIZE)
    debugger = Debugger(launches[0], 2)
    assert debugger.continue_().reason == "error"
    assert debugger.line == line_of(summed, "v = tl.load")
    assert Debugger(launches[0], 0).continue_(programs=False).reason == "end"


def test_a_launch_without_its_memory_says_why() -> None:
    import torch

    import triton_lab as lab

    with lab.record(max_bytes=16) as launches:
        summed[(1,)](torch.zeros(SIZE), torch.zeros(SIZE), 1, SIZE)
    with pytest.raises(CannotReplay, match="memory"):
        Debugger(launches[0])
