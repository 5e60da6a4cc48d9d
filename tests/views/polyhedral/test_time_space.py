"""The transformed space beside the domain: where visits stand in time, tiles, and what happens at once."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from playwright.sync_api import Browser, expect

from tests.polyhedral.random_nests import RandomNest, random_nests
from tests.views.polyhedral.test_live import Open, show, spot, step  # noqa: F401 - `show` is a fixture
from triton_lab.polyhedral import Schedule, scop
from triton_lab.polyhedral.related_work import page_nests
from triton_lab.polyhedral.visit_times import timing
from triton_lab.views.polyhedral.iteration_picture import picture
from triton_lab.views.polyhedral.iteration_view import iteration_view
from triton_lab.views.polyhedral.time_space import time_picture


def _diagonals(n: int = 6) -> Schedule:
    return scop(page_nests.WAVEFRONT, n=n).schedule.skew("j", "i").interchange("i", "j").parallel("i")


def test_the_diagonals_of_a_wavefront_are_instants() -> None:
    assert not picture(_diagonals().scop.schedule).fronts  # in the order of the source nothing happens at once
    shown = picture(_diagonals())
    points = shown.layers[0].points[shown.visits[:, 1]]
    assert [set(points[front].sum(axis=1).tolist()) for front in shown.fronts] == [{s} for s in range(3, 10)]
    assert len(np.unique(shown.instants)) == 9


def test_in_time_the_diagonals_are_rows() -> None:
    schedule = _diagonals()
    time = time_picture(schedule, picture(schedule, dependences="value"))
    assert time.dims == ("j", "i")
    points = schedule.order().points
    want = np.stack([points.sum(axis=1), points[:, 0]], axis=1)
    assert time.layers[0].points.tolist() == want.tolist()
    (one, other) = time.arrows
    for arrows in (one, other):  # a legal order: all arrows go up
        assert (arrows.ends[:, 1, 0] > arrows.ends[:, 0, 0]).all()


def test_a_tie_of_a_singular_schedule_is_an_instant() -> None:
    fronts = scop(page_nests.WAVEFRONT, n=4).schedule.matrix([[1, 1]])
    assert [len(front) for front in picture(fronts).fronts] == [2, 3, 2]


def test_tiles_are_outlined_in_the_domain_and_in_time() -> None:
    schedule = scop(page_nests.TRANSPOSE, n=6).schedule.tile({"i": 2, "j": 3})
    domain = picture(schedule)
    corners = {(*tile.min(axis=0).round(2).tolist(), *tile.max(axis=0).round(2).tolist()) for tile in domain.tiles}
    assert corners == {(2 * a - 0.42, 3 * b - 0.42, 2 * a + 1.42, 3 * b + 2.42) for a in range(3) for b in range(2)}
    time = time_picture(schedule, domain)
    assert time.dims == ("io, jo", "ii, ji")
    assert [tile[:, 0].mean().round() for tile in time.tiles] == list(range(6))
    assert not picture(scop(page_nests.TRANSPOSE, n=6).schedule).tiles


def test_tiles_of_a_skewed_nest_lean() -> None:
    schedule = scop(page_nests.SKEWED, n=8).schedule.skew("j", "i").tile({"i": 2, "j": 3})
    assert any(len(tile) > 4 for tile in picture(schedule).tiles)


def test_statements_without_a_dimension_are_in_time() -> None:
    schedule = scop(page_nests.MATMUL, n=3).schedule.parallel("y")
    domain = picture(schedule)
    time = time_picture(schedule, domain)
    assert [layer.statement for layer in time.layers] == ["S1", "S0"]  # those of the domain first, in its colours
    assert [len(layer.points) for layer in time.layers] == [27, 9]
    assert time.dims == ("y", "x, sequence, k")
    for front in time.fronts:
        layers, points = time.visits[front].T
        across = {int(time.layers[a].points[p, 1]) for a, p in zip(layers, points, strict=True)}
        assert len(across) == 1 and len(front) == 3


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(random_nests(), st.integers(1, 4))
def test_time_is_read_as_it_runs(nest: RandomNest, n: int) -> None:
    """Of a random nest, each visit stands after the one before: higher, or as high and further to the right."""
    found = scop(nest.text)
    schedule = found.bind(**dict.fromkeys(found.parameters, n)).schedule
    assume(any(s.iterators for s in found.statements) and len(schedule.order()) > 1)
    time = time_picture(schedule, picture(schedule))
    places = [tuple(time.layers[a].points[p].tolist()) for a, p in time.visits]
    assert places == sorted(places)
    assert len(set(places)) == len(places)
    instants = timing(schedule).instants.tolist()
    assert len(set(instants)) == len(instants)


def test_the_source_stands_alone_and_a_new_order_beside_its_time() -> None:
    plain = scop(page_nests.WAVEFRONT, n=5)
    assert iteration_view(plain).scene()["time"] is None
    assert iteration_view(plain, time=True).scene()["time"]["dims"] == ["i", "j"]
    view = iteration_view(plain.schedule.interchange("i", "j"))
    assert view.scene()["time"]["dims"] == ["j", "i"]
    assert iteration_view(view.schedule, time=False).time is None
    assert view.figure().get_size_inches()[0] > iteration_view(view.schedule, time=False).figure().get_size_inches()[0]
    assert "instants: 9 for 25 visits" in iteration_view(_diagonals()).text()


@pytest.mark.browser
def test_pointing_at_one_picture_lights_up_the_other(show: Open, browser: Browser) -> None:  # noqa: F811
    del browser
    view = iteration_view(scop(page_nests.PAGE).schedule.interchange("i", "j"))
    page = show(view)
    stages, told = page.locator(".tl-domain-stage"), page.locator(".tl-domain-told")
    expect(stages).to_have_count(2)
    painted = """n => {
      const canvas = document.querySelectorAll('.tl-domain-stage')[n].querySelectorAll('canvas')[1];
      return canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.some((v) => v > 0);
    }"""
    assert not page.evaluate(painted, 1)
    stages.first.hover(position=spot(view, 2, 4))
    expect(told).to_contain_text("S0(2, 4), visit 12 of 12")
    assert page.evaluate(painted, 0) and page.evaluate(painted, 1)
    page.mouse.move(5, 5)
    assert not page.evaluate(painted, 0) and not page.evaluate(painted, 1)
    box = stages.last.bounding_box()
    assert box is not None
    # The highest point in time is the last visit: j = 4, i = 2.
    left, down, unit, _radius = view.scene()["time"]["frame"]
    stages.last.hover(position={"x": left + 2 * unit, "y": down - 4 * unit})
    expect(told).to_contain_text("S0(2, 4), visit 12 of 12")
    assert page.evaluate(painted, 0) and page.evaluate(painted, 1)


@pytest.mark.browser
def test_what_happens_at_once_is_one_step(show: Open) -> None:  # noqa: F811
    page = show(iteration_view(_diagonals()))
    step(page, 3)
    expect(page.locator(".tl-domain-bar").first).to_contain_text("3 / 9")
    expect(page.locator(".tl-domain-told")).to_contain_text("visit 6 of 25, one of 3 at once")
    page.get_by_label("a step back").click()
    expect(page.locator(".tl-domain-told")).to_contain_text("visit 3 of 25, one of 2 at once")
