"""Advice on speed in a page as wide as an output, and beside an open side bar: nothing is cut, nothing scrolls."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from playwright.sync_api import Page, expect

import triton_lab as lab
from tests.views.compiled.test_advice_table import SOURCE, figures
from triton_lab.compiled.advice.launch_edit import LaunchEdit
from triton_lab.compiled.advice.speed_advice import Advice, SpeedSuggestion
from triton_lab.examples.vector_add import add
from triton_lab.launch.comparison.argument_difference import EQUAL


@pytest.fixture(scope="module")
def advice() -> Advice:
    with lab.record() as launches:
        add(torch.zeros(64), torch.zeros(64))
    edits = (
        LaunchEdit({"BLOCK_M": 1024, "BLOCK_N": 64, "num_warps": 8, "num_stages": 3}),
        LaunchEdit(text=SOURCE.replace("x < 1", "x < 2 and a_name_that_is_long > 0  # " + "word " * 40), line=7),
    )
    suggestions = tuple(SpeedSuggestion(one, figures(8e-6), figures(2e-6), EQUAL, launches[0], SOURCE) for one in edits)
    return Advice(launches[0], "sm_90", replace(figures(8e-6), spills=123), suggestions, (), 5, ())


@pytest.mark.parametrize("width", [1200, 900, 600, 420])
def test_advice_fits(windows: list[Page], advice: Advice, width: int, screenshots: Path) -> None:
    page = windows[0]
    page.set_viewport_size({"width": width, "height": 700})
    page.set_content(f"<body style='font: 13px system-ui'>{advice._repr_html_()}</body>")
    for place in ("body", "[role=group]"):
        assert page.locator(place).evaluate("one => one.scrollWidth <= one.clientWidth"), place
    cells = page.get_by_role("row").nth(1).get_by_role("cell")
    expect(cells.first).to_be_visible()
    right = max((box["x"] + box["width"] for box in (one.bounding_box() for one in cells.all()) if box), default=0)
    assert 0 < right <= width
    bars = page.locator("[aria-hidden] > div").evaluate_all("all => all.map(one => one.getBoundingClientRect().width)")
    assert bars[1] == pytest.approx(bars[0] / 4, abs=1) and bars[0] >= 80
    page.screenshot(path=screenshots / f"advice_{width}.png")
