"""Loops that the compiler leaves out of a launch, and that a replay of the kernel as it is written meets."""

from __future__ import annotations

import pytest
import torch
import triton
import triton.language as tl

import triton_lab as lab
from triton_lab.launch.recording.replay_error import CannotReplay
from triton_lab.launch.replay import replay_run
from triton_lab.views.launch.card.launch_card import Card


@triton.jit
def stays_at_zero(x_ptr, out_ptr):
    i = 0
    while i < 10:
        i = i - tl.load(x_ptr + tl.program_id(0)) * 0
    tl.store(out_ptr, i * 0)


@triton.jit
def counts_for_nobody(x_ptr, out_ptr):
    i = 0
    while i < 10:
        i = i + 1
    tl.store(out_ptr, tl.load(x_ptr))


@triton.jit
def counts_beside_a_long_loop(x_ptr, out_ptr, n):
    i = 0
    while i < 10:
        i = i + 1
    total = 0
    for k in range(n):
        total += tl.load(x_ptr + k % 4)
    tl.store(out_ptr, total)


def launched(kernel, *more):
    with lab.target("cpu"), lab.record() as launches:
        kernel[(1,)](torch.ones(4, dtype=torch.int32), torch.empty(1, dtype=torch.int32), *more)
    return launches[0]


def loops(executable):
    return [op for function in executable.plan.functions.values() for op in function.walk() if op.name == "scf.while"]


def test_one_that_does_not_end_is_named_and_its_card_is_drawn() -> None:
    launch = launched(stays_at_zero)
    assert not loops(launch.executable) and len(loops(launch.twin.executable)) == 1
    line = stays_at_zero.starting_line_number + 3
    for ask in (lambda: launch.values("i"), lambda: launch.trace(0)):
        with pytest.raises(CannotReplay, match=rf"line {line} .* 10,000 iterations"):
            ask()
    assert Card(launch).scene()["kind"] == "card"
    assert Card(launch).figure() is not None


def test_one_that_ends_shows_its_variables() -> None:
    launch = launched(counts_for_nobody)
    assert not loops(launch.executable) and len(loops(launch.twin.executable)) == 1
    assert [int(launch.values("i").at(at)[0]) for at in (0, 9)] == [1, 10]


def test_what_the_launch_ran_itself_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replay_run, "PATIENCE", 20)
    launch = launched(counts_beside_a_long_loop, 50)
    assert len(loops(launch.twin.executable)) == 1
    assert int(launch.values("total").at(49)[0]) == 50
