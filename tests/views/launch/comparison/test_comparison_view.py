"""A comparison as a picture: its numbers against brute force, in every form."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import triton_lab as lab
from tests.launch.comparison.kernels import added_up, copied, exponential, recorded
from tests.launch.comparison.slips import SLIPS
from tests.launch.comparison.two_slips import TWOS
from tests.wordings import Wording
from triton_lab.launch.comparison.experiment import TELLING
from triton_lab.launch.launch import Launch
from triton_lab.views.drawing import style
from triton_lab.views.launch.comparison.causes_view import briefly
from triton_lab.views.launch.comparison.comparison_view import ComparisonView


def shifted(size: int = 64, block: int = 32) -> Launch:
    x = torch.arange(size) + 1.0
    return recorded(lambda: copied[(size // block,)](x, torch.zeros(size), BLOCK=block, SHIFT=0))


def test_the_table_names_the_worst_of_each_kind() -> None:
    expected = torch.arange(64) + 1.0
    expected[40], expected[3], expected[5] = 43.0, float("nan"), float("inf")
    view = lab.compare(shifted(), expected).plot()
    assert view.title() == "copied (CPU) and expected differ"
    (row,) = view.table()
    assert row[:5] == ("out_ptr", "float32", "different", "3 of 64", "2")
    assert row[7:] == ("1", "1")
    assert "out_ptr[40]" in view.text()


def test_errors_are_drawn_in_units_and_by_program() -> None:
    expected = (torch.arange(64) + 1.0).numpy()
    expected[40] = np.nextafter(expected[40], np.float32(100))
    picture = ComparisonView(lab.compare(shifted(), torch.from_numpy(expected))).pictures[0]
    assert picture.unit == "ulp" and picture.heatmaps[2].title == "error, in ulp"
    assert picture.errors(picture.one.a, picture.one.b).tolist() == [-1.0 if k == 40 else 0.0 for k in range(64)]
    assert picture.programs.tolist() == [0] * 32 + [1] * 32
    grid = picture.by_program
    assert grid is not None and grid.ramp is not None and grid.ramp[2:] == (0.0, 1.0)
    colours = grid.styles[grid.cells, 0].astype(int) - style.SEQUENTIAL
    assert colours[:2].tolist() == [0, style.LEVELS - 1]


def test_a_program_that_stored_nan_has_the_colour_of_nan() -> None:
    expected = torch.arange(64) + 1.0
    expected[40] = float("nan")
    picture = lab.compare(shifted(), expected).plot().pictures[0]
    grid = picture.by_program
    assert grid is not None
    looks = grid.styles[grid.cells, 0].tolist()
    assert looks[1] == style.NAN and style.PLUS_INFINITY not in looks
    error = picture.heatmaps[2]
    assert style.NAN in error.styles[error.cells, 0].tolist(), "as in the picture of the errors"


def test_units_are_left_where_they_say_less() -> None:
    whole = ComparisonView(lab.compare(shifted(), torch.zeros(64)))
    assert whole.pictures[0].unit == ""
    near_zero = recorded(lambda: exponential[(1,)](torch.zeros(32), torch.empty(32), BLOCK=32))
    expected = torch.ones(32)
    expected[0] = 1.5
    assert lab.compare(near_zero, expected).plot().pictures[0].unit == ""


def test_the_argument_asked_for_is_shown_first() -> None:
    comparison = lab.compare(shifted(), shifted())
    view = comparison.plot("x_ptr")
    assert view.pictures[view.open].one.name == "x_ptr"
    with pytest.raises(KeyError, match=r"z_ptr .*out_ptr, x_ptr"):
        comparison.plot("z_ptr")


def test_programs_that_nobody_knows_are_left_out() -> None:
    picture = lab.compare(shifted(32), shifted(32)).plot().pictures[0]
    assert picture.by_program is None
    atomic = recorded(lambda: added_up[(2,)](torch.ones(64), torch.zeros(4), BLOCK=32))
    assert lab.compare(atomic, torch.zeros(4)).plot().pictures[0].by_program is not None


@pytest.mark.parametrize("size", [32, 1 << 16])
def test_it_shows_itself_in_every_form(size: int) -> None:
    comparison = lab.compare(shifted(size), torch.zeros(size))
    bundle = comparison._repr_mimebundle_()[0]
    assert bundle["image/png"] and bundle["text/plain"].startswith("copied (CPU) and expected differ")
    assert comparison.plot().scene()["kind"] == "comparison"


def test_the_cause_stands_first_and_what_it_is_instead_among_the_lines(wording: Wording) -> None:
    """In the scene, in the picture's pieces, and once in words."""
    slip = next(slip for slip in SLIPS if slip.kind == "divisor")
    view = lab.compare(recorded(slip.run), slip.right).plot()
    scene = view.scene()
    wording(scene["cause"].partition(" (line ")[0], parameter="n", block="BLOCK")
    assert not any("divided by" in line for line in scene["lines"])
    assert view.text().count("instead of BLOCK") == 1
    other = lab.compare(recorded(slip.run), slip.right * 2 + 1).plot().scene()
    assert "cause" not in other and any(line.startswith("no cause") for line in other["lines"])


def test_of_two_slips_each_stands_on_a_line_of_its_own(wording: Wording) -> None:
    two = next(two for two in TWOS if two.name == "added: MASK and SIGN")
    comparison = lab.compare(recorded(two.run), two.right)
    comparison.causes(60.0)
    scene, (mask,), (sign,) = comparison.plot().scene(), two.lines("MASK"), two.lines("SIGN")
    wording(scene["cause"], elements="300 of 300 elements")
    first, second = scene["lines"][:2]
    wording(first, number=1, change="+ instead of -", line=f"(line {sign})", part="out_ptr[:290]")
    wording(second, number=2, line=f"line {mask}", part="nothing")


def test_of_many_experiments_a_picture_has_those_that_say_something() -> None:
    two = next(two for two in TWOS if two.name == "layer_norm: MEAN and MASK")
    comparison = lab.compare(recorded(two.run), two.right)
    rows = comparison.causes(60.0).table()
    brief = briefly(rows)
    assert len(rows) > 40 and len(brief) <= 9
    says = [row for row in rows if row[-1] in TELLING]
    assert says and all(row in brief for row in says) and brief[-1][0] == f"{len(rows) - len(brief) + 1} others"
    assert len(comparison.plot().scene()["causes"]) == len(rows)
    assert briefly(rows[:8]) == rows[:8]
