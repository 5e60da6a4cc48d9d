"""Windows of single elements, against what each program's own addresses say."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from hypothesis import given, settings
from hypothesis import strategies as st

import triton_lab as lab
from triton_lab.views.drawing.cell_layout import CellLayout, layout
from triton_lab.views.drawing.picture_window import MOST_POSITIONS, Window, asked
from triton_lab.views.launch.accesses.accesses_view import Accesses
from triton_lab.views.launch.accesses.timeline_view import TimelineView
from triton_lab.views.launch.card.launch_card import Card
from triton_lab.views.launch.storage.storage_view import StorageView
from triton_lab.views.launch.tiling.tiling_view import Tiling

MANY = 300_000
ROWS, COLUMNS = 700, 900


@triton.jit
def scale(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + n - 1 - offsets, mask=mask)
    x += tl.load(x_ptr + offsets, mask=mask & (offsets % 3 == 0))
    tl.store(out_ptr + offsets, x, mask=mask)


@triton.jit
def transpose(x_ptr, out_ptr, rows, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = (row[:, None] < rows) & (column[None, :] < columns)
    x = tl.load(x_ptr + row[:, None] * columns + column[None, :], mask=mask)
    tl.store(out_ptr + column[None, :] * rows + row[:, None], x, mask=mask)


@cache
def line() -> Any:
    with lab.target("cpu"), lab.record() as launches:
        scale[(triton.cdiv(MANY, 1024),)](torch.rand(MANY), torch.empty(MANY), MANY, BLOCK=1024)
    return launches[0]


@cache
def plane() -> Any:
    grid = triton.cdiv(ROWS, 64), triton.cdiv(COLUMNS, 64)
    with lab.target("cpu"), lab.record() as launches:
        transpose[grid](torch.rand(ROWS, COLUMNS), torch.empty(COLUMNS, ROWS), ROWS, COLUMNS, BLOCK=64)
    return launches[0]


CASES = {"line": line, "plane": plane}


@cache
def touching(case: str, argument: str) -> dict[int, list[tuple[int, str]]]:
    """Each element's programs and kinds of access, lane by lane, from the addresses that were recorded."""
    found: dict[int, list[tuple[int, str]]] = {}
    for access in CASES[case]().accesses:
        if access.argument != argument:
            continue
        for turn in range(access.iterations):
            elements = access.element(iteration=turn)
            mask = np.broadcast_to(access.mask(turn), elements.shape)
            programs = np.broadcast_to(
                np.arange(len(elements)).reshape(-1, *(1,) * (elements.ndim - 1)), elements.shape
            )
            for element, program in zip(elements[mask].tolist(), programs[mask].tolist(), strict=True):
                found.setdefault(element, []).append((program, access.kind))
    return found


# All programs are looked at, as a card does where blocks are regular.
@cache
def tiling(case: str, argument: str) -> Tiling:
    return CASES[case]().plot.tiling(argument)  # type: ignore[no-any-return]


@cache
def accesses(case: str, argument: str) -> Accesses:
    return CASES[case]().plot.accesses(argument)  # type: ignore[no-any-return]


@cache
def storage(case: str) -> StorageView:
    return CASES[case]().plot.storage()  # type: ignore[no-any-return]


def array(packed: Any) -> Any:
    return np.frombuffer(packed["bytes"], dtype=np.dtype(packed["type"]).newbyteorder("<")).astype(np.int64)


def windows(fine: CellLayout) -> st.SearchStrategy[Window]:
    def of(panel: int, row: int, column: int, rows: int, columns: int) -> Window:
        return Window(panel, row, column, min(rows, fine.rows - row), min(columns, fine.columns - column))

    return st.builds(
        of,
        st.integers(0, fine.panels - 1),
        st.integers(0, fine.rows - 1),
        st.integers(0, fine.columns - 1),
        st.integers(1, 9),
        st.integers(1, 40),
    )


def elements_of(
    window: Window, drawn: Sequence[int], origin: Sequence[int], shape: Sequence[int], fine: CellLayout
) -> Any:
    """(positions,) the element (row-major) at each position, -1 where there is none."""
    at = window.positions(fine)
    index = np.stack(np.unravel_index(np.maximum(at, 0), tuple(drawn))) - np.array(origin)[:, None]
    inside = ((index >= 0) & (index < np.array(shape)[:, None])).all(axis=0) & (at >= 0)
    return np.where(inside, np.ravel_multi_index(tuple(np.where(inside, index, 0)), tuple(shape)), -1)


@settings(max_examples=25, deadline=None)
@given(data=st.data(), case=st.sampled_from(sorted(CASES)), argument=st.sampled_from(["x_ptr", "out_ptr"]))
def test_a_window_of_a_tiling_has_each_elements_programs(data: st.DataObject, case: str, argument: str) -> None:
    view = tiling(case, argument)
    shown = view.cells.layout
    window = data.draw(windows(shown.fine))
    scene = view.part(f"tiling/{argument}/window/{window.name}")
    assert scene["window"] == [window.panel, window.row, window.column, window.rows, window.columns]
    cells, class_of = array(scene["cells"]), array(scene["classOf"])
    starts, items = array(scene["starts"]), array(scene["items"])
    programs, truth = math.prod(scene["grid"]), touching(case, argument)
    found = view.touches
    elements = elements_of(window, found.drawn, found.origin, found.shape, shown.fine)
    for cell, element in zip(cells.tolist(), elements.tolist(), strict=True):
        if element < 0:
            continue
        assert cell > 0
        own = items[starts[class_of[cell]] : starts[class_of[cell] + 1]]
        loads, stores = own[own < programs], own[(own >= programs) & (own < 2 * programs)] - programs
        wanted = truth.get(element, [])
        assert set(loads.tolist()) == {program for program, kind in wanted if kind == "load"}
        assert set(stores.tolist()) == {program for program, kind in wanted if kind == "store"}


@settings(max_examples=25, deadline=None)
@given(data=st.data(), case=st.sampled_from(sorted(CASES)), argument=st.sampled_from(["x_ptr", "out_ptr"]))
def test_a_window_of_accesses_has_each_elements_lanes(data: st.DataObject, case: str, argument: str) -> None:
    view = accesses(case, argument)
    shown = view.layout
    window = data.draw(windows(shown.fine))
    scene = view.part(f"accesses/{argument}/window/{window.name}")
    cells, counts = array(scene["heatmap"]["cells"]), array(scene["counts"])
    starts, items = array(scene["starts"]), array(scene["items"])
    moments, programs, truth = len(scene["moments"]), math.prod(scene["grid"]), touching(case, argument)
    found = view.heat
    elements = elements_of(window, found.drawn, found.origin, found.shape, shown.fine)
    for cell, element in zip(cells.tolist(), elements.tolist(), strict=True):
        if element < 0:
            continue
        wanted = truth.get(element, [])
        assert counts[cell] == len(wanted)
        own = items[starts[cell] : starts[cell + 1]]
        told = {
            (item // moments, scene["moments"][item % moments][2]) for item in own[own < programs * moments].tolist()
        }
        assert told == set(wanted)


@settings(max_examples=15, deadline=None)
@given(data=st.data(), case=st.sampled_from(sorted(CASES)), what=st.sampled_from(["strip", "grid"]))
def test_a_window_of_storage_has_each_places_programs(data: st.DataObject, case: str, what: str) -> None:
    view = storage(case)
    argument = view.tensors[0].name
    shown = getattr(view, f"{what}s")[0].layout
    window = data.draw(windows(shown.fine))
    heatmap: Any = view.part(f"storage/{what}/0/window/{window.name}")["heatmap"]
    cells, of = array(heatmap["cells"]), array(heatmap["touched"]["of"])
    starts, items = array(heatmap["touched"]["starts"]), array(heatmap["touched"]["items"])
    moments, truth = len(heatmap["touched"]["moments"]), touching(case, argument)
    # The tensors are contiguous and alone in their storages: places and elements count alike.
    for cell, element in zip(cells.tolist(), window.positions(shown.fine).tolist(), strict=True):
        if element < 0:
            assert cell == 0
            continue
        own = items[starts[of[cell]] : starts[of[cell] + 1]]
        active = own[own < math.prod(CASES[case]().grid) * moments]
        assert set((active // moments).tolist()) == {program for program, _ in truth.get(element, [])}


@given(
    shape=st.one_of(
        st.tuples(st.integers(1, 3_000_000)),
        st.tuples(st.integers(1, 3000), st.integers(1, 3000)),
        st.tuples(st.integers(1, 5), st.integers(1, 700), st.integers(1, 700)),
    ),
    data=st.data(),
)
def test_a_windows_positions_lie_in_the_cells_over_them(shape: tuple[int, ...], data: st.DataObject) -> None:
    shown = layout(shape)
    fine = shown.fine
    window = data.draw(windows(fine))
    positions = window.positions(fine)
    row, column = np.divmod(np.arange(window.rows * window.columns), window.columns)
    row, column = row + window.row, column + window.column
    cell = (window.panel * shown.rows + row // shown.down) * shown.columns + column // shown.right
    there = positions >= 0
    assert (shown.cells_at(positions[there]) == cell[there]).all()
    assert len(np.unique(positions[there])) == there.sum()
    assert asked(f"it/window/{window.name}", "it", shown) == window


@pytest.mark.parametrize("name", ["it/window/0.0.0.1", "it/window/0.0.0.1.x", "other/window/0.0.0.1.1", "it/0.0.0.1.1"])
def test_what_is_no_window_is_refused(name: str) -> None:
    with pytest.raises(LookupError, match="no part"):
        asked(name, "it", layout((1_000_000,)))


@pytest.mark.parametrize("numbers", ["1.0.0.1.1", "0.0.0.0.5", "0.0.4000.1.200", f"0.0.0.200.{MOST_POSITIONS}"])
def test_a_window_outside_or_too_large_is_refused(numbers: str) -> None:
    with pytest.raises(LookupError, match=r"\bwindow\b"):
        asked(f"it/window/{numbers}", "it", layout((1_000_000,)))


def test_only_what_is_binned_is_asked_for_more() -> None:
    with lab.target("cpu"), lab.record() as launches:
        scale[(2,)](torch.rand(100), torch.empty(100), 100, BLOCK=64)
    small, large = launches[0].plot, line().plot
    assert "finer" not in small.tiling("x_ptr").scene() and not small.tiling("x_ptr").has_parts
    assert large.tiling("x_ptr").scene()["finer"] == "tiling/x_ptr" and large.tiling("x_ptr").has_parts
    assert large.accesses("x_ptr").scene()["finer"] == "accesses/x_ptr"  # type: ignore[typeddict-item]


def test_a_number_has_one_colour_in_the_whole_and_in_a_window() -> None:
    whole = accesses("line", "out_ptr")
    ends = whole.layer("program").ends
    assert ends == (0, triton.cdiv(MANY, 1024) - 1)
    for row in (0, 100):
        window = whole.through(Window(0, row, 0, 1, 3))
        assert window.layer("program").ends == ends and window.layer("order").ends == whole.layer("order").ends
        assert set(window.cells.by["program"][window.numbers].tolist()) == {row * whole.layout.fine.columns // 1024}
        in_whole = whole.layer("program").levels[whole.numbers[row * whole.layout.columns]]
        assert set(window.layer("program").levels[window.numbers].tolist()) == {int(in_whole)}


def test_a_card_makes_the_windows_of_all_its_pictures() -> None:
    card = Card(plane(), ("tiling",))
    origins: Any = card.part("origins")
    origin: Any = card.part(origins["items"][0]["name"])
    names = ["tiling/x_ptr", "accesses/out_ptr", "grid", "storage/strip/1", "storage/grid/0"]
    names += [origin["stored"]["finer"], origin["shown"]["pictures"][0]["finer"]]
    kinds = [card.part(f"{name}/window/0.3.5.7.11")["kind"] for name in names]
    assert kinds == ["tiling", "accesses", "accesses", *["window"] * 4]


def test_a_window_of_origins_has_the_elements_that_were_stored_and_loaded() -> None:
    view = plane().plot.origins()
    view = view.of(view.launch, view.store, 450 * ROWS + 300)
    row, column = divmod(view.element, ROWS)
    loaded: Any = view.part(f"{view.name}/{view.element}/x_ptr/window/0.{column - 1}.{row - 2}.3.5")
    cells = array(loaded["heatmap"]["cells"]).reshape(3, 5)
    assert (cells >= 3).tolist() == [[(r, c) == (1, 2) for c in range(5)] for r in range(3)]
    stored: Any = view.part(f"{view.name}/stored/window/0.{row}.{column}.2.2")
    assert array(stored["heatmap"]["cells"]).tolist() == [2, 2, 2, 2]


@given(st.data())
@settings(max_examples=15, deadline=None)
def test_a_window_of_a_timeline_has_each_access_and_element_apart(data: st.DataObject) -> None:
    whole = TimelineView(plane(), "out_ptr")
    fine = whole.cells.layout.fine
    row, column = data.draw(st.integers(0, fine.rows - 1)), data.draw(st.integers(0, fine.columns - 1))
    rows = data.draw(st.integers(1, min(20, fine.rows - row)))
    columns = data.draw(st.integers(1, min(500, fine.columns - column)))
    shown = whole.through(Window(0, row, column, rows, columns)).cells
    expected = np.zeros((rows, columns), np.int64)
    for number, (_, event) in enumerate(whole.cells.events[row : row + rows]):
        at = (event.addresses()[event.active()] - whole.argument.address) // whole.argument.itemsize
        for element in at[(at >= column) & (at < column + columns)].tolist():
            expected[number, element - column] += 1
    assert np.array_equal(shown.counts, expected)
    assert shown.column(0) == (column, column) and shown.moments[0].first == shown.moments[0].last == row
    scene = whole.part(f"timeline/out_ptr/window/0.{row}.{column}.{rows}.{columns}")
    assert scene["window"] == [0, row, column, rows, columns] and "finer" not in scene
