"""How long pictures take, from a kernel's launch to pixels and from a pick to the next picture, and what they hold."""

from __future__ import annotations

import json
import math
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import triton
import triton.language as tl

from .figure import AtMost, Figure
from .process import OURS, fresh
from .timing import median_seconds

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

SIDE = 1024
CHROMIUM = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--js-flags=--expose-gc")


def measure(quick: bool = False) -> list[Figure]:
    """Milliseconds and megabytes, with a 1024x1024 argument and with a kernel of a hundred accesses."""
    found = fresh("views:time_views", 0.5 if quick else 3.0, environment=OURS)
    data, bundle, drawn, card, opened = (found[name] * 1e3 for name in ("scene", "bundle", "drawn", "card", "opened"))
    note = (
        f"{data:.3g} ms launch and data, {bundle - data:.3g} ms static picture and words, {drawn:.3g} ms in the browser"
    )
    return [
        Figure("heatmap 1024x1024: launch to data and pixels", data + drawn, "ms", AtMost(150)),
        Figure("heatmap 1024x1024: the whole output of a cell", bundle + drawn, "ms", AtMost(150), note),
        Figure("heatmap 1024x1024: another program", found["program"] * 1e3, "ms", AtMost(16)),
        Figure("heatmap 1024x1024: hover", found["hover"] * 1e3, "ms", AtMost(16)),
        Figure(
            "card of 100 accesses: opens in",
            card + opened,
            "ms",
            AtMost(1000),
            f"{card:.3g} ms in Python, {opened:.3g} ms in the browser",
        ),
        Figure(
            "card of 100 accesses: every tab opened, held in the browser",
            found["held"] / 1e6,
            "MB",
            AtMost(100),
            f"over an empty page; {found['heap'] / 1e6:.3g} MB of it in V8's heap",
        ),
        Figure("lab.interact: small kernel, slider to scene", found["interact"] * 1e3, "ms", AtMost(200)),
    ]


@triton.jit
def hundred_accesses(a_ptr, b_ptr, c_ptr, out_ptr, part, BLOCK: tl.constexpr):
    """Three loads and a store in each of 25 parts of the arguments."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    for number in tl.static_range(25):
        here = at + number * part
        sum = tl.load(a_ptr + here) + tl.load(b_ptr + here) + tl.load(c_ptr + here)
        tl.store(out_ptr + here, sum)


def time_views(budget: float) -> dict[str, float]:
    """Median seconds of each, and bytes; NaN for what needs a browser where there is none."""
    import torch

    import triton_lab
    from triton_lab.examples.vector_add import add
    from triton_lab.views.launch.accesses.accesses_view import Accesses
    from triton_lab.views.launch.card.launch_card import SHOWN, Card

    x, y = torch.rand(SIDE, SIDE), torch.rand(SIDE, SIDE)

    def picture() -> Accesses:
        with triton_lab.record() as launches:
            add(x, y)
        return Accesses(launches[0], "x_ptr")

    picture().scene()  # compiled and imported now
    small = torch.rand(1000)
    live = triton_lab.interact(lambda block_size: add(small, small, block_size), block_size=[64, 128])
    choices = [64, 128]

    def choose() -> None:
        live.choose(block_size=choices[0])
        live.shown.scene()
        choices.reverse()

    choose()
    choose()
    tensors = [torch.rand(25, 1 << 12) for _ in range(4)]
    with triton_lab.record() as launches:
        hundred_accesses[(16,)](*tensors, 1 << 12, BLOCK=256)
    assert len(launches[0].accesses) == 100
    Card(launches[0])._repr_mimebundle_()
    return {
        "scene": median_seconds(lambda: picture().scene(), budget=budget),
        "bundle": median_seconds(lambda: picture()._repr_mimebundle_(), budget=budget),
        "interact": median_seconds(choose, budget=budget),
        "card": median_seconds(lambda: Card(launches[0])._repr_mimebundle_(), budget=budget),
        **in_browser(picture(), Card(launches[0], SHOWN)),
    }


_TIMED = """async () => {
  const middle = (numbers) => numbers.sort((a, b) => a - b)[Math.floor(numbers.length / 2)];
  const repeat = (count, run) => middle(Array.from({ length: count }, (_, k) => {
    const start = performance.now();
    run(k);
    return performance.now() - start;
  }));
  const { scene, show, createSelection } = window.bench;
  const place = document.createElement("div");
  document.body.append(place);
  const drawn = repeat(7, () => show(scene, place, createSelection({}))());
  if (scene.kind === "card") return { opened: drawn / 1000 };
  const selection = createSelection({});
  show(scene, place, selection);
  const program = repeat(21, (k) => selection.set({ program: k }));
  const overlay = place.querySelector(".tl-overlay");
  const box = overlay.getBoundingClientRect();
  const hover = repeat(41, (k) => overlay.dispatchEvent(new PointerEvent(
    "pointermove", { clientX: box.left + 60 + 7 * k, clientY: box.top + 60 + 3 * k })));
  return { drawn: drawn / 1000, program: program / 1000, hover: hover / 1000 };
}"""
_MEASURED = ("drawn", "program", "hover", "opened", "held", "heap")


def in_browser(heatmap: Any, card: Any) -> dict[str, float]:
    """Seconds to draw a view, to pick a program and to follow the pointer, in Chromium; and what a card holds."""
    with chromium() as browser:
        if browser is None:
            return dict.fromkeys(_MEASURED, math.nan)
        found: dict[str, float] = {}
        for view in (heatmap, _Live(card)):
            with page_of(browser, view) as page:
                found |= json.loads(json.dumps(page.evaluate(_TIMED)))
        return {**found, **_held(browser, card)}


@dataclass(frozen=True)
class _Live:
    """A card as a notebook opens it: with the first picture alone."""

    card: Any

    def title(self) -> str:
        return ""

    def standalone(self) -> Mapping[str, Any]:
        return self.card.scene()  # type: ignore[no-any-return]


@contextmanager
def chromium() -> Iterator[Browser | None]:
    """The machine's Chromium, if it has one."""
    found = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        found = None
    if not found:
        yield None
        return
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=list(CHROMIUM))
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def page_of(browser: Browser, view: Any) -> Iterator[Page]:
    """A view's page, its scene and what draws it `within_reach`."""
    from triton_lab.views.html_page import page

    with TemporaryDirectory() as folder:
        path = Path(folder) / "view.html"
        path.write_text(within_reach(page(view)), encoding="utf-8")
        context = browser.new_context()
        try:
            opened = context.new_page()
            opened.goto(path.as_uri())
            opened.wait_for_selector(".tl-view[data-theme]")
            yield opened
        finally:
            context.close()


def within_reach(text: str) -> str:
    """A page whose scene, and what draws it, are in `window.bench`."""
    before, drawn, after = text.partition("if (carried.parentElement) show(")
    if not drawn:
        raise RuntimeError("front/page.js draws its scene in other words than those that are looked for here")
    return f"{before}window.bench = {{ scene, show, createSelection }};\n  {drawn}{after}"


def _held(browser: Browser, card: Any) -> dict[str, float]:
    """What a page with every tab of a card opened holds over an empty one: bytes of its process, and V8's heap."""
    before = _renderers(browser)
    with page_of(browser, card) as page:
        mine = _largest(_renderers(browser), before)
        session = page.context.new_cdp_session(page)
        for tab in page.locator(".tl-tabs > [role=tab]").all():
            tab.click()
            page.wait_for_function("() => !document.querySelector('.tl-part[aria-busy]')")
        for _ in range(3):
            session.send("HeapProfiler.collectGarbage")
        held = _renderers(browser)[mine]
        session.send("Performance.enable")
        metrics = {one["name"]: one["value"] for one in session.send("Performance.getMetrics")["metrics"]}
    before = _renderers(browser)
    context = browser.new_context()
    context.new_page().goto("data:text/html,<title>empty</title>")
    after = _renderers(browser)
    context.close()
    return {"held": held - after[_largest(after, before)], "heap": metrics["JSHeapUsedSize"]}


def _renderers(browser: Browser) -> dict[int, int]:
    """The bytes that each process which draws pages has to itself."""
    found = browser.new_browser_cdp_session().send("SystemInfo.getProcessInfo")["processInfo"]
    return {one["id"]: _private(one["id"]) for one in found if one["type"] == "renderer"}


def _largest(processes: dict[int, int], before: dict[int, int]) -> int:
    """The one that a new page came with; Chromium may keep an idle one ready besides."""
    return max(processes.keys() - before.keys(), key=lambda process: processes[process])


def _private(process: int) -> int:
    rollup = Path(f"/proc/{process}/smaps_rollup").read_text()
    return sum(int(line.split()[1]) * 1024 for line in rollup.splitlines() if line.startswith("Private_"))
