"""The timeline: counts against brute force over the access function, words, forms, bad requests."""

from __future__ import annotations

import inspect
import math
import re

import numpy as np
import pytest
import torch
import triton
import triton.language as tl

import triton_lab as lab
from tests.wordings import Wording
from triton_lab.interpreter.kernel_errors import KernelError
from triton_lab.launch.launch import Launch
from triton_lab.views.drawing import style
from triton_lab.views.launch.accesses.timeline_cells import COLUMNS, ROWS, bin_width
from triton_lab.views.launch.accesses.timeline_view import TimelineView


@triton.jit
def sweep_kernel(x_ptr, out_ptr, n, STEPS: tl.constexpr, BLOCK: tl.constexpr):
    program, lane = tl.program_id(0), tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for step in range(0, STEPS):
        offsets = (program * STEPS + step) * BLOCK + lane
        total += tl.load(x_ptr + offsets, mask=offsets < n, other=0.0)
    tl.store(out_ptr + program, tl.sum(total))


def launch(steps: int, n: int, programs: int = 3, block: int = 8) -> Launch:
    with lab.record() as launches:
        sweep_kernel[(programs,)](torch.ones(n), torch.zeros(programs), n, STEPS=steps, BLOCK=block)
    return launches[0]


def brute(steps: int, n: int, programs: list[int], right: int) -> np.ndarray:
    down = math.ceil(steps / ROWS)
    counts = np.zeros((math.ceil(steps / down), math.ceil(n / right)), int)
    for program in programs:
        for step in range(steps):
            for lane in range(8):
                element = (program * steps + step) * 8 + lane
                if element < n:
                    counts[step // down, element // right] += 1
    return counts


@pytest.mark.parametrize("program", [None, 1])
@pytest.mark.parametrize(("steps", "n"), [(4, 90), (4, 50), (100, 2000), (1, 24)])
def test_each_cell_counts_the_lanes_of_its_time_and_elements(steps: int, n: int, program: int | None) -> None:
    view = TimelineView(launch(steps, n), "x_ptr", program)
    programs = [0, 1, 2] if program is None else [program]
    assert view.cells.counts.tolist() == brute(steps, n, programs, view.cells.layout.right).tolist()


@pytest.mark.parametrize("n", [5, 96, 97, 1000])
def test_columns_part_the_elements_without_gaps(n: int) -> None:
    view = TimelineView(launch(2, n), "x_ptr")
    bounds = [view.cells.column(number) for number in range(view.cells.layout.columns)]
    assert [element for low, high in bounds for element in range(low, high + 1)] == list(range(n))
    assert len(bounds) <= COLUMNS


@pytest.mark.parametrize(
    ("elements", "borders", "width"),
    [
        (250, [0, 64, 128, 192, 250], 4),
        (3 * 96, [0, 100, 200], 4),
        (3 * 96, [0, 97, 194], 4),
        (3200, [0, 100, 200], 50),
        (3 * 96, [], 3),
        (97 * 30, [0, 97, 194], 97),
    ],
)
def test_columns_end_where_blocks_end(elements: int, borders: list[int], width: int) -> None:
    assert bin_width(elements, np.array(borders, np.int64)) == width


@pytest.mark.parametrize("n", [200, 250, 1000, 5000])
def test_no_column_has_elements_of_two_blocks(n: int) -> None:
    with lab.record() as launches:
        sweep_kernel[(n // 320 + 1,)](torch.ones(n), torch.zeros(n // 320 + 1), n, STEPS=5, BLOCK=64)
    view = TimelineView(launches[0], "x_ptr")
    assert view.cells.layout.binned and view.cells.layout.columns <= COLUMNS
    first, last = view.cells.owners
    assert (first == last).all(), "each element belongs to one program"
    assert all(view.cells.column(k)[0] // 64 == view.cells.column(k)[1] // 64 for k in range(view.cells.layout.columns))


def test_the_words_have_the_elements_of_the_accesses_and_not_of_the_columns() -> None:
    n = 37 * 30
    with lab.record() as launches:
        sweep_kernel[(10,)](torch.ones(n), torch.zeros(10), n, STEPS=4, BLOCK=32)
    view = TimelineView(launches[0], "x_ptr", 0)
    spans = [re.findall(r"\d+", line.split(": ")[1]) for line in view.text().splitlines()[1:]]
    assert spans == [["32", str(32 * step), str(32 * step + 31)] for step in range(4)]
    assert view.cells.layout.right > 1


def test_it_is_told_in_words() -> None:
    view = TimelineView(launch(2, 48), "x_ptr", 1)
    source, first = inspect.getsourcelines(sweep_kernel.fn)
    line = next(first + number for number, text in enumerate(source) if "tl.load" in text)
    assert view.text().splitlines() == [
        "x_ptr (48): accessed by program (1, 0, 0) over time",
        f"access 0 (load, line {line}): 8 lanes, elements 16 to 23",
        f"access 1 (load, line {line}): 8 lanes, elements 24 to 31",
    ]
    assert str(TimelineView(launch(96, 48), "x_ptr").cells.moments[1]) == f"accesses 2 to 3 (load, line {line})"


@pytest.mark.parametrize("name", ["x_ptr", "out_ptr"])
def test_every_form(name: str) -> None:
    view = TimelineView(launch(3, 60), name)
    data, _ = view._repr_mimebundle_()
    assert data["image/png"].startswith(b"\x89PNG")
    scene = view.scene()
    assert (len(scene["moments"]), len(scene["columns"])) == view.cells.counts.shape
    assert len(scene["counts"]["bytes"]) == 4 * view.cells.counts.size


@triton.jit
def strided_kernel(x_ptr, n, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    for step in range(3):
        at = tl.program_id(0) * BLOCK // 2 + step * 7 + lanes
        tl.store(x_ptr + at, 0.0, mask=at < n)


@pytest.mark.parametrize("n", [40, 500])
def test_each_cell_has_the_first_and_the_last_of_its_programs(n: int) -> None:
    with lab.record() as launches:
        strided_kernel[(n // 4,)](torch.ones(n), n, BLOCK=8)
    view = launches[0].plot.timeline()
    first, last = view.cells.owners
    right = view.cells.layout.right
    expected: dict[tuple[int, int], list[int]] = {}
    for program in range(n // 4):
        for step in range(3):
            for lane in range(8):
                at = program * 4 + step * 7 + lane
                if at < n:
                    expected.setdefault((step // view.cells.layout.down, at // right), []).append(program)
    for row in range(first.shape[0]):
        for column in range(first.shape[1]):
            whose = expected.get((row, column), [-1])
            assert (first[row, column], last[row, column]) == (min(whose), max(whose))
    looks = view.heatmap.styles[view.heatmap.cells].reshape(*first.shape, 4)
    assert ((looks[..., 3] == style.STRIPES) == (first < last)).all()
    assert (looks[..., 0] == np.where(first < 0, 0, style.program_colours(first.clip(0), (n // 4, 1, 1)))).all()


def test_a_card_has_one_for_each_argument_and_tells_how_they_begin() -> None:
    card = launch(12, 96 * 3).plot("timeline")
    assert card.scene()["opened"] == "timeline"
    assert [one["label"] for one in card.part("timeline")["items"]] == ["x_ptr", "out_ptr"]
    text = card.text()
    assert text.count("access 7 (load") == 1 and "access 8 (load" not in text
    assert re.search(r"\b4 more rows.*launch.plot.timeline\('x_ptr'\)", text)
    assert text.count("out_ptr (3): ") == 1 and "more row:" not in text
    with pytest.raises(LookupError, match="'timeline'"):
        card.panel("timeline").view(["timeline"])


def test_a_launch_that_touches_each_tensor_at_one_instant_has_none_and_says_so() -> None:
    card = launch(1, 24).plot("timeline")
    assert "timeline" not in {tab["name"] for tab in card.scene()["tabs"]}
    assert card.panel("timeline").absent in card.text()


@triton.jit
def idle_kernel(x_ptr):
    pass


def test_an_argument_that_nobody_touches(wording: Wording) -> None:
    with lab.record() as launches:
        idle_kernel[(2,)](torch.ones(4))
    view = TimelineView(launches[0], "x_ptr")
    wording(view.text().split("\n")[-1])
    assert view._repr_mimebundle_()[0]["image/png"]


@triton.jit
def stray_kernel(x_ptr, B: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, B), 1.0)


def test_an_argument_whose_first_access_stopped_the_launch() -> None:
    with lab.record() as launches, pytest.raises(KernelError):
        stray_kernel[(1,)](torch.ones(4), B=8)
    view = TimelineView(launches[0], "x_ptr")
    told = "the launch stopped at the first access to it"
    assert view.text().endswith(told) and view.scene()["nobody"] == told


def test_bad_requests_name_what_there_is() -> None:
    made = launch(2, 48)
    with pytest.raises(ValueError, match=r"number 3: .* has 3 programs"):
        TimelineView(made, "x_ptr", 3)
    with pytest.raises(ValueError, match="x_ptr, out_ptr"):
        TimelineView(made, "q")


@triton.jit
def changing_kernel(x_ptr, BLOCK: tl.constexpr):
    for step in range(3):
        at = (tl.program_id(0) * 3 + step) * BLOCK + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + at)
        tl.store(x_ptr + at, x + 1)
        tl.atomic_add(x_ptr + at, 1.0)


@pytest.mark.parametrize("programs", [1, 3])
def test_patterns_tell_kinds_of_accesses_apart(programs: int) -> None:
    with lab.record() as launches:
        changing_kernel[(programs,)](torch.ones(72), BLOCK=8)
    view = TimelineView(launches[0], "x_ptr")
    found = view.heatmap
    assert [moment.kinds for moment in view.cells.moments] == [("load",), ("store",), ("atomic",)] * 3
    looks = found.styles[found.cells].reshape(*view.cells.counts.shape, 4)
    for row in range(9):
        touched = view.cells.counts[row] > 0
        assert set(looks[row, touched, 3]) == {(style.PLAIN, style.HATCH, style.DOTS)[row % 3]}
        assert set(looks[row, ~touched, 3]) <= {style.PLAIN} and touched.sum() == programs * 8
    assert [key.style[3] for key in found.legend][-3:] == [style.PLAIN, style.HATCH, style.DOTS]
    groups = found.groups
    assert groups is not None and set(groups[found.cells].reshape(view.cells.counts.shape)[2].tolist()) == {0, 2}


def test_no_label_lies_across_the_border_of_two_kinds() -> None:
    with lab.record() as launches:
        doubling_kernel[(3,)](torch.ones(20), 20, STEPS=1, BLOCK=8)
    view = TimelineView(launches[0], "x_ptr")
    found = view.heatmap
    assert found.groups is not None
    groups = found.groups[found.cells].reshape(view.cells.counts.shape)
    assert sorted(one.text for one in found.labels) == ["0", "0", "1", "1", "2", "2"]
    for one in found.labels:
        assert len(set(groups[one.row : one.row + one.rows, one.column].tolist())) == 1


def test_accesses_of_one_kind_have_no_pattern() -> None:
    found = TimelineView(launch(2, 48), "x_ptr").heatmap
    assert set(found.styles[:, 3]) == {style.PLAIN} and found.groups is None


@triton.jit
def doubling_kernel(x_ptr, n, STEPS: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    for _ in range(STEPS):
        tl.store(x_ptr + offsets, 2 * tl.load(x_ptr + offsets, mask=offsets < n), mask=offsets < n)


@pytest.mark.parametrize("program", [None, 1])
def test_values_are_those_at_the_time_of_each_access(program: int | None) -> None:
    x = torch.arange(1.0, 21)
    with lab.record() as launches:
        doubling_kernel[(3,)](x.clone(), 20, STEPS=3, BLOCK=8)
    view = TimelineView(launches[0], "x_ptr", program)
    assert len(view.cells.events) == 6
    values = view.cells.values
    assert values is not None
    for row, (access, _event) in enumerate(view.cells.events):
        scale = 2 ** (row // 2 + (access.kind == "store"))
        assert values[row].tolist() == np.where(view.cells.counts[row] > 0, scale * x.numpy(), 0).tolist()
    assert "values" in view.scene()


def test_there_are_no_values_where_a_cell_stands_for_several_elements_or_atomics_are() -> None:
    view = TimelineView(launch(3, 200), "x_ptr")
    assert view.cells.layout.binned and view.cells.values is None
    assert "values" not in view.scene()
    assert TimelineView(launch(3, 20), "x_ptr").cells.values is not None
