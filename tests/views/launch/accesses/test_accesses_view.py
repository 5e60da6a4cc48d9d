"""The access heatmap: colours against the model, words, forms, bad requests."""

from __future__ import annotations

import numpy as np
import pytest

from tests.launch.fakes import FakeAccess, FakeArgument, FakeLaunch, tile
from triton_lab.launch.maps.heat import BY
from triton_lab.views.drawing import style
from triton_lab.views.drawing.raster import CHOSEN, DIMMED, NORMAL, paint
from triton_lab.views.launch.accesses.accesses_view import Accesses
from triton_lab.views.launch.tiling.tiling_layer import MASKED, UNTOUCHED

X = FakeArgument("x_ptr", (10, 12), (1, 16), offset=5)


def rows_and_columns() -> FakeLaunch:
    """3x2 programs load all columns of their 4 rows, 4 columns in each of 3 iterations, and store a tile."""
    load = tile(X, "load", 7, (3, 2, 1), (4, 4), lambda px, py, pz, i: (4 * px, 4 * i), iterations=3)
    store = tile(X, "store", 9, (3, 2, 1), (4, 4), lambda px, py, pz, i: (4 * px, 4 * py))
    return FakeLaunch((3, 2, 1), (X,), [load, store])


def looks(view: Accesses) -> np.ndarray:
    heatmap = view.heatmap
    return heatmap.styles[heatmap.cells].reshape(heatmap.layout.rows, heatmap.layout.columns, 4)


def test_an_iteration_has_a_colour_and_masked_lanes_their_hatch() -> None:
    launch = rows_and_columns()
    found = looks(Accesses(launch, launch.accesses[0], by="iteration"))
    assert found.shape[:2] == (12, 12)
    expected = style.SEQUENTIAL + (style.LEVELS - 1) * (np.arange(12) // 4) // 2
    assert (found[:10, :, 0] == expected).all()
    assert [tuple(look) for look in found[10:].reshape(-1, 4).tolist()] == [MASKED] * 24


def test_counts_of_all_accesses_of_an_argument() -> None:
    view = Accesses(rows_and_columns(), "x_ptr")
    assert [key.text for key in view.heatmap.legend] == ["2 times", "3 times", "masked lanes only"]
    assert "each 2 to 3 times (2.67 on average), by 2 programs, in 3 iterations" in view.text()


def test_reuse_and_words_in_the_regions() -> None:
    launch = rows_and_columns()
    view = Accesses(launch, launch.accesses[0], by="reuse")
    assert [label.text for label in view.heatmap.labels] == ["×2"]
    assert view.title().startswith("load of x_ptr (10×12) in line 7: ")


def test_picking_a_program_and_an_iteration_leaves_one_tile() -> None:
    launch = rows_and_columns()
    view = Accesses(launch, launch.accesses[0], program=5, iteration=1)
    levels = view.emphasis(5, 1)[view.heatmap.cells].reshape(12, 12)
    assert (levels[8:10, 4:8] == CHOSEN).all() and (levels[10:, 4:8] == NORMAL).all()
    levels[8:, 4:8] = DIMMED
    assert (levels == DIMMED).all()


def test_over_storage_rows_are_lines_and_rules_part_sectors() -> None:
    view = Accesses(rows_and_columns(), "x_ptr", over="storage")
    assert view.layout.columns % 32 == 0 and view.heatmap.rules == (8, 0)
    assert "sectors of 32 and 6 lines of 128" in view.text()
    painted = paint(view.heatmap, view.heatmap.frame)
    side = int(view.heatmap.frame.cell_width)
    middle = int(view.heatmap.frame.cell_height) // 2
    assert painted[middle, 8 * side].sum() < painted[middle, 9 * side].sum(), "a sector begins with a rule"


@pytest.mark.parametrize("over", ["shape", "storage"])
@pytest.mark.parametrize("by", BY)
def test_every_form_of_every_layer(by: str, over: str) -> None:
    view = Accesses(rows_and_columns(), "x_ptr", by=by, over=over, program=1)
    data, _ = view._repr_mimebundle_()
    assert data["image/png"].startswith(b"\x89PNG") and data["text/plain"] == view.text()
    assert set(view.scene()["layers"]) == set(BY)


@pytest.mark.parametrize("over", ["shape", "storage"])
@pytest.mark.parametrize("shape", [(), (0,), (0, 4), (2, 0, 3)])
def test_small_and_empty_arguments(shape: tuple[int, ...], over: str) -> None:
    x = FakeArgument("x", shape, tuple(1 for _ in shape))
    for grid in ((1, 1, 1), (0, 1, 1)):
        view = Accesses(FakeLaunch(grid, (x,), []), "x", over=over)
        assert view._repr_mimebundle_()[0]["image/png"]
        assert view.text().endswith("nothing touches x")


def test_untouched_elements_are_dotted() -> None:
    x = FakeArgument("x", (8,), (1,))
    load = tile(x, "load", 2, (1, 1, 1), (4,), lambda px, py, pz, i: (0,))
    found = looks(Accesses(FakeLaunch((1, 1, 1), (x,), [load]), "x")).reshape(-1, 4)
    assert [tuple(look) for look in found[4:].tolist()] == [UNTOUCHED] * 4


def test_bad_requests_name_what_there_is() -> None:
    launch = rows_and_columns()
    with pytest.raises(ValueError, match=r"count, program, iteration, reuse, order .*'colour'"):
        Accesses(launch, "x_ptr", by="colour")
    with pytest.raises(ValueError, match="shape, storage"):
        Accesses(launch, "x_ptr", over="memory")
    with pytest.raises(ValueError, match=r"'y';.* x_ptr"):
        Accesses(launch, "y")
    with pytest.raises(ValueError, match=r"number 6: .*\(3, 2, 1\) has 6 programs"):
        Accesses(launch, "x_ptr", program=6)


def test_an_access_of_no_argument_says_so() -> None:
    class Loose(FakeAccess):
        argument = None  # type: ignore[assignment]

    loose = Loose(X, "load", 4, [])
    with pytest.raises(ValueError, match=r"\bload in line 4\b"):
        Accesses(FakeLaunch((1, 1, 1), (X,), [loose]), loose)
