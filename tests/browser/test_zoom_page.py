"""Zooming from a million elements to one, with Python answering for single elements: wheel, keyboard, buttons, drag."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
import triton
import triton.language as tl
from playwright.sync_api import Locator, Page, expect

import triton_lab as lab
from tests.wordings import Wording
from triton_lab.views.drawing import style
from triton_lab.views.drawing.glossary import GLOSSARY
from triton_lab.views.launch.card.launch_card import Card

Open = Callable[..., Page]
LEFT, TOP = 46, 18
MANY = 1_000_000


@triton.jit
def add(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) + 1, mask=mask)


@cache
def launch() -> Any:
    with lab.target("cpu"), lab.record() as launches:
        add[(triton.cdiv(MANY, 1024),)](torch.rand(MANY), torch.empty(MANY), MANY, BLOCK=1024)
    return launches[0]


def wheel(page: Page, overlay: Locator, notches: int, x: float, y: float, key: str = "Control") -> None:
    overlay.hover(position={"x": LEFT + x, "y": TOP + y})
    page.keyboard.down(key)
    for _ in range(abs(notches)):
        page.mouse.wheel(0, -100 if notches > 0 else 100)
    page.keyboard.up(key)


def told(page: Page) -> str:
    return page.locator(".tl-status").inner_text()


def element_in(words: str) -> int:
    """The one element of ``out_ptr[1234] · storage offset 1234 · ...``; fails where there are several."""
    return int(words.partition("[")[2].partition("]")[0])


def test_the_wheel_leads_from_a_million_elements_to_one(live: Open, screenshots: Path, wording: Wording) -> None:
    for theme, name in ((style.LIGHT, "light"), (style.DARK, "dark")):
        page = live(launch().plot.tiling("out_ptr"), theme)
        overlay = page.locator(".tl-overlay")
        overlay.hover(position={"x": LEFT + 300, "y": TOP + 200})
        assert ":" in told(page), "a cell stands for several elements at first"
        expect(page.locator(".tl-zoom-told")).to_have_text("A cell stands for 4 places. Zoom in to see each.")
        wheel(page, overlay, 20, 300, 200)
        expect(page.locator(".tl-zoom-told")).to_have_text("Drag to move; 0 shows the whole.")
        expect(page.get_by_role("button", name="zoom in")).to_be_disabled()
        expect(page.locator(".tl-status")).not_to_contain_text(":")
        element = element_in(told(page))
        line = next(access.line for access in launch().accesses if access.kind == "store")
        wording(told(page), "element", element=element, program=f"({element // 1024}, 0, 0)", line=line)
        assert abs(element - (200 * 2048 + 300 * 4)) < 3 * 2048, "it is where the pointer was"
        page.screenshot(path=screenshots / f"zoom-wheel-{name}.png")
        wheel(page, overlay, -25, 300, 200)
        expect(page.get_by_role("button", name="zoom out")).to_be_disabled()


def test_the_keyboard_leads_there_too_and_on_from_element_to_element(live: Open, screenshots: Path) -> None:
    page = live(launch().plot.tiling("out_ptr"))
    overlay = page.locator(".tl-overlay")
    overlay.focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    for _ in range(12):
        page.keyboard.press("+")
    expect(page.get_by_role("button", name="zoom in")).to_be_disabled()
    expect(page.locator(".tl-status")).not_to_contain_text(":")
    first = element_in(told(page))
    assert 0 <= first < 40
    for step in range(1, 30):
        page.keyboard.press("ArrowRight")
        expect(page.locator(".tl-status")).to_contain_text(f"out_ptr[{first + step}] ·")
    page.keyboard.press("ArrowDown")
    expect(page.locator(".tl-status")).to_contain_text(f"out_ptr[{first + 29 + 2048}] · ")
    expect(page.locator(".tl-status")).to_contain_text("program (2, 0, 0)")
    page.screenshot(path=screenshots / "zoom-keyboard.png")
    page.keyboard.press("-")
    expect(page.get_by_role("button", name="zoom in")).to_be_enabled()
    page.keyboard.press("0")
    expect(page.get_by_role("button", name="whole")).to_be_disabled()


def test_a_drag_moves_a_click_picks_and_two_clicks_zoom(live: Open) -> None:
    page = live(launch().plot.accesses("out_ptr"))
    overlay = page.locator(".tl-overlay")
    wheel(page, overlay, 20, 300, 200)
    expect(page.locator(".tl-zoom-told")).to_contain_text("Drag to move")
    before = element_in(told(page))
    box = overlay.bounding_box()
    assert box
    x, y = box["x"] + LEFT + 300, box["y"] + TOP + 200
    page.mouse.down()
    page.mouse.move(x - 144, y, steps=4)  # two elements wide
    page.mouse.up()
    page.mouse.move(x, y)
    assert element_in(told(page)) == before + 2
    expect(page.locator(".tl-told")).to_have_text("all 977 programs")
    page.mouse.click(x, y)
    expect(page.locator(".tl-told")).to_have_text(f"program ({before // 1024}, 0, 0)")
    page.get_by_role("button", name="whole").click()
    page.mouse.dblclick(x, y)
    expect(page.get_by_role("button", name="zoom out")).to_be_enabled()


def test_the_wheel_alone_scrolls_the_page(live: Open) -> None:
    page = live(launch().plot.tiling("out_ptr"))
    overlay = page.locator(".tl-overlay")
    page.evaluate("document.body.style.height = '3000px'")
    overlay.hover(position={"x": 200, "y": 200})
    page.mouse.wheel(0, 120)
    page.wait_for_function("() => window.scrollY > 0")
    expect(page.get_by_role("button", name="zoom out")).to_be_disabled()


def test_a_page_without_a_kernel_says_what_is_missing(show: Open, screenshots: Path) -> None:
    page = show(launch().plot.tiling("out_ptr"))
    wheel(page, page.locator(".tl-overlay"), 20, 300, 200)
    expect(page.locator(".tl-zoom-told")).to_contain_text("Single elements were not saved. Run the cell, then zoom in.")
    assert ":" in told(page), "the cells stay, and say for how many elements they stand"
    page.screenshot(path=screenshots / "zoom-no-kernel.png")


def test_words_are_explained_to_pointer_and_keyboard(show: Open, screenshots: Path) -> None:
    page = show(launch().plot.accesses("out_ptr"))
    step = page.locator(".tl-step-word")
    step.hover()
    tip = page.locator("[role=tooltip]:visible")
    expect(tip).to_contain_text(GLOSSARY["right"])
    page.screenshot(path=screenshots / "explained.png")
    page.mouse.move(5, 5)
    expect(tip).to_have_count(0)
    page.get_by_role("radio", name="reuse").focus()
    expect(tip).to_contain_text(GLOSSARY["reuse"])
    expect(page.get_by_role("radio", name="reuse")).to_have_accessible_description(GLOSSARY["reuse"])
    page.keyboard.press("Escape")
    expect(tip).to_have_count(0)
    expect(page.locator(".tl-wrapped")).to_contain_text(
        "wrapped: 2,048 elements a row; element 2,048 continues the 1st row"
    )


def test_a_typed_program_out_of_sight_is_brought_into_the_zoomed_picture(show: Open) -> None:
    page = show(launch().plot.tiling("out_ptr"))
    for _ in range(3):
        page.get_by_role("button", name="zoom in (+)").click()
    heatmap, shown = page.locator(".tl-cells"), "canvas => canvas.toDataURL()"
    field = page.get_by_label("number or place")
    field.fill("3")  # far above the middle
    field.press("Enter")
    first = heatmap.evaluate(shown)
    field.fill("970")
    field.press("Enter")
    overlay = page.locator(".tl-overlay")
    box = overlay.bounding_box()
    assert box is not None
    seen = set()
    for down in range(TOP + 4, int(box["height"]) - 6, 6):
        overlay.hover(position={"x": LEFT + 200, "y": down})
        seen.add(told(page))
    assert heatmap.evaluate(shown) != first
    assert any("970" in words for words in seen), seen


def test_the_words_of_a_tab_stand_above_it_and_go_once_it_is_opened(show: Open) -> None:
    page = show(Card(launch()))
    tab = page.get_by_role("tab", name="Storage")
    tab.hover()
    tip = page.locator(".tl-tip")
    expect(tip).to_be_visible()
    told, name = tip.bounding_box(), tab.bounding_box()
    assert told is not None and name is not None and told["y"] + told["height"] <= name["y"]
    tab.click()
    expect(tip).to_be_hidden()


@pytest.mark.parametrize("key", ["Control", "Meta"])
def test_a_timeline_leads_to_one_access_and_one_element(live: Open, screenshots: Path, key: str) -> None:
    page = live(launch().plot.timeline("out_ptr"))
    overlay = page.locator(".tl-overlay").first
    overlay.hover(position={"x": LEFT + 100, "y": TOP + 8})
    assert "elements" in told(page), "a cell stands for several elements at first"
    wheel(page, overlay, 30, 100, 8, key)
    expect(page.locator(".tl-zoom-told").first).to_have_text("Drag to move; 0 shows the whole.")
    overlay.hover(position={"x": LEFT + 101, "y": TOP + 8})
    page.screenshot(path=screenshots / f"zoom-timeline-{key}.png")
    assert re.search(r"access \d.* · element \d+ · 1 lane · program \(\d+, 0, 0\)$", told(page)), told(page)


def test_a_timeline_of_single_elements_tells_their_values(show: Open, screenshots: Path) -> None:
    with lab.target("cpu"), lab.record() as launches:
        add[(4,)](torch.arange(30.0), torch.empty(30), 30, BLOCK=8)
    small = launches[0]
    page = show(small.plot.timeline("out_ptr"))
    page.locator(".tl-overlay").first.hover(position={"x": LEFT + 2, "y": TOP + 4})
    page.screenshot(path=screenshots / "timeline-value.png")
    assert " · element 0 = 1 · 1 lane · program (0, 0, 0)" in told(page), told(page)


def test_two_fingers_zoom_about_their_middle(live: Open) -> None:
    page = live(launch().plot.tiling("out_ptr"))
    fingers = """(at) => {
      const overlay = document.querySelector('.tl-overlay');
      const box = overlay.getBoundingClientRect();
      const tell = (name, id, x) => overlay.dispatchEvent(new PointerEvent(name, {
        pointerId: id, pointerType: 'touch', button: 0, buttons: 1, bubbles: true,
        clientX: box.left + x, clientY: box.top + 100 }));
      tell('pointerdown', 11, 280); tell('pointerdown', 12, 320);
      for (let apart = 20; apart <= at; apart += 10) {
        tell('pointermove', 11, 300 - apart);
        tell('pointermove', 12, 300 + apart);
      }
      tell('pointerup', 11, 300 - at); tell('pointerup', 12, 300 + at);
    }"""
    whole = page.locator(".tl-zoom-told").first.inner_text()
    page.evaluate(fingers, 160)
    assert page.locator(".tl-zoom-told").first.inner_text() != whole
