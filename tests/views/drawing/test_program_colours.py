"""The colours of programs: told apart by everybody, on both grounds, and in order where they are many."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from triton_lab.views.drawing import style

Floats = npt.NDArray[np.float64]

# How linear red, green and blue are seen: Machado, Oliveira and Fernandes, "A Physiologically-based Model for
# Simulation of Color Vision Deficiency", 2009, the matrices of severity 1.
SIGHTS = {
    "full": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}
# sRGB to XYZ (IEC 61966-2-1), and its white.
XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)
WHITE = np.array([0.95047, 1.0, 1.08883])


def lab(colours: npt.ArrayLike, sight: str) -> Floats:
    """CIELAB (..., 3) of sRGB colours from 0 to 255, as somebody of that sight sees them."""
    parts = np.asarray(colours) / 255
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    seen = np.clip(linear @ SIGHTS[sight].T, 0, 1) @ XYZ.T / WHITE
    f = np.where(seen > 216 / 24389, np.cbrt(seen), (24389 / 27 * seen + 16) / 116)
    return np.stack([116 * f[..., 1] - 16, 500 * (f[..., 0] - f[..., 1]), 200 * (f[..., 1] - f[..., 2])], axis=-1)


def distance(one: Floats, other: Floats) -> Floats:
    """CIEDE2000 between CIELAB colours (Sharma, Wu and Dalal, 2005)."""
    (l1, a1, b1), (l2, a2, b2) = np.moveaxis(one, -1, 0), np.moveaxis(other, -1, 0)
    chroma = (np.hypot(a1, b1) + np.hypot(a2, b2)) / 2
    g = (1 - np.sqrt(chroma**7 / (chroma**7 + 25.0**7))) / 2
    c1, c2 = np.hypot((1 + g) * a1, b1), np.hypot((1 + g) * a2, b2)
    h1, h2 = np.degrees(np.arctan2(b1, (1 + g) * a1)) % 360, np.degrees(np.arctan2(b2, (1 + g) * a2)) % 360
    turn = np.where(c1 * c2 == 0, 0, (h2 - h1 + 180) % 360 - 180)
    hue = 2 * np.sqrt(c1 * c2) * np.sin(np.radians(turn) / 2)
    light, strong, both = (l1 + l2) / 2, (c1 + c2) / 2, h1 + h2
    middle = np.where(abs(h1 - h2) <= 180, both / 2, np.where(both < 360, (both + 360) / 2, (both - 360) / 2))
    middle = np.where(c1 * c2 == 0, both, middle)
    t = 1 - 0.17 * np.cos(np.radians(middle - 30)) + 0.24 * np.cos(np.radians(2 * middle))
    t += 0.32 * np.cos(np.radians(3 * middle + 6)) - 0.2 * np.cos(np.radians(4 * middle - 63))
    by_light = (l2 - l1) / (1 + 0.015 * (light - 50) ** 2 / np.sqrt(20 + (light - 50) ** 2))
    by_chroma, by_hue = (c2 - c1) / (1 + 0.045 * strong), hue / (1 + 0.015 * strong * t)
    blue = (
        2 * np.sqrt(strong**7 / (strong**7 + 25.0**7)) * np.sin(np.radians(60 * np.exp(-(((middle - 275) / 25) ** 2))))
    )
    return np.asarray(np.sqrt(by_light**2 + by_chroma**2 + by_hue**2 - blue * by_chroma * by_hue))


def test_the_distance_is_that_of_the_published_examples() -> None:
    """Pairs 1, 7, 10 and 17 of the table that Sharma, Wu and Dalal give for testing."""
    pairs = [
        ((50, 2.6772, -79.7751), (50, 0, -82.7485), 2.0425),
        ((50, 0, 0), (50, -1, 2), 2.3669),
        ((50, 2.49, -0.001), (50, -2.49, 0.0011), 7.2195),
        ((50, 2.5, 0), (73, 25, -18), 27.1492),
    ]
    for one, other, expected in pairs:
        assert float(distance(np.array(one, float), np.array(other, float))) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("sight", SIGHTS)
def test_a_dozen_programs_are_told_apart_by_everybody_on_both_grounds(sight: str) -> None:
    colours = lab([style.rgb(one) for one in style.PROGRAM_COLOURS], sight)
    assert len(colours) == 12
    one, other = np.triu_indices(len(colours), 1)
    assert distance(colours[one], colours[other]).min() >= 13
    for theme in (style.LIGHT, style.DARK):
        for ground in (theme.ground, theme.untouched, theme.masked):
            assert distance(colours, lab(style.rgb(ground), sight)).min() >= 13, ground


@pytest.mark.parametrize("sight", SIGHTS)
def test_the_scale_of_many_grows_lighter_without_turning_back(sight: str) -> None:
    ramp = style.palette()[style.SEQUENTIAL : style.SEQUENTIAL + style.LEVELS]
    colours = lab(ramp, sight)
    steps = np.diff(colours[:, 0])
    assert (steps > 0).all()
    for theme in (style.LIGHT, style.DARK):
        assert distance(colours, lab(style.rgb(theme.ground), sight)).min() >= 12
    if sight == "full":
        assert steps.max() < 2 * steps.min()
        even = distance(colours[1:], colours[:-1])
        assert even.max() < 2.5 * even.min()


grids = st.tuples(st.integers(1, 40), st.integers(1, 9), st.integers(1, 5))


@given(grids)
def test_a_program_has_a_colour_of_its_own_or_its_place_on_the_scale(grid: tuple[int, int, int]) -> None:
    count = grid[0] * grid[1] * grid[2]
    found = style.program_colours(np.arange(count), grid)
    if count <= style.LEVELS:
        assert len(set(found.tolist())) == count
    if count <= 12:
        assert found.tolist() == list(range(style.PROGRAM, style.PROGRAM + count))
    else:
        assert (np.diff(found) >= 0).all(), "by launch order"
        assert (found[0], found[-1]) == (style.SEQUENTIAL, style.SEQUENTIAL + style.LEVELS - 1)
        assert abs(found - style.SEQUENTIAL - np.arange(count) * (style.LEVELS - 1) / (count - 1)).max() < 1
