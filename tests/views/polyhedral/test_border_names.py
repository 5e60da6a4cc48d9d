"""Lines of borders end where the picture does, and their names cover as little as can be."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from triton_lab.views.polyhedral.border_labels import _cost, clip, place_lines
from triton_lab.views.polyhedral.iteration_picture import Border

BOX = (-2.0, -1.0, 6.0, 4.0)
NUMBERS = st.integers(-5, 5)


def border(*coefficients: float, constant: float) -> Border:
    """Where ``coefficients`` . (upward, rightward) + ``constant`` is 0."""
    return Border("S0", 0, 0, coefficients, constant, "")


def exact(across: int, up: int, constant: int) -> set[tuple[Fraction, Fraction]]:
    """Where the line ``across * x + up * y + constant = 0`` meets the frame of the box."""
    left, bottom, right, top = map(Fraction, BOX)
    found = set()
    if up:
        found |= {(x, -(across * x + constant) / up) for x in (left, right)}
    if across:
        found |= {(-(up * y + constant) / across, y) for y in (bottom, top)}
    return {(x, y) for x, y in found if left <= x <= right and bottom <= y <= top}


@given(NUMBERS, NUMBERS, st.integers(-30, 30))
def test_a_line_ends_where_it_meets_the_frame(across: int, up: int, constant: int) -> None:
    if not (across or up):
        return
    ends = clip(border(float(up), float(across), constant=float(constant)), BOX)
    expected = sorted(exact(across, up, constant))
    if ends is None:
        assert len(expected) < 2, "it passes outside, or touches a corner"
        return
    np.testing.assert_allclose(ends, np.array(expected, dtype=float), atol=1e-9)


@pytest.mark.parametrize(("constant", "there"), [(2, True), (-6, True), (0, True), (3, False), (-7, False)])
def test_along_a_side_of_the_frame_it_is_seen_and_beyond_it_is_not(constant: int, there: bool) -> None:
    ends = clip(border(0.0, 1.0, constant=float(constant)), BOX)
    assert (ends is not None) == there
    if ends is not None:
        np.testing.assert_allclose(ends, [(-constant, BOX[1]), (-constant, BOX[3])])
    upright = clip(border(1.0, 0.0, constant=1.0), BOX)  # along the lower side
    assert upright is not None
    np.testing.assert_allclose(upright, [(BOX[0], -1), (BOX[2], -1)])


def test_of_one_dimension_a_border_stands_upright() -> None:
    ends = clip(border(2.0, constant=-6.0), BOX)
    assert ends is not None
    np.testing.assert_allclose(ends, [(3, BOX[1]), (3, BOX[3])])


NOTHING = np.zeros((0, 2))
HERE = (1.0, 1.0, 3.0, 2.0)


def cost(points: object = NOTHING, lines: object = (), occupied: object = (), here: tuple[float, ...] = HERE) -> float:
    return _cost(here, BOX, np.array(points, dtype=float).reshape(-1, 2), lines, occupied)  # type: ignore[arg-type]


def test_where_nothing_stands_a_name_costs_nothing() -> None:
    assert cost() == 0
    away = [(0.7, 1.5), (3.3, 1.5), (2.0, 0.7), (2.0, 2.3)]
    assert cost(away) == 0
    beside = [(3.0, 1.0, 4.0, 2.0), (0.0, 1.0, 1.0, 2.0), (1.0, 2.0, 3.0, 3.0), (1.0, 0.0, 3.0, 1.0)]
    assert cost(occupied=beside) == 0, "what touches does not cover"
    around = [
        np.array([a, b])
        for a, b in (((0, 0), (0, 3)), ((0, 2.5), (4, 2.5)), ((3.5, 0), (3.5, 3)), ((0, 0.5), (4, 0.5)))
    ]
    assert cost(lines=around) == 0


@pytest.mark.parametrize(
    "point", [(1.1, 1.5), (2.9, 1.5), (2.0, 1.1), (2.0, 1.9), (0.9, 1.5), (3.1, 1.5), (2.0, 0.9), (2.0, 2.1)]
)
def test_a_point_under_a_name_or_close_to_it_costs(point: tuple[float, float]) -> None:
    assert cost([point]) > 0
    assert cost([point, point]) == pytest.approx(2 * cost([point]))


@pytest.mark.parametrize("side", range(4))
def test_what_hangs_out_of_the_room_for_names_costs_by_how_far(side: int) -> None:
    far = []
    for beyond in (0.0, 1.0, 2.0):
        shift = {
            0: (BOX[0] - 1 - beyond, 0),
            1: (0, BOX[1] - 1 - beyond),
            2: (BOX[2] - 3 + beyond, 0),
            3: (0, BOX[3] - 2 + beyond),
        }
        x, y = shift[side]
        far.append(cost(here=(1 + x, 1 + y, 3 + x, 2 + y)))
    assert far[0] == 0 and far[1] > 0 and far[2] == pytest.approx(2 * far[1])


def test_another_name_costs_by_how_much_of_it_is_covered() -> None:
    little, more, all_of_it = (cost(occupied=[(x, 1.0, x + 2, 2.0)]) for x in (2.5, 2.0, 1.0))
    assert 0 < little < more < all_of_it
    assert cost(occupied=[(1.0, 1.9, 3.0, 2.9)]) == pytest.approx(cost(occupied=[(1.0, 0.1, 3.0, 1.1)]))
    twice = [(2.0, 1.0, 4.0, 2.0), (0.0, 1.0, 2.0, 2.0)]
    assert cost(occupied=twice) == pytest.approx(sum(cost(occupied=[one]) for one in twice))


@pytest.mark.parametrize("line", [((0, 1.5), (4, 1.5)), ((2, 0), (2, 3)), ((0, 0), (4, 3)), ((1.2, 1.2), (2.8, 1.8))])
def test_a_line_through_a_name_costs_once(line: tuple[tuple[float, float], ...]) -> None:
    through = np.array(line, dtype=float)
    assert cost(lines=[through]) > 0
    assert cost(lines=[through, through]) == pytest.approx(2 * cost(lines=[through]))


def test_names_stand_on_the_side_that_is_left_out_clear_of_points_names_and_what_is_taken() -> None:
    box = (-1.0, -1.0, 8.0, 8.0)
    borders = [
        Border("S0", 0, 0, (0.0, 1.0), 0.0, "j ≥ 0"),
        Border("S0", 0, 1, (1.0, 0.0), 0.0, "i ≥ 0"),
        Border("S0", 0, 2, (-1.0, -1.0), 6.0, "i + j ≤ 6"),
        Border("S0", 0, 3, (1.0, 0.0), 40.0, "far away"),
    ]
    points = np.array([(x, y) for x in range(7) for y in range(7 - x)], dtype=float)
    taken = [(-1.0, -1.0, 3.0, -0.5)]
    letter = (0.2, 0.4)
    lines = place_lines(borders, box, (-4.0, -4.0, 11.0, 11.0), points, letter, taken)
    assert [line.border.name for line in lines] == ["j ≥ 0", "i ≥ 0", "i + j ≤ 6"]
    boxes = list(taken)
    for line in lines:
        x, y = line.label
        up, across = line.border.coefficients
        distance = (across * x + up * y + line.border.constant) / np.hypot(across, up)
        wide, high = len(line.border.name) * letter[0] / 2, letter[1] / 2
        reach = (abs(across) * wide + abs(up) * high) / np.hypot(across, up)
        assert -distance >= reach + 0.25 * letter[1] - 1e-9, "beyond its line, and clear of it"
        assert -distance <= reach + 0.5 * letter[1] + 1e-9, "and no farther off than it must be"
        within = (abs(points[:, 0] - x) < wide) & (abs(points[:, 1] - y) < high)
        assert not within.any()
        for left, bottom, right, top in boxes:
            assert x + wide <= left or x - wide >= right or y + high <= bottom or y - high >= top
        boxes.append((x - wide, y - high, x + wide, y + high))
        np.testing.assert_allclose(line.ends, clip(line.border, box))


def test_names_stand_clear_of_the_tiles_around_the_points() -> None:
    borders = [
        Border("S0", 0, 0, (0.0, 1.0), 0.0, "j ≥ 0"),
        Border("S0", 0, 1, (0.0, -1.0), 5.0, "j ≤ 5"),
        Border("S0", 0, 2, (1.0, 0.0), 0.0, "i ≥ 0"),
        Border("S0", 0, 3, (-1.0, 0.0), 5.0, "i ≤ 5"),
    ]
    points = np.array([(x, y) for x in range(6) for y in range(6)], dtype=float)
    tiles = [
        np.array([(low - 0.4, -0.4), (high + 0.4, -0.4), (high + 0.4, 5.4), (low - 0.4, 5.4)])
        for low, high in ((0, 2), (3, 5))
    ]
    letter = (0.2, 0.4)
    box, room = (-0.5, -0.5, 7.0, 7.0), (-2.0, -2.0, 8.0, 7.0)

    def crossed(outlines: list[np.ndarray]) -> list[str]:
        found = []
        for line in place_lines(borders, box, room, points, letter, outlines=outlines):
            (x, y), wide = line.label, len(line.border.name) * letter[0] / 2
            for left, right in ((-0.4, 2.4), (2.6, 5.4)):
                upright = any(abs(x - side) < wide for side in (left, right)) and y + 0.2 > -0.4 and y - 0.2 < 5.4
                level = any(abs(y - side) < 0.2 for side in (-0.4, 5.4)) and left < x + wide and x - wide < right
                if upright or level:
                    found.append(line.border.name)
        return found

    assert crossed([]), "nobody told of the tiles"
    assert crossed(tiles) == []
