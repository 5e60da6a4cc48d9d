"""JupyterLab (or Notebook 7) as a test drives it: open a notebook, run it, look at it."""

from __future__ import annotations

import urllib.parse
from pathlib import Path

from playwright.sync_api import ConsoleMessage, Error, Locator, Page, ViewportSize

from tests.browser.server import JupyterServer

START_MS = 60_000
RUN_MS = 120_000
VIEWPORT: ViewportSize = {"width": 1280, "height": 1000}

# Resolves once the panel of `path` is shown, its file is read and its kernel has started.
_OPENED = """async path => {
  const app = window.jupyterapp;
  await app.restored;
  const panel = await app.commands.execute('docmanager:open', { path });
  await panel.context.ready;
  await panel.sessionContext.ready;
  await panel.revealed;
  app.shell.activateById(panel.id);
}"""

# Resolves once the only panel's file is read and its kernel has started.
_READY = """async () => {
  const panel = window.jupyterapp.shell.currentWidget;
  await panel.context.ready;
  await panel.sessionContext.ready;
}"""

# Resolves once every cell has run and the kernel is idle.
_RUN_ALL = """async () => {
  const app = window.jupyterapp;
  const { sessionContext } = app.shell.currentWidget;
  await app.commands.execute('notebook:run-all-cells');
  const { kernel } = sessionContext.session;
  if (kernel.status !== 'idle') {
    await new Promise(resolve => {
      const check = (_, status) => {
        if (status === 'idle') {
          kernel.statusChanged.disconnect(check);
          resolve();
        }
      };
      kernel.statusChanged.connect(check);
    });
  }
}"""

# Resolves once the cell has run.
_RUN = """async index => {
  const app = window.jupyterapp;
  app.shell.currentWidget.content.activeCellIndex = index;
  await app.commands.execute('notebook:run-cell');
}"""

# Whether JupyterLab is loaded with no document open.
_EMPTY = """() => window.jupyterapp?.name === 'JupyterLab' &&
  ![...window.jupyterapp.shell.widgets('main')].some(each => each.context)"""

# Sets back what a test may have set; resolves to whether nothing stands in the way of another.
_AS_FOUND = """async () => {
  const app = window.jupyterapp;
  if (app?.name !== 'JupyterLab') return false;
  if (document.body.dataset.jpThemeName !== 'JupyterLab Light')
    await app.commands.execute('apputils:change-theme', { theme: 'JupyterLab Light' });
  const ours = ['left', 'right', 'down'].some(area =>
    [...app.shell.widgets(area)].some(each => each.isVisible && each.id.startsWith('triton-lab')));
  return !ours && !document.querySelector('.jp-Dialog, .Toastify__toast');
}"""


# JupyterLab asks each new kernel for its debugger, and complains where the kernel is shut down before it has answered.
_ITS_DEBUGGER = "Could not restore the debugger state: Canceled future"
# JupyterLab asks a kernel for a thread for comms, and does not expect that the kernel is shut down meanwhile.
_ITS_SUBSHELL = "Canceled future for create_subshell_request"


class Lab:
    """One browser page on JupyterLab, which a test has to itself until it leaves."""

    def __init__(self, page: Page, server: JupyterServer, folder: Path, screenshots: Path) -> None:
        self.page = page
        self.folder = folder
        """A folder that the server serves, for this test alone: a copy of ``notebooks/``."""
        self.console_errors: list[str] = []
        """What the page complained of: errors on its console, and exceptions nobody caught."""
        self._server = server
        self._screenshots = screenshots
        page.on("console", self._on_console)
        page.on("pageerror", self._on_error)

    def leave(self) -> bool:
        """Close what is open and shut the kernels down; whether the page is as a next test wants to find it."""
        self.close_all()
        left: bool = self.page.evaluate(_AS_FOUND)
        self.page.remove_listener("console", self._on_console)
        self.page.remove_listener("pageerror", self._on_error)
        return left and self.page.viewport_size == VIEWPORT and not self.console_errors and not self._server.is_set()

    def open_in_notebook_7(self, name: str) -> Notebook:
        """As ``open``, in Jupyter Notebook, which shows one notebook a page."""
        path = urllib.parse.quote(str((self.folder / name).relative_to(self._server.root)))
        self.page.goto(f"{self._server.url}/notebooks/{path}?token={self._server.token}")
        self.page.wait_for_function("() => window.jupyterapp?.shell.currentWidget", timeout=START_MS)
        self.page.evaluate(_READY)
        return Notebook(self.page)

    def open(self, name: str) -> Notebook:
        """Open the notebook ``name`` of ``self.folder`` and await its kernel.

        JupyterLab is loaded for it, unless it is and nothing is open: a second notebook, or the same once more, is
        opened in a page that knows nothing of the first.
        """
        if not self.page.evaluate(_EMPTY):
            self.load()
        return self.show(name)

    def show(self, name: str) -> Notebook:
        """As ``open``, in the JupyterLab that is loaded, beside what is open there."""
        path = (self.folder / name).relative_to(self._server.root)
        self.page.evaluate(_OPENED, str(path))
        return Notebook(self.page)

    def load(self) -> None:
        """Load JupyterLab with nothing open."""
        query = urllib.parse.urlencode({"token": self._server.token, "reset": ""})
        workspace = urllib.parse.quote(self.folder.name)
        self.page.goto(f"{self._server.url}/lab/workspaces/{workspace}?{query}")
        self.page.wait_for_function("() => window.jupyterapp", timeout=START_MS)

    def reload(self) -> None:
        """Load the page again; return when JupyterLab has opened what it had open.

        Beside that it opens the file in the page's address, some seconds later, whatever became of its name meanwhile.
        """
        self.page.reload()
        self.page.wait_for_function("() => window.jupyterapp", timeout=START_MS)
        self.page.evaluate("() => window.jupyterapp.restored")
        self.page.wait_for_selector(".jp-FileBrowser.jp-mod-restoring", state="detached", timeout=START_MS)

    def screenshot(self, name: str, of: Locator | None = None) -> Path:
        """Save a picture of the page, or of one element, as ``name``.png."""
        path = self._screenshots / f"{name}.png"
        (of or self.page).screenshot(path=path)
        return path

    def close_all(self) -> None:
        """Close what is open, saved or not, and shut all kernels down."""
        self.page.evaluate(
            "() => [...(window.jupyterapp?.shell.widgets('main') ?? [])].forEach(each => each.dispose())"
        )
        self.shut_down_kernels()

    def shut_down_kernels(self) -> None:
        """Shut all kernels down; return when they are gone."""
        self.page.evaluate("() => window.jupyterapp?.serviceManager.sessions.shutdownAll()")

    def _on_error(self, error: Error) -> None:
        if _ITS_SUBSHELL not in str(error):
            self.console_errors.append(str(error))

    def _on_console(self, message: ConsoleMessage) -> None:
        if message.type == "error" and not message.text.startswith(_ITS_DEBUGGER):
            self.console_errors.append(f"{message.text} ({message.location.get('url')})")


class Notebook:
    """The notebook in front."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def run_all(self, timeout_ms: int = RUN_MS) -> None:
        """Run every cell; return when all have run and the kernel is idle."""
        self.page.set_default_timeout(timeout_ms)
        self.page.evaluate(_RUN_ALL)

    def run(self, index: int) -> None:
        """Run the cell ``index``, counted from 0; return when it has run, with an error or without."""
        self.page.evaluate(_RUN, index)

    def write(self, index: int, text: str) -> None:
        """Put ``text`` into the cell ``index`` as somebody does who pastes over all of it."""
        self.cell(index).locator(".cm-content").click()
        self.page.keyboard.press("ControlOrMeta+a")
        self.page.keyboard.insert_text(text)

    def save(self) -> None:
        """Save the file; return when it is written."""
        self.page.evaluate("() => window.jupyterapp.shell.currentWidget.context.save()")

    def restart_kernel(self) -> None:
        """Restart the kernel, without a question; return when it has started."""
        self.page.evaluate("() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart()")

    def cell(self, index: int) -> Locator:
        """The cell ``index``, counted from 0, scrolled into view.

        JupyterLab takes cells that are far from view out of the page, hence the scrolling.
        """
        self.page.evaluate("index => window.jupyterapp.shell.currentWidget.content.scrollToItem(index, 'smart')", index)
        return self.page.locator(f".jp-Notebook-cell[data-windowed-list-index='{index}']")
