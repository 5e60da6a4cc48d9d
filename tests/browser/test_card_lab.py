"""The launch card in JupyterLab: tabs fetched when opened, one selection, the keyboard alone, both themes."""

from __future__ import annotations

import re

import nbformat
from playwright.sync_api import Locator, expect

from tests.browser.lab import Lab, Notebook

SUMS = """%%triton cpu --show tiling
import torch, triton, triton.language as tl

@triton.jit
def sums(x_ptr, y_ptr, columns, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, columns, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        part = tl.load(x_ptr + row + offsets * stride, mask=offsets < columns)
        total += part
    tl.store(y_ptr + row, tl.sum(total))  # <b>not markup</b>

x, y = torch.arange(120.0).reshape(20, 6).t(), torch.empty(6)
sums[(6,)](x, y, 20, x.stride(1), BLOCK=8)
"""

BAD = {
    "no program": "@triton.jit\ndef nothing(x_ptr):\n    tl.store(x_ptr, 1.0)\nnothing[(0,)](torch.empty(4))",
    "no element": """@triton.jit
def empty(x_ptr, n, B: tl.constexpr):
    o = tl.arange(0, B)
    tl.store(x_ptr + o, 1.0, mask=o < n)
empty[(2,)](torch.empty(0), 0, B=4)""",
    "no access": "@triton.jit\ndef idle(n):\n    pass\nidle[(3,)](5)",
    "failed": """@triton.jit
def wild(x_ptr, B: tl.constexpr):
    tl.store(x_ptr + 8 * tl.arange(0, B), 1.0)
try:
    wild[(2,)](torch.empty(4)[::2], B=64)
except Exception as error:
    print(type(error).__name__)""",
    "many": """@triton.jit
def one(x_ptr):
    tl.store(x_ptr + tl.program_id(0), 1.0)
for _ in range(200):
    one[(2,)](torch.empty(2))""",
}


def opened(lab: Lab, *sources: str) -> Notebook:
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(source) for source in ("%load_ext triton_lab", *sources)],
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
    )
    nbformat.write(notebook, lab.folder / "card.ipynb")
    shown = lab.open("card.ipynb")
    shown.run_all()
    return shown


def visible(card: Locator, selector: str) -> Locator:
    return card.locator(f"{selector}:visible")


def pixels(card: Locator) -> str:
    """What the first canvas of the open tab shows."""
    found: str = visible(card, ".tl-cells").first.evaluate("canvas => canvas.toDataURL()")
    return found


def test_every_tab_is_fetched_when_opened_and_follows_the_selection(lab: Lab) -> None:
    notebook = opened(lab, SUMS)
    cell = notebook.cell(1)
    card = cell.locator(".tl-card")
    expect(visible(card, ".tl-told")).to_have_text("all 6 programs")
    card.locator("summary", has_text="Source").click()
    expect(card.locator(".tl-code").nth(8)).to_contain_text("<b>not markup</b>")
    rest = pixels(card)
    line = card.locator(".tl-source .tl-line").nth(6)
    expect(line).to_contain_text("tl.load(x_ptr")
    line.click()
    expect(card.locator(".tl-chosen")).to_have_text("line 10")

    card.get_by_role("tab", name="Accesses").click()
    expect(visible(card, ".tl-accesses")).to_contain_text("x_ptr (6×20)")
    card.get_by_role("slider", name="iteration").fill("1")
    expect(card.locator(".tl-chosen")).to_have_text("iteration 1 · line 10")
    visible(card, ".tl-overlay").first.focus()
    lab.page.keyboard.press("]")
    lab.page.keyboard.press("]")
    expect(card.locator(".tl-chosen")).to_have_text("program (1, 0, 0) · iteration 1 · line 10")
    lab.screenshot("card-accesses", cell)

    # A line of another argument brings that argument's picture.
    store = card.locator(".tl-source .tl-line").nth(8)
    store.click()
    expect(visible(card, ".tl-accesses")).to_contain_text("y_ptr (6)")

    card.get_by_role("tab", name="Values").click()
    card.get_by_label("what to show").select_option(label="total · line 11")
    expect(visible(card, ".tl-variable .tl-title")).to_contain_text("total in line 11")
    lab.screenshot("card-values", cell)
    card.get_by_role("tab", name="Steps").click()
    expect(visible(card, ".tl-steps .tl-title").first).to_have_text("sums, program (1, 0, 0)")
    visible(card, ".tl-steps").get_by_text("forward ▶").click()
    visible(card, ".tl-steps").get_by_text("forward ▶").click()
    expect(visible(card, ".tl-steps .tl-told").last).to_contain_text("step 7 of")
    lab.screenshot("card-steps", cell)
    lab.page.keyboard.press("]")
    expect(visible(card, ".tl-steps .tl-title").first).to_have_text("sums, program (2, 0, 0)")

    card.get_by_role("tab", name="Origins").click()
    expect(visible(card, ".tl-origins .tl-title").first).to_contain_text("y_ptr[2], store in line")
    visible(card, ".tl-origins .tl-overlay").first.click(position={"x": 46 + 4.5 * 28, "y": 18 + 14})
    expect(visible(card, ".tl-origins .tl-title").first).to_contain_text("y_ptr[4], store in line")
    expect(card.locator(".tl-chosen")).to_contain_text("program (4, 0, 0)")
    lab.screenshot("card-origins-live", cell)

    for name, selector in (("Storage", ".tl-storage"), ("Grid", ".tl-grid")):
        card.get_by_role("tab", name=name).click()
        expect(visible(card, selector)).to_be_visible()
        lab.screenshot(f"card-{name.lower()}", cell)
    lab.page.evaluate("() => window.jupyterapp.commands.execute('apputils:change-theme', {theme: 'JupyterLab Dark'})")
    expect(card.locator("xpath=ancestor::*[contains(@class, 'tl-view')]")).to_have_attribute("data-theme", "dark")
    expect(lab.page.locator("#jupyterlab-splash")).to_have_count(0)
    card.get_by_role("tab", name="Accesses").click()
    lab.screenshot("card-dark", cell)
    card.get_by_role("button", name="clear").click()
    card.get_by_role("tab", name="Tiling").click()
    card.get_by_role("tab", name="y_ptr").click()
    lab.page.evaluate("() => window.jupyterapp.commands.execute('apputils:change-theme', {theme: 'JupyterLab Light'})")
    expect(card.locator("xpath=ancestor::*[contains(@class, 'tl-view')]")).to_have_attribute("data-theme", "light")
    expect(visible(card, ".tl-told")).to_have_text("all 6 programs")
    assert pixels(card) == rest, "nothing is left of what was picked"
    assert lab.console_errors == []


def test_keys_inside_a_card_are_the_cards(lab: Lab) -> None:
    notebook = opened(lab, SUMS, "after = 1")
    card = notebook.cell(1).locator(".tl-card")
    lab.page.evaluate("() => { window.jupyterapp.shell.currentWidget.content.activeCellIndex = 1; }")
    card.get_by_role("tab", name="Tiling").focus()
    for key in ("ArrowRight", "Tab", "Tab"):
        lab.page.keyboard.press(key)
    expect(visible(card, ".tl-accesses")).to_be_visible()
    visible(card, ".tl-overlay").first.focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "Enter"):
        lab.page.keyboard.press(key)
    expect(card.locator(".tl-chosen")).to_have_text("program (1, 0, 0)")
    lab.page.keyboard.press("Escape")
    expect(card.locator(".tl-chosen")).to_have_text("[ and ] pick a program")
    active = "() => window.jupyterapp.shell.currentWidget.content.activeCellIndex"
    assert lab.page.evaluate(active) == 1
    # Shift+Enter is still the notebook's.
    lab.page.keyboard.press("Shift+Enter")
    lab.page.wait_for_function(f"{active.replace('() =>', '() => 2 ===')}")
    assert lab.console_errors == []


def test_what_has_the_keyboard_keeps_it_while_the_program_changes(lab: Lab) -> None:
    card = opened(lab, SUMS).cell(1).locator(".tl-card")
    chosen = card.locator(".tl-chosen")

    def program_changes(control: Locator, title: str) -> None:
        before = chosen.text_content() or ""
        control.focus()
        lab.page.keyboard.press("]")
        expect(chosen).not_to_have_text(before)
        expect(visible(card, title).first).to_contain_text(f"program ({number(chosen)}, 0, 0)")
        expect(control).to_be_focused()

    card.get_by_role("tab", name="Steps").click()
    lab.page.keyboard.press("]")
    steps = card.locator(".tl-steps")
    steps.get_by_role("slider", name="step").fill("6")
    heatmap = steps.locator(".tl-overlay")
    controls = (
        *(steps.get_by_role("button", name=name) for name in ("forward", "back", "row")),
        *(steps.get_by_role("slider", name=name) for name in ("step", "program")),
        *(steps.get_by_role("region"), heatmap),
    )
    for control in controls:
        program_changes(control, ".tl-steps .tl-title")
    card.get_by_role("tab", name="Values").click()
    card.get_by_label("what to show").select_option(label="total · line 11")
    for control in (card.locator(".tl-variable .tl-overlay"), card.locator(".tl-variable").get_by_label("program")):
        program_changes(control, ".tl-variable .tl-told")
    assert lab.console_errors == []


def number(chosen: Locator) -> str:
    """The first place of the picked program."""
    found = re.search(r"\((\d+)", chosen.text_content() or "")
    assert found
    return found[1]


def test_the_keys_of_a_view_work_from_its_tab(lab: Lab) -> None:
    card = opened(lab, SUMS).cell(1).locator(".tl-card")
    tab = card.get_by_role("tab", name="Steps")
    tab.click()
    slider = card.locator(".tl-steps").get_by_role("slider", name="step")
    slider.fill("3")
    tab.focus()
    lab.page.keyboard.press(".")
    expect(slider).to_have_value("4")
    lab.page.keyboard.press(",")
    expect(slider).to_have_value("3")
    for program in range(2):
        lab.page.keyboard.press("]")
        expect(visible(card, ".tl-steps .tl-title").first).to_contain_text(f"program ({program}, 0, 0)")
    expect(tab).to_be_focused()
    lab.page.keyboard.press(".")
    expect(slider).to_have_value("4")
    # What has no like in the next picture leaves the keyboard to the tab.
    slider.fill("6")
    card.locator(".tl-steps .tl-overlay").focus()
    lab.page.keyboard.press(".")
    expect(tab).to_be_focused()
    lab.page.keyboard.press(",")
    expect(slider).to_have_value("6")
    assert lab.console_errors == []


def test_odd_launches_make_cards_and_a_clean_console(lab: Lab) -> None:
    start = "%%triton cpu --show tiling,storage,source,findings\nimport torch, triton, triton.language as tl\n"
    notebook = opened(lab, *(start + source for source in BAD.values()))
    for number, name in enumerate(BAD, start=1):
        cell = notebook.cell(number)
        card = cell.locator(".tl-card").first
        expect(card.locator(".tl-kernel")).to_be_visible()
        expect(cell.locator(".tl-card")).to_have_count(1)
        for tab in card.locator(".tl-tabs > [role=tab]").all():
            tab.click()
            expect(card.locator(".tl-part[aria-busy]")).to_have_count(0)
        lab.screenshot(f"card-{name.replace(' ', '-')}", cell)
    # Many launches are one view, and any of them has its card.
    expect(visible(cell, ".tl-launches .tl-title").first).to_have_text("200 launches of 1 kernel")
    cell.get_by_label("number of the launch").fill("137")
    expect(cell.locator(".tl-part[aria-busy]")).to_have_count(0)
    card.get_by_role("tab", name="Steps").click()
    expect(visible(card, ".tl-steps .tl-title").first).to_have_text("one, program (0, 0, 0)")
    visible(card, ".tl-steps").get_by_label("program").fill("1")
    expect(visible(card, ".tl-steps .tl-title").first).to_have_text("one, program (1, 0, 0)")
    cell.get_by_role("button", name="forward ▶").first.click()
    expect(cell.get_by_label("number of the launch")).to_have_value("138")
    expect(visible(card, ".tl-steps .tl-title").first).to_have_text("one, program (0, 0, 0)")  # the open tab stays
    assert lab.console_errors == []


def test_steps_and_origins_of_their_own_follow_the_picked_program(lab: Lab) -> None:
    start = SUMS.replace("%%triton cpu --show tiling\n", "import triton_lab as lab\n").replace(
        "sums[(6,)]", "with lab.record() as launches:\n    sums[(6,)]"
    )
    notebook = opened(lab, start, "launches[0].steps(program=1)", "launches[0].origins_view(launches[0].accesses[-1])")
    steps = notebook.cell(2)
    expect(steps.locator(".tl-steps .tl-title").first).to_have_text("sums, program (1, 0, 0)")
    steps.get_by_label("program").fill("4")
    expect(steps.locator(".tl-steps .tl-title").first).to_have_text("sums, program (4, 0, 0)")
    origins = notebook.cell(3)
    expect(origins.locator(".tl-origins .tl-title").first).to_contain_text("y_ptr[0], store in line")
    origins.get_by_label("program").fill("3")
    expect(origins.locator(".tl-origins .tl-title").first).to_contain_text("y_ptr[3], store in line")
    origins.locator(".tl-origins .tl-overlay").first.click(position={"x": 46 + 5.5 * 28, "y": 18 + 14})
    expect(origins.locator(".tl-origins .tl-title").first).to_contain_text("y_ptr[5], store in line")
    lab.screenshot("origins-live", origins)
    assert lab.console_errors == []
