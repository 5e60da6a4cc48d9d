"""A card in a page of 600 pixels: every tab fits, and its heatmaps are smaller instead of cut."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from playwright.sync_api import Page

import triton_lab as lab
from tests.views.launch.card.test_foremost_finding import past_the_end, raced
from triton_lab.launch.launch import Launch
from triton_lab.views.drawing import style
from triton_lab.views.launch.card.launch_card import Card
from triton_lab.views.launch.card.launch_tabs import SHOWN

WIDE = 600
# What is cut by no box that scrolls, or by the page.
CUT = """() => [...document.querySelectorAll('.tl-card *')].filter(one => {
  const box = one.getBoundingClientRect();
  if (!box.width || !box.height || one.closest('svg *')) return false;
  let clip = one.parentElement;
  while (clip && getComputedStyle(clip).overflowX === 'visible') clip = clip.parentElement;
  if (clip && getComputedStyle(clip).overflowX === 'auto' && !one.closest('.tl-heatmap')) return false;
  return box.right > (clip?.getBoundingClientRect().right ?? innerWidth) + 1.5;
}).map(one => one.outerHTML.slice(0, 80))"""


@pytest.fixture(scope="module")
def launches() -> list[Launch]:
    with lab.target("cpu"), lab.record() as found:
        raced[(4,)](torch.ones(256), torch.empty(64), torch.empty(96), BLOCK=16)
        with pytest.raises(lab.KernelError):
            past_the_end[(2,)](torch.randn(32, 32), torch.zeros(2048))
    return found


@pytest.mark.parametrize("theme", [style.LIGHT, style.DARK], ids=["light", "dark"])
@pytest.mark.parametrize("number", [0, 1])
def test_every_tab_fits(
    number: int, theme: style.Theme, show: Callable[..., Page], launches: list[Launch], screenshots: Path
) -> None:
    page = show(Card(launches[number], SHOWN), theme)
    page.set_viewport_size({"width": WIDE, "height": 900})
    tabs = page.locator(".tl-tabs").first.get_by_role("tab")
    assert tabs.count() >= 8
    for tab in tabs.all():
        if not tab.is_visible():  # of a choice in a tab
            continue
        tab.click()
        page.wait_for_function(f"document.documentElement.scrollWidth <= {WIDE}")
        page.wait_for_function(f"!({CUT})().length")
        name = tab.inner_text().replace(" ", "_")
        page.screenshot(
            path=screenshots / f"narrow_{number}_{name}_{'dark' if theme is style.DARK else 'light'}.png",
            full_page=True,
        )
    page.set_viewport_size({"width": 900, "height": 900})
