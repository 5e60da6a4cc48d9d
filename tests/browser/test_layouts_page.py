"""Layouts in a bare page: picked on either side, by pointer and by keyboard, the other side and the bits follow."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

import triton_lab as lab
from tests.views.layouts.test_layout_view import MMA, all_kinds, blocked
from tests.views.test_scenes import compiled
from triton_lab.views.drawing import style
from triton_lab.views.drawing.drawing import DrawnText, Rectangle
from triton_lab.views.layouts.bit_matrix import matrix_drawing

LEFT, TOP, PANEL = 46, 18, 18

Open = Callable[..., Page]

_DARK = """(c, [x, y, w, h]) => {
  const ratio = window.devicePixelRatio || 1;
  const { data } = c.getContext('2d').getImageData(x * ratio, y * ratio, w * ratio, h * ratio);
  return Array.from({length: data.length / 4}, (_, k) => data.slice(4 * k, 4 * k + 3).join());
}"""


def ink_at(cells: Locator, x: float, y: float, ink: str) -> bool:
    """Whether the picture has ink, which is what outlines are drawn with, at a place."""
    found = cells.evaluate(_DARK, [x, y, 1, 1])
    return found == [",".join(map(str, style.rgb(ink)))]


def lit_bits(page: Page) -> list[str]:
    """The bits over the columns that stand out."""
    heads = page.locator(".tl-bits .tl-lit-bit[role=button]")
    return [
        label.split(":")[0] for label in heads.evaluate_all("all => all.map(one => one.getAttribute('aria-label'))")
    ]


def test_an_element_shows_all_that_hold_it(show: Open, screenshots: Path) -> None:
    page = show(blocked((8, 16)).plot())
    status = page.locator(".tl-status")
    expect(status).to_contain_text("Pick an element to see which threads hold it")
    tensor, hardware = page.locator(".tl-overlay").nth(0), page.locator(".tl-overlay").nth(1)
    tensor.hover(position={"x": LEFT + 24 * 5 + 12, "y": TOP + 24 * 3 + 12})
    words = "element [3, 5] · held 4 times · " + " · ".join(f"warp {warp}, thread 13, register 1" for warp in range(4))
    expect(status).to_have_text(words)
    tensor.click(position={"x": LEFT + 24 * 5 + 12, "y": TOP + 24 * 3 + 12})
    page.mouse.move(2, 2)
    expect(status).to_have_text(words)
    # Thread 13 is 1 + 4 + 8, and register 1 is itself: these columns are lit, and add up to the element.
    assert lit_bits(page) == ["register 1", "thread 1", "thread 4", "thread 8"]
    expect(page.locator(".tl-sum")).to_contain_text("=  [3, 5]")
    cells = page.locator(".tl-cells").nth(1)
    high = 12  # of a thread
    assert ink_at(cells, LEFT + 20 + 1, TOP + PANEL + 13 * high + 6, style.LIGHT.ink)
    page.screenshot(path=screenshots / "layout-copies.png")
    tensor.focus()
    page.keyboard.press("Escape")
    expect(status).to_contain_text("Pick an element to see which threads hold it")
    assert page.locator(".tl-lit-bit").count() == 0
    expect(hardware).to_have_attribute("aria-label", "the hardware: arrow keys move, Enter picks, Escape shows all,"
                                       " plus and minus zoom, 0 shows the whole")  # fmt: skip


def test_a_place_and_a_part_of_the_hardware_show_their_elements(show: Open, screenshots: Path) -> None:
    page = show(blocked().plot(), style.DARK)
    status = page.locator(".tl-status")
    hardware = page.locator(".tl-overlay").nth(1)
    hardware.focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    expect(status).to_have_text("warp 0, thread 1, register 1 · holds element [0, 5]")
    expect(page.get_by_role("combobox", name="thread")).to_have_value("1")
    page.keyboard.press("Enter")  # again: nothing is picked
    expect(page.get_by_role("combobox", name="thread")).to_have_value("")
    page.get_by_role("combobox", name="warp").select_option("1")
    page.get_by_role("combobox", name="thread").select_option("5")
    expect(status).to_have_text("warp 1, thread 5 · 4 elements: [9, 4] [9, 5] [9, 6] [9, 7]")
    assert lit_bits(page) == ["thread 1", "thread 4", "warp 1"]
    page.screenshot(path=screenshots / "layout-lane-dark.png")
    page.get_by_role("button", name="show all").click()
    expect(page.get_by_role("combobox", name="warp")).to_have_value("")


def test_a_bit_shows_what_it_moves(show: Open) -> None:
    page = show(blocked().plot())
    first = page.get_by_role("button", name="register 1: moves by [0, 1]")
    first.focus()
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    bit = page.get_by_role("button", name="thread 4: moves by [1, 0]")
    expect(bit).to_be_focused()
    expect(bit).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".tl-status")).to_contain_text("[1, 0]")
    page.keyboard.press("Enter")
    expect(bit).to_have_attribute("aria-pressed", "false")
    page.locator(".tl-bits [data-tag='0']").last.click()  # any cell of a column
    expect(first).to_have_attribute("aria-pressed", "true")


def test_the_live_matrix_is_the_drawing_of_the_png(show: Open) -> None:
    layout = blocked()
    page = show(layout.plot(), style.DARK)
    made = matrix_drawing(layout.linear).items
    assert page.locator(".tl-bits text").all_text_contents() == [one.text for one in made if isinstance(one, DrawnText)]
    assert page.locator(".tl-bits rect").count() == sum(isinstance(one, Rectangle) for one in made)


def test_a_bank_shows_the_elements_that_share_it(show: Open, screenshots: Path) -> None:
    page = show(all_kinds()["swizzled"].plot())
    page.get_by_role("combobox", name="bank").select_option("4")
    layout = all_kinds()["swizzled"]
    held = [f"[{row}, {column}]" for row in range(32) for column in range(32) if layout.bank(row, column) == 4]
    expect(page.locator(".tl-status")).to_contain_text(f"bank 4 · {len(held)} elements:")
    expect(page.locator(".tl-status")).to_contain_text(held[0])
    page.screenshot(path=screenshots / "layout-bank.png")


def test_cells_of_several_elements_are_magnified_to_single_ones(show: Open) -> None:
    large = {"size_per_thread": [1, 4], "threads_per_warp": [8, 4], "warps_per_cta": [4, 1]}
    page = show(lab.layout("blocked", (1024, 1024), **large).plot())  # type: ignore[arg-type]
    tensor = page.locator(".tl-overlay").first
    tensor.focus()
    for _ in range(10):
        page.keyboard.press("+")
    tensor.hover(position={"x": LEFT + 20, "y": TOP + 20})
    told = page.locator(".tl-status").inner_text()
    assert told.startswith("element [") and "warp" in told


def test_a_conversion_tells_the_way_of_an_element_and_of_a_register(show: Open, screenshots: Path) -> None:
    conversion = blocked((32, 32)).to(lab.layout(MMA, (32, 32)))
    page = show(conversion.plot(element=(9, 5)))
    status = page.locator(".tl-status")
    told = conversion.plot(element=(9, 5)).text().splitlines()[-1].partition(": ")[2]
    expect(status).to_have_text(f"element [9, 5] · {told}")
    page.locator(".tl-overlay").nth(2).focus()
    for key in ("ArrowDown", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    source = conversion.source_of(register=1, lane=0, warp=0, block=0)
    element = conversion.destination.at(register=1)
    assert (source["lane"], element) == (0, (0, 1))
    expect(status).to_have_text("element [0, 1] · stays in warp 0, thread 0, register 1")
    page.screenshot(path=screenshots / "conversion.png")


def test_a_kernels_values_are_picked_from_a_list(show: Open, screenshots: Path) -> None:
    page = show(compiled().layouts.plot())
    rows = page.locator(".tl-picks tbody tr:visible")
    expect(rows.filter(has_text="tt.load").first).to_contain_text("blocked")
    page.get_by_label("addresses, masks and indices, too").check()
    assert rows.count() == len(compiled().layouts)
    page.locator(".tl-picks tr[tabindex='0']").focus()
    for _ in range(len(compiled().layouts)):
        page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    expect(rows.first).to_have_attribute("aria-current", "true")
    expect(page.locator(".tl-layout .tl-title").first).to_contain_text("layout of a")
    page.screenshot(path=screenshots / "layouts.png")


def test_a_line_of_the_source_leads_to_its_values_and_back(show: Open) -> None:
    page = show(compiled().launch.plot())
    page.evaluate("() => document.querySelectorAll('.tl-view details').forEach(each => (each.open = true))")
    source = page.get_by_role("listbox", name="source: Enter picks a line").first
    source.get_by_role("option").filter(has_text="tl.load").first.click()
    page.get_by_role("tab", name="Layouts", exact=True).click()
    current = page.locator(".tl-picks tr[aria-current='true']")
    expect(current).to_contain_text("tt.load")
    source.get_by_role("option").filter(has_text="tl.exp").first.click()
    expect(current).to_contain_text("math.exp")
    page.locator(".tl-picks tbody tr:visible").filter(has_text="tt.load").first.click()
    expect(source.locator("[aria-selected='true']")).to_contain_text("tl.load")


def test_a_narrow_page_has_the_pictures_one_below_the_other(show: Open, screenshots: Path) -> None:
    page = show(blocked().plot(element=(1, 5)))
    page.set_viewport_size({"width": 600, "height": 900})
    wide = page.evaluate("() => document.documentElement.scrollWidth")
    assert wide <= 600
    page.screenshot(path=screenshots / "layout-narrow.png", full_page=True)
