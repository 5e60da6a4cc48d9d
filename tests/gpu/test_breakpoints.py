"""``breakpoint()`` compiles to nothing for a GPU, and its launches are stepped through from their run on the CPU."""

from __future__ import annotations

import pytest
import torch

import triton_lab as lab
from tests.launch.debugging.kernels import SIZE, halved, stopping, summed
from triton_lab.command.debugging import breakpoint_front
from triton_lab.launch.debugging.debugger import Debugger
from triton_lab.launch.launch import Launch

pytestmark = pytest.mark.gpu


def test_a_launch_that_nobody_steps_through_runs_on_the_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(breakpoint_front, "_front", lambda: None)
    x, out = torch.arange(4.0 * SIZE, device="cuda"), torch.zeros(4 * SIZE, device="cuda")
    with lab.target("gpu"):
        stopping[(4,)](x, out, SIZE)
    assert torch.equal(x, out)


def test_a_launch_on_the_gpu_stops_in_the_program_that_reaches_it(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[Launch] = []
    monkeypatch.setattr(breakpoint_front, "_front", lambda: shown.append)
    x, out = torch.arange(4.0 * SIZE, device="cuda"), torch.zeros(4 * SIZE, device="cuda")
    with lab.target("gpu"):
        stopping[(4,)](x, out, SIZE)
    assert torch.equal(x, out)
    (launch,) = shown
    debugger = Debugger(launch)
    arrival = debugger.run()
    assert launch.target == "gpu" and arrival is not None
    assert (debugger.program, debugger.line) == (2, stopping.starting_line_number + 6)
    assert debugger.evaluate("v").tolist() == x[2 * SIZE : 3 * SIZE].tolist()


def test_statements_of_a_launch_on_the_gpu_give_what_the_gpu_stored() -> None:
    x, out = torch.arange(4.0 * SIZE, device="cuda"), torch.zeros(4 * SIZE, device="cuda")
    with lab.target("gpu"), lab.record() as launches:
        summed[(4,)](x, out, 3, SIZE)
    debugger = Debugger(launches[0], 1)
    debugger.break_at(halved.starting_line_number + 5)
    assert debugger.continue_().breakpoint == 1 and len(debugger.stack()) == 2
    debugger.clear(1)
    debugger.continue_(programs=False)
    acc = next(one.value for one in debugger.locals() if one.name == "acc")
    assert acc is not None and acc.tolist() == out[SIZE : 2 * SIZE].tolist()
