"""A first picture of lanes that must be looked at one by one shows some programs, exactly, and says how many."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
import triton
import triton.language as tl

import triton_lab
from tests.wordings import Wording
from triton_lab.launch.launch import Launch
from triton_lab.launch.maps import program_sample
from triton_lab.launch.maps.access_heat import heat
from triton_lab.launch.maps.program_sample import sampled
from triton_lab.launch.maps.tiling import touches
from triton_lab.views.drawing.picture_window import Window
from triton_lab.views.launch.accesses.accesses_view import Accesses
from triton_lab.views.launch.card.launch_card import Card
from triton_lab.views.launch.storage.storage_view import StorageView
from triton_lab.views.launch.tiling.grid_view import GridView
from triton_lab.views.launch.tiling.tiling_view import Tiling

PROGRAMS, BLOCK, MOST = 40, 32, 500


@triton.jit
def gather(x_ptr, index_ptr, out_ptr, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.load(x_ptr + tl.load(index_ptr + at)))


@pytest.fixture(scope="module")
def launch() -> Launch:
    torch.manual_seed(1)
    index = torch.randint(0, 1000, (PROGRAMS * BLOCK,))
    with triton_lab.record() as launches:
        gather[(PROGRAMS,)](torch.rand(1000), index, torch.empty(len(index)), BLOCK=BLOCK)
    return launches[0]


def scattered(launch: Launch) -> Any:
    return next(access for access in launch.accesses if access.argument == "x_ptr")


def test_what_is_shown_of_a_program_is_all_that_it_touches(launch: Launch) -> None:
    access = scattered(launch)
    found = touches(launch.argument("x_ptr"), [access], PROGRAMS, MOST)
    whole = touches(launch.argument("x_ptr"), [access], PROGRAMS)
    shown = np.arange(0, PROGRAMS, 3)  # the fewest programs between, so that 1280 lanes are at most 500
    assert found.shown == len(shown) and whole.shown is None
    for position, (one, other) in enumerate(zip(found.classes.tolist(), whole.classes.tolist(), strict=True)):
        members = whole.active().members(other)
        assert np.array_equal(found.active().members(one), members[np.isin(members, shown)]), position


def test_no_more_lanes_are_taken_than_allowed(launch: Launch) -> None:
    some, shown = sampled([scattered(launch)], PROGRAMS, MOST)
    assert shown is not None
    assert sum(one.lanes for one in some) == shown * BLOCK <= MOST  # type: ignore[attr-defined]
    assert sampled([scattered(launch)], PROGRAMS, PROGRAMS * BLOCK)[1] is None


def test_tiles_are_shown_whole_however_many_lanes_they_have(launch: Launch) -> None:
    store = next(access for access in launch.accesses if access.argument == "out_ptr")
    assert heat(launch.argument("out_ptr"), [store], PROGRAMS, most=1).shown is None


def test_every_picture_says_that_it_shows_some(wording: Wording, launch: Launch) -> None:
    told = "14 of 40 programs shown"
    tiling = Tiling(launch, "x_ptr", most=MOST)
    assert told in tiling.title() and told in tiling.scene()["title"]
    assert "launch.plot.tiling('x_ptr')" in tiling.text()
    assert "by nobody" not in tiling.text()
    assert all("nobody" not in key.text for key in tiling.heatmap.legend)
    accesses = Accesses(launch, "x_ptr", most=MOST)
    assert told in accesses.title() and told in accesses.scene()["title"]
    assert all("nobody" not in text for layer in accesses.scene()["layers"].values() for _, text in layer["legend"])
    assert tiling.scene()["nobody"] == accesses.scene()["nobody"]
    wording(tiling.scene()["nobody"])
    tensors = [argument for argument in launch.arguments if argument.kind == "tensor"]
    assert any(text.endswith(f"x_ptr, {told}") for text in StorageView(tensors, launch, MOST).scene()["overlaps"])
    assert GridView(launch, most=MOST).scene()["says"]["shared"].endswith("x_ptr left out")


def test_what_is_asked_for_by_name_is_shown_whole(launch: Launch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("triton_lab.views.launch.tiling.tiling_view.MOST_LANES", MOST)
    assert "14 of 40 programs shown" in Card(launch).part("tiling/x_ptr")["title"]
    assert "shown" not in launch.plot.tiling("x_ptr").title()
    assert "shown" not in launch.plot.accesses("x_ptr").title()


def test_the_program_that_stopped_the_launch_is_shown() -> None:
    index = torch.zeros(PROGRAMS * BLOCK, dtype=torch.int64)
    index[7 * BLOCK + 3] = 1000  # program 7, which lies between the steps of three
    with triton_lab.record() as launches, pytest.raises(triton_lab.KernelError):
        gather[(PROGRAMS,)](torch.rand(1000), index, torch.empty(len(index)), BLOCK=BLOCK)
    access = scattered(launches[0])
    found = touches(launches[0].argument("x_ptr"), [access], PROGRAMS, MOST)
    assert found.shown is not None and found.shown < PROGRAMS
    assert found.strays_drawn == 1
    assert 7 in {program for number in range(len(found.table)) for program in found.active().members(number)}


@triton.jit
def double(x_ptr, n, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + at, 2 * tl.load(x_ptr + at, mask=at < n), mask=at < n)


def test_of_very_many_programs_some_are_drawn_and_all_in_a_window(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program_sample, "MOST_PROGRAMS", 100)
    with triton_lab.record() as launches:
        double[(1000,)](torch.zeros(3990), 3990, BLOCK=4)
    (launch,) = launches
    shown = Tiling(launch, "x_ptr", room=(40.0, 30.0), most=MOST)
    exact = Tiling(launch, "x_ptr", room=(40.0, 30.0))
    assert shown.touches.shown == 100 and exact.touches.shown is None and shown.cells.layout.binned
    fine = shown.cells.layout.fine
    window = Window(0, 1, 2, 2, 30)
    (one, other) = (view.through(window).cells for view in (shown, exact))
    assert one.touches.shown is None
    positions = window.positions(fine)
    for cell in range(len(positions)):
        members = [
            cells.touches.active().members(int(cells.class_of[cells.numbers[cell]])).tolist() for cells in (one, other)
        ]
        assert members[0] == members[1] == [positions[cell] // 4], cell
    # A store that is followed back is looked at whole.
    assert heat(launch.argument("x_ptr"), [launch.accesses[1]], 1000, most=1, thin=False).shown is None
