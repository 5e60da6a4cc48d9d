"""Layouts in a notebook: what draws itself as the last value of a cell does so when the notebook is opened again."""

from __future__ import annotations

from nbformat.v4 import new_code_cell
from playwright.sync_api import Locator, expect

from tests.browser.lab import Lab
from tests.browser.test_saved_lab import UNOPENED, written

LAYOUT = """import triton_lab as lab
rows = lab.layout("blocked", (32, 16), size_per_thread=[1, 4], threads_per_warp=[8, 4], warps_per_cta=[4, 1])
rows"""
CONVERSION = """turned = lab.layout("blocked", (32, 16), size_per_thread=[4, 1], threads_per_warp=[2, 16],
                    warps_per_cta=[4, 1], order=[0, 1])
rows.to(turned)"""
KERNEL = """from triton_lab.examples.softmax import softmax_kernel
signature = "*fp32:16, *fp32:16" + ", i32" * 5
lab.compile(softmax_kernel, signature, {"BLOCK": 128}, "sm_90").layouts"""


def tells(output: Locator, words: str) -> None:
    """A click picks what is below it, and the words say what that is."""
    output.locator(".tl-overlay:visible").first.click(position={"x": 46 + 40, "y": 18 + 30})
    expect(output.locator(".tl-status").first).to_contain_text(words)


def test_layouts_are_live_with_a_kernel_and_without(lab: Lab) -> None:
    name = written(lab, *map(new_code_cell, ("%load_ext triton_lab", LAYOUT, CONVERSION, KERNEL)))
    for saved in (False, True):
        notebook = lab.open(name)
        if not saved:
            notebook.run_all()
        tells(notebook.cell(1), "warp 0, thread ")
        tells(notebook.cell(2), "warp 0, thread ")
        rows = notebook.cell(3).locator(".tl-picks tbody tr:visible")
        expect(rows.first).to_be_visible()
        rows.last.click()
        expect(rows.last).to_have_attribute("aria-current", "true")
        expect(notebook.cell(3).locator("canvas:visible").first).to_be_visible()
        expect(notebook.cell(3).get_by_text(UNOPENED)).to_have_count(0)
        lab.screenshot(f"layouts-{'saved' if saved else 'live'}", notebook.cell(1))
        notebook.save()
        lab.shut_down_kernels()
    assert lab.console_errors == []
