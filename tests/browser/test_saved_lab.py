"""Saved notebooks: what was live when they were saved is live when they are opened again, with no kernel behind it."""

from __future__ import annotations

import base64
import copy
from collections.abc import Mapping
from typing import Any

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from playwright.sync_api import Locator, expect

from tests.browser.lab import Lab, Notebook
from tests.browser.test_notebook7 import ITS_OWN
from triton_lab.examples import example
from triton_lab.views.launch.card.launch_card import Card
from triton_lab.views.launch.gallery import launches_of
from triton_lab.views.notebook_output import SCENE, WIDGET
from triton_lab.views.scene_packing import packed

KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}
ADD = """%%triton cpu
import torch
from triton_lab.examples.vector_add import add
out = add(torch.arange({n}.0), torch.ones({n}), block=1024)"""
SMALL, LARGE = ADD.format(n=5000), ADD.format(n=100_000)  # of the second only the first tab is made when it is shown
UNOPENED = "Run the cell again to see this"

# Milliseconds until a cell's picture is drawn, from the moment at which the page is scrolled to it.
_SHOWN = """async index => {
  const { content } = window.jupyterapp.shell.currentWidget;
  const start = performance.now();
  await content.scrollToItem(index, 'center');
  const canvas = () => document.querySelector(`[data-windowed-list-index='${index}'] .tl-card canvas`);
  while (!canvas()?.width) await new Promise(requestAnimationFrame);
  return performance.now() - start;
}"""

# The scene in a cell's output.
_KEPT = """index => {
  const cell = window.jupyterapp.shell.currentWidget.content.model.cells.get(index);
  return cell.outputs.get(0).data['application/vnd.triton-lab.scene.v1+json'].scene;
}"""


# Run in the notebook's new kernel: whether it answers for pictures, as it does after the start-up hook.
_EXECUTED = "code => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.requestExecute({ code }).done"
_COMMS = "comms = get_ipython().kernel.comm_manager\n"
LISTENS = f"{_COMMS}from triton_lab.views.frontend_presence import listen\nlisten(get_ipython())"
KNOWS_NOBODY = f"{_COMMS}comms.targets.pop('triton_lab.views', None)"


def written(lab: Lab, *cells: Any) -> str:
    nbformat.write(new_notebook(cells=list(cells), metadata={"kernelspec": KERNEL}), lab.folder / "saved.ipynb")
    return "saved.ipynb"


def stored(lab: Lab) -> nbformat.NotebookNode:
    return nbformat.read(lab.folder / "saved.ipynb", as_version=4)


def save_once_kept(lab: Lab, notebook: Notebook, cell: int, before: str) -> None:
    """Save once what came has been packed and put into the cell's output: some milliseconds after it is drawn."""
    lab.page.wait_for_function(f"before => ({_KEPT})({cell}) !== before", arg=before)
    notebook.save()


def tab(card: Locator, name: str) -> Locator:
    return card.get_by_role("tab", name=name, exact=True)


def picks(card: Locator, count: int) -> None:
    """A click picks the program below it."""
    told = card.locator(".tl-told:visible").first
    expect(told).to_have_text(f"all {count} programs")
    card.locator(".tl-overlay:visible").first.click(position={"x": 60, "y": 30})
    expect(told).to_contain_text("program (")


@pytest.mark.parametrize("front", ["lab", "notebook 7"])
def test_a_saved_notebook_is_live_without_its_kernel(lab: Lab, front: str) -> None:
    far = new_markdown_cell("\n\n".join(f"line {number}" for number in range(200)))
    name = written(lab, *map(new_code_cell, ("%load_ext triton_lab", SMALL, LARGE)), far, new_code_cell(SMALL))
    open_ = lab.open if front == "lab" else lab.open_in_notebook_7
    notebook = open_(name)
    notebook.run_all()
    picks(notebook.cell(1).locator(".tl-card"), 5)
    large = notebook.cell(2).locator(".tl-card")
    tab(large, "Accesses").click()
    expect(large.get_by_role("tabpanel", name="out_ptr").locator("canvas:visible").first).to_be_visible()
    before = lab.page.evaluate(_KEPT, 2)
    tab(large, "y_ptr").click()
    expect(large.get_by_role("tabpanel", name="y_ptr").locator("canvas:visible").first).to_be_visible()
    save_once_kept(lab, notebook, 2, before)
    outputs = [output.data for cell in stored(lab).cells for output in cell.get("outputs", ())]
    assert [WIDGET in data for data in outputs] == [False] * 3 and all(SCENE in data for data in outputs)
    assert "widgets" not in stored(lab).metadata

    lab.shut_down_kernels()
    notebook = open_(name)
    print(f"{front}: first picture after {lab.page.evaluate(_SHOWN, 4):.0f} ms")
    card = notebook.cell(1).locator(".tl-card")
    picks(card, 5)
    for other in ("Accesses", "Grid", "Values", "Steps", "Origins", "Storage"):
        tab(card, other).click()
        expect(card.locator(".tl-part:visible canvas, .tl-part:visible .tl-code").first).to_be_visible()
    expect(notebook.cell(1).get_by_text(UNOPENED)).to_have_count(0)
    lab.screenshot(f"saved-{front}", notebook.cell(1))
    # What was opened was saved; what was not says what to do, in its place.
    large = notebook.cell(2).locator(".tl-card")
    tab(large, "Accesses").click()
    expect(large.get_by_role("tabpanel", name="out_ptr").locator("canvas:visible").first).to_be_visible()
    expect(large.get_by_text(UNOPENED)).to_have_count(0)
    tab(large, "Grid").click()
    expect(large.get_by_text(UNOPENED)).to_be_visible()
    lab.screenshot(f"saved-unopened-{front}", notebook.cell(2))
    assert [error for error in lab.console_errors if error != ITS_OWN] == []


def test_after_a_restart_an_unopened_tab_says_what_to_do(lab: Lab) -> None:
    notebook = lab.open(written(lab, *map(new_code_cell, ("%load_ext triton_lab", LARGE, LARGE))))
    notebook.run_all()
    first, second = (notebook.cell(number).locator(".tl-card") for number in (1, 2))
    tab(first, "Grid").click()
    expect(first.locator("canvas:visible").first).to_be_visible()
    notebook.restart_kernel()
    tab(first, "Values").click()
    expect(first.get_by_text(UNOPENED)).to_be_visible()
    tab(first, "Grid").click()
    expect(first.locator("canvas:visible").first).to_be_visible()
    # Run again, the cell answers again; the other one is still of the kernel that is gone.
    notebook.run_all()
    again = notebook.cell(1).locator(".tl-card")
    tab(again, "Values").click()
    expect(again.locator(".tl-part:visible canvas").first).to_be_visible()
    expect(again.get_by_text(UNOPENED)).to_have_count(0)
    notebook.save()
    # A reload finds the kernel as it was.
    notebook = lab.open("saved.ipynb")
    second = notebook.cell(2).locator(".tl-card")
    tab(second, "Grid").click()
    expect(second.locator("canvas:visible").first).to_be_visible()
    expect(second.get_by_text(UNOPENED)).to_have_count(0)
    assert lab.console_errors == []


SLIDERS = """import torch
import triton_lab as lab
from triton_lab.examples.vector_add import add
def run(block):
    with lab.target("cpu"):
        add(torch.ones(100), torch.ones(100), block=block)
lab.interact(run, block=[16, 32])"""
DOMAIN = """import triton_lab as lab
lab.polyhedral.scop("for (int i = 0; i < n; i++) for (int j = 0; j < i; j++) A[i][j] = 0;", n=4)"""


@pytest.mark.parametrize("knows_us", [False, True], ids=["a bare kernel", "a kernel that has shown pictures"])
def test_sliders_move_while_the_kernel_lives_and_say_so_when_it_does_not(lab: Lab, knows_us: bool) -> None:
    name = written(lab, *map(new_code_cell, (SLIDERS, DOMAIN)))
    notebook = lab.open(name)
    notebook.run_all()
    cell = notebook.cell(0)
    slider = cell.get_by_role("slider", name="block", exact=True)
    expect(cell.locator(".tl-kernel")).to_have_text("add_kernel[7, 1, 1]")
    slider.focus()
    slider.press("ArrowRight")
    expect(cell.locator(".tl-kernel")).to_have_text("add_kernel[4, 1, 1]")
    cell = notebook.cell(1)
    more = cell.get_by_role("slider", name="n", exact=True)
    before = lab.page.evaluate(_KEPT, 1)
    more.focus()
    # The picture that comes has the keyboard where the one before had it.
    for key, n in (("ArrowRight", 5), ("ArrowRight", 6), ("ArrowLeft", 5)):
        lab.page.keyboard.press(key)
        expect(cell.locator(".tl-domain-bar").first).to_contain_text(f"/ {n * (n - 1) // 2}")
        expect(more).to_be_focused()
    expect(cell.locator(".tl-view")).to_contain_text("n = 5")
    save_once_kept(lab, notebook, 1, before)
    assert [WIDGET in output.data for cell in stored(lab).cells for output in cell.get("outputs", ())] == [False, False]

    lab.shut_down_kernels()
    notebook = lab.open(name)
    cell = notebook.cell(0)
    expect(cell.locator(".tl-kernel")).to_have_text("add_kernel[7, 1, 1]")
    expect(cell.get_by_text("Run the cell again to move the sliders")).to_be_visible()
    lab.page.evaluate(_EXECUTED, LISTENS if knows_us else KNOWS_NOBODY)
    cell = notebook.cell(1)
    expect(cell.locator(".tl-view")).to_contain_text("n = 5")
    before = lab.page.evaluate(_KEPT, 1)
    more = cell.get_by_role("slider", name="n", exact=True)
    more.fill("6")
    expect(cell.get_by_text("Run the cell again to change this picture")).to_be_visible()
    expect(cell.locator(".tl-view")).to_contain_text("n = 5")
    assert lab.page.evaluate(_KEPT, 1) == before, "what is drawn is what is saved"
    lab.screenshot("saved-domain", notebook.cell(1))
    assert lab.console_errors == []


def with_numbers(value: Any, number: float, name: str = "") -> Any:
    """The value with another number in place of those of that name, or of all."""
    if isinstance(value, Mapping):
        return {key: number if key == name else with_numbers(item, number, name) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [with_numbers(item, number, name) for item in value]
    return number if not name and isinstance(value, int | float) and not isinstance(value, bool) else value


def hostile() -> dict[str, Any]:
    """Outputs that somebody made up, by what is wrong with them."""
    scene = copy.deepcopy(dict(Card(launches_of(example("vector_add"))[0]).live()))
    shown = {"version": 1, "follows": False, "panel": False}
    attack = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>"
    parts: Any = scene["parts"]
    tiling = parts["tiling/out_ptr"]
    wild = {"type": "u4", "bytes": b"\xff" * (len(tiling["classOf"]["bytes"]) // 4 * 4)}
    odd = {"tabs": [{"name": "constructor", "label": "__proto__"}], "opened": "constructor"}
    return {
        "another version": {**shown, "version": 2, "scene": packed(scene)},
        "no record": "<script>document.title='owned'</script>",
        "no base64": {**shown, "scene": "~~~"},
        "no gzip": {**shown, "scene": "aGVsbG8="},
        "a bomb": {**shown, "scene": packed({"kind": "words", "text": "0" * (1 << 27)})},
        "no such kind": {**shown, "scene": packed({**scene, "kind": "constructor"})},
        "a field is missing": {
            **shown,
            "scene": packed({key: value for key, value in scene.items() if key != "table"}),
        },
        "markup": {**shown, "scene": packed({**scene, "title": attack, "facts": [attack], "remarks": [attack]})},
        "names of every object": {**shown, "scene": packed({**scene, **odd})},
        "classes that are none": {
            **shown,
            "scene": packed({**scene, "parts": {**parts, "tiling/out_ptr": {**tiling, "classOf": wild}}}),
        },
        "panels without end": {**shown, "scene": packed(with_numbers(tiling, 1e308, "panels"))},
        "all numbers large": {**shown, "scene": packed(with_numbers(tiling, 1e9))},
        "a part that is too large": {
            **shown,
            "scene": packed({**scene, "parts": {**parts, "tiling/out_ptr": with_numbers(tiling, 1e9, "panels")}}),
        },
    }


def test_a_picture_whose_script_cannot_be_loaded_is_the_one_that_was_saved(lab: Lab) -> None:
    """As where the server is gone, or another version of the extension has been installed meanwhile."""
    card = Card(launches_of(example("vector_add"))[0])
    png = card._repr_mimebundle_()[0]["image/png"]
    data = {SCENE: {"version": 1, "scene": packed(card.scene())}, "image/png": base64.b64encode(png).decode()}
    output = new_output("display_data", data | {"text/plain": "the picture in words"})
    name = written(lab, new_code_cell("1", outputs=[output]))
    lab.load()
    gone = "**/extensions/triton-lab/static/**"
    lab.page.route(gone, lambda route: route.abort())
    picture = lab.show(name).cell(0).locator(".triton-lab-scene")
    expect(picture.locator("img")).to_have_attribute("alt", "the picture in words")
    expect(picture.get_by_role("status")).to_have_text(
        "The code that draws pictures could not be loaded. Reload the page to see it live."
    )
    lab.screenshot("saved-no-script", picture)
    assert all("net::ERR_FAILED" in error for error in lab.console_errors), lab.console_errors
    lab.page.unroute(gone)
    lab.close_all()
    # Once it is there again, the next picture is live.
    picture = lab.show(name).cell(0).locator(".triton-lab-scene")
    expect(picture.locator(".tl-card")).to_be_visible()


def test_what_a_stranger_saved_is_harmless(lab: Lab) -> None:
    found = hostile()
    png = Card(launches_of(example("vector_add"))[0])._repr_mimebundle_()[0]["image/png"]
    cells = [
        new_code_cell(
            f"# {what}",
            outputs=[
                new_output(
                    "display_data",
                    {SCENE: data, "image/png": base64.b64encode(png).decode(), "text/plain": "the picture in words"},
                )
            ],
        )
        for what, data in found.items()
    ]
    notebook = lab.open(written(lab, *cells))
    title = lab.page.title()
    for number, what in enumerate(found):
        output = notebook.cell(number).locator(".triton-lab-scene")
        drawn = what in ("markup", "names of every object", "classes that are none", "a part that is too large")
        if not drawn:
            expect(output.locator("img")).to_have_attribute("alt", "the picture in words")
            expect(output.locator(".triton-lab-note")).to_contain_text("Run the cell again")
            if what in ("panels without end", "all numbers large", "a bomb"):
                expect(output.locator(".triton-lab-note")).to_contain_text("too large to be drawn")
        else:
            expect(output.locator(".tl-card")).to_be_visible()
        expect(output.locator("script, [onerror]")).to_have_count(0)
    lab.screenshot("saved-hostile")
    assert lab.page.title() == title and "owned" not in title
    assert lab.console_errors == []
