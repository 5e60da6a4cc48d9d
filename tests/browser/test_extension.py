"""The JupyterLab extension: the marked ``%%triton`` line and the badge behind it."""

from __future__ import annotations

from typing import Any

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from playwright.sync_api import expect

from tests.browser.lab import Lab, Notebook

MARK = ".triton-lab-magic-line"
BADGE = ".triton-lab-badge"


def ran_cell(source: str, target: str) -> Any:
    """A code cell with the saved output of a run on ``target``, as ``%%triton`` writes it."""
    shown = {"text/plain": f"a launch on the {target}"}
    output = new_output("display_data", shown, metadata={"triton_lab": {"target": target}})
    return new_code_cell(source, execution_count=1, outputs=[output])


def opened(lab: Lab, *cells: Any) -> Notebook:
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = new_notebook(cells=list(cells), metadata={"kernelspec": kernel})
    nbformat.write(notebook, lab.folder / "marks.ipynb")
    return lab.open("marks.ipynb")


def test_the_magic_line_is_marked_and_the_badge_tells_the_saved_target(lab: Lab) -> None:
    notebook = opened(
        lab,
        new_markdown_cell("# Where did it run?"),
        ran_cell("%%triton cpu\nadd[grid](x, y, out, n, BLOCK=128)", "cpu"),
        ran_cell("%%triton auto\nadd[grid](x, y, out, n, BLOCK=128)", "gpu"),
        ran_cell("%%triton both --show tiling\nadd[grid](x, y, out, n, BLOCK=128)", "both"),
    )
    for index, (text, label) in enumerate(
        [
            ("CPU", "Last run on the CPU"),
            ("GPU", "Last run on the GPU"),
            ("CPU + GPU", "Last run on both the CPU and the GPU"),
        ],
        start=1,
    ):
        cell = notebook.cell(index)
        expect(cell.locator(MARK)).to_contain_text("%%triton")
        expect(cell.locator(BADGE)).to_have_text(text)
        expect(cell.get_by_role("img", name=label)).to_be_visible()
    lab.screenshot("extension-marks")
    assert lab.console_errors == []


def test_other_cells_stay_as_they_are(lab: Lab) -> None:
    notebook = opened(
        lab,
        new_markdown_cell("`%%triton` runs a cell:\n\n%%triton"),
        new_code_cell("x = 1\n# %%triton"),
        ran_cell("%%triton", "cpu"),
    )
    expect(notebook.cell(2).locator(MARK)).to_have_count(1)
    for index in (0, 1):
        expect(notebook.cell(index).locator(f"{MARK}, {BADGE}")).to_have_count(0)
    assert lab.console_errors == []


def test_the_badge_follows_the_run_and_the_text(lab: Lab) -> None:
    # A magic of the test's own in place of ours: what counts is what the output says.
    publish = (
        "from IPython.core.magic import register_cell_magic\n"
        "from IPython.display import display\n"
        "@register_cell_magic\n"
        "def triton(line, cell):\n"
        "    display({'text/plain': 'ran'}, raw=True, metadata={'triton_lab': {'target': line}})"
    )
    notebook = opened(lab, new_code_cell(publish), ran_cell("%%triton cpu\nx = 1", "gpu"))
    cell = notebook.cell(1)
    expect(cell.locator(BADGE)).to_have_text("GPU")
    notebook.run_all()
    expect(cell.locator(BADGE)).to_have_text("CPU")

    # Once its first line is another, the cell is not ours.
    cell.locator(".cm-content").click()
    lab.page.keyboard.press("Control+Home")
    lab.page.keyboard.insert_text("# ")
    expect(cell.locator(MARK)).to_have_count(0)
    expect(cell.locator(BADGE)).to_have_count(0)
    assert lab.console_errors == []
