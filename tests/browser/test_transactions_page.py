"""Transactions and cost in a bare page: rows lead to heatmaps, lines to rows, another GPU to another roof."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

import triton_lab as lab
from tests.browser.axe import violations
from triton_lab.compiled.compiled import Compiled
from triton_lab.examples import example
from triton_lab.views.drawing import style

Open = Callable[..., Page]


@pytest.fixture(scope="module")
def compiled() -> Compiled:
    with lab.record() as launches:
        example("softmax").check("small")
    return launches[0].compile("sm_90")


def test_a_row_of_the_table_leads_to_its_heatmap(show: Open, compiled: Compiled, screenshots: Path) -> None:
    page = show(compiled.plot.transactions(program=3))
    load, *_ = compiled.launch.accesses  # type: ignore[union-attr]  # a Launch
    expect(page.locator(".tl-worst")).to_contain_text(f"Line {load.line} wastes most")
    expect(page.locator(".tl-title").last).to_contain_text("bytes of each sector that program (3, 0, 0) uses")
    page.screenshot(path=screenshots / "transactions.png", full_page=True)
    page.get_by_role("row").filter(has_text="store y_ptr").click()
    expect(page.locator(".tl-title").last).to_contain_text("store of y_ptr")
    shared = page.get_by_role("row").filter(has_text="load shared memory").first
    shared.get_by_role("button").press("Enter")
    expect(page.locator(".tl-title").last).to_contain_text("words of each bank that a warp uses at once")
    expect(shared).to_have_attribute("aria-selected", "true")


def test_the_pointer_tells_the_warp_and_the_bytes(show: Open, compiled: Compiled) -> None:
    page = show(compiled.plot.transactions(program=3))
    page.locator(".tl-overlay").hover(position={"x": 46 + 14, "y": 18 + 14})
    expect(page.locator(".tl-status")).to_contain_text("warp 0 · bytes ")
    expect(page.locator(".tl-status")).to_contain_text(
        re.compile(r"of x_ptr · 16 bytes · x_ptr\[3, 0\] = \S+ to x_ptr\[3, 3\] = \S+$")
    )


def test_another_gpu_has_another_roof(show: Open, compiled: Compiled, screenshots: Path) -> None:
    page = show(compiled.plot.cost(), style.DARK)
    page.set_viewport_size({"width": 600, "height": 900})
    roof = page.locator(".tl-roof svg")
    expect(roof).to_have_attribute("aria-label", str(compiled.cost.roof("H100")))
    page.get_by_label("GPU").select_option("MI300X")
    expect(roof).to_have_attribute("aria-label", str(compiled.cost.roof("MI300X")))
    expect(page.get_by_text("AMD Instinct MI300X accelerator data sheet")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == 600
    line = page.get_by_role("option").nth(9)
    line.click()
    expect(line).to_have_attribute("aria-selected", "true")
    page.screenshot(path=screenshots / "cost-dark.png", full_page=True)


@pytest.mark.parametrize("word", ["transactions", "cost"])
def test_both_can_be_used_by_everybody(show: Open, compiled: Compiled, word: str) -> None:
    for theme in (style.LIGHT, style.DARK):
        page = show(getattr(compiled.plot, word)(), theme)
        assert violations(page) == []
