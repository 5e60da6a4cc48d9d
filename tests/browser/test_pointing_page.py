"""Pointing at a source line shows what it touches for as long, by pointer and by keyboard; a click keeps it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from triton_lab.examples import example
from triton_lab.views.drawing import style
from triton_lab.views.launch.card.launch_card import Card
from triton_lab.views.launch.gallery import launches_of

Open = Callable[..., Page]


def shown(page: Page) -> Locator:
    return page.locator(".tl-names:visible [aria-selected=true]")


def line(page: Page, text: str) -> Locator:
    return page.locator(".tl-source .tl-line", has_text=text).first


@pytest.mark.parametrize("theme", [style.LIGHT, style.DARK], ids=["light", "dark"])
def test_a_line_shows_what_it_touches(show: Open, theme: style.Theme, screenshots: Path) -> None:
    page = show(Card(launches_of(example("vector_add"))[0], show=("tiling", "source")), theme)
    loads, code = page.locator(".tl-source .tl-line").filter(has_text="tl.load").all(), page.locator(".tl-source")
    for tab in ("Tiling", "Accesses"):
        page.get_by_role("tab", name=tab, exact=True).click()
        first = shown(page).inner_text()
        other = next(each for each in loads if first[:-4] not in each.inner_text())
        before = page.locator(".tl-card").evaluate("card => card.offsetHeight")
        other.hover()
        expect(shown(page)).not_to_have_text(first)
        name = shown(page).inner_text()
        assert name.removesuffix("_ptr") in other.inner_text()
        assert page.locator(".tl-card").evaluate("card => card.offsetHeight") >= before
        page.screenshot(path=screenshots / f"pointing-{tab.lower()}-{'dark' if theme is style.DARK else 'light'}.png")
        page.mouse.move(2, 2)
        expect(shown(page)).to_have_text(first)
        assert page.locator(".tl-card").evaluate("card => card.offsetHeight") == before

    # By keyboard, down to the line; the picture goes back once the keyboard leaves.
    first = shown(page).inner_text()
    code.locator(".tl-line").first.focus()
    at = page.locator(".tl-source .tl-line").all_inner_texts().index(other.inner_text())
    for _ in range(at):
        page.keyboard.press("ArrowDown")
    expect(shown(page)).to_have_text(name)
    page.keyboard.press("Tab")
    expect(shown(page)).to_have_text(first)

    other.click()
    expect(shown(page)).to_have_text(name)
    page.mouse.move(2, 2)
    line(page, "def ").hover()
    expect(shown(page)).to_have_text(name)

    # Of values, a line leads to the variable that it gives.
    page.get_by_role("tab", name="Values", exact=True).click()
    title = page.locator(".tl-variable:visible .tl-title")
    page.locator(".tl-chosen + button").click()
    told = title.inner_text()
    line(page, "offsets = ").hover()
    expect(title).to_contain_text("offsets in line")
    page.mouse.move(2, 2)
    expect(title).to_have_text(told)
