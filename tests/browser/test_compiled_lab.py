"""A cell with ``--compile`` in JupyterLab: the stages in its card, with the kernel and without."""

from __future__ import annotations

import json

import nbformat
from playwright.sync_api import Locator, expect

from tests.browser.lab import Lab

CELL = """%%triton cpu --compile sm_90
import torch, triton, triton.language as tl

@triton.jit
def scale(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    k = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + k, mask=k < n)
    tl.store(y_ptr + k, x * 2, mask=k < n)

x, y = torch.arange(100.0), torch.empty(100)
scale[(2,)](x, y, 100, BLOCK=64)
"""


def pick(card: Locator) -> None:
    """Pick the load in the source, and see the machine code light up."""
    card.get_by_role("tab", name="Stages", exact=True).click()
    lists = card.locator(".tl-codelist")
    expect(lists).to_have_count(3)
    lists.nth(0).locator(".tl-codeline", has_text="tl.load").click(position={"x": 90, "y": 9})
    expect(lists.nth(2).locator(".tl-codepicked", has_text="LDG")).to_have_count(1)


def test_stages_are_live_with_the_kernel_and_in_the_saved_notebook(lab: Lab) -> None:
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(source) for source in ("%load_ext triton_lab", CELL)],
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
    )
    path = lab.folder / "compiled.ipynb"
    nbformat.write(notebook, path)
    shown = lab.open("compiled.ipynb")
    shown.run_all()
    card = shown.cell(1).locator(".tl-card")
    expect(card.get_by_role("tab", name="Compiled", exact=True)).to_have_attribute("aria-selected", "true")
    expect(card.locator(".tl-table", has_text="registers")).to_be_visible()
    pick(card)
    lab.screenshot("compiled", card)
    card.get_by_role("tab", name="Passes", exact=True).click()
    expect(card.locator(".tl-pass").nth(40)).to_be_attached(timeout=60_000)
    shown.save()
    assert len(json.dumps(json.loads(path.read_text(encoding="utf-8")))) < 600_000
    lab.shut_down_kernels()
    again = lab.open("compiled.ipynb")
    pick(again.cell(1).locator(".tl-card"))
