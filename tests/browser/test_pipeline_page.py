"""The film of a pipeline in a bare page: buttons, keys and clicks go through its moments, and light up its work."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

import triton_lab as lab
from tests.gluon import cases, partitioned
from triton_lab.views.drawing import style
from triton_lab.views.launch.values.pipeline_view import PipelineView

Open = Callable[..., Page]


@pytest.fixture(scope="module")
def view() -> PipelineView:
    with lab.record() as launches:
        cases.multiplied(partitioned.fed_product, 3)
    return launches[0].plot.pipeline()


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_a_click_on_a_wait_lights_up_the_work_that_it_waits_for(
    show: Open, screenshots: Path, view: PipelineView, dark: bool
) -> None:
    wait = next(one for one in view.film.spans if one.kind == "wait" and one.first and len(one.works) == 2)
    page = show(view, style.DARK if dark else style.LIGHT)
    picture = page.locator(".tl-scroll svg")
    box = picture.bounding_box()
    assert box is not None
    scale = box["width"] / view.picture().width
    picture.click(position={"x": (view.left + (wait.first + 0.5) * view.step) * scale, "y": 28 * scale})
    lit = page.locator(".tl-glow").evaluate_all("all => [...new Set(all.map(one => one.dataset.tag))]")
    assert set(lit) >= {f"work {number}" for number in wait.works}
    expect(page.locator(".tl-told")).to_contain_text(f"moment {wait.first} of {len(view.film.events) - 1}:")
    page.screenshot(path=screenshots / f"pipeline{'-dark' if dark else ''}.png")


def test_buttons_keys_and_the_slider_go_through_the_moments(show: Open, view: PipelineView) -> None:
    page = show(view)
    told, last = page.locator(".tl-told"), len(view.film.events) - 1
    expect(told).to_contain_text(f"moment 0 of {last}:")
    page.get_by_role("button", name="forward").click()
    expect(told).to_contain_text(f"moment 1 of {last}: line {view.film.moments[1].line}")
    page.get_by_role("button", name="back").click()
    page.locator(".tl-scroll").focus()
    page.keyboard.press("End")
    expect(told).to_contain_text(f"moment {last} of {last}:")
    page.keyboard.press("ArrowRight")
    expect(told).to_contain_text(f"moment {last} of {last}:")
    page.get_by_label("moment").fill("7")
    expect(told).to_contain_text(f"moment 7 of {last}:")
