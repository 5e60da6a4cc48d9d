"""No replay of a launch goes on for ever: of one that was stopped in a loop, of one whose changed kernel has no end,
and of one that takes too long."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import pytest
import torch
import triton
import triton.language as tl

import triton_lab as lab
from triton_lab.interpreter.bound_plan import Executable
from triton_lab.interpreter.kernel_errors import StepLimit
from triton_lab.interpreter.machine import Machine
from triton_lab.launch.checks.analysis.evidence import Evidence
from triton_lab.launch.checks.rule import rules
from triton_lab.launch.launch import Launch
from triton_lab.launch.recording.progress_callback import TookTooLong, within
from triton_lab.launch.recording.replay_error import CannotReplay
from triton_lab.launch.replay import replay_run as replaying

LIMIT = 50


@triton.jit
def endless(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    i = 0
    total = tl.zeros((BLOCK,), tl.float32)
    while i < n:
        x = tl.load(x_ptr + lanes, mask=lanes < n)
        total += x * 3e38 * tl.load(y_ptr + i)
        tl.store(out_ptr + lanes, total.to(tl.float16))
        tl.store(y_ptr, tl.load(y_ptr) + 1)


@triton.jit
def waiting(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    while tl.load(x_ptr) < n:
        tl.store(out_ptr + tl.program_id(0), tl.load(out_ptr) + 1)


@triton.jit
def counting(x_ptr, n, BLOCK: tl.constexpr):
    i = 0
    while i < n:
        tl.store(x_ptr + i, i)
        i += 1


def stopped(kernel: Any, *arguments: Any) -> Launch:
    """A launch that hit its limit."""
    with lab.limits(max_steps=LIMIT), lab.record() as launches, pytest.raises(StepLimit):
        kernel[(4,)](*arguments, 10, BLOCK=16)
    return launches[0]


LAUNCHES: dict[str, Callable[[], Launch]] = {
    "a loop": lambda: stopped(endless, torch.ones(16), torch.ones(10), torch.empty(16, dtype=torch.float16)),
    "a loop that waits": lambda: stopped(waiting, torch.zeros(1), torch.zeros(4)),
}


def asked() -> dict[str, Callable[[Launch], object]]:
    """All that can be asked of a launch, as the package has it: each check by itself, and each picture."""
    found: dict[str, Callable[[Launch], object]] = {}
    for kind, rule in rules().items():
        found[kind] = lambda launch, rule=rule: list(rule.check(Evidence(launch, launch.tape), ()))
    for name in ("accesses", "storage", "grid", "tiling", "values", "steps", "origins"):
        if hasattr(lab.Launch, name) or name in ("values", "steps", "origins"):
            found[f"plot.{name}"] = lambda launch, name=name: pictured(launch, name)
    found["verdict"] = lambda launch: launch.verdict
    found["trace"] = lambda launch: launch.trace(0)
    found["recall"] = lambda launch: launch.recall([access.op for access in launch.accesses])
    found["compare"] = lambda launch: lab.compare(launch, launch)
    found["card"] = lambda launch: launch.plot().text()
    return found


def pictured(launch: Launch, name: str) -> object:
    plot = getattr(launch.plot, name)
    arguments = {"values": ("i",), "tiling": ("out_ptr",), "origins": ()}.get(name, ())
    try:
        return plot(*arguments)
    except (LookupError, TypeError, ValueError):  # there is no such variable here, or nothing to show
        return None


@pytest.mark.parametrize("launched", LAUNCHES)
def test_whatever_is_asked_of_a_stopped_launch_runs_within_its_limit(
    launched: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    launch = LAUNCHES[launched]()
    machines: list[Machine] = []
    init = Machine.__init__

    def noted(machine: Machine, *given: Any, **named: Any) -> None:
        init(machine, *given, **named)
        machines.append(machine)

    monkeypatch.setattr(Machine, "__init__", noted)
    every = asked()
    assert len(every) > 15
    for what, ask in every.items():
        machines.clear()
        with contextlib.suppress(CannotReplay):
            ask(launch)
        # A changed kernel may take four times as long, and some more.
        assert all(machine.steps <= 4 * LIMIT + replaying._SPARE + 1 for machine in machines), what
        own = [machine for machine in machines if machine.executable is launch.executable]
        assert all(machine.steps <= LIMIT + 1 for machine in own), what
    assert launch.unchecked


def test_a_launch_without_a_limit_has_none_when_it_is_replayed() -> None:
    with lab.record() as launches:
        counting[(1,)](torch.zeros(30_000), 30_000, BLOCK=16)
    (launch,) = launches
    assert launch.tape is not None and launch.tape.steps == 30_001 and launch.tape.limits.steps is None
    assert launch.unchecked == [] and launch.findings == []


def test_a_changed_kernel_that_does_not_end_is_stopped() -> None:
    with lab.record() as launches:
        counting[(1,)](torch.zeros(16), 10, BLOCK=16)
    (launch,) = launches
    assert launch.snapshot is not None
    values = list(launch.snapshot.arguments)
    values[1] = values[1] * 0 + 2**30  # as another n
    launch.snapshot.arguments = tuple(values)
    other = Executable.of(launch.executable.plan)
    with pytest.raises(lab.KernelError):
        replaying.replay(launch, executable=other, strict=True)


def test_what_takes_too_long_is_given_up_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    with lab.record() as launches:
        counting[(1,)](torch.full((20_000,), 0.0), 20_000, BLOCK=16)
    (launch,) = launches
    with within(0.0), pytest.raises(TookTooLong, match="stopped after 0 programs and 1 loop iteration"):
        replaying.replay(launch)
    monkeypatch.setattr("triton_lab.launch.launch.CHECKING", -1e9)
    assert launch.unchecked and all("too long" in one.why for one in launch.unchecked)


def test_the_loop_that_did_not_end_is_named() -> None:
    launch = LAUNCHES["a loop"]()
    text = str(launch.error)
    assert "while i < n:" in text and f"ran {LIMIT} times" in text and "i and n" in text and "--limit" in text
    assert isinstance(launch.error, StepLimit) and launch.error.op is not None
    assert launch.error.op.name == "scf.while"
