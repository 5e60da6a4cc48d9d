"""A tile that is dragged: the browser has the numbers of Python for every tile, by pointer and keys, with no kernel."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
import torch
from playwright.sync_api import FloatRect, Page, expect

from triton_lab.views.compiled.product_drawing import boxes, marked
from triton_lab.views.compiled.tiled_product_view import TiledProductView, tiled_product
from triton_lab.views.drawing import style
from triton_lab.views.drawing.drawing import DrawnText, Rectangle

Open = Callable[..., Page]


def view(tile: tuple[int, int] = (32, 16), program: tuple[int, int] = (3, 5)) -> TiledProductView:
    """Of 100 by 70 and 70 by 90: tiles hang over both edges."""
    return tiled_product(torch.empty(100, 70), torch.empty(70, 90), tile, program)


def box(page: Page, selector: str) -> FloatRect:
    found = page.locator(selector).bounding_box()
    assert found is not None
    return found


def table(page: Page) -> list[list[str]]:
    rows = page.locator(".tl-product tbody tr")
    return [row.locator("th, td").all_inner_texts() for row in rows.all()]


def drawn(page: Page) -> list[list[float]]:
    """x, y, width and height of the strips of A and B and of the tile."""
    names = ("x", "y", "width", "height")
    return [
        [float(page.locator(f".tl-product-stage [data-tag={tag}]").get_attribute(name) or "nan") for name in names]
        for tag in "ABC"
    ]


def in_python(one: TiledProductView) -> list[list[float]]:
    items = marked(one.product, one.inside)
    return [[item.x, item.y, item.width, item.height] for item in items if isinstance(item, Rectangle)]


def words(page: Page) -> list[str]:
    return page.locator(".tl-product-told > div").all_inner_texts()


def same(page: Page, one: TiledProductView) -> None:
    assert page.locator(".tl-title").inner_text() == one.title()
    assert words(page) == one.told()
    assert table(page) == one.rows()
    assert drawn(page) == [pytest.approx(each) for each in in_python(one)]
    labels = [item for item in one.under_roof() if isinstance(item, DrawnText)]
    texts = page.locator(".tl-roof text")
    for label in labels:
        there = texts.filter(has_text=re.compile(f"^{re.escape(label.text)}$")).last
        assert float(there.get_attribute("x") or "nan") == pytest.approx(label.x)


def test_every_tile_in_the_browser_is_that_of_python(show: Open) -> None:
    page = show(view())
    same(page, view())
    heights, widths = page.get_by_label("rows of a tile"), page.get_by_label("columns of a tile")
    scene = view().scene()
    assert (scene["heights"][-1], scene["widths"][-1]) == (128, 128)
    page.get_by_role("slider").first.focus()
    page.keyboard.press("Home")
    for rows in scene["heights"]:
        heights.select_option(str(rows))
        for columns in scene["widths"]:
            widths.select_option(str(columns))
            same(page, view((rows, columns), (0, 0)))


def test_numbers_with_all_prefixes_are_written_alike(show: Open) -> None:
    for m, n, k, dtype in (
        (65536, 65536, 65536, torch.float16),
        (4096, 512, 100, torch.int8),
        (3, 2, 1, torch.float64),
    ):
        made = (torch.empty(shape, dtype=dtype, device="meta") for shape in ((m, k), (k, n)))
        one = tiled_product(*made, tile=(1, 2))
        page = show(one)
        assert table(page) == one.rows() and words(page) == one.told()


def test_arrow_keys_move_the_tile_and_its_corner(show: Open) -> None:
    page = show(view((32, 16), (0, 0)))
    mover, sizer = page.get_by_role("slider").all()
    mover.focus()
    for key in ("ArrowRight", "ArrowDown", "ArrowRight", "ArrowUp", "ArrowUp"):
        page.keyboard.press(key)
    same(page, view((32, 16), (0, 2)))
    assert mover.get_attribute("aria-valuetext") == view((32, 16), (0, 2)).told()[0]
    page.keyboard.press("End")
    same(page, view((32, 16), (3, 5)))
    sizer.focus()
    page.keyboard.press("ArrowRight")  # the tile of 32 columns that has column 80
    page.keyboard.press("ArrowUp")
    same(page, view((16, 32), (6, 2)))
    page.keyboard.press("End")
    same(page, view((128, 128), (0, 0)))
    page.keyboard.press("Home")
    same(page, view((1, 1), (0, 0)))
    assert sizer.get_attribute("aria-valuetext") == "tiles of 1 by 1"


@pytest.mark.parametrize("width", [1200, 420])
def test_the_pointer_drags_the_tile_and_its_corner(show: Open, width: int) -> None:
    page = show(view((32, 16), (0, 0)))
    page.set_viewport_size({"width": width, "height": 1000})
    c, whole = boxes(view().product)[2], view().scene()["matrices"]

    def at(row: float, column: float) -> tuple[float, float]:
        stage = box(page, ".tl-product-stage svg")
        scale = stage["width"] / whole["width"]
        return stage["x"] + (c.x + column * c.width / 90) * scale, stage["y"] + (c.y + row * c.height / 100) * scale

    page.mouse.click(*at(70, 40))
    same(page, view((32, 16), (2, 2)))
    page.mouse.move(*at(80, 40))
    page.mouse.down()
    page.mouse.move(*at(-50, 500))  # outside of C: the nearest tile
    page.mouse.up()
    same(page, view((32, 16), (0, 5)))
    page.get_by_role("slider").first.focus()
    page.keyboard.press("Home")
    page.mouse.move(*at(32, 16))
    page.mouse.down()
    page.mouse.move(*at(60, 40))
    same(page, view((64, 32), (0, 0)))
    page.mouse.move(*at(3, 200))
    page.mouse.up()
    same(page, view((4, 128), (0, 0)))


def test_it_fits_a_narrow_page_in_both_themes(show: Open) -> None:
    for theme in (style.LIGHT, style.DARK):
        page = show(view(), theme)
        page.set_viewport_size({"width": 340, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        expect(page.get_by_text("The table continues to the right", exact=False)).to_be_visible()
        for knob in page.get_by_role("slider").all():
            own = knob.bounding_box()
            assert own is not None and own["x"] >= 0 and own["x"] + own["width"] <= 340
