"""Pictures where nothing of the lab is installed: other JupyterLabs, converted notebooks, sites."""

from __future__ import annotations

import base64
from pathlib import Path

import nbformat
import pytest
from nbconvert import HTMLExporter
from nbformat.v4 import new_code_cell, new_notebook, new_output
from playwright.sync_api import Browser, expect

from tests.browser.lab import Lab
from tests.browser.server import JupyterServer
from tests.browser.test_saved_lab import KERNEL, SMALL, picks, tab
from triton_lab.examples import example
from triton_lab.views.html_output import output
from triton_lab.views.launch.card.launch_card import Card
from triton_lab.views.launch.gallery import launches_of
from triton_lab.views.myst_plugin import put_plugin
from triton_lab.views.nbconvert_exporter import LiveHTMLExporter
from triton_lab.views.notebook_output import SCENE, saved
from triton_lab.views.scene_packing import packed

STILL = ".triton-lab-picture > img"


def test_a_saved_notebook_is_live_in_a_jupyterlab_without_the_extension(
    lab: Lab, jupyter_server: JupyterServer
) -> None:
    path = lab.folder / "a.ipynb"
    cells = map(new_code_cell, ("%load_ext triton_lab", SMALL, SMALL))
    nbformat.write(new_notebook(cells=list(cells), metadata={"kernelspec": KERNEL}), path)
    notebook = lab.open("a.ipynb")
    notebook.run_all()
    lab.page.wait_for_function(
        """() => [1, 2].every(k => 'text/html' in
          window.jupyterapp.shell.currentWidget.content.model.cells.get(k).outputs.get(0).data)"""
    )
    notebook.save()
    lab.shut_down_kernels()
    with jupyter_server.extension_disabled():
        lab.load()
        for cell in (lab.show("a.ipynb").cell(2), lab.show("a.ipynb").cell(1)):
            picks(cell.locator(".tl-card"), 5)
            tab(cell.locator(".tl-card"), "Grid").click()
            expect(cell.locator(".tl-part:visible canvas").first).to_be_visible()
            expect(cell.locator(".triton-lab-scene")).to_have_count(0)
        lab.screenshot("saved-elsewhere")
        lab.close_all()
        # A notebook of a stranger runs no script until it is trusted: the still picture stays.
        (lab.folder / "b.ipynb").write_text(path.read_text().replace("%load_ext", "%reload_ext"))
        cell = lab.show("b.ipynb").cell(1)
        expect(cell.locator(STILL)).to_be_visible()
        expect(cell.locator(".tl-view, script")).to_have_count(0)
        lab.close_all()
        lab.page.goto("about:blank")  # no other test goes on in that page
    assert lab.console_errors == []


def notebook_of(*html: str) -> nbformat.NotebookNode:
    """A notebook with a card in each of its outputs, as HTML where that is given."""
    card = Card(launches_of(example("vector_add"))[0])
    data, _ = card._repr_mimebundle_()
    kept = {SCENE: saved(card), "image/png": base64.b64encode(data["image/png"]).decode(), "text/plain": "a card"}
    outputs = [[new_output("display_data", kept | ({"text/html": one} if one else {}))] for one in html]
    return new_notebook(cells=[new_code_cell("card", outputs=one) for one in outputs])


@pytest.mark.parametrize("own", [True, False], ids=["our exporter", "nbconvert's own"])
def test_nbconvert_makes_a_live_page(browser: Browser, tmp_path: Path, own: bool) -> None:
    scene = packed(Card(launches_of(example("vector_add"))[0]).saved())
    # The picture that carries the code may come last.
    html = ["", ""] if own else [output(scene, "", "a card", None, carries) for carries in (False, True)]
    exporter = LiveHTMLExporter() if own else HTMLExporter()
    page = browser.new_page()
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    path = tmp_path / "page.html"
    path.write_text(exporter.from_notebook_node(notebook_of(*html))[0], encoding="utf-8")
    page.route("http*://**", lambda route: route.abort())  # what nbconvert's own page fetches
    page.goto(path.as_uri(), wait_until="domcontentloaded")
    expect(page.locator(".triton-lab-picture .tl-card")).to_have_count(2)
    page.get_by_role("tab", name="Grid", exact=True).last.click()
    expect(page.locator(".tl-part:visible canvas").last).to_be_visible()
    expect(page.locator(STILL)).to_have_count(0)
    page.close()
    assert [error for error in complaints if "tl-" in error or "triton" in error] == []


def test_a_widget_of_myst_draws_the_packed_scene(browser: Browser, tmp_path: Path) -> None:
    """As MyST's themes call it: a module with `render`, whose model has what the node says."""
    put_plugin(tmp_path)
    scene = packed(Card(launches_of(example("vector_add"))[0]).saved())
    page = browser.new_page()
    page.set_content("<!doctype html><title>x</title><main></main>")
    page.add_style_tag(path=tmp_path / "triton-lab.css")
    page.evaluate(
        """async ([source, packed]) => {
          const url = URL.createObjectURL(new Blob([source], { type: 'text/javascript' }));
          const { default: widget } = await import(url);
          await widget.render({ model: { get: name => ({ packed })[name] }, el: document.querySelector('main') });
        }""",
        [(tmp_path / "triton-lab-picture.mjs").read_text(), scene],
    )
    expect(page.locator(".tl-kernel")).to_have_text("add_kernel[8, 1, 1]")
    page.close()
