"""A fault in a real JupyterLab is told once: by its card, with a line below it that says where to look."""

from __future__ import annotations

import nbformat
from playwright.sync_api import expect

from tests.browser.lab import Lab

HEAD = """import torch, triton, triton.language as tl
%load_ext triton_lab"""

UNMASKED = """%%triton cpu
@triton.jit
def copy(src, dst, N, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(src + i)
    tl.store(dst + i, v)

copy[(8,)](torch.randn(1000), torch.empty(1000), 1000, BLOCK=128)
"""

ADD = """%%triton cpu
@triton.jit
def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    y = tl.load(y_ptr + offsets)
    tl.store(out_ptr + offsets, x + y)

x, y = torch.rand(1000), torch.rand(1000)
add[(8,)](x, y, torch.empty_like(x), 1000, BLOCK=128)
"""

RACE = """%%triton cpu
@triton.jit
def shift(x, N, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i + 1, mask=i + 1 < N, other=0.0)
    tl.store(x + i, v, mask=i < N)

shift[(4,)](torch.arange(64.0), 64, BLOCK=16)
"""

REFUSED = """%%triton cpu
@triton.jit
def either(x, N: tl.constexpr):
    i = tl.arange(0, N)
    v = 1 if i > 3 else 2
    tl.store(x + i, v)

either[(1,)](torch.zeros(8), N=8)
"""

CAUGHT = """from triton_lab.interpreter.kernel_errors import KernelError
import sys
print(type(sys.last_value).__name__, "element 1000 of src" in str(sys.last_value))
try:
    copy[(8,)](torch.randn(1000), torch.empty(1000), 1000, BLOCK=128)
except KernelError:
    print("caught")"""


def test_a_fault_is_told_once_and_folded(lab: Lab) -> None:
    cells = (HEAD, UNMASKED, CAUGHT, "%tb", RACE, REFUSED, ADD)
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(source, metadata={"tags": ["raises-exception"]}) for source in cells],
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
    )
    nbformat.write(notebook, lab.folder / "told.ipynb")
    opened = lab.open("told.ipynb")
    opened.run_all()
    output = opened.cell(1).locator(".jp-Cell-outputArea")
    card = output.locator(".tl-card")
    expect(card.locator(".tl-finding").first).to_contain_text("error: this cell, line 5: load out of bounds")
    below = output.locator("[data-mime-type='application/vnd.jupyter.stderr']")
    expect(below).to_have_text("KernelError: this cell, line 5, launched in line 8: see the card above")
    expect(card.locator(".tl-failure")).to_be_hidden()
    expect(card.locator("details .tl-failure")).to_contain_text("--> 8 copy[(8,)]")
    assert "ipykernel" not in output.inner_text()
    box = output.bounding_box()
    lab.screenshot("told-once", output)
    assert box is not None and box["height"] < 720, box
    expect(opened.cell(2).locator(".jp-Cell-outputArea")).to_have_text("KernelError True\ncaught\n")
    expect(opened.cell(3).locator(".jp-Cell-outputArea")).to_contain_text("cell [2], line 8")
    race = opened.cell(4).locator(".jp-Cell-outputArea")
    expect(race.locator(".tl-finding").first).to_contain_text(
        "If program (1, 0, 0) stores first, program (0, 0, 0) loads 17.0 from x[16]."
    )
    lab.screenshot("told-race", race)
    refused = opened.cell(5).locator(".jp-Cell-outputArea")
    expect(refused).to_contain_text("`if` needs one truth value")
    lab.screenshot("told-refused", refused)
    assert "builtin.module" not in refused.inner_text() and "scf.if" not in refused.inner_text()
    longer = opened.cell(6).locator(".jp-Cell-outputArea")
    expect(longer.locator(".tl-fix")).to_have_count(3)
    lab.screenshot("told-add", longer)
    box = longer.bounding_box()
    assert box is not None and box["height"] < 720, box
    assert lab.console_errors == []
