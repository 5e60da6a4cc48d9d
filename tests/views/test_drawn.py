"""What holds of every static picture that is right: words can be read, and the figure holds all that is drawn."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Affine2D, Bbox

from tests.views.artists import Areas, Dots, Strokes, artists, size, words
from tests.views.pictures import PICTURES

TOUCHING = 1.5  # CSS pixels that boxes of words may share: letters do not fill them


@cache
def figure(name: str) -> Figure:
    return PICTURES[name]().figure()


def boxes(figure: Figure) -> list[tuple[str, Bbox]]:
    """All words and where they stand, in CSS pixels from the lower left corner."""
    renderer = figure.canvas.get_renderer()  # type: ignore[attr-defined]
    pixels = Affine2D().scale(96 / figure.dpi)
    texts = [one for one in figure.artists if isinstance(one, Text)]
    there = [text for text in texts if text.get_text().strip()]
    return [(text.get_text(), text.get_window_extent(renderer).transformed(pixels)) for text in there]


@pytest.mark.parametrize("name", PICTURES)
def test_no_words_overlap_or_leave_the_figure(name: str) -> None:
    found = boxes(figure(name))
    wide, high = size(figure(name))
    edges = np.array([box.extents for _, box in found])
    out = (edges[:, :2] < -TOUCHING).any(axis=1) | (edges[:, 2:] > np.array([wide, high]) + TOUCHING).any(axis=1)
    assert [found[k][0] for k in np.flatnonzero(out)] == []
    left, low, right, top = edges.T
    across = np.minimum(right[:, None], right) - np.maximum(left[:, None], left)
    along = np.minimum(top[:, None], top) - np.maximum(low[:, None], low)
    both = np.triu((across > TOUCHING) & (along > TOUCHING), 1)
    assert [(found[a][0], found[b][0]) for a, b in zip(*np.nonzero(both), strict=True)] == []


@pytest.mark.parametrize("name", PICTURES)
def test_nothing_is_drawn_outside_of_the_figure(name: str) -> None:
    limits = np.array(size(figure(name)))
    for one in artists(figure(name)):
        match one:
            case Strokes():
                shapes = one.lines
            case Areas():
                shapes = one.corners
            case Dots():
                shapes = (one.centres - one.radius, one.centres + one.radius)
            case _:
                continue
        for shape in shapes:
            assert (shape >= -0.5).all() and (shape <= limits + 0.5).all(), one


def test_words_are_read_back() -> None:
    assert {"Shape", "Stride"} <= {one.text for one in words(figure("card"))}
