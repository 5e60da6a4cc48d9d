"""Every notebook of the course as a reader meets it: run, and each of its pictures drawn.

JupyterLab runs those that have all kinds of pictures among them. The others are run by a kernel, and their pictures are
drawn in a page without JupyterLab, for half of the time.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.lab import Lab
from tests.browser.test_site import MISSING
from tests.notebooks.course import FOLDER, executed, sources
from tests.notebooks.test_course import MOST_BYTES, is_fit_to_store
from tests.preloading import offer_kernel
from tests.views.unpacking import unpacked
from triton_lab.views.notebook_output import SCENE
from triton_lab.views.script_bundle import SITE, script, stylesheet

IN_JUPYTERLAB = (
    *("03_storage", "05_dtypes", "07_reductions", "10_order_and_autotuning", "11_atomics"),
    *("31_polyhedra", "32_scheduling", "18_layouts", "19_machine_code", "25_gluon_tensor_cores"),
    *("27_kernels_in_torch_compile", "28_testing_kernels"),
)
ELSEWHERE = [source.stem for source in sources() if source.stem not in IN_JUPYTERLAB]

# Kinds of output of each cell, and how many lines of an error it shows.
_OUTPUTS = """() => [...window.jupyterapp.shell.currentWidget.content.model.cells].map(cell =>
  cell.type === 'code' ? cell.outputs.toJSON().map(output =>
    output.output_type === 'error' ? `error: ${output.evalue}` : Object.keys(output.data ?? {}).join(' ')) : [])"""


def scenes_of(notebook: Any) -> list[str]:
    """The pictures of a notebook, packed as it keeps them."""
    outputs = (output for cell in notebook.cells for output in cell.get("outputs", ()))
    return [data[SCENE]["scene"] for output in outputs if SCENE in (data := output.get("data", {}))]


def test_jupyterlab_draws_every_kind_of_picture() -> None:
    kinds = {
        path.stem: {unpacked(scene)["kind"] for scene in scenes_of(nbformat.read(path, as_version=4))}
        for path in (source.with_suffix(".ipynb") for source in sources())
    }
    drawn = set().union(*(kinds[name] for name in IN_JUPYTERLAB))
    assert {name: found - drawn for name, found in kinds.items() if found - drawn} == {}


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A `JUPYTER_PATH` whose kernels start with all imported."""
    folder = tmp_path_factory.mktemp("share")
    offer_kernel(folder)
    return str(folder)


@pytest.fixture(scope="module")
def page(browser: Browser) -> Iterator[Page]:
    """An empty page with no network, whose console must be clean."""
    context = browser.new_context(offline=True)
    page = context.new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    yield page
    context.close()
    assert complaints == []


@pytest.mark.parametrize("name", ELSEWHERE)
def test_a_notebook_runs_and_all_its_pictures_are_drawn(page: Page, kernels: str, tmp_path: Path, name: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUPYTER_PATH", kernels)
        notebook = executed(FOLDER / f"{name}.py")
    is_fit_to_store(notebook)
    pictures = "".join(
        f'<div class="triton-lab-picture"><script type="application/gzip">{scene}</script></div>'
        for scene in scenes_of(notebook)
    )
    (tmp_path / "page.html").write_text(
        f'<!doctype html><meta charset="utf-8"><style>{stylesheet()}</style>{pictures}'
        f'<script type="module">{script(SITE)}</script>',
        encoding="utf-8",
    )
    page.goto((tmp_path / "page.html").as_uri())
    expect(page.locator(".triton-lab-picture").first).to_be_attached()
    assert page.evaluate(MISSING) == []


@pytest.mark.parametrize("name", IN_JUPYTERLAB)
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
            drawn = picture.locator("canvas, svg, img, .tl-code, .tl-parts, .tl-prediction, table")
            expect(drawn.first).to_be_visible()
        # In its place stands the image.
        expect(cell.get_by_text("saved by another version")).to_have_count(0)
        if os.environ.get("TRITON_LAB_SCREENSHOTS"):  # a hundred, a fifth of a second each: for somebody who looks
            lab.screenshot(f"course-{name}-{number}", cell)
    assert lab.console_errors == []
    notebook.save()
    # The HTML for places without the extension has each picture a second time, and the code that draws it.
    is_fit_to_store(nbformat.read(lab.folder / f"{name}.ipynb", as_version=4), 5 * MOST_BYTES // 2)


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
