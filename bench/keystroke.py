"""What a keystroke costs in a long annotated cell in a real JupyterLab, and how much of that is the extension's.

Milliseconds are those of the page's own thread on a processor, not the clock's: a busy machine spoils them less.
"""

from __future__ import annotations

import math
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import nbformat
from nbformat.v4 import new_code_cell, new_notebook

from .figure import AtMost, Figure
from .process import OURS, ProcessFailed, fresh

if TYPE_CHECKING:
    from playwright.sync_api import CDPSession, Page

    from tests.browser.lab import Lab
    from tests.browser.server import JupyterServer

LINES = 500
KEYS = 60
PAUSE = 30  # ms between two keys
KEYSTROKE = 16.0  # ms
HERE = "# type here"
BODY = "\n".join(
    f"    x = x * {k % 7}.5 + {k % 3}" if k % 10 else "    x += tl.load(x_ptr + at, mask=at < n)" for k in range(LINES)
)
CELL = f"""%%triton cpu
import torch, triton, triton.language as tl
@triton.jit
def long(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n)
{BODY}
    tl.store(y_ptr + at, x)
    {HERE}
long[(8,)](torch.arange(30.), torch.empty(32), 30, BLOCK=4)"""
# The caret behind those words.
_CARET = """words => {
  const { content } = window.jupyterapp.shell.currentWidget;
  content.activeCellIndex = 0;
  const view = content.activeCell.editor.editor;
  const anchor = view.state.doc.toString().indexOf(words) + words.length;
  view.dispatch({ selection: { anchor }, scrollIntoView: true });
  view.focus();
}"""
_OURS = "triton-lab"  # in the address of a script


def measure(quick: bool = False) -> list[Figure]:
    """Milliseconds a keystroke: with annotations, with the extension disabled, and under the extension's functions."""
    what = f"keystroke in a cell of {LINES} lines, annotated"
    try:
        found = fresh("keystroke:time_typing", environment=OURS)
    except ProcessFailed as failure:  # no browser here
        return [Figure(what, math.nan, "ms", AtMost(KEYSTROKE), str(failure))]
    told = f"{found['disabled']:.2g} ms with the extension disabled; {found['ours']:.2g} ms under its functions"
    return [Figure(what, found["annotated"], "ms", AtMost(KEYSTROKE), told)]


def time_typing() -> dict[str, float]:
    """Milliseconds a key: ``annotated``, ``ours`` (of those), and ``disabled``, where JupyterLab is by itself."""
    with _lab() as (lab, server):
        kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
        notebook = new_notebook(cells=[new_code_cell(CELL)], metadata={"kernelspec": kernel})
        nbformat.write(notebook, lab.folder / "long.ipynb")
        shown = lab.open("long.ipynb")
        shown.run_all()
        lab.page.wait_for_selector(".triton-lab-note-of-line", state="attached")
        annotated = _typed(lab.page)
        ours = _typed(lab.page, profiled=True)
        shown.save()
        lab.close_all()
        with server.extension_disabled():
            lab.load()
            lab.show("long.ipynb")
            return {"annotated": annotated, "ours": ours, "disabled": _typed(lab.page)}


@contextmanager
def _lab() -> Iterator[tuple[Lab, JupyterServer]]:
    from playwright.sync_api import sync_playwright

    from tests.browser.lab import VIEWPORT, Lab
    from tests.browser.server import serve

    with TemporaryDirectory() as home, serve(Path(home)) as server, sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=shutil.which("chromium"))
        lab = Lab(chromium.new_page(viewport=VIEWPORT), server, server.root, Path(home))
        try:
            yield lab, server
        finally:
            lab.shut_down_kernels()
            chromium.close()


def _typed(page: Page, profiled: bool = False) -> float:
    """Milliseconds a key of the page's thread; under the extension's functions, if ``profiled``."""
    page.evaluate(_CARET, HERE)
    page.wait_for_timeout(1000)  # what comes of that is over
    browser = page.context.new_cdp_session(page)
    browser.send("Performance.enable", {"timeDomain": "threadTicks"})
    if profiled:
        browser.send("Profiler.enable")
        browser.send("Profiler.start")
    before = _seconds(browser)
    for number in range(KEYS):
        page.keyboard.press("abcdefghij"[number % 10])
        page.wait_for_timeout(PAUSE)
    page.wait_for_timeout(500)  # what waits for a pause
    seconds = _seconds(browser) - before
    if profiled:
        seconds = _under_ours(browser.send("Profiler.stop")["profile"])
    browser.detach()
    return 1000 * seconds / KEYS


def _seconds(browser: CDPSession) -> float:
    """What the page's thread has worked so far."""
    found = {each["name"]: each["value"] for each in browser.send("Performance.getMetrics")["metrics"]}
    return float(found["TaskDuration"])


def _under_ours(profile: dict[str, Any]) -> float:
    """Seconds in the extension's functions, and in what they called."""
    nodes = {each["id"]: each for each in profile["nodes"]}
    ours = {number for number, each in nodes.items() if _OURS in each["callFrame"]["url"]}
    for number, each in sorted(nodes.items()):  # those that call come before those that are called
        if number in ours:
            ours.update(each.get("children", ()))
    return (
        sum(delta for sample, delta in zip(profile["samples"], profile["timeDeltas"], strict=True) if sample in ours)
        / 1e6
    )
