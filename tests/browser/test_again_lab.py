"""A cell that runs again opens where its reader was; what is wrong with the new launch comes first."""

from __future__ import annotations

import nbformat
from nbformat.v4 import new_code_cell, new_notebook
from playwright.sync_api import Locator, expect

from tests.browser.lab import Lab, Notebook

SCALE = """%%triton cpu
import torch, triton, triton.language as tl
@triton.jit
def scale(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n)
    tl.store(y_ptr + at, 2 * x, mask=at < n)
scale[(8,)](torch.arange(30.), y := torch.empty(30), 30, BLOCK=4)"""
EDITED = SCALE.replace("    x = tl.load", "    # a line more\n    x = tl.load").replace("2 * x", "3 * x")
FAULTY = EDITED.replace("3 * x, mask=at < n", "3 * x")


# Counts the pictures that are drawn from now on.
_COUNTING = """() => {
  window.drawn = 0;
  window.counting?.disconnect();
  window.counting = new MutationObserver(changes => {
    const added = changes.flatMap(({ addedNodes }) => [...addedNodes]).filter(node => node.nodeType === 1);
    window.drawn += added.filter(node => node.matches('.tl-view')).length;
  });
  window.counting.observe(document.body, { childList: true, subtree: true });
}"""


def opened(lab: Lab, name: str, *sources: str) -> Notebook:
    cells = [new_code_cell(source) for source in ("%load_ext triton_lab", *sources)]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(new_notebook(cells=cells, metadata={"kernelspec": kernel}), lab.folder / name)
    notebook = lab.open(name)
    notebook.run_all()
    return notebook


def again(notebook: Notebook, source: str) -> Locator:
    """The card of the first cell, which now says ``source`` and has run again."""
    notebook.page.mouse.move(1, 1)  # a line that comes to lie under the pointer would show what it touches
    notebook.page.evaluate(
        "text => window.jupyterapp.shell.currentWidget.content.model.cells.get(1).sharedModel.setSource(text)", source
    )
    notebook.run_all()
    return notebook.cell(1).locator(".tl-card")


def tab(card: Locator) -> Locator:
    return card.locator(".tl-tabs [role=tab][aria-selected=true]")


def test_the_card_opens_where_its_reader_was(lab: Lab) -> None:
    notebook = opened(lab, "again.ipynb", SCALE, SCALE)
    card = notebook.cell(1).locator(".tl-card")
    card.locator("summary", has_text="Source").click()
    card.get_by_role("tab", name="Accesses").click()
    card.locator(".tl-source .tl-line", has_text="tl.store").click()
    card.get_by_role("tab", name="x_ptr", exact=True).and_(card.locator(":visible")).click()
    for _ in range(6):
        card.get_by_role("tab", name="Accesses").press("]")
    expect(card.locator(".tl-chosen")).to_have_text("program (5, 0, 0) · line 7")

    lab.page.evaluate(_COUNTING)
    card = again(notebook, EDITED)
    expect(tab(card)).to_have_accessible_name("Accesses")
    # What is behind its tabs, and then the PNG, come into a picture that stays as it is.
    output = "window.jupyterapp.shell.currentWidget.content.model.cells.get(1).outputs.get(0)"
    lab.page.wait_for_function(f"() => 'image/png' in {output}.data")
    assert lab.page.evaluate("() => window.drawn") == 2  # one in each of both cells
    expect(card.locator(".tl-names:visible [aria-selected=true]")).to_have_text("x_ptr")
    expect(card.locator(".tl-chosen")).to_have_text("program (5, 0, 0) · line 8")  # moved, and edited
    expect(tab(notebook.cell(2).locator(".tl-card"))).to_have_accessible_name("Tiling")  # another cell has its own
    lab.screenshot("again-kept", notebook.cell(1))

    card.get_by_role("tab", name="Storage").click()
    card = again(notebook, FAULTY)
    expect(tab(card)).not_to_have_accessible_name("Storage")
    back = card.get_by_role("button", name="back to Storage · program (5, 0, 0) · line 8")
    lab.screenshot("again-fault", notebook.cell(1))
    back.click()
    expect(tab(card)).to_have_accessible_name("Storage")
    expect(card.locator(".tl-chosen")).to_have_text("program (5, 0, 0) · line 8")

    card = again(notebook, FAULTY)
    expect(tab(card)).not_to_have_accessible_name("Storage")
    card = again(notebook, EDITED)
    expect(tab(card)).to_have_accessible_name("Storage")
    expect(card.locator(".tl-chosen")).to_have_text("program (5, 0, 0) · line 8")

    other = opened(lab, "other.ipynb", SCALE)
    expect(tab(other.cell(1).locator(".tl-card"))).to_have_text("Tiling")
    assert lab.console_errors == []
