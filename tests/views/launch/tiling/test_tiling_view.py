"""The tiling picture: colours against brute force, forms, and bad requests."""

from __future__ import annotations

import io

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from PIL import Image

import triton_lab as lab
from tests.launch.fakes import FakeAccess, FakeArgument, FakeLaunch, tile
from tests.views.unpacking import unpacked
from tests.wordings import Wording
from triton_lab.views.drawing import style
from triton_lab.views.drawing.drawing import MARGIN
from triton_lab.views.drawing.heatmap_drawing import LEFT, TOP
from triton_lab.views.launch.tiling.tiling_layer import MASKED, OUTSIDE, UNTOUCHED
from triton_lab.views.launch.tiling.tiling_view import Tiling
from triton_lab.views.notebook_output import SCENE

PALETTE = style.palette()


def column_major_launch() -> FakeLaunch:
    """Tiles of 4x4 on a transposed (10, 12) argument, 3 x 2 programs: columns 8 to 11 stay untouched."""
    x = FakeArgument("x_ptr", (10, 12), (1, 16), offset=5)
    corner = lambda px, py, pz, i: (4 * px, 4 * py)  # noqa: E731
    return FakeLaunch((3, 2, 1), (x,), [tile(x, "store", 9, (3, 2, 1), (4, 4), corner)])


def looks(view: Tiling) -> np.ndarray:
    """(rows, columns, 4) the style of every cell."""
    heatmap = view.heatmap
    return heatmap.styles[heatmap.cells].reshape(heatmap.layout.rows, heatmap.layout.columns, 4)


def test_every_element_has_the_colour_of_its_program() -> None:
    view = Tiling(column_major_launch(), "x_ptr")
    found = looks(view)
    assert found.shape[:2] == (12, 12), "two rows of masked lanes hang over the lower edge"
    for row in range(12):
        for column in range(12):
            if column >= 8:
                expected = UNTOUCHED if row < 10 else (0, 0, 0, 0)
            elif row >= 10:
                expected = MASKED
            else:
                colour = int(style.program_colours(np.array([row // 4 + 3 * (column // 4)]), (3, 2, 1))[0])
                expected = (colour, colour, colour, style.PLAIN)
            assert tuple(found[row, column].tolist()) == expected


def test_the_figure_shows_what_the_model_says() -> None:
    view = Tiling(column_major_launch(), "x_ptr")
    data, metadata = view._repr_mimebundle_()
    picture = Image.open(io.BytesIO(data["image/png"])).convert("RGB")
    scale = picture.width / metadata["image/png"]["width"]
    seen = view.heatmap.frame
    for row, column in ((1, 1), (5, 2), (3, 5), (9, 7)):
        x = MARGIN + LEFT + (column + 0.75) * seen.cell_width
        y = MARGIN + 26 + TOP + (row + 0.75) * seen.cell_height
        assert picture.getpixel((round(x * scale), round(y * scale))) == tuple(PALETTE[looks(view)[row, column, 0]])


def test_a_view_is_live_static_and_text(wording: Wording) -> None:
    view = Tiling(column_major_launch(), "x_ptr")
    data, metadata = view._repr_mimebundle_()
    assert unpacked(data[SCENE]["scene"])["kind"] == view.widget.scene["kind"] == "tiling"
    assert data["image/png"].startswith(b"\x89PNG")
    assert data["text/plain"] == repr(view)
    words = data["text/plain"].split("\n")[1]
    wording(words, programs="6 programs", touched="80 elements", untouched="40 elements")
    assert set(metadata["image/png"]) == {"width", "height"}


def test_layers_are_those_that_the_kernel_has(wording: Wording) -> None:
    x = FakeArgument("x", (8,), (1,))
    load = tile(x, "load", 2, (2, 1, 1), (4,), lambda px, py, pz, i: (4 * px,))
    store = tile(x, "store", 3, (2, 1, 1), (2,), lambda px, py, pz, i: (2 * px,))
    both = Tiling(FakeLaunch((2, 1, 1), (x,), [load, store]), "x")
    assert both.layers == ("both", "loads", "stores")
    stores = Tiling(both.launch, "x", layer="stores").text().split("\n")[1]
    assert stores.count("4 elements by") == 2
    assert Tiling(FakeLaunch((2, 1, 1), (x,), [load]), "x").layers == ("loads",)
    *_, last = Tiling(FakeLaunch((2, 1, 1), (x,), []), "x").text().splitlines()
    wording(last, programs="2 programs", elements="8 elements")


def test_shared_elements_are_striped_and_stray_ones_crossed() -> None:
    x = FakeArgument("x", (10,), (1,))
    load = tile(x, "load", 2, (2, 1, 1), (8,), lambda px, py, pz, i: (4 * px,), masked=False)
    view = Tiling(FakeLaunch((2, 1, 1), (x,), [load]), "x")
    found = looks(view).reshape(-1, 4)
    assert found[4:8, 3].tolist() == [style.STRIPES] * 4
    assert [tuple(look) for look in found[10:12].tolist()] == [OUTSIDE] * 2
    assert [key.text for key in view.heatmap.legend][-2:] == ["several programs", "outside the argument"]
    assert "2 elements outside" in view.text()


def test_a_picked_program_stands_out_with_its_masked_lanes() -> None:
    view = Tiling(column_major_launch(), "x_ptr", program=2)
    levels = view.emphasis(2)[view.heatmap.cells].reshape(12, 12)
    assert (levels[8:10, :4] == 1).all() and (levels[10:, :4] == 0).all()
    assert (levels[:8] == 2).all()


def test_ten_thousand_programs_come_as_a_ramp() -> None:
    x = FakeArgument("x", (1000, 1000), (1000, 1))
    corner = lambda px, py, pz, i: (10 * px, 10 * py)  # noqa: E731
    view = Tiling(FakeLaunch((100, 100, 1), (x,), [tile(x, "load", 2, (100, 100, 1), (10, 10), corner)]), "x")
    heatmap = view.heatmap
    assert heatmap.ramp == (style.SEQUENTIAL, style.LEVELS, 0, 9999) and heatmap.groups is None
    assert heatmap.frame.width <= style.ROOM[0]
    grid = heatmap.styles[heatmap.cells, 0].reshape(heatmap.layout.rows, -1).astype(int)
    assert (np.diff(grid, axis=1) >= 0).all(), "programs go up to the right"


@pytest.mark.parametrize("shape", [(), (0,), (0, 4), (1,), (2, 0, 3)])
def test_small_and_empty_arguments(shape: tuple[int, ...]) -> None:
    x = FakeArgument("x", shape, tuple(1 for _ in shape))
    view = Tiling(FakeLaunch((1, 1, 1), (x,), []), "x")
    assert view._repr_mimebundle_()[0]["image/png"]


def test_bad_requests_name_what_there_is() -> None:
    launch = column_major_launch()
    with pytest.raises(ValueError, match=r"kernel .*'y'; .*: x_ptr"):
        Tiling(launch, "y")
    with pytest.raises(ValueError, match=r"number 6: .*\(3, 2, 1\) has 6 programs"):
        Tiling(launch, "x_ptr", program=6)
    with pytest.raises(ValueError, match=r"loads, stores, both"):
        Tiling(launch, "x_ptr", layer="all")


def test_the_words_count_every_element_once(wording: Wording) -> None:
    """Even columns are stored to, of which the mask holds back all but the first rows; odd ones belong to nobody."""
    x = FakeArgument("x_ptr", (6, 4), (4, 1))
    mask = np.zeros((2, 6, 2), np.bool_)
    mask[:, :2] = True
    mask[1, 2, 0] = True
    offsets = np.broadcast_to(4 * np.arange(6)[:, None] + 2 * np.arange(2), mask.shape)
    launch = FakeLaunch((2, 1, 1), (x,), [FakeAccess(x, "store", 9, [(offsets, mask)])])
    words = Tiling(launch, "x_ptr", layer="stores").text().splitlines()[1]
    counts = {"one": "1 element", "several": "4 elements", "masked": "7 elements", "untouched": "12 elements"}
    wording(words, programs="2 programs", **counts)


@triton.jit
def doubled_kernel(x_ptr, out_ptr, count_ptr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, 2 * tl.load(x_ptr + offsets))
    tl.atomic_add(count_ptr, 1)


def test_a_scene_has_the_values_that_a_double_or_a_large_integer_needs() -> None:
    for x in (torch.randn(32), torch.randn(32, dtype=torch.float64), torch.arange(32) + 2**40):
        out, count = torch.zeros_like(x), torch.zeros(1, dtype=torch.int32)
        with lab.record() as launches:
            doubled_kernel[(4,)](x, out, count, BLOCK=8)
        values = launches[0].plot.tiling("out_ptr").scene()["values"]
        assert np.array_equal(np.frombuffer(values["bytes"], values["type"]), out.numpy().astype(np.float64))
        updated = launches[0].plot.tiling("count_ptr")
        assert "values" not in updated.scene()  # an atomic returns what was there before
        assert "atomics" in updated.title()
        assert [label.text for label in updated.heatmap.labels] == ["×4"]
        assert [key for key in updated.heatmap.legend if "×" in key.text]
