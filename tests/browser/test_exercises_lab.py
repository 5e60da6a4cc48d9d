"""A learner at an exercise in JupyterLab: not solved and shown where, then solved; progress outlives the kernel."""

from __future__ import annotations

import nbformat
from playwright.sync_api import expect

from tests.browser.lab import Lab

IMPORTS = """import torch
import triton
import triton.language as tl
import triton_lab as lab
from triton_lab.course import exercise"""

ANSWER = """@triton.jit
def reverse_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out_ptr + offsets, tl.load(x_ptr + (n - {less}offsets), mask=mask{more}), mask=mask)

def reverse(x):
    out = torch.empty_like(x)
    reverse_kernel[(triton.cdiv(x.numel(), 64),)](x, out, x.numel(), BLOCK=64)
    return out
try:
    exercise("reverse").check(reverse)
finally:
    print("the check has ended")"""

WRONG = ANSWER.format(less="2 - ", more=" & (offsets < n - 1), other=0.0")
RIGHT = ANSWER.format(less="1 - ", more="").replace("try:\n    ", "").split("\nfinally")[0]


def test_an_answer_is_shown_its_fault_and_then_counted(lab: Lab) -> None:
    cells = [IMPORTS, "exercise('reverse').hint()", RIGHT, "lab.course.progress('01')", WRONG]
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(source) for source in cells],
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
    )
    nbformat.write(notebook, lab.folder / "exercise.ipynb")
    opened = lab.open("exercise.ipynb")
    opened.run_all()
    expect(opened.cell(1).get_by_text("Hint 1 of 3:")).to_be_visible()
    expect(opened.cell(2).get_by_text("Solved:")).to_be_visible()
    expect(opened.cell(2).get_by_text("Chapter 01: 1 of 5")).to_be_visible()
    lab.screenshot("exercise-solved", opened.cell(2))
    wrong = opened.cell(4)
    expect(wrong.get_by_text("Not solved yet")).to_be_visible()
    expect(wrong.get_by_text("and must be")).to_be_visible()
    expect(wrong.locator(".triton-lab-scene canvas").first).to_be_visible()
    lab.screenshot("exercise-wrong", wrong)
    lab.shut_down_kernels()
    again = lab.open("exercise.ipynb")
    again.run_all()
    expect(again.cell(3).get_by_text("Chapter 01: 1 of 5")).to_be_visible()
    lab.screenshot("exercise-progress", again.cell(3))
    assert lab.console_errors == []
