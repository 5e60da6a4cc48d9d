"""The first notebook in Jupyter Notebook 7: cards live there as in JupyterLab."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.lab import Lab

ADDITION = 3  # the cell of the first launch
# Notebook 7.6's own core complains of this while it loads settings, with or without us.
ITS_OWN = "Cannot read properties of undefined (reading 'schema')"


def test_the_first_card_lives_in_notebook_7(lab: Lab) -> None:
    notebook = lab.open_in_notebook_7("00_first_kernel.ipynb")
    notebook.run_all()
    cell = notebook.cell(ADDITION)
    expect(cell.locator(".triton-lab-badge")).to_have_text("CPU")
    card = cell.locator(".tl-card")
    expect(card.locator(".tl-kernel")).to_have_text("add[7, 1, 1]")
    told = card.locator(".tl-told")
    expect(told).to_have_text("all 7 programs")
    card.locator(".tl-overlay").click(position={"x": 60, "y": 40})
    expect(told).to_have_text("program (2, 0, 0)")
    lab.screenshot("notebook7", cell)
    card.get_by_role("tab", name="Grid", exact=True).click()
    expect(card.get_by_role("tab", name="Grid", exact=True)).to_have_attribute("aria-selected", "true")
    expect(card.locator("canvas:visible").first).to_be_visible()
    lab.screenshot("notebook7-grid", cell)
    assert [error for error in lab.console_errors if error != ITS_OWN] == []
