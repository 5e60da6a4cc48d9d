"""What is proved of a kernel's accesses stands beside them while one types."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.browser.axe import violations
from tests.browser.lab import RUN_MS, Lab
from tests.browser.test_session_lab import write

COPY = """%%triton cpu --show none
import torch, triton, triton.language as tl

@triton.jit
def scale_kernel(x_ptr, rows_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    row = tl.load(rows_ptr + offsets, mask=mask)
    y = tl.load(x_ptr + row, mask=mask)
    tl.store(out_ptr + offsets, x * y, mask=mask)

x, rows, out = torch.rand(1000), torch.zeros(1000, dtype=torch.int32), torch.zeros(1000)
scale_kernel[(triton.cdiv(x.numel(), 128),)](x, rows, out, x.numel(), BLOCK=128)"""
DARK = "() => window.jupyterapp.commands.execute('apputils:change-theme', { theme: 'JupyterLab Dark' })"
MASK = ", mask=mask)"


def test_accesses_are_proved_while_one_types(lab: Lab) -> None:
    page = lab.page
    write(lab, "proofs.ipynb", COPY)
    notebook = lab.open("proofs.ipynb")
    cell = notebook.cell(0)
    signs = cell.locator(".triton-lab-proof")
    expect(page.locator(".triton-lab-status")).to_contain_text("Triton 3.")
    cell.locator(".cm-content").click()
    page.keyboard.press("Control+Enter")
    expect(signs).to_have_text(["✓", "✓", "?", "✓"], timeout=RUN_MS)
    lab.screenshot("proofs-ran", cell)
    expect(signs.nth(0)).to_have_attribute("title", re.compile(r"numel\(\) == n"))

    # Without its mask the access leaves the tensor for some sizes, once a launch has shown it.
    line = cell.locator(".cm-line", has_text="tl.load(x_ptr + offsets")
    line.click()
    page.keyboard.press("End")
    for _ in MASK:
        page.keyboard.press("Backspace")
    page.keyboard.type(")")
    expect(signs).to_have_text(["✗", "✓", "?", "✓"], timeout=RUN_MS)
    expect(signs.nth(0)).to_have_attribute("title", re.compile("n = "))
    lab.screenshot("proofs-typed", cell)
    assert violations(page, ".triton-lab-proofs") == []
    page.evaluate(DARK)
    expect(page.locator("body")).to_have_attribute("data-jp-theme-light", "false")
    lab.screenshot("proofs-dark", cell)
    # A line that is typed in has no mark until the kernel has answered; a text that does not compile has none.
    page.keyboard.type(" +")
    expect(signs).to_have_count(3)
