"""What is wrong stands in the picture: the strays of a failed launch, and the elements of findings."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

import numpy as np
import pytest
import torch
import triton
import triton.language as tl

import triton_lab as lab
from tests.views.artists import words
from tests.wordings import Wording
from triton_lab.interpreter.kernel_errors import KernelError
from triton_lab.launch.launch import Launch
from triton_lab.views.drawing import style
from triton_lab.views.drawing.heatmap import Heatmap
from triton_lab.views.drawing.raster import paint
from triton_lab.views.launch.card.launch_card import Card
from triton_lab.views.launch.tiling.tiling_layer import GHOST, OUTSIDE
from triton_lab.views.launch.tiling.tiling_view import Tiling


@triton.jit
def copy_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets), mask=offsets < n)


@triton.jit
def tile_kernel(x_ptr, out_ptr, rows, columns, B: tl.constexpr):
    row = tl.program_id(0) * B + tl.arange(0, B)
    column = tl.program_id(1) * B + tl.arange(0, B)
    inside = (row[:, None] < rows) & (column[None, :] < columns)
    place = row[:, None] * columns + column[None, :]
    tl.store(out_ptr + place, tl.load(x_ptr + place), mask=inside)


@triton.jit
def before_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets - 3, mask=offsets < n), mask=offsets < n)


@triton.jit
def total_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + 2, tl.sum(tl.load(x_ptr + offsets)))


@triton.jit
def ratio_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=1.0)
    tl.store(out_ptr + offsets, x / x, mask=offsets < n)


@triton.jit
def more_kernel(out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(out_ptr + offsets, mask=offsets < n) + 1, mask=offsets < n)


def recorded(run: Callable[[], object]) -> Launch:
    with lab.record() as launches, contextlib.suppress(KernelError):
        run()
    return launches[-1]


def past() -> Launch:
    return recorded(lambda: copy_kernel[(4,)](torch.ones(100), torch.zeros(100), 100, BLOCK=32))


def looks(tiling: Tiling, look: tuple[int, ...]) -> set[tuple[int, ...]]:
    """The indices of the cells that look so: pictures of one cell for each position."""
    heatmap = tiling.heatmap
    assert not heatmap.layout.binned
    cells = heatmap.styles[heatmap.cells]
    shown, origin = tiling.cells.touches.drawn, tiling.cells.touches.origin
    positions = heatmap.layout.cell_of_position()
    found = np.flatnonzero((cells[positions] == look).all(axis=1))
    return {tuple(int(i) - o for i, o in zip(np.unravel_index(p, shown), origin, strict=True)) for p in found}


def outlined(heatmap: Heatmap, text: str) -> set[int]:
    """The cells within the outlines of the mark that begins so."""
    (mark,) = [one for one in heatmap.marks if one.text.startswith(text)]
    layout = heatmap.layout
    return {
        (panel * layout.rows + row + down) * layout.columns + column + right
        for panel, row, column, rows, columns in mark.runs
        for down in range(rows)
        for right in range(columns)
    }


def test_places_past_the_end_are_red_and_the_lanes_are_named() -> None:
    tiling = past().plot.tiling("x_ptr")
    assert looks(tiling, OUTSIDE) == {(k,) for k in range(100, 128)}
    assert tiling.astray == ["program (3, 0, 0): lanes 4 to 31 reach for elements 100 to 127, past its end"]
    assert tiling.astray[0] in tiling.text() and tiling.scene()["astray"] == tiling.astray
    assert any("stopped the launch" in key.text for key in tiling.heatmap.legend)
    # The lanes that were fine keep their program's colour.
    fine = looks(tiling, (*[int(style.program_colours(np.array([3]), (4, 1, 1))[0])] * 3, style.PLAIN))
    assert fine == {(k,) for k in range(96, 100)}


@pytest.mark.parametrize(("sizes", "guilty"), [((100, 128), "x_ptr"), ((128, 100), "out_ptr")])
def test_who_went_astray_is_told_at_the_guilty_argument_alone(sizes: tuple[int, int], guilty: str) -> None:
    """Whether other accesses stand before it or behind."""
    x, out = (torch.ones(size) for size in sizes)
    launch = recorded(lambda: copy_kernel[(4,)](x, out, 128, BLOCK=32))
    told = {name: launch.plot.tiling(name).astray for name in ("x_ptr", "out_ptr")}
    assert told.pop(guilty) == ["program (3, 0, 0): lanes 4 to 31 reach for elements 100 to 127, past its end"]
    assert list(told.values()) == [[]]


def test_the_mask_that_is_missing_is_outlined_if_it_was_tried(wording: Wording) -> None:
    heatmap = past().plot.tiling("x_ptr").heatmap
    (text,) = [mark.text for mark in heatmap.marks if mark.text.startswith("offsets < n")]
    wording(text, condition="offsets < n")
    assert outlined(heatmap, text) == set(range(100, 128))
    no_size = recorded(lambda: copy_kernel[(4,)](torch.ones(100), torch.zeros(90), 90, BLOCK=32))
    assert not no_size.plot.tiling("x_ptr").heatmap.marks


def test_a_tile_over_an_edge_is_red_where_memory_ends_and_a_ghost_where_it_does_not() -> None:
    rows, columns = 10, 13
    launch = recorded(
        lambda: tile_kernel[(3, 4)](torch.ones(rows, columns), torch.zeros(rows, columns), rows, columns, B=4)
    )
    tiling = launch.plot.tiling("x_ptr")
    every = {(row, column) for row in range(12) for column in range(16)}
    inside = {(row, column) for row in range(rows) for column in range(columns)}
    past = {(row, column) for row, column in every if row * columns + column >= rows * columns}
    assert looks(tiling, OUTSIDE) == past
    assert looks(tiling, GHOST) == every - inside - past
    mask = outlined(tiling.heatmap, "inside would mask off these lanes")
    assert mask == {row * 16 + column for row, column in every - inside}


def test_places_before_the_start_are_drawn_before_it() -> None:
    launch = recorded(lambda: before_kernel[(2,)](torch.ones(64), torch.zeros(64), 64, BLOCK=32))
    tiling = launch.plot.tiling("x_ptr")
    assert looks(tiling, OUTSIDE) == {(-3,), (-2,), (-1,)}
    assert tiling.astray == ["program (0, 0, 0): lanes 0 to 2 reach for elements -3 to -1, before its start"]


def test_what_is_too_far_to_be_drawn_is_counted(wording: Wording) -> None:
    launch = recorded(lambda: copy_kernel[(64,)](torch.ones(64), torch.zeros(2048), 2048, BLOCK=32))
    tiling = launch.plot.tiling("x_ptr")
    assert len(looks(tiling, OUTSIDE)) == 64
    more, beyond = tiling.astray[-2:]
    wording(more, programs="59 more programs", lanes="1,888 more lanes")
    wording(beyond, lanes="1,920 lanes")


def test_a_card_opens_on_the_guilty_argument() -> None:
    card = Card(past())
    assert card.drawn == ["x_ptr", "out_ptr"] or card.drawn == ["x_ptr"]
    assert card.scene()["parts"]["tiling/x_ptr"]["astray"]
    edits = card.scene()["findings"][0]["fix"]
    assert [after.strip() for _, _, after in edits] == [
        "tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < n, other=0.0), mask=offsets < n)"
    ]
    assert edits[0][2] in card.text() and card._repr_mimebundle_()[0]["image/png"]


def test_a_race_is_outlined_at_its_element_and_told_in_both_orders() -> None:
    launch = recorded(lambda: total_kernel[(4,)](torch.arange(128.0), torch.zeros(5), BLOCK=32))
    assert Card(launch).drawn == ["out_ptr", "x_ptr"]
    assert outlined(launch.plot.tiling("out_ptr").heatmap, "race: 1 element") == {2}
    assert outlined(launch.plot.accesses("out_ptr").heatmap, "race: 1 element") == {2}  # type: ignore[union-attr]
    sums = torch.arange(128.0).view(4, 32).sum(1).tolist()
    (race,) = (one for one in launch.findings if one.kind == "race")
    assert race.orders == tuple(f"If program ({who}, 0, 0) comes last, out_ptr[2] is {sums[who]}." for who in (0, 1))
    assert all(line in str(race) and line in Card(launch).text() for line in race.orders)


@triton.jit
def every_kernel(x_ptr, out_ptr, n, step, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK) * step
    x = tl.load(x_ptr + lane, mask=lane < n, other=0.0)
    tl.store(out_ptr + lane, x + tl.program_id(0), mask=lane < n)


@pytest.mark.parametrize("shape", [(900,), (30, 30), (4, 15, 15)])
def test_a_race_is_outlined_to_its_whole_extent_and_not_where_it_is_listed_alone(shape: tuple[int, ...]) -> None:
    launch = recorded(lambda: every_kernel[(3,)](torch.ones(800), torch.zeros(shape), 800, 1, BLOCK=1024))
    for tiling in (launch.plot.tiling("out_ptr"), launch.plot.accesses("out_ptr")):
        heatmap = tiling.heatmap  # type: ignore[union-attr]
        index = np.array(np.unravel_index(np.arange(800), shape)) + np.array(heatmap.layout.origin)[:, None]
        cells = heatmap.layout.cells_at(np.ravel_multi_index(tuple(index), heatmap.layout.shape))
        assert outlined(heatmap, "race: 800 elements") == set(cells.tolist())
    scene = launch.plot.accesses("out_ptr").scene()
    assert {layer["marks"][0][0] for layer in scene["layers"].values()} == {"race: 800 elements"}
    (race,) = (one for one in launch.findings if one.kind == "race")
    assert "2,400 lanes in all" in race.message and len(race.elements) == 100


def test_a_mark_in_more_places_than_can_be_told_apart_is_drawn_around_all_of_them(wording: Wording) -> None:
    launch = recorded(lambda: every_kernel[(3,)](torch.ones(4096), torch.zeros(4096), 4096, 3, BLOCK=2048))
    heatmap = launch.plot.tiling("out_ptr").heatmap
    (mark,) = heatmap.marks
    wording(mark.text, elements="1,366 elements")
    assert len(mark.runs) <= heatmap.layout.rows
    assert set(range(0, 4096, 3)) < outlined(heatmap, "race") <= set(range(4096))
    few = recorded(lambda: every_kernel[(3,)](torch.ones(500), torch.zeros(500), 500, 2, BLOCK=256))
    assert outlined(few.plot.tiling("out_ptr").heatmap, "race: 250 elements") == set(range(0, 500, 2))


def test_a_window_has_the_part_of_a_mark_that_lies_in_it() -> None:
    launch = recorded(lambda: every_kernel[(3,)](torch.ones(300), torch.zeros(2000, 2000), 300, 1, BLOCK=512))
    tiling = launch.plot.tiling("out_ptr")
    assert tiling.heatmap.layout.binned
    scene = tiling.part("tiling/out_ptr/window/0.0.280.40.40")
    ((told, found),) = scene["layers"][scene["layer"]]["marks"]
    assert told == "race" and found == [(0, 0, 280, 1, 20)]
    scene = launch.plot.accesses("out_ptr").part("accesses/out_ptr/window/0.0.280.40.40")
    assert scene["kind"] == "accesses" and scene["layers"][scene["layer"]]["marks"] == [("race", found)]


@triton.jit
def shift_kernel(x_ptr, out_ptr, n, LOADS_FIRST: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if LOADS_FIRST:
        x = tl.load(x_ptr + offsets + 1, mask=offsets + 1 < n, other=0.0)
        tl.store(x_ptr + offsets, x, mask=offsets < n)
    else:
        tl.store(x_ptr + offsets, offsets + 100.0, mask=offsets < n)
        x = tl.load(x_ptr + offsets + 1, mask=offsets + 1 < n, other=0.0)
    tl.store(out_ptr + offsets, x)


@pytest.mark.parametrize("loads_first", [True, False])
def test_a_race_of_a_load_and_a_store_tells_what_is_loaded_in_both_orders(wording: Wording, loads_first: bool) -> None:
    launch = recorded(lambda: shift_kernel[(4,)](torch.arange(64.0), torch.zeros(64), 64, loads_first, BLOCK=16))
    assert outlined(launch.plot.tiling("x_ptr").heatmap, "race: 3 elements") == {16, 32, 48}
    (race,) = (one for one in launch.findings if one.kind == "race")
    # One program after the other, in either order, is the oracle.
    found = {}
    for order in ((0, 1), (1, 0)):
        x = np.arange(64.0)
        for who in order:
            at = np.arange(16) + 16 * who
            if loads_first:
                loaded = x[at + 1]
                x[at] = loaded
            else:
                x[at] = at + 100.0
                loaded = x[at + 1]
            found[order, who] = loaded[-1]
    store, load = race.orders
    writer, reader = "program (1, 0, 0)", "program (0, 0, 0)"
    wording(store, "store first", writer=writer, reader=reader, value=found[(1, 0), 0], element="x_ptr[16]")
    wording(load, "load first", reader=reader, value=found[(0, 1), 0])
    assert all(line in str(race) and line in Card(launch).text() for line in race.orders)


@pytest.mark.parametrize("shape", [(40,), (5, 8)])
def test_births_of_nan_and_unwritten_reads_are_outlined_where_they_are(shape: tuple[int, ...]) -> None:
    x = torch.ones(shape)
    x.view(-1)[[3, 17, 39]] = 0
    launch = recorded(lambda: ratio_kernel[(2,)](x, torch.zeros(shape), 40, BLOCK=32))
    heatmap = launch.plot.tiling("out_ptr").heatmap
    cells = heatmap.layout.cells_at(np.array([3, 17, 39]))
    origin = launch.plot.tiling("out_ptr").cells.touches.origin
    assert origin == (0,) * len(shape)
    found = outlined(heatmap, "source of NaN or infinity: 3 elements")
    drawn = launch.plot.tiling("out_ptr").cells.touches.drawn
    index = np.array(np.unravel_index([3, 17, 39], shape))
    assert found == set(heatmap.layout.cells_at(np.ravel_multi_index(tuple(index), drawn)).tolist()), cells

    def unwritten() -> None:
        out = torch.empty(shape)
        out.view(-1)[:10] = 0
        more_kernel[(2,)](out, 40, BLOCK=32)

    tiling = recorded(unwritten).plot.tiling("out_ptr")
    found = outlined(tiling.heatmap, "read before it was written: 30 elements")
    index = np.array(np.unravel_index(np.arange(10, 40), shape))
    place = np.ravel_multi_index(tuple(index), tiling.cells.touches.drawn)
    assert found == set(tiling.heatmap.layout.cells_at(place).tolist())


def test_a_mark_is_drawn_as_an_outline_and_not_by_colour_alone() -> None:
    launch = recorded(lambda: total_kernel[(4,)](torch.arange(128.0), torch.zeros(5), BLOCK=32))
    tiling = launch.plot.tiling("out_ptr")
    before = paint(tiling.heatmap, tiling.heatmap.frame)
    figure = tiling.figure()
    figure.canvas.draw()
    drawn = np.asarray(figure.canvas.buffer_rgba())[..., :3]  # type: ignore[attr-defined]
    ink = (drawn == style.rgb(style.LIGHT.ink)).all(axis=2)
    # The longest dark upright line is as high as a cell, at least.
    assert ink.sum(axis=0).max() >= 2 * int(tiling.heatmap.frame.cell_height) and before.size


def test_words_are_cut_out_of_the_outlines_that_pass_below_them() -> None:
    x = torch.ones(8, 20)[:, :13]
    for lanes, marked in ((5, False), (128, True)):
        launch = recorded(lambda n=lanes: total_kernel[(1,)](x, torch.zeros(5), BLOCK=1 << (n - 1).bit_length()))
        view = launch.plot.storage()
        strip = view.strips[0]
        assert bool(strip.marks) is marked and [label.text for label in strip.labels] == [str(k) for k in range(160)]
        # Unit 153 is no element of the view, and stands in the strip alone.
        (own,) = (one for one in words(view.figure()) if one.text == "153")
        assert ("halo" in own.look) is marked


def test_programs_that_do_nothing_are_outlined_in_the_grid(wording: Wording) -> None:
    x = torch.arange(40.0) + 1
    launch = recorded(lambda: ratio_kernel[(5,)](x, torch.zeros(40), 40, BLOCK=16))
    assert [one.kind for one in launch.findings if one.kind == "idle-program"]
    grid = launch.plot.grid().heatmaps[0]
    assert outlined(grid, "2 programs") == {3, 4}
    wording(next(mark.text for mark in grid.marks if mark.text.startswith("2 programs")), programs="2 programs")


@triton.jit
def deep_kernel(x_ptr, width, BLOCK: tl.constexpr):
    column = tl.program_id(2) * BLOCK + tl.arange(0, BLOCK)
    row = tl.program_id(1) * tl.num_programs(0) + tl.program_id(0)
    tl.store(x_ptr + row * width + column, 1.0, mask=column < width)


def test_all_programs_that_do_nothing_are_outlined_with_what_they_share(wording: Wording) -> None:
    """240 of them; a finding lists the first hundred."""
    launch = recorded(lambda: deep_kernel[(12, 20, 5)](torch.zeros(240, 30), 30, BLOCK=8))
    (idle,) = (one for one in launch.findings if one.kind == "idle-program")
    wording(idle.message, place="z = 4", others="239 others", grid="1,200 programs")
    grid = launch.plot.grid().heatmaps[0]
    (mark,) = grid.marks
    assert outlined(grid, mark.text) == set(range(960, 1200))
    wording(mark.text, programs="240 programs", place="z = 4")


def test_the_grid_of_a_stopped_launch_says_where_its_programs_were(wording: Wording) -> None:
    grid = past().plot.grid()
    (stopped,) = grid.text().split("\n")[1:]
    wording(stopped, programs="4 programs", line=f"line {past().findings[0].line}")
    scene = grid.scene()
    assert np.frombuffer(scene["stopped"]["states"]["bytes"], np.uint8).tolist() == [1, 1, 1, 1]
    ended = recorded(lambda: ratio_kernel[(2,)](torch.ones(40), torch.zeros(40), 40, BLOCK=32))
    assert "stopped" not in ended.plot.grid().scene()


@triton.jit
def half_kernel(x_ptr, y_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if tl.program_id(0) > 0:
        x = tl.load(x_ptr + offsets)
        tl.store(out_ptr + offsets, x + tl.load(y_ptr + offsets))


def test_what_the_programs_did_before_the_stop_is_told_apart_from_having_done_nothing(wording: Wording) -> None:
    launch = recorded(lambda: half_kernel[(3,)](torch.ones(96), torch.ones(80), torch.zeros(96), BLOCK=32))
    states = launch.plot.grid().stopped
    assert states is not None and states.states.tolist() == [2, 1, 1]
    most = "(the maximum is 1.5 times the mean)"
    stopped, before = launch.plot.grid().text().split("\n")[1:3]
    wording(stopped, inside="2 programs", line=f"line {states.line}", idle="1 program")
    assert before == f"before that: 0 to 32 lanes {most}; 0 to 1 iteration {most}"


@triton.jit
def wraps_kernel(x_ptr, out_ptr, stride, BLOCK: tl.constexpr):
    at = tl.program_id(0) * 70000 * stride
    rows = 0
    for _ in range(0, tl.minimum(at, 2)):
        rows += 1
    tl.store(out_ptr + tl.program_id(0), rows)


def test_what_is_wrong_with_programs_alone_is_outlined_in_the_grid_which_opens(wording: Wording) -> None:
    launch = recorded(lambda: wraps_kernel[(4,)](torch.zeros(4), torch.zeros(4), 70000, BLOCK=16))
    (found,) = (one for one in launch.findings if one.kind == "overflow")
    assert found.argument is None and sorted(set(found.programs.tolist())) == [1, 2, 3]
    grid = launch.plot.grid()
    ((text, _),) = grid.scene()["marks"]
    assert outlined(grid.heatmaps[0], text) == {1, 2, 3}
    wording(text, programs="3 programs")
    card = Card(launch)
    assert card.first == "grid" and [name for name, _ in card.printed] == ["grid", "tiling"]
    assert Card(launch, ("storage",)).first == "storage"
    assert Card(recorded(lambda: ratio_kernel[(2,)](torch.ones(40), torch.zeros(40), 40, BLOCK=32))).first == "tiling"
