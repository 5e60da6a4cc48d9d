"""Every notebook of the course as a reader meets it: run in JupyterLab, each of its pictures drawn and live."""

from __future__ import annotations

import os

import nbformat
import pytest
from playwright.sync_api import expect

from tests.browser.lab import Lab
from tests.notebooks.course import sources
from tests.notebooks.test_course import is_fit_to_store

# Kinds of output of each cell, and how many lines of an error it shows.
_OUTPUTS = """() => [...window.jupyterapp.shell.currentWidget.content.model.cells].map(cell =>
  cell.type === 'code' ? cell.outputs.toJSON().map(output =>
    output.output_type === 'error' ? `error: ${output.evalue}` : Object.keys(output.data ?? {}).join(' ')) : [])"""


@pytest.mark.parametrize("name", [source.stem for source in sources()])
def test_all_pictures_of_a_notebook_are_drawn(lab: Lab, name: str) -> None:
    notebook = lab.open(f"{name}.ipynb")
    notebook.run_all()
    outputs: list[list[str]] = lab.page.evaluate(_OUTPUTS)
    assert [kind for cell in outputs for kind in cell if kind.startswith("error")] == []
    live = {number: sum("vnd.triton-lab.scene" in kind for kind in cell) for number, cell in enumerate(outputs)}
    assert any(live.values())
    for number, count in live.items():
        if not count:
            continue
        cell = notebook.cell(number)
        views = cell.locator(".triton-lab-scene > div:first-child")
        expect(views).to_have_count(count)
        for picture in views.all():
            expect(picture.locator("canvas, svg, img, .tl-code, .tl-parts, table").first).to_be_visible()
        # In its place stands the image.
        expect(cell.get_by_text("saved by another version")).to_have_count(0)
        if os.environ.get("TRITON_LAB_SCREENSHOTS"):  # a hundred, a fifth of a second each: for somebody who looks
            lab.screenshot(f"course-{name}-{number}", cell)
    assert lab.console_errors == []
    notebook.save()
    is_fit_to_store(nbformat.read(lab.folder / f"{name}.ipynb", as_version=4))


STEP = """import torch
import triton_lab as lab
a, b = lab.lazy.tensor([1.0, 2.0]), lab.lazy.tensor([3.0, 4.0])
a.add_(b * 2)
lab.lazy.mark_step()
view = lab.lazy.explain()
view"""


def test_a_lazy_step_answers_clicks(lab: Lab) -> None:
    """Clicking an operation lights its lines in the generated kernel and tells Python."""
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(source) for source in (STEP, "1")],
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
    )
    nbformat.write(notebook, lab.folder / "lazy.ipynb")
    opened = lab.open("lazy.ipynb")
    opened.run_all()
    view = opened.cell(0).locator(".tl-view")
    box = view.locator("svg [data-tag^=v]").first
    tag = box.get_attribute("data-tag")
    box.click()
    code = view.locator("pre > div")
    lit = [line.inner_text() for line in code.all() if "tl-mentioned" in (line.get_attribute("class") or "")]
    assert lit and all(tag in line for line in lit)
    lab.screenshot("lazy-picked", opened.cell(0))
    lab.page.evaluate("() => window.jupyterapp.commands.execute('apputils:change-theme', {theme: 'JupyterLab Dark'})")
    expect(view).to_have_attribute("data-theme", "dark")
    expect(lab.page.locator("#jupyterlab-splash")).to_have_count(0)
    lab.screenshot("lazy-dark", opened.cell(0))
    assert lab.console_errors == []
