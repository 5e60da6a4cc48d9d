"""Two results and what lies between them."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from triton_lab.launch.maps.difference import Difference as Model
from triton_lab.launch.maps.difference import as_numbers
from triton_lab.views.drawing import style
from triton_lab.views.drawing.values import NAN, PLUS_INFINITY
from triton_lab.views.launch.difference import Difference


def test_equal_results_say_so_nan_and_infinity_included() -> None:
    a = torch.tensor([1.0, float("nan"), float("inf")])
    view = Difference(a, a.clone(), "out")
    assert view.title() == "out (3): equal, every element"
    assert view.model.count == 0


def test_the_largest_difference_is_named_with_its_place() -> None:
    a = torch.arange(12.0).reshape(3, 4).t()
    b = a.clone()
    b[2, 1] += 0.5
    view = Difference(a, b, "out")
    assert view.text().splitlines() == [
        "out (4×3): 1 of 12 elements differ, by 0.5 at most",
        "most at out[2, 1]: GPU 6, CPU 6.5",
    ]
    delta = view.heatmaps[2]
    colours = delta.styles[delta.cells, 0].reshape(4, 3).astype(int) - style.DIVERGING
    expected = np.full((4, 3), style.DIVERGING_LEVELS // 2)
    expected[2, 1] = 0
    assert colours.tolist() == expected.tolist()


def test_nothing_but_zero_has_the_colour_of_zero() -> None:
    delta = Difference(torch.tensor([0.0, 1e-9, 1.0]), torch.zeros(3), "x").heatmaps[2]
    middle, small, large = delta.styles[delta.cells[:3], 0].tolist()
    assert middle < small < large


def test_nan_and_infinity_have_marks_of_their_own() -> None:
    view = Difference(torch.tensor([1.0, 2.0]), torch.tensor([float("nan"), float("inf")]), "x", ("left", "right"))
    right = view.heatmaps[1]
    assert [tuple(right.styles[cell].tolist()) for cell in right.cells[:2]] == [NAN, PLUS_INFINITY]
    assert "2 of them in NaN or infinity" in view.title()
    assert view.heatmaps[2].title == "left - right"


def test_a_cell_of_many_elements_shows_the_worst() -> None:
    a, b = torch.zeros(900, 700), torch.zeros(900, 700)
    b[450, 333] = 3.0
    view = Difference(a, b, "x")
    assert view.layout.binned
    assert 450 * 700 + 333 in view.worst.tolist()
    assert view.heatmaps[1].ramp == (style.SEQUENTIAL, style.LEVELS, 0.0, 3.0)


def test_integers_are_subtracted_exactly() -> None:
    a = np.array([2**53 + 1, -(2**60)], dtype=np.int64)
    assert Model(a, np.array([2**53, -(2**60) - 1], dtype=np.int64)).delta.tolist() == [1.0, 1.0]


def test_small_floats_and_booleans_become_numbers() -> None:
    assert as_numbers(torch.tensor([1.5], dtype=torch.bfloat16)).dtype == np.float32
    assert as_numbers(torch.tensor([1.5]).to(torch.float8_e5m2)).tolist() == [1.5]
    assert as_numbers(torch.tensor([True, False])).tolist() == [1, 0]


def test_shapes_must_agree() -> None:
    with pytest.raises(ValueError, match=r"shapes differ: \(2,\) and \(3,\)"):
        Difference(torch.zeros(2), torch.zeros(3), "x")


@pytest.mark.parametrize("shape", [(), (0, 3), (70000,), (3, 40, 50)])
def test_every_shape_has_a_picture(shape: tuple[int, ...]) -> None:
    view = Difference(torch.zeros(shape), torch.ones(shape), "x")
    assert view._repr_mimebundle_()[0]["image/png"]
    assert view.scene()["kind"] == "difference"
