"""JupyterLab in another language: the extension's commands, panels and settings, and the pictures of a kernel."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests import pseudo_language
from tests.browser.lab import VIEWPORT, Lab
from tests.browser.server import JupyterServer, serve
from tests.browser.test_session_lab import PANEL, SCALE, write

_LABELS = """() => {
  const { commands } = window.jupyterapp;
  return commands.listCommands().filter(id => id.startsWith('triton-lab:'))
    .flatMap(id => [commands.label(id), commands.caption(id)]).filter(Boolean);
}"""


@pytest.fixture(scope="module")
def german(tmp_path_factory: pytest.TempPathFactory) -> Iterator[JupyterServer]:
    """A server whose users have chosen the language of brackets, as JupyterLab's own menu does."""
    folder = tmp_path_factory.mktemp("locale")
    pseudo_language.write(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRITON_LAB_LOCALE", str(folder))
        with serve(tmp_path_factory.mktemp("jupyter-language")) as server:
            chosen = server.settings / "@jupyterlab/translation-extension/plugin.jupyterlab-settings"
            chosen.parent.mkdir(parents=True)
            chosen.write_text(json.dumps({"locale": pseudo_language.NAME}))
            yield server


def test_jupyterlab_s_language_is_that_of_the_extension_and_of_the_kernel(
    browser: Browser, german: JupyterServer, screenshots: Path
) -> None:
    folder = german.root / "language"
    folder.mkdir()
    page: Page = browser.new_context(viewport=VIEWPORT).new_page()
    lab = Lab(page, german, folder, screenshots)
    write(lab, "a.ipynb", SCALE)
    notebook = lab.open("a.ipynb")
    labels: list[str] = page.evaluate(_LABELS)
    assert len(labels) > 20 and [text for text in labels if pseudo_language.is_english(text)] == []
    # Commands about a target are called with its name.
    assert [text for text in labels if "⟦" not in text and not text.startswith("undefined")] == []
    notebook.run(0)
    card = notebook.cell(0).locator(".tl-card")
    expect(card).to_be_visible(timeout=60_000)
    expect(card.locator("summary").first).to_have_text("⟦Source⟧")
    expect(card.locator("[role=tab]").first).to_contain_text("⟦")
    expect(page.locator(".triton-lab-choose").first).to_have_text("⟦target⟧")
    page.evaluate("() => window.jupyterapp.commands.execute('triton-lab:show-launches')")
    expect(page.locator(f"{PANEL} h2")).to_have_text("⟦Launches⟧")
    ours = page.evaluate(
        "() => [...document.querySelectorAll('.tl-view, .triton-lab-session')].map(node => node.innerText).join('\\n')"
    )
    said = [line for line in ours.splitlines() if line != "import triton_lab as lab"]  # which is Python
    assert [line for line in said if pseudo_language.is_english(line)] == []
    page.context.close()
