"""Help for those who write kernels, the course, and where kernels run: JupyterLab and Notebook 7."""

from __future__ import annotations

import contextlib
import re

import nbformat
from nbformat.v4 import new_code_cell, new_notebook
from playwright.sync_api import Locator, Page, expect
from playwright.sync_api import TimeoutError as PlaywrightTimeout

from tests.browser.axe import violations
from tests.browser.lab import RUN_MS, Lab
from tests.browser.test_notebook7 import ITS_OWN
from tests.browser.test_session_lab import SCALE, rows, write

WRONG = """%%triton cpu
@triton.jit
def wrong(x_ptr):
    x = tl.lod(x_ptr)
    tl.store(x_ptr, x)
wrong[(1,)](torch.zeros(1))"""
DEFINED = """%%triton cpu
@triton.jit
def apart(x_ptr):
    x = tl.lod(x_ptr)
    tl.store(x_ptr, x)"""
LAUNCHED = "%%triton cpu\napart[(1,)](torch.zeros(1))"
WHOLE = WRONG.replace("%%triton cpu", "%%triton\nimport torch, triton, triton.language as tl")
MARK, GO = ".cm-lintRange-error", ".triton-lab-place button"
# Resolves once the active cell has run in a kernel that had not restarted when it was run.
_RESTART_AND_RUN = """() => {
  const { sessionContext } = window.jupyterapp.shell.currentWidget;
  const restarted = sessionContext.session.kernel.restart();
  return Promise.all([restarted, window.jupyterapp.commands.execute('notebook:run-cell')]);
}"""
# Where the caret is in the active cell: line and column, counted from 0.
_CARET = """() => {
  const { line, column } = window.jupyterapp.shell.currentWidget.content.activeCell.editor.getCursorPosition();
  return [line, column];
}"""
ASKED_MS = 4000


def offered(page: Page) -> Locator:
    """What is offered at the caret. JupyterLab waits a second for a kernel's answer, which two busy cores may take
    longer for: then one asks again."""
    items = page.locator(".jp-Completer:visible .jp-Completer-item")
    for _ in range(RUN_MS // ASKED_MS):
        page.keyboard.press("Tab")
        with contextlib.suppress(PlaywrightTimeout):
            items.first.wait_for(timeout=ASKED_MS)
            break
    return items


def test_the_editor_completes_explains_and_marks(lab: Lab) -> None:
    page = lab.page
    write(lab, "help.ipynb", SCALE, WRONG, "%%triton ", "import triton.language as tl\ny = tl.atomic_a")
    notebook = lab.open("help.ipynb")
    expect(page.locator(".triton-lab-status")).to_contain_text("Triton 3.")
    notebook.cell(0).click()
    page.keyboard.press("Control+Enter")
    expect(page.locator(".triton-lab-status")).to_contain_text("CPU · no GPU", timeout=RUN_MS)

    # Completion, with what each name is.
    notebook.cell(3).locator(".cm-content").click()
    page.keyboard.press("Control+End")
    items = offered(page)
    expect(items).to_have_count(2)
    expect(items.first).to_contain_text("atomic_add")
    expect(items.first).to_contain_text("function")
    lab.screenshot("help-completion")
    page.keyboard.press("Escape")
    notebook.cell(2).locator(".cm-line").click()
    page.keyboard.press("Control+End")
    expect(offered(page).filter(has_text="--compile")).to_have_count(1)
    expect(items.filter(has_text="both")).to_contain_text("target")
    lab.screenshot("help-options")
    page.keyboard.press("Escape")

    # What a name means, under the pointer.
    load = notebook.cell(0).locator(".cm-line", has_text="tl.load").locator("span", has_text="load").first
    load.hover()
    told = page.locator(".triton-lab-hover")
    expect(told).to_contain_text("tl.load(pointer, mask=None, other=None")
    expect(told).to_contain_text("Return a tensor of data")
    lab.screenshot("help-hover")
    page.mouse.move(1, 1)
    expect(told).to_have_count(0)

    # A kernel that does not compile is marked where it is wrong, until that line is another.
    notebook.cell(1).locator(".cm-content").click()
    page.keyboard.press("Control+Enter")
    mark = notebook.cell(1).locator(MARK)
    expect(mark).to_have_text("tl.lod", timeout=RUN_MS)
    mark.hover()
    expect(page.locator(".cm-tooltip-lint")).to_contain_text("lod")
    lab.screenshot("help-mistake")
    page.mouse.move(1, 1)
    go = notebook.cell(1).get_by_role("button", name="Does not compile: go to line 4, column 9")
    go.click()
    page.keyboard.type("tl.load(x_ptr)  # ")
    expect(notebook.cell(1).locator(".cm-line").nth(3)).to_contain_text("x = tl.load(x_ptr)  # tl.lod")
    expect(notebook.cell(1).locator(MARK)).to_have_count(0)
    page.keyboard.press("Control+Enter")
    expect(notebook.cell(1).locator(".tl-card")).to_be_visible(timeout=RUN_MS)
    expect(go).to_have_count(0)
    assert lab.console_errors == []


def test_the_first_error_of_a_new_notebook_is_marked(lab: Lab) -> None:
    page = lab.page
    write(lab, "new.ipynb", "")
    notebook = lab.open("new.ipynb")
    notebook.write(0, WHOLE)
    notebook.run(0)
    expect(notebook.cell(0).locator(GO)).to_be_visible()
    expect(notebook.cell(0).locator(MARK)).to_have_text("tl.lod")
    # A kernel that restarts has forgotten who is there, and is not idle before it runs the cell.
    page.evaluate(_RESTART_AND_RUN)
    expect(notebook.cell(0).locator(GO)).to_be_visible()
    expect(notebook.cell(0).locator(MARK)).to_have_text("tl.lod")
    assert lab.console_errors == []


def caret(page: Page) -> tuple[int, int]:
    """The line and the column of the caret in the active cell, counted from 0."""
    line, column = page.evaluate(_CARET)
    return line, column


def test_the_way_to_an_error_follows_its_line(lab: Lab) -> None:
    page = lab.page
    write(lab, "follow.ipynb", "import torch, triton, triton.language as tl", WRONG, DEFINED, LAUNCHED)
    notebook = lab.open("follow.ipynb")
    for cell in range(4):
        notebook.run(cell)
    for kernel, launch in ((1, 1), (2, 3)):
        go, mark = notebook.cell(launch).locator(GO), notebook.cell(kernel).locator(MARK)
        expect(mark).to_have_text("tl.lod")
        go.click()
        expect(notebook.cell(kernel).locator(".cm-content")).to_be_focused()
        assert caret(page) == (3, 8)
        page.keyboard.press("ArrowUp")
        page.keyboard.press("Home")
        page.keyboard.press("Enter")
        expect(mark).to_have_text("tl.lod")
        go.click()
        expect(notebook.cell(kernel).locator(".cm-content")).to_be_focused()
        assert caret(page) == (4, 8)
        expect(go).to_have_accessible_name(re.compile(r"line 5\b"))
        # What somebody works at may compile now.
        page.keyboard.type("x")
        expect(go).to_be_hidden()
        expect(mark).to_have_count(0)
        page.keyboard.press("Backspace")
        expect(go).to_be_visible()
        expect(mark).to_have_text("tl.lod")
    assert lab.console_errors == []


def test_the_course_is_a_click_away_and_never_put_over_changes(lab: Lab) -> None:
    page = lab.page
    write(lab, "empty.ipynb", "")
    lab.open("empty.ipynb")
    page.evaluate("() => window.jupyterapp.commands.execute('launcher:create')")
    tile = page.locator(".jp-LauncherCard:visible", has_text="Triton course").last
    expect(tile).to_be_visible()
    lab.screenshot("help-launcher")
    tile.click()
    title = "() => window.jupyterapp.shell.currentWidget?.context?.path"
    page.wait_for_function(f"{title.replace('=> ', '=> (')}) === 'triton-lab-course/00_first_kernel.ipynb'")
    course = lab.folder.parent / "triton-lab-course"
    *_, mine = sorted(course.glob("*.ipynb"))
    nbformat.write(new_notebook(cells=[new_code_cell("mine = 1")]), mine)
    page.get_by_role("menuitem", name="Help").click()
    page.locator(".lm-Menu:visible .lm-Menu-item", has_text="Triton Course").click()
    expect(page.locator(".jp-toast-message")).to_contain_text(mine.name, timeout=RUN_MS)
    assert "mine = 1" in mine.read_text()
    assert lab.console_errors == []


def test_notebook_7_has_the_switch_the_list_and_the_card_beside(lab: Lab) -> None:
    page = lab.page
    page.set_viewport_size({"width": 600, "height": 900})
    write(lab, "seven.ipynb", SCALE)
    notebook = lab.open_in_notebook_7("seven.ipynb")
    notebook.run_all()
    notebook.cell(0).locator(".triton-lab-choose").click()
    expect(page.locator(".lm-Menu:visible .lm-mod-disabled").first).to_contain_text("no GPU")
    page.keyboard.press("Escape")
    page.evaluate("() => window.jupyterapp.commands.execute('apputils:change-theme', {theme: 'JupyterLab Dark'})")
    expect(page.locator("body[data-jp-theme-light='false']")).to_have_count(1)
    page.evaluate("() => window.jupyterapp.commands.execute('triton-lab:show-launches')")
    expect(rows(page)).to_have_count(1, timeout=RUN_MS)
    lab.screenshot("notebook7-launches-dark")
    assert violations(page, "#triton-lab-launches") == []
    rows(page).locator(".triton-lab-open").click()
    expect(page.locator(".triton-lab-beside .tl-kernel")).to_have_text("scale[8, 1, 1]", timeout=RUN_MS)
    lab.screenshot("notebook7-beside-dark")
    assert [error for error in lab.console_errors if error != ITS_OWN] == []
