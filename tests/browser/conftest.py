"""A real JupyterLab and a real Chromium for the tests in this folder.

A test takes ``lab`` (see ``lab.py``); the server and the browser behind it live as long as the
pytest session. Without a browser the tests skip, naming the reason, but under ``CI`` they fail.
"""

from __future__ import annotations

import base64
import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Error, Locator, Page, ViewportSize, expect

from tests.browser.lab import VIEWPORT, Lab
from tests.browser.server import JupyterServer, serve
from triton_lab.views.drawing import style
from triton_lab.views.html_page import page as page_of
from triton_lab.views.scene_packing import beside
from triton_lab.views.script_bundle import WIDGET, script, stylesheet
from triton_lab.views.view import View

HERE = Path(__file__).parent
NOTEBOOKS = HERE.parents[1] / "notebooks"
# Playwright waits for 5 s, which two workers on two cores may take to draw.
expect.set_options(timeout=20_000)

# A widget's model whose messages Python answers, as a kernel would.
_START = """([scene, buffers]) => {
  const views = texts => texts.map(text => new DataView(Uint8Array.from(atob(text), c => c.charCodeAt(0)).buffer));
  const filled = (value, from) =>
    Array.isArray(value) ? value.map(one => filled(one, from))
    : value === null || typeof value !== 'object' ? value
    : typeof value.buffer === 'number' ? from[value.buffer]
    : Object.fromEntries(Object.entries(value).map(([key, one]) => [key, filled(one, from)]));
  let heard = () => {};
  const model = {
    get: name => (name === 'scene' ? filled(scene, views(buffers)) : {}),
    set() {}, save_changes() {}, off() {},
    on: (name, then) => { if (name === 'msg:custom') heard = then; },
    send: ({ part }) => window.pythonPart(part).then(([scene, buffers]) => heard({ part, scene }, views(buffers))),
  };
  window.drawWidget({ model, el: document.querySelector('main') });
}"""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def jupyter_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[JupyterServer]:
    with serve(tmp_path_factory.mktemp("jupyter")) as server:
        yield server


@pytest.fixture(scope="session")
def screenshots() -> Iterator[Path]:
    """Where pictures go for a person to look at: ``$TRITON_LAB_SCREENSHOTS``.

    Where it names no folder, the 150 pictures are not taken: each costs a quarter of a second.
    """
    asked = os.environ.get("TRITON_LAB_SCREENSHOTS")
    with pytest.MonkeyPatch.context() as patch:
        if asked:
            Path(asked).mkdir(parents=True, exist_ok=True)
        else:
            for kind in (Page, Locator):
                patch.setattr(kind, "screenshot", _unless_to_a_file(kind.screenshot))
        yield Path(asked or HERE)


def _unless_to_a_file(take: Callable[..., bytes]) -> Callable[..., bytes]:
    def taken(self: Page | Locator, **options: Any) -> bytes:
        return b"" if "path" in options else take(self, **options)

    return taken


SIZE: ViewportSize = {"width": 900, "height": 900}


@pytest.fixture(scope="module")
def windows(browser: Browser) -> Iterator[list[Page]]:
    """A page for the views of a module, as the last test left it: a new one takes as long as to draw most views."""
    context = browser.new_context(viewport=SIZE)
    yield [context.new_page()]
    context.close()


@pytest.fixture
def show(windows: list[Page], tmp_path: Path) -> Iterator[Callable[..., Page]]:
    """Opens a view as a page of its own; at the end the console must be clean."""
    context = windows[0].context
    complaints: list[str] = []
    used: list[Page] = []

    def complain(message: ConsoleMessage | Error) -> None:
        if isinstance(message, Error) or message.type == "error":
            complaints.append(str(message))

    def opened(view: View, theme: style.Theme = style.LIGHT) -> Page:
        path = tmp_path / "view.html"
        path.write_text(page_of(view, theme), encoding="utf-8")
        page = context.new_page() if used or windows[0].is_closed() else windows[0]
        used.append(page)
        page.set_viewport_size(SIZE)
        page.emulate_media(color_scheme="null", reduced_motion="null")
        page.mouse.move(0, 0)
        page.on("console", complain)
        page.on("pageerror", complain)
        page.goto(path.as_uri())
        page.wait_for_selector(".tl-view[data-theme]")
        return page

    yield opened
    for page in used:
        page.remove_listener("console", complain)
        page.remove_listener("pageerror", complain)
    for page in used[1:]:
        page.close()
    if windows[0].is_closed():
        windows[0] = context.new_page()
    assert complaints == []


@pytest.fixture
def live(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Opens a view as a widget with a kernel behind it; at the end the console must be clean."""
    context = browser.new_context(viewport=SIZE)
    complaints: list[str] = []

    def carried(scene: Any) -> tuple[Any, list[str]]:
        buffers: list[bytes] = []
        plain = beside(scene, buffers)
        return plain, [base64.b64encode(one).decode() for one in buffers]

    def opened(view: View, theme: style.Theme = style.LIGHT) -> Page:
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.expose_function("pythonPart", lambda name: carried(view.part(name)))
        colours = f"body{{background:{theme.ground};color:{theme.ink}}}"
        head = f"<title>live</title><style>{colours}{stylesheet()}</style>"
        page.set_content(f'<!doctype html><html lang="en"><head>{head}</head><main></main></html>')
        source = script(WIDGET).replace("export default { render };", "window.drawWidget = render;")
        page.add_script_tag(type="module", content=source)
        page.wait_for_function("() => Boolean(window.drawWidget)")
        page.evaluate(_START, list(carried(view.live())))
        page.wait_for_selector(".tl-view[data-theme]")
        return page

    yield opened
    context.close()
    assert complaints == []


@pytest.fixture(scope="session")
def pages() -> list[Page]:
    """JupyterLab as the last test left it, in the browser profile that it had; nothing where the next needs another."""
    return []


@pytest.fixture
def lab(
    browser: Browser,  # first: where there is none, no server need start
    jupyter_server: JupyterServer,
    screenshots: Path,
    pages: list[Page],
    request: pytest.FixtureRequest,
) -> Iterator[Lab]:
    """JupyterLab with nothing open, on a copy of the course's notebooks in a folder of this test's name.

    To load it takes seconds, so a test goes on in the page of the one before, if that left it as it was.
    """
    folder = jupyter_server.root / re.sub(r"\W+", "-", request.node.name)
    if NOTEBOOKS.is_dir():
        shutil.copytree(NOTEBOOKS, folder)
    else:
        folder.mkdir()
    if not any(not page.is_closed() for page in pages):
        jupyter_server.forget_settings()  # a test before may have left the dark theme
        pages.append(browser.new_context(viewport=VIEWPORT).new_page())
    page = pages.pop()
    lab = Lab(page, jupyter_server, folder, screenshots)
    yield lab
    if lab.leave():
        pages.append(page)
    else:
        page.context.close()
