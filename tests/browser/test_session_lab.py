"""The session's launches beside the notebook, and the choice of where a cell runs."""

from __future__ import annotations

from urllib.parse import urlsplit

import nbformat
from nbformat.v4 import new_code_cell, new_notebook
from playwright.sync_api import Locator, Page, Request, expect

from tests.browser.axe import violations
from tests.browser.lab import _OPENED, RUN_MS, Lab, Notebook

SCALE = """%%triton cpu
import torch, triton, triton.language as tl
@triton.jit
def scale(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + at, 2 * tl.load(x_ptr + at, mask=at < n), mask=at < n)
scale[(8,)](torch.arange(30.), y := torch.empty(30), 30, BLOCK=4)"""
AGAIN = "%%triton cpu --show grid\nscale[(8,)](torch.arange(30.), y := torch.empty(30), 30, BLOCK=4)"
FAULTY = "%%triton\nscale[(8,)](torch.arange(30.), y := torch.empty(30), 32, BLOCK=4)"

PANEL = "#triton-lab-launches"
# A command of the notebook in front, as its key or the palette runs it; and whether it can be run.
_RUN = "([id, args]) => window.jupyterapp.commands.execute(id, args ?? {})"
_MENU = ".lm-Menu:visible"
_LINE = "index => window.jupyterapp.shell.currentWidget.content.model.cells.get(index).sharedModel.getSource()"


def write(lab: Lab, name: str, *sources: str) -> None:
    cells = [new_code_cell(source) for source in sources]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(new_notebook(cells=cells, metadata={"kernelspec": kernel}), lab.folder / name)


def show(lab: Lab, name: str) -> Notebook:
    """Open a notebook beside what is open."""
    lab.page.evaluate(_OPENED, str((lab.folder / name).relative_to(lab.folder.parent)))
    return Notebook(lab.page)


def rows(page: Page) -> Locator:
    return page.locator(f"{PANEL} li")


def source(page: Page, cell: int) -> str:
    text: str = page.evaluate(_LINE, cell)
    return text


def choose(notebook: Notebook, cell: int, item: str) -> None:
    notebook.cell(cell).locator(".triton-lab-choose").click()
    notebook.page.locator(f"{_MENU} .lm-Menu-item", has_text=item).first.click()


def test_launches_are_listed_compared_and_opened_beside_their_notebook(lab: Lab) -> None:
    page = lab.page
    asked: list[str] = []

    def note(request: Request) -> None:
        asked.append(request.url)

    page.on("request", note)
    write(lab, "first.ipynb", SCALE, AGAIN, FAULTY)
    write(lab, "second.ipynb", SCALE.replace("scale", "other"))
    notebook = lab.open("first.ipynb")
    page.evaluate(_RUN, ["triton-lab:show-launches", {}])
    expect(page.locator(PANEL)).to_contain_text("No launches yet")
    notebook.run_all()
    expect(rows(page)).to_have_count(3, timeout=RUN_MS)
    expect(rows(page).first).to_contain_text("1 error")
    expect(rows(page).last).to_contain_text("1scale(8, 1, 1)no findings")
    expect(rows(page).last).to_contain_text("cell [1] · CPU")
    lab.screenshot("session-list")
    assert violations(page, PANEL) == []

    page.get_by_label("Filter the launches").fill("cell [2]")
    expect(rows(page)).to_have_count(1, timeout=RUN_MS)
    page.get_by_label("Filter the launches").fill("")
    expect(rows(page)).to_have_count(3, timeout=RUN_MS)

    # With the keyboard alone: one tab stop, arrows between launches, and the card opens.
    page.get_by_label("Filter the launches").press("Tab")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    beside = page.locator(".triton-lab-beside")
    expect(beside.locator(".tl-card .tl-kernel")).to_have_text("scale[8, 1, 1]", timeout=RUN_MS)
    beside.get_by_role("tab", name="Steps").click()
    expect(beside.locator("[role=tabpanel]:visible").first).to_contain_text("step", timeout=RUN_MS)
    lab.screenshot("session-beside")

    for number in (1, 2):
        page.get_by_label(f"Pin launch {number}, scale").click()
        expect(page.get_by_label(f"Pin launch {number}, scale")).to_have_attribute(
            "aria-pressed", "true", timeout=RUN_MS
        )
    page.locator(f"{PANEL} .triton-lab-compare").click()
    expect(beside.last).to_contain_text("bit-equal", timeout=RUN_MS)
    lab.screenshot("session-compared")

    # Another notebook has another kernel and another list; coming back brings the first list back.
    other = show(lab, "second.ipynb")
    expect(rows(page)).to_have_count(0, timeout=RUN_MS)
    other.run_all()
    expect(rows(page)).to_have_count(1, timeout=RUN_MS)
    expect(rows(page)).to_contain_text("other(8, 1, 1)")
    show(lab, "first.ipynb")
    expect(rows(page)).to_have_count(3, timeout=RUN_MS)

    # A reload loses nothing while the kernel lives, and a restart empties the list.
    notebook.save()
    lab.reload()
    notebook = show(lab, "first.ipynb")
    page.evaluate(_RUN, ["triton-lab:show-launches", {}])
    expect(rows(page)).to_have_count(3, timeout=RUN_MS)
    expect(page.get_by_label("Pin launch 2, scale")).to_have_attribute("aria-pressed", "true", timeout=RUN_MS)

    # A cell that is gone leads nowhere, another name of the file changes nothing, and a dead kernel tells nothing.
    to_cell = page.get_by_label("Go to the cell of launch", exact=False)
    expect(to_cell).to_have_count(3)
    page.evaluate("() => { window.jupyterapp.shell.currentWidget.content.activeCellIndex = 1; }")
    page.evaluate(_RUN, ["notebook:delete-cell", {}])
    expect(to_cell).to_have_count(2)
    page.evaluate("() => window.jupyterapp.shell.currentWidget.context.rename('renamed.ipynb')")
    expect(rows(page)).to_have_count(3, timeout=RUN_MS)
    rows(page).first.locator(".triton-lab-open").click()
    expect(beside.last.locator(".tl-card")).to_be_visible(timeout=RUN_MS)
    notebook = show(lab, "renamed.ipynb")
    notebook.restart_kernel()
    expect(rows(page)).to_have_count(0, timeout=RUN_MS)
    expect(page.locator(PANEL)).to_contain_text("No launches yet")
    page.evaluate("() => window.jupyterapp.shell.currentWidget.sessionContext.shutdown()")
    expect(page.locator(PANEL)).to_contain_text("No launches yet")
    page.evaluate(_RUN, ["triton-lab:pin", {}])
    expect(page.locator(".jp-toast-message")).to_contain_text("the kernel is gone")
    page.remove_listener("request", note)
    page.evaluate("() => window.jupyterapp.shell.collapseRight()")
    assert {urlsplit(url).hostname for url in asked if not url.startswith(("data:", "blob:"))} == {"127.0.0.1"}
    assert lab.console_errors == []


def test_the_target_is_chosen_in_the_line_and_by_commands(lab: Lab) -> None:
    page = lab.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    write(lab, "target.ipynb", SCALE.replace("triton cpu", "triton"), AGAIN, "x = 1", "%%time\n1")
    notebook = lab.open("target.ipynb")
    notebook.run_all()
    toolbar = page.locator(".triton-lab-toolbar button")
    notebook.cell(0).locator(".triton-lab-choose").click()
    menu = page.locator(_MENU)
    expect(menu.locator(".lm-mod-toggled")).to_contain_text("Auto: the GPU if there is one")
    expect(menu.locator(".lm-mod-disabled")).to_have_count(2)
    expect(menu.locator(".lm-mod-disabled").first).to_have_text("GPU: Triton finds no GPU here")
    lab.screenshot("target-menu")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert source(page, 0).startswith("%%triton cpu\n")
    expect(toolbar).to_have_text("Triton: cpu")
    expect(notebook.cell(0).locator(".triton-lab-choose")).to_be_focused()

    toolbar.click()
    menu.locator(".lm-Menu-item", has_text="Compile for").click()
    menu.locator(".lm-Menu-item", has_text="sm_90: NVIDIA").click()
    assert source(page, 0).startswith("%%triton cpu --compile sm_90\n")
    toolbar.click()
    menu.locator(".lm-Menu-item", has_text="All %%triton cells").click()
    menu.locator(".lm-Menu-item", has_text="Auto").last.click()
    assert source(page, 0).startswith("%%triton --compile sm_90\n")
    assert source(page, 1).startswith("%%triton --show grid\n")
    assert source(page, 2) == "x = 1"

    # By keys: run on the CPU, pin, run again, compare; and the card as a page.
    notebook.cell(1).locator(".jp-InputPrompt").click()
    page.keyboard.press("Alt+Shift+C")
    expect(notebook.cell(1).locator(".jp-InputPrompt")).to_have_text("[5]:", timeout=RUN_MS)
    assert source(page, 1).startswith("%%triton cpu --show grid\n")
    page.keyboard.press("Alt+Shift+P")
    page.keyboard.press("Alt+Shift+C")
    expect(notebook.cell(1).locator(".jp-InputPrompt")).to_have_text("[6]:", timeout=RUN_MS)
    page.keyboard.press("Alt+Shift+D")
    expect(page.locator(".triton-lab-beside")).to_contain_text("bit-equal", timeout=RUN_MS)
    show(lab, "target.ipynb")
    page.evaluate(_RUN, ["triton-lab:copy-html", {}])
    expect(page.locator(".jp-toast-message")).to_contain_text("copied as an HTML page", timeout=RUN_MS)
    assert page.evaluate("() => navigator.clipboard.readText()").startswith("<!doctype html>")

    # What cannot be is not offered, and is said where it is asked for.
    enabled = "([id, args]) => window.jupyterapp.commands.isEnabled(id, args)"
    assert not page.evaluate(enabled, ["triton-lab:run-on", {"target": "gpu"}])
    notebook.cell(3).locator(".jp-InputPrompt").click()
    assert not page.evaluate(enabled, ["triton-lab:run-on", {"target": "cpu"}])
    expect(toolbar).to_be_disabled()
    page.evaluate(_RUN, ["triton-lab:open-card", {}])
    expect(page.locator(".jp-toast-message", has_text="No launch of this cell is listed")).to_be_visible()
    page.evaluate(_RUN, ["triton-lab:insert-template", {"name": "matmul"}])
    expect(notebook.cell(4)).to_contain_text("def matmul_kernel", timeout=RUN_MS)
    assert lab.console_errors == []
