"""A compiled launch in a real JupyterLab: its card has the tabs, and other programs come from the kernel."""

from __future__ import annotations

import nbformat
from playwright.sync_api import expect

from tests.browser.lab import Lab

CELLS = (
    "import triton_lab as lab\nfrom triton_lab.examples import example",
    "with lab.record() as launches:\n    example('softmax').check('small')\n"
    "launches[0].compile('sm_90').plot.transactions()",
    "launches[0]",
)


def test_transactions_follow_the_picked_program(lab: Lab) -> None:
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(source) for source in CELLS],
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
    )
    nbformat.write(notebook, lab.folder / "transactions.ipynb")
    opened = lab.open("transactions.ipynb")
    opened.run_all()
    picture = opened.cell(1).locator(".tl-transactions")
    expect(picture.locator(".tl-worst")).to_contain_text("wastes most")
    field = picture.get_by_label("program")
    field.fill("12")
    field.press("Enter")
    expect(picture.locator(".tl-title").last).to_contain_text("bytes of each sector that program (12, 0, 0) uses")
    lab.screenshot("transactions", opened.cell(1))
    card = opened.cell(2).locator(".tl-card")
    card.get_by_role("tab", name="Transactions").click()
    expect(card.locator(".tl-transactions .tl-worst")).to_contain_text("wastes most")
    card.get_by_role("tab", name="Cost").click()
    expect(card.locator(".tl-roof")).to_be_visible()
    lab.screenshot("cost", opened.cell(2))
    assert lab.console_errors == []
