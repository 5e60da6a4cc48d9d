"""A tab of Chromium that is given scenes as a notebook has them, and what each costs it: time and memory.

The tab has what the JupyterLab extension draws scenes with. A scene that cannot be drawn leaves its still picture and a
line that says why, as there.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Error, Page

from triton_lab.views.script_bundle import SAVED, script, stylesheet

HANGS = 15.0  # seconds by the clock after which a tab is given up; what counts is the time of its own thread
VIEWPORT = {"width": 900, "height": 900}
_PAGE = """<!doctype html><meta charset="utf-8"><style>%s</style><body><div id="place"></div><script type="module">
%s
%s
</script>"""
# As `scene.ts` shows an output; then somebody looks: points at pictures, zooms, opens tabs.
_SHOW = """
const place = document.getElementById("place");
let stop = () => {};
const picture = (words) => {
  const image = document.createElement("img");
  image.alt = "still";
  const note = document.createElement("div");
  note.textContent = words;
  place.replaceChildren(image, note);
};
const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
const look = async () => {
  for (const tab of [...place.querySelectorAll("[role=tab]")].slice(0, 12)) {
    tab.click();
    await frame();
  }
  for (const node of [...place.querySelectorAll(".tl-overlay, .tl-domain-stage, svg")].slice(0, 8)) {
    const { left, top, width, height } = node.getBoundingClientRect();
    for (const [x, y] of [[0.2, 0.1], [0.5, 0.5]]) {
      const at = { bubbles: true, clientX: left + width * x, clientY: top + height * y, pointerId: 1 };
      for (const name of ["pointermove", "pointerdown", "pointerup"]) node.dispatchEvent(new PointerEvent(name, at));
      node.dispatchEvent(new MouseEvent("click", at));
    }
    for (const key of ["ArrowRight", "Enter", "+", "+", "ArrowDown", "0", "Escape"]) {
      node.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
    }
    await frame();
  }
  for (const slider of [...place.querySelectorAll("input[type=range]")].slice(0, 8)) {
    slider.value = slider.max;
    slider.dispatchEvent(new Event("input", { bubbles: true }));
  }
  for (const select of [...place.querySelectorAll("select")].slice(0, 4)) {
    select.value = select.options[select.options.length - 1]?.value;
    select.dispatchEvent(new Event("change", { bubbles: true }));
  }
  await frame();
};
window.shown = null;
window.clear = () => {
  stop();
  stop = () => {};
  place.replaceChildren();
  window.shown = null;
};
window.give = async (data, looks) => {
  const found = { kind: "", told: "" };
  try {
    const saved = savedOf(data);
    const scene = await sceneOf(saved.scene ?? "");
    stop = showSaved(scene, place, createSelection({}), null);
    found.kind = "drawn";
    await frame();
    if (looks) await look();
  } catch (error) {
    found.kind = error instanceof CannotDraw ? "refused" : "wrong";
    found.told = String(error.message ?? error);
    picture(found.told);
    await frame();
  }
  const active = "script, iframe, object, embed, link, [onerror], [onload], [onclick], a[href^=javascript]";
  found.active = place.querySelectorAll(active).length;
  found.height = place.getBoundingClientRect().height;
  found.empty = !place.childElementCount;
  found.elements = place.querySelectorAll("*").length;
  window.shown = found;
};
window.ready = true;
"""


@dataclass
class Seen:
    """What became of one scene: ``kind`` is drawn, refused, wrong or hung."""

    kind: str
    told: str
    seconds: float
    """Of the tab's own thread, all in all."""
    memory: int
    """Bytes that the tab had at most, without the files that it maps, of which Chromium itself has 100 MB."""
    faults: list[str] = field(default_factory=list)
    """Scripts that ran, requests that were made."""


class Tab:
    """One page; `give` it outputs. A tab that hangs is ended, and a new one takes its place."""

    def __init__(self, browser: Browser, folder: Path) -> None:
        self._browser = browser
        self._path = folder / "scenes.html"
        self._path.write_text(_PAGE % (stylesheet(), script(SAVED), _SHOW), encoding="utf-8")
        self._page: Page | None = None
        self._process = 0
        self._faults: list[str] = []
        self._spent = 0.0

    def give(self, data: Any, looks: bool = True) -> Seen:
        """Show an output that has this as its scene."""
        page = self._open()
        self._faults.clear()
        before = _thread_seconds(self._process)
        # A tab that hangs answers nothing, not even that it is to close: without its process it has crashed.
        alarm = threading.Timer(HANGS, self._kill)
        alarm.start()
        try:
            self._collect(page)
            _reset_peak(self._process)
            before = _thread_seconds(self._process)
            page.evaluate("([data, looks]) => void window.give(data, looks)", [data, looks])
            found: dict[str, Any] = page.wait_for_function("window.shown", timeout=2000 * HANGS).json_value()
            seconds, memory = _thread_seconds(self._process) - before, _peak(self._process)
            ran = page.evaluate("document.title || window.owned || ''")
            page.evaluate("window.clear()")
        except Error as error:
            seconds = self._spent - before
            self._forget()
            return Seen("hung", str(error).splitlines()[0], seconds, 0, list(self._faults))
        finally:
            alarm.cancel()
        if found["active"]:
            self._faults.append(f"{found['active']} elements that may run something")
        if ran:
            self._faults.append("a script of the scene ran")
        if found["empty"]:
            self._faults.append("nothing is shown")
        return Seen(found["kind"], found["told"], seconds, memory, list(self._faults))

    @property
    def address(self) -> str:
        """Of the page, for one more that has it."""
        return self._path.as_uri()

    def close(self) -> None:
        if self._page is not None:
            self._page.context.close()
            self._page = None

    def _open(self) -> Page:
        if self._page is None:
            before = _renderers(self._browser)
            page = self._page = self._browser.new_context(viewport=VIEWPORT).new_page()
            page.on("request", self._requested)
            page.on("dialog", lambda dialog: (self._faults.append("a dialog"), dialog.dismiss()))
            page.goto(self._path.as_uri())
            page.wait_for_function("window.ready")
            # A tab may have been given a process that was waiting for one.
            page.evaluate("{ const end = performance.now() + 300; while (performance.now() < end); }")
            spent = {process: _thread_seconds(process) for process in _renderers(self._browser)}
            new = [process for process in spent if process not in before] or list(spent)
            self._process = max(new, key=lambda process: spent[process])
        return self._page

    def _requested(self, request: Any) -> None:
        if not request.url.startswith(("data:", "blob:", self._path.as_uri())):
            self._faults.append(f"asked for {request.url[:80]}")

    @staticmethod
    def _collect(page: Page) -> None:
        session = page.context.new_cdp_session(page)
        session.send("HeapProfiler.collectGarbage")
        session.detach()

    def _kill(self) -> None:
        self._spent = _thread_seconds(self._process)
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._process, signal.SIGKILL)

    def _forget(self) -> None:
        assert self._page is not None
        context, self._page = self._page.context, None
        with contextlib.suppress(Error):
            context.close()


def _renderers(browser: Browser) -> list[int]:
    session = browser.new_browser_cdp_session()
    found = session.send("SystemInfo.getProcessInfo")["processInfo"]
    session.detach()
    return [int(one["id"]) for one in found if one["type"] == "renderer"]


def _thread_seconds(process: int) -> float:
    """What the process's first thread, on which a page's scripts run and its layout is made, took of a processor."""
    try:
        return int(Path(f"/proc/{process}/schedstat").read_text().split()[0]) / 1e9
    except OSError:
        return 0.0


def _reset_peak(process: int) -> None:
    with contextlib.suppress(OSError):
        Path(f"/proc/{process}/clear_refs").write_text("5")


def _peak(process: int) -> int:
    """Bytes of memory that the process had at most since `_reset_peak`, without those of files that it maps."""
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return 0
    sizes = {name: value.split()[0] for name, _, value in (line.partition(":") for line in lines) if value.strip()}
    return (int(sizes.get("VmHWM", 0)) - int(sizes.get("RssFile", 0))) * 1024
