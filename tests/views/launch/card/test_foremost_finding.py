"""`launch.plot.X()` without arguments, and the card's panels: the tensor and the program of the first error."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest
import torch
import triton
import triton.language as tl
from triton.experimental import gluon
from triton.experimental.gluon import language as gl

import triton_lab as lab
from tests.planted.asynchronous_layouts import COLUMNS, PLAIN, ROWS
from triton_lab.launch.launch import Launch
from triton_lab.views.launch.card.launch_card import Card
from triton_lab.views.launch.card.launch_plot import Pictures


@triton.jit
def raced(x_ptr, first_ptr, wrong_ptr, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    lanes = tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK], tl.float32)
    for step in range(4):
        total += tl.load(x_ptr + (pid * 4 + step) * BLOCK + lanes)
    tl.store(first_ptr + pid * BLOCK + lanes, total)
    for half in range(2):
        tl.store(wrong_ptr + (tl.minimum(pid, 2) * 2 + half) * BLOCK + lanes, total + pid)  # RACE
    tl.store(first_ptr + pid * BLOCK + lanes, total + 1)


@gluon.jit
def past_the_end(x_ptr, y_ptr):
    rows = gl.arange(0, 32, gl.SliceLayout(1, ROWS))[:, None] * 32 + gl.arange(0, 32, gl.SliceLayout(0, ROWS))[None, :]
    down = gl.arange(0, 32, gl.SliceLayout(1, COLUMNS))[:, None]
    places = gl.arange(0, 32, gl.SliceLayout(0, COLUMNS))[None, :] * 32 + down + gl.program_id(0) * 1024
    first = gl.allocate_shared_memory(gl.float32, [32, 32], PLAIN)
    second = gl.allocate_shared_memory(gl.float32, [32, 32], PLAIN)
    first.store(gl.load(x_ptr + rows))
    second.store(gl.load(x_ptr + rows))
    gl.store(y_ptr + places, first.load(COLUMNS))  # most conflicts
    if gl.program_id(0) == 1:
        gl.store(y_ptr + rows + 4096, second.load(ROWS))  # PAST


def line_of(kernel: Any, mark: str) -> int:
    lines, first = inspect.getsourcelines(kernel.fn)
    return next(first + k for k, text in enumerate(lines) if mark in text)


@pytest.fixture(scope="module")
def race() -> Launch:
    with lab.target("cpu"), lab.record() as launches:
        raced[(4,)](torch.ones(256), torch.empty(64), torch.empty(96), BLOCK=16)
    (one,) = [found for found in launches[0].findings if found.severity == "error"]
    assert (one.kind, one.argument, one.line, one.programs[0]) == ("race", "wrong_ptr", line_of(raced, "RACE"), 2)
    return launches[0]


@pytest.fixture(scope="module")
def buffers() -> Launch:
    with lab.target("cpu"), lab.record() as launches, pytest.raises(lab.KernelError):
        past_the_end[(2,)](torch.randn(32, 32), torch.zeros(2048))
    (one,) = [found for found in launches[0].findings if found.severity == "error"]
    assert (one.kind, one.line, one.programs[0]) == ("out-of-bounds", line_of(past_the_end, "PAST"), 1)
    return launches[0]


RACE = line_of(raced, "RACE")
# For each picture what it shows, and what it must show. None: it has no tensor and no program to choose.
SHOWN: dict[str, tuple[Callable[[Any], Any], Any] | None] = {
    "tiling": (lambda view: view.argument.name, "wrong_ptr"),
    "accesses": (lambda view: view.argument.name, "wrong_ptr"),
    "timeline": (lambda view: view.argument.name, "wrong_ptr"),
    "storage": (lambda view: {one.name for one in view.tensors}, {"x_ptr", "first_ptr", "wrong_ptr"}),
    "grid": (lambda view: view.target.argument.name, "wrong_ptr"),
    "values": (lambda view: view.steps.program, 2),
    "debugger": (lambda view: view.program, 2),
    "interleaving": (lambda view: tuple(view.found.programs), (2, 3)),
    "steps": (lambda view: (view.program, view.trace.steps[view.step].line), (2, RACE)),
    "pipeline": (lambda view: view.film.program, 1),
    "shared_memory": (lambda view: (view.buffer.name, view.line), ("second", line_of(past_the_end, "PAST"))),
    # Program 3 stores after program 2 here, and memory holds its value.
    "origins": (lambda view: (view.store.argument, view.program, view.element), ("wrong_ptr", 3, 64)),
    "autotune": None,
}


def test_every_method_is_here() -> None:
    assert {name for name, _ in inspect.getmembers(Pictures, inspect.isfunction) if name[0] != "_"} == set(SHOWN)


@pytest.mark.parametrize("name", [name for name, shown in SHOWN.items() if shown])
def test_a_picture_shows_what_the_first_error_concerns(name: str, race: Launch, buffers: Launch) -> None:
    launch = buffers if name in ("pipeline", "shared_memory") else race
    shown, expected = SHOWN[name] or (None, None)
    assert shown is not None
    assert shown(getattr(launch.plot, name)()) == expected
    if name not in ("debugger", "interleaving"):  # which have no tab
        assert shown(Card(launch, (name,)).panel(name).drawn()[0]) == expected


@pytest.mark.parametrize("name", ["tiling", "accesses", "timeline", "origins"])
def test_the_first_choice_of_a_tab_is_the_same(name: str, race: Launch) -> None:
    assert "wrong_ptr" in Card(race).part(name)["items"][0]["label"]


def test_without_an_error_a_timeline_shows_what_most_iterations_touch() -> None:
    with lab.target("cpu"), lab.record() as launches:
        raced[(3,)](torch.ones(192), torch.empty(48), torch.empty(96), BLOCK=16)
    assert not [found for found in launches[0].findings if found.severity != "note"]
    assert launches[0].plot.timeline().argument.name == "x_ptr"
    card = Card(launches[0])
    assert [one["label"] for one in card.part("timeline")["items"]] == ["x_ptr", "first_ptr", "wrong_ptr"]
    assert (card.program, card.wrong_program) == (0, None)


def test_batches_of_programs_are_no_instants() -> None:
    from triton_lab.backend.plugin import launcher

    with lab.target("cpu"), lab.record() as launches:
        try:
            launcher.limits.batch = 2
            once[(6,)](torch.ones(96), torch.empty(96), BLOCK=16)
        finally:
            launcher.limits.batch = None
    assert len(launches[0].accesses[0].events) == 3
    assert "timeline" not in {tab["name"] for tab in Card(launches[0]).scene()["tabs"]}


@triton.jit
def once(x_ptr, out_ptr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.load(x_ptr + at))
