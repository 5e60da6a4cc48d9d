"""The card in a bare page, as `Launch.to_html` writes it: every tab follows one selection, with no kernel behind it."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from playwright.sync_api import Locator, Page, expect

import triton_lab as lab
from triton_lab.interpreter.kernel_errors import KernelError
from triton_lab.launch.launch import Launch
from triton_lab.views.drawing import style
from triton_lab.views.drawing.raster import CHOSEN, DIMMED, paint
from triton_lab.views.launch.card.card_scenes import CardScene
from triton_lab.views.launch.card.launch_card import SHOWN, Card
from triton_lab.views.launch.storage.storage_view import StorageView

Open = Callable[..., Page]
LEFT, TOP = 46, 18


@triton.jit
def turned(x_ptr, y_ptr, stride, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)[:, None]
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)[None, :]
    x = tl.load(x_ptr + rows + columns * stride)
    bias = tl.load(y_ptr + tl.program_id(0))
    tl.store(x_ptr + rows + columns * stride, x + bias)


@pytest.fixture(scope="module")
def launch() -> Launch:
    """Tiles of 4x4 on a transposed (12, 8) argument."""
    x = torch.arange(96.0).reshape(8, 12).t()
    with lab.record() as launches:
        turned[(3, 2)](x, torch.ones(3), x.stride(1), BLOCK=4)
    return launches[0]


def tab(page: Page, name: str) -> None:
    page.get_by_role("tab", name=name, exact=True).click()


def seen(page: Page, selector: str) -> Locator:
    return page.locator(f"{selector}:visible")


def pixel(canvas: Locator, x: float, y: float) -> list[int]:
    found = canvas.evaluate("(c, [x, y]) => [...c.getContext('2d').getImageData(x, y, 1, 1).data]", [x, y])
    return list(found[:3])


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_the_storage_follows_program_and_line(show: Open, launch: Launch, screenshots: Path, dark: bool) -> None:
    page = show(Card(launch, SHOWN), style.DARK if dark else style.LIGHT)
    tab(page, "Storage")
    seen(page, ".tl-overlay").first.focus()
    page.keyboard.press("]")
    page.keyboard.press("]")
    expect(page.locator(".tl-chosen")).to_have_text("program (1, 0, 0), number 1")
    x = StorageView([launch.argument("x_ptr")]).grids[
        0
    ]  # alone, it is drawn larger: colours are the same, sizes are not
    two = StorageView([launch.argument("x_ptr"), launch.argument("y_ptr")])
    grid = two.grids[0]
    chosen = np.zeros((12, 8), dtype=bool)
    chosen[4:8, 0:4] = True  # program 1 is second in x: rows 4 to 7 of the first four columns
    expected = paint(grid, grid.frame, theme=style.DARK if dark else style.LIGHT)
    side = int(grid.frame.cell_width)
    canvas = seen(page, ".tl-storage .tl-row .tl-cells").first
    theme = style.DARK if dark else style.LIGHT
    for row in range(12):
        for column in range(8):
            at = row * side + side // 2 + 3, column * side + 4
            plain = expected[at]
            dimmed = style.dimmed(plain, theme).tolist()
            told = pixel(canvas, LEFT + at[1], TOP + at[0])
            assert told == (plain.tolist() if chosen[row, column] else dimmed), (row, column)
    assert x.layout.shape == grid.layout.shape
    page.screenshot(path=screenshots / f"card-storage-program{'-dark' if dark else ''}.png")
    # The line that loads the bias touches y_ptr alone.
    page.locator(".tl-source .tl-line").nth(5).click()
    expect(page.locator(".tl-chosen")).to_contain_text("line")
    dots = seen(page, ".tl-storage .tl-row .tl-cells").nth(1)
    first = two.grids[1]
    levels = np.full(len(first.styles), DIMMED, dtype=np.uint8)
    levels[first.cells[1]] = CHOSEN
    wide = int(first.frame.cell_width)
    spot = paint(first, first.frame, theme=style.DARK if dark else style.LIGHT)[wide // 2 + 6, wide + 5]
    assert pixel(dots, LEFT + wide + 5, TOP + wide // 2 + 6) == spot.tolist()


def test_origins_are_asked_for_by_click_and_by_keyboard(show: Open, launch: Launch, screenshots: Path) -> None:
    page = show(Card(launch, SHOWN))
    tab(page, "Origins")
    title = seen(page, ".tl-origins .tl-title").first
    expect(title).to_contain_text("x_ptr[6, 0], store in line ")  # the middle of 12 x 8
    stored = seen(page, ".tl-origins .tl-overlay").first
    box = stored.bounding_box()
    assert box
    side = (box["width"] - LEFT - 2) / 8
    stored.click(position={"x": LEFT + 6.5 * side, "y": TOP + 9.5 * side})
    expect(title).to_contain_text("x_ptr[9, 6], store in line ")
    expect(page.locator(".tl-chosen")).to_have_text("program (2, 1, 0), number 5")
    page.keyboard.press("ArrowUp")  # the keyboard goes on from where the click was
    page.keyboard.press("Enter")
    expect(title).to_contain_text("x_ptr[8, 6], store in line ")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    seen(page, ".tl-origins summary").click()
    expect(seen(page, ".tl-origins")).to_contain_text("1 element of x_ptr: 78")
    expect(seen(page, ".tl-origins")).to_contain_text("1 element of y_ptr: 2")
    page.screenshot(path=screenshots / "card-origins.png")
    page.keyboard.press("]")
    expect(title).to_contain_text("x_ptr[0, 0], store in line ")
    tab(page, "Steps")
    expect(seen(page, ".tl-steps .tl-title").first).to_have_text("turned, program (0, 0, 0), number 0")
    seen(page, ".tl-steps").get_by_label("program").fill("4")
    expect(seen(page, ".tl-steps .tl-title").first).to_have_text("turned, program (1, 1, 0), number 4")
    tab(page, "Origins")
    expect(title).to_contain_text("x_ptr[4, 4], store in line ")


def test_pointers_are_offsets_and_pointing_at_the_facts_tells_what_is_not_checked(show: Open, launch: Launch) -> None:
    page = show(Card(launch, SHOWN))
    tab(page, "Values")
    page.get_by_label("what to show").select_option(label=f"x_ptr · line {launch.first_line + 1}")
    expect(seen(page, ".tl-single")).to_have_text("0")
    expect(seen(page, ".tl-variable .tl-title")).to_contain_text("elements of x_ptr")
    expect(page.locator(".tl-card .tl-facts").first).to_have_attribute("title", re.compile("shared memory"))


@triton.jit
def unmasked(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets), mask=offsets < n)


def test_a_failed_launch_opens_on_the_guilty_argument_and_offers_the_fix(show: Open, screenshots: Path) -> None:
    with lab.record() as launches, contextlib.suppress(KernelError):
        unmasked[(4,)](torch.ones(100), torch.zeros(100), 100, BLOCK=32)
    card = Card(launches[0])
    page = show(card)
    expect(seen(page, ".tl-astray")).to_have_text(
        "program (3, 0, 0): lanes 4 to 31 reach for elements 100 to 127, past its end"
    )
    expect(seen(page, ".tl-tiling .tl-legend")).to_contain_text("stopped the launch here")
    expect(seen(page, ".tl-tiling .tl-legend")).to_contain_text("offsets < n would mask off these lanes")
    expect(page.locator(".tl-fix pre")).to_contain_text("tl.load(x_ptr + offsets, mask=offsets < n, other=0.0)")
    expect(page.locator(".tl-fix button")).to_have_text("Copy")
    # The first place past the end is outlined: a dark pixel where the picture has none.
    (heatmap,) = (tiling.heatmap for tiling in card.tilings if tiling.argument.name == "x_ptr")
    frame, (_, row, column, _, _) = heatmap.frame, heatmap.marks[0].runs[0]
    cells, overlay = (seen(page, f".tl-tiling .{name}").first for name in ("tl-cells", "tl-overlay"))
    at = LEFT + column * int(frame.cell_width) - 1, TOP + row * int(frame.cell_height) + int(frame.cell_height) // 2
    assert pixel(cells, *at) == list(style.rgb(style.LIGHT.ink))
    # Words are drawn over it, and what covers words is there for as long as somebody points.
    ink = "c => c.getContext('2d').getImageData(0, 0, c.width, c.height).data.some(Boolean)"
    assert not overlay.evaluate(ink)
    overlay.hover(position={"x": LEFT + 5, "y": TOP + 5})
    assert overlay.evaluate(ink)
    page.screenshot(path=screenshots / "card-fault.png")


@triton.jit
def first_half(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < n), mask=offsets < n)


def test_how_many_notes_there_are_stands_above_the_pictures_and_leads_to_them(show: Open, screenshots: Path) -> None:
    with lab.record() as launches:
        first_half[(5,)](torch.ones(900), torch.empty(900), 300, BLOCK=128)
    assert [one.severity for one in launches[0].findings] == ["note", "note"]
    page = show(Card(launches[0]))
    # One may explain a wrong result: it stands above the pictures.
    expect(page.locator(".tl-finding:visible")).to_have_count(1)
    page.get_by_role("button", name="1 more note").click()
    expect(page.get_by_role("tab", name="Findings (2)")).to_be_focused()
    expect(page.locator(".tl-finding:visible")).to_have_count(3)
    page.screenshot(path=screenshots / "card-notes.png")


class LiveCard(Card):
    """A card as a notebook shows it, in a page."""

    def standalone(self, room: int | None = None) -> CardScene:
        return self.scene()


def test_below_the_last_card_stands_a_call_that_compares_it(show: Open, screenshots: Path) -> None:
    with lab.record() as launches:
        turned[(3, 2)](torch.arange(96.0).reshape(8, 12), torch.ones(3), 8, BLOCK=4)
    page = show(LiveCard(launches[0]))
    line = page.locator(".tl-comparing")
    expect(line.locator("pre")).to_have_text("lab.compare(lab.last, lambda x_ptr, y_ptr, **_: ...)")
    page.evaluate("navigator.clipboard.writeText = async (text) => { window.copied = text }")
    line.get_by_role("button").click()
    expect(line.get_by_role("button")).to_have_text("Copied")
    assert page.evaluate("window.copied").startswith("lab.compare(lab.last")
    line.screenshot(path=screenshots / "comparing.png")
    expect(show(Card(launches[0])).locator(".tl-comparing")).to_have_count(0)
