"""Every picture for everybody: axe finds nothing serious, in any tab, in both themes; the keyboard gets in and out."""

from __future__ import annotations

import contextlib
import inspect
import sys
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import pytest
import torch
import triton
import triton.language as tl
from nbformat.v4 import new_code_cell
from playwright.sync_api import Page, expect

import triton_lab as lab
from tests.browser.axe import violations
from tests.browser.lab import Lab, Notebook
from tests.browser.test_saved_lab import DOMAIN, SLIDERS, SMALL, written
from tests.views.test_scenes import MAKERS
from triton_lab.examples import example
from triton_lab.interpreter.kernel_errors import KernelError
from triton_lab.views.drawing import style
from triton_lab.views.launch.card.launch_card import SHOWN, Card
from triton_lab.views.launch.gallery import launches_of
from triton_lab.views.view import View

Open = Callable[..., Page]


@triton.jit
def unmasked(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets), mask=offsets < n)


@triton.jit
def racing(x_ptr, sum_ptr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.sum(tl.load(x_ptr + offsets))
    tl.store(sum_ptr, tl.load(sum_ptr) + total)


def out_of_bounds() -> View:
    with lab.record() as launches, contextlib.suppress(KernelError):
        unmasked[(4,)](torch.ones(100), torch.zeros(100), 100, BLOCK=32)
    return Card(launches[0], SHOWN)


def race() -> View:
    with lab.record() as launches:
        racing[(4,)](torch.arange(128.0), torch.zeros(1), BLOCK=32)
    return Card(launches[0], SHOWN)


# A picture of each kind; what other tests make of the tabs stands in the cards here.
KINDS = ("launches", "storage", "comparison", "page", "time", "kernel", "ragged", "ways", "maximal", "lazy", "report",
         "layout", "conversion", "layouts", "product")  # fmt: skip
VIEWS: dict[str, Callable[[], View]] = {
    **{name: MAKERS[name] for name in KINDS},
    "out of bounds": out_of_bounds,
    "race": race,
    "matmul": lambda: Card(launches_of(example("matmul_float32"))[0], SHOWN),
}


@cache
def made(name: str) -> View:
    return VIEWS[name]()


# Every element that takes the focus, as the Tab key comes to them: what it is, and whether somebody can tell.
_FOCUSED = """() => {
  const { activeElement: at } = document;
  if (!at || at === document.body) return null;
  const told = at.getAttribute("aria-label") ?? at.labels?.[0]?.textContent ?? at.textContent ?? "";
  return [`${at.tagName.toLowerCase()}.${at.className}`, told.trim(), at.getClientRects().length > 0];
}"""


# What a card's tab opens; there may be others in it, and JupyterLab has its own around it.
OPEN = ".tl-card > div > [role=tabpanel]"


def found(page: Page, rules: Sequence[str] = (), root: str = "body") -> dict[str, list[str]]:
    """What axe finds below ``root``, with all that folds unfolded, and in each tab of the card there."""
    page.evaluate("() => document.querySelectorAll('.tl-view details').forEach(each => (each.open = true))")
    told = {"at first": violations(page, root, rules)}
    card = page.locator(root)
    for tab in card.locator(".tl-card > div > [role=tablist]").get_by_role("tab", selected=False).all_inner_texts():
        card.get_by_role("tab", name=tab, exact=True).click()
        expect(card.locator(OPEN)).not_to_be_empty()
        told[tab] = violations(page, f"{root} {OPEN}", rules)
    return {where: wrong for where, wrong in told.items() if wrong}


@pytest.mark.parametrize("name", VIEWS)
def test_axe_finds_nothing_serious(show: Open, name: str) -> None:
    view = made(name)
    assert found(show(view)) == {}
    # Another theme changes colours alone.
    assert found(show(view, style.DARK), ["color-contrast"]) == {}


JUPYTER_THEMES = Path(sys.prefix) / "share" / "jupyter" / "lab" / "themes" / "@jupyterlab"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_words_can_be_read_in_the_colours_of_jupyterlab(show: Open, theme: str) -> None:
    """In JupyterLab itself axe cannot tell what lies behind words that are scrolled."""
    page = show(out_of_bounds(), style.DARK if theme == "dark" else style.LIGHT)
    page.add_style_tag(path=JUPYTER_THEMES / f"theme-{theme}-extension" / "index.css")
    page.add_style_tag(content="body { background: var(--jp-layout-color0) !important }")
    assert found(page, ["color-contrast"]) == {}


def test_operations_of_a_lazy_graph_are_reached_by_keyboard(show: Open) -> None:
    page = show(made("lazy"))
    graph, told = page.get_by_role("group", name="arrow keys go through its operations"), page.get_by_role("status")
    graph.focus()
    page.keyboard.press("ArrowRight")
    first = page.locator(".tl-glow").first.get_attribute("data-tag")
    expect(told).to_contain_text(str(first))
    expect(page.locator(".tl-mentioned:visible").first).to_contain_text(str(first))
    page.keyboard.press("ArrowDown")
    assert page.locator(".tl-glow").first.get_attribute("data-tag") != first
    page.keyboard.press("Escape")
    expect(page.locator(".tl-glow")).to_have_count(0)
    expect(told).to_have_text("")


@pytest.mark.parametrize("name", VIEWS)
def test_the_tab_key_gets_in_and_out_and_every_stop_has_a_name(show: Open, name: str) -> None:
    page = show(made(name))
    page.evaluate("() => document.querySelectorAll('.tl-view details').forEach(each => (each.open = true))")
    stops = []
    page.keyboard.press("Tab")
    while (at := page.evaluate(_FOCUSED)) is not None:
        stops.append(at)
        assert len(stops) < 300, f"the keyboard is trapped: {stops[-3:]}"
        page.keyboard.press("Tab")
    assert stops or name == "ways"  # three columns of text
    assert [what for what, told, seen in stops if not told or not seen] == []


# Ours: a traceback has the colours that IPython gives it.
OUTPUT = ".jp-Notebook-cell[data-windowed-list-index='{}'] .triton-lab-scene"


def of_output(notebook: Notebook, number: int, rules: Sequence[str] = ()) -> list[str]:
    """What axe finds in the output of a cell."""
    expect(notebook.cell(number).locator(".tl-view canvas:visible").first).to_be_visible()
    return violations(notebook.page, OUTPUT.format(number), rules)


# A card with a finding, a fix and the code of both.
FAILED = f"""%%triton cpu
import torch, triton, triton.language as tl
{inspect.getsource(unmasked.fn)}
unmasked[(4,)](torch.ones(100), torch.zeros(100), 100, BLOCK=32)"""


def test_outputs_are_accessible_with_a_kernel_and_without(lab: Lab) -> None:
    sources = ("%load_ext triton_lab", SMALL, SLIDERS, DOMAIN, FAILED)
    cells = [new_code_cell(source, metadata={"tags": ["raises-exception"]}) for source in sources]
    name = written(lab, *cells)
    notebook = lab.open(name)
    notebook.run_all()
    expect(notebook.cell(2).get_by_role("slider", name="block")).to_be_visible()
    assert of_output(notebook, 2) == []
    notebook.save()
    lab.shut_down_kernels()
    notebook = lab.open(name)
    assert [of_output(notebook, number) for number in (2, 3, 4)] == [[], [], []]
    notebook.cell(1)
    assert found(lab.page, root=OUTPUT.format(1)) == {}
    lab.page.evaluate("() => window.jupyterapp.commands.execute('apputils:change-theme', {theme: 'JupyterLab Dark'})")
    expect(notebook.cell(1).locator(".tl-view").first).to_have_attribute("data-theme", "dark")
    expect(lab.page.locator("#jupyterlab-splash")).to_have_count(0)
    assert [of_output(notebook, number, ["color-contrast"]) for number in (1, 2, 3, 4)] == [[], [], [], []]
    assert lab.console_errors == []
