"""VS Code's renderer, built and run in a page as VS Code runs it: a module that gets an output and an element."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Browser, Page, expect

from triton_lab.examples import example
from triton_lab.views.launch.card.launch_card import Card
from triton_lab.views.launch.gallery import launches_of
from triton_lab.views.notebook_output import SCENE, saved

ROOT = Path(__file__).parents[2]
VSCODE = ROOT / "labextension" / "vscode"
RENDER = """async ([id, data]) => {
  window.signal ??= new AbortController();
  const element = document.querySelector('main').appendChild(document.createElement('div'));
  element.id = id;
  await window.renderer.renderOutputItem({ id, json: () => JSON.parse(data) }, element, window.signal.signal);
}"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not (ROOT / "labextension" / "node_modules").exists():
        pytest.skip("the extension's npm packages are not installed")
    node = shutil.which("node", path=str(Path(sys.executable).parent)) or "node"
    folder = tmp_path_factory.mktemp("vscode")
    subprocess.run([node, VSCODE / "build.mjs", folder], cwd=VSCODE.parent, check=True)
    return folder


@pytest.fixture
def vscode(browser: Browser, built: Path) -> Iterator[Page]:
    """A dark page as VS Code has it, with the renderer active."""
    page = browser.new_page(viewport={"width": 900, "height": 900})
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    kind = 'data-vscode-theme-kind="vscode-dark"'
    page.set_content(f'<!doctype html><html lang="en"><title>x</title><body {kind}><main></main></body></html>')
    source = (built / "renderer.js").read_text(encoding="utf-8")
    page.evaluate(
        """async source => {
          const { activate } = await import(URL.createObjectURL(new Blob([source], { type: 'text/javascript' })));
          window.renderer = activate({});
        }""",
        source,
    )
    yield page
    page.close()
    assert complaints == []


def test_the_renderer_draws_what_an_output_keeps(vscode: Page, screenshots: Path) -> None:
    card = Card(launches_of(example("vector_add"))[0])
    vscode.evaluate(RENDER, ["one", json.dumps(saved(card))])
    drawn = vscode.locator("#one .tl-view")
    expect(drawn.locator(".tl-kernel")).to_have_text("add_kernel[8, 1, 1]")
    expect(drawn).to_have_attribute("data-theme", "dark")
    drawn.get_by_role("tab", name="Grid", exact=True).click()
    expect(drawn.locator("canvas:visible").first).to_be_visible()
    vscode.evaluate("document.body.style.background = '#1e1e1e'")
    vscode.screenshot(path=screenshots / "vscode.png")
    # The same output again replaces the picture; an output that goes takes its picture with it.
    vscode.evaluate("() => document.querySelector('#one').remove()")
    vscode.evaluate(RENDER, ["one", json.dumps(saved(card))])
    expect(vscode.locator(".tl-view")).to_have_count(1)
    vscode.evaluate("() => window.renderer.disposeOutputItem('one')")
    expect(vscode.locator(".tl-view")).to_have_count(0)


@pytest.mark.parametrize("data", [3, {"version": 2}, {"version": 1, "scene": "~"}, {"version": 1}])
def test_what_cannot_be_drawn_says_why(vscode: Page, data: Any) -> None:
    vscode.evaluate(RENDER, ["odd", json.dumps(data)])
    expect(vscode.locator("#odd")).not_to_be_empty()
    expect(vscode.locator(".tl-view")).to_have_count(0)


def test_a_picture_that_is_no_longer_wanted_is_not_drawn(vscode: Page) -> None:
    vscode.evaluate("() => { window.signal = new AbortController(); window.signal.abort(); }")
    vscode.evaluate(RENDER, ["late", json.dumps(saved(Card(launches_of(example("vector_add"))[0])))])
    expect(vscode.locator("#late")).to_be_empty()


def test_the_archive_has_what_vscode_asks_for(built: Path, tmp_path: Path) -> None:
    spec = importlib.util.spec_from_file_location("pack", VSCODE / "pack.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.pack(built, tmp_path / "a.vsix")
    with zipfile.ZipFile(tmp_path / "a.vsix") as archive:
        package = json.loads(archive.read("extension/package.json"))
        (renderer,) = package["contributes"]["notebookRenderer"]
        assert renderer["mimeTypes"] == [SCENE]
        assert f"extension/{renderer['entrypoint'].removeprefix('./')}" in archive.namelist()
        identity = ElementTree.fromstring(archive.read("extension.vsixmanifest")).find(".//{*}Identity")
        assert identity is not None and identity.attrib["Version"] == package["version"]
        ElementTree.fromstring(archive.read("[Content_Types].xml"))
