"""The static picture as a palette PNG, against the pixels that matplotlib drew."""

from __future__ import annotations

import io

import numpy as np
import numpy.typing as npt
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from PIL import Image

from tests.launch.fakes import FakeArgument, FakeLaunch, tile
from triton_lab.views.drawing import style
from triton_lab.views.drawing.drawing import Circles, Drawing, DrawnText
from triton_lab.views.drawing.drawing_figure import figure_of
from triton_lab.views.drawing.png import SCALE, WIDEST, encoded, png
from triton_lab.views.launch.tiling.tiling_view import Tiling


def decoded(data: bytes) -> npt.NDArray[np.int64]:
    return np.asarray(Image.open(io.BytesIO(data)).convert("RGB")).astype(np.int64)


def drawn(drawing: Drawing) -> npt.NDArray[np.uint8]:
    """(height, width, 4)"""
    agg = figure_of(drawing).canvas
    assert isinstance(agg, FigureCanvasAgg)
    agg.draw()  # type: ignore[no-untyped-call]
    return np.array(agg.buffer_rgba())  # type: ignore[no-untyped-call]


def opaque(rgb: npt.NDArray[np.int64]) -> npt.NDArray[np.uint8]:
    return np.dstack([rgb, np.full(rgb.shape[:2], 255)]).astype(np.uint8)


@pytest.mark.parametrize("count", [1, 2, 16, 17, 256])
def test_up_to_256_colours_are_kept_exactly(count: int) -> None:
    colours = np.random.default_rng(count).choice(1 << 24, count, replace=False)
    numbers = colours[np.random.default_rng(0).integers(0, count, (37, 23))]
    rgb = np.stack([numbers & 255, numbers >> 8 & 255, numbers >> 16], axis=2)
    assert (decoded(encoded(opaque(rgb), 96)) == rgb).all()


def test_of_more_colours_the_flat_areas_are_kept_and_the_rest_is_near() -> None:
    shades = np.arange(900).reshape(30, 30)
    few = np.stack([shades % 256, shades // 4, shades * 7 % 256], axis=2)
    flat = np.repeat(np.array([[10, 200, 30], [250, 250, 250]]), 1000, axis=0).reshape(2, 1000, 3)
    seen = decoded(encoded(opaque(flat), 96)), decoded(encoded(opaque(few), 96))
    assert (seen[0] == flat).all()
    kept = {tuple(colour) for colour in seen[1].reshape(-1, 3).tolist()}
    assert len(kept) == 256
    distances = np.abs(few.reshape(-1, 1, 3) - np.array(sorted(kept))).astype(float) ** 2
    nearest = distances.sum(axis=2).min(axis=1)
    assert np.allclose(((seen[1] - few) ** 2).sum(axis=2).reshape(-1), nearest)


def test_a_figure_is_as_matplotlib_draws_it_in_a_fraction_of_the_bytes() -> None:
    x = FakeArgument("x_ptr", (40, 50), (1, 64), offset=3)
    access = tile(x, "load", 7, (5, 4, 1), (9, 13), lambda px, py, pz, i: (9 * px, 13 * py))
    figure = Tiling(FakeLaunch((5, 4, 1), (x,), [access]), "x_ptr").figure()
    plain = io.BytesIO()
    figure.savefig(plain, format="png", dpi=figure.dpi)
    ours = png(figure)
    apart = np.abs(decoded(ours) - decoded(plain.getvalue())).max(axis=2)
    assert apart.max() < 48 and (apart > 0).mean() < 0.02, "the edges of letters alone"
    assert len(ours) < 0.6 * len(plain.getvalue())
    assert Image.open(io.BytesIO(ours)).mode == "P"


def test_shades_of_edges_are_few_where_areas_are_flat() -> None:
    """Dots on a ramp's colours: these stay as they are, and what smooths the dots is packed in half the bytes."""
    places = np.random.default_rng(0).uniform(20, 460, (400, 2))
    fills = [style.hexadecimal(one) for one in style.ramp(("#fff5d6", "#7a0403"), 400).tolist()]
    pixels = drawn(Drawing(640, 480, [Circles(places, 6, fills, "#333333", 1, np.arange(400))]))
    seen = Image.open(io.BytesIO(encoded(pixels, 96)))
    colours = len(seen.getcolors() or ())
    assert colours < 256
    ours, there = np.asarray(seen.convert("RGB")).astype(int), pixels[..., :3].astype(int)
    flat = (there[1:-1, 2:] == there[1:-1, 1:-1]).all(2) & (there[1:-1, :-2] == there[1:-1, 1:-1]).all(2)
    assert np.abs(ours - there)[1:-1, 1:-1][flat].mean() < 0.5
    assert np.sqrt(((ours - there) ** 2).sum(axis=2)).max() < 48


def test_dots_look_alike_wherever_they_stand() -> None:
    places, grey = np.array([[10.1, 20.2], [60.37, 20.2], [110.21, 20.2]]), ["#808080"]
    pixels = drawn(Drawing(200, 40, [Circles(places, 6, grey, "#333333", 1, np.zeros(3, dtype=np.int64))]))
    dots = [pixels[:, 2 * x - 18 : 2 * x + 18] for x in (10, 60, 110)]
    first, *others = (dot[:, np.flatnonzero((dot != 255).any(axis=(0, 2)))] for dot in dots)
    assert all((first == other).all() for other in others)


def test_a_wide_picture_has_no_more_pixels_than_are_shown() -> None:
    assert drawn(Drawing(900, 10)).shape[1] == 900 * SCALE == WIDEST
    wide = drawn(Drawing(2400, 100))
    assert wide.shape[1] == WIDEST and wide.shape[0] == 75


@pytest.mark.parametrize("width", [800, 1300, 1600, 1900, 2400, 3000])
@pytest.mark.parametrize("mono", [False, True])
def test_words_are_as_wide_as_they_are_said_to_be(width: int, mono: bool) -> None:
    text = DrawnText(
        20, 20, "llvm.mlir.constant 0 → 41, llvm.extractvalue 0 → 38, llvm.mlir.undef", style.SMALL, mono=mono
    )
    pixels = drawn(Drawing(width, 40, [text]))
    columns = np.flatnonzero((pixels[..., :3] != 255).any(axis=(0, 2)))
    scale = pixels.shape[1] / width
    assert 0.95 * text.wide < (columns[-1] - columns[0]) / scale < text.wide + 1


def test_a_letter_that_no_font_has_is_a_box_without_a_warning(recwarn: pytest.WarningsRecorder) -> None:
    drawn(Drawing(60, 20, [DrawnText(10, 10, "\U0010fffd", style.SMALL)]))
    assert not list(recwarn)
