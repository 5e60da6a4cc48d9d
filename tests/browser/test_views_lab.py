"""Views in a real JupyterLab: drawn, picked with a click, told to Python, dark with the page."""

from __future__ import annotations

import nbformat
from playwright.sync_api import expect

from tests.browser.lab import Lab

KERNEL = """%%triton cpu --show tiling,storage,source
import torch, triton, triton.language as tl

@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + 2 * offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)

x, y, out = torch.randn(2000)[::2], torch.randn(1000), torch.empty(1000)
add_kernel[(8,)](x, y, out, 1000, BLOCK=128)
"""

STORAGE = """from triton_lab import storage
original = torch.arange(24, dtype=torch.float32).reshape(4, 6)
left, right = torch.split(original, [2, 4], dim=1)
view = storage(left, right)
view"""


def test_a_card_and_a_storage_picture_live_in_a_notebook(lab: Lab) -> None:
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(source) for source in ("%load_ext triton_lab", KERNEL, STORAGE)],
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
    )
    nbformat.write(notebook, lab.folder / "views.ipynb")
    opened = lab.open("views.ipynb")
    opened.run_all()
    card = opened.cell(1).locator(".tl-card")
    expect(card.locator(".tl-kernel")).to_have_text("add_kernel[8, 1, 1]")
    told = card.locator(".tl-told")
    expect(told).to_have_text("all 8 programs")
    card.locator(".tl-overlay").click(position={"x": 100, "y": 60})
    expect(told).to_contain_text("program")
    expect(card.locator(".tl-status")).to_contain_text("out_ptr[")
    lab.screenshot("card", opened.cell(1))
    expect(card.locator(".tl-code").nth(1)).to_contain_text("def add_kernel")
    picture = opened.cell(2).locator(".tl-storage")
    expect(picture.locator(".tl-cells").first).to_be_visible()
    lab.screenshot("storage", opened.cell(2))
    lab.page.evaluate("() => window.jupyterapp.commands.execute('apputils:change-theme', {theme: 'JupyterLab Dark'})")
    expect(picture.locator("xpath=ancestor::*[contains(@class, 'tl-view')]")).to_have_attribute("data-theme", "dark")
    expect(lab.page.locator("#jupyterlab-splash")).to_have_count(0)
    lab.screenshot("storage-dark", opened.cell(2))
    assert lab.console_errors == []
