"""How long pictures take: from a kernel's launch to data and pixels, and from a pick to the next picture."""

from __future__ import annotations

import json
import math
import os
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from .figure import AtMost, Figure
from .process import OURS, fresh
from .timing import median_seconds

SIDE = 1024
CHROMIUM = ("--no-sandbox", "--disable-gpu", "--disable-background-networking")


def measure(quick: bool = False) -> list[Figure]:
    """Milliseconds, with a 1024x1024 argument."""
    seconds = fresh("views:time_views", 0.5 if quick else 3.0, environment=OURS)
    made, drawn = seconds["scene"] * 1e3, seconds["drawn"] * 1e3
    note = f"{made:.3g} ms in Python, {drawn:.3g} ms in the browser" if drawn > 0 else "no Chromium here"
    return [
        Figure("heatmap 1024x1024: kernel to screen", made + drawn if drawn > 0 else math.nan, "ms", AtMost(150), note),
        Figure("heatmap 1024x1024: another program", seconds["program"] * 1e3, "ms", AtMost(16)),
        Figure("heatmap 1024x1024: hover", seconds["hover"] * 1e3, "ms", AtMost(16)),
        Figure("lab.interact: small kernel, slider to scene", seconds["interact"] * 1e3, "ms", AtMost(200)),
    ]


def time_views(budget: float) -> dict[str, float]:
    """Median seconds of each; NaN for what needs a browser where there is none."""
    import torch

    import triton_lab
    from triton_lab.examples.vector_add import add
    from triton_lab.views.accesses import Accesses

    x, y = torch.rand(SIDE, SIDE), torch.rand(SIDE, SIDE)

    def picture() -> Accesses:
        with triton_lab.record() as launches:
            add(x, y)
        return Accesses(launches[0], "x_ptr")

    def scene() -> None:
        picture().scene()

    scene()  # compiled and imported now
    small = torch.rand(1000)
    live = triton_lab.interact(lambda block_size: add(small, small, block_size), block_size=[64, 128])
    choices = [64, 128]

    def choose() -> None:
        live.choose(block_size=choices[0])
        live.shown.scene()
        choices.reverse()

    choose()
    choose()
    return {
        "scene": median_seconds(scene, budget=budget),
        "interact": median_seconds(choose, budget=budget),
        **in_browser(picture()),
    }


_TIMED = """async () => {
  const data = document.querySelector("section script");
  const middle = (numbers) => numbers.sort((a, b) => a - b)[Math.floor(numbers.length / 2)];
  const scene = decode(JSON.parse(data.textContent));
  const repeat = (count, run) => middle(Array.from({ length: count }, (_, k) => {
    const start = performance.now();
    run(k);
    return performance.now() - start;
  }));
  const place = document.createElement("div");
  document.body.append(place);
  const drawn = repeat(7, () => show(scene, place, createSelection({}))());
  const selection = createSelection({});
  show(scene, place, selection);
  const program = repeat(21, (k) => selection.set({ program: k }));
  const overlay = place.querySelector(".tl-overlay");
  const box = overlay.getBoundingClientRect();
  const hover = repeat(41, (k) => overlay.dispatchEvent(new PointerEvent(
    "pointermove", { clientX: box.left + 60 + 7 * k, clientY: box.top + 60 + 3 * k })));
  return { drawn: drawn / 1000, program: program / 1000, hover: hover / 1000 };
}"""


def in_browser(view: Any) -> dict[str, float]:
    """Seconds to draw a view, to pick a program and to follow the pointer, in Chromium."""
    from triton_lab.views.page import page

    found = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    nothing = dict.fromkeys(("drawn", "program", "hover"), math.nan)
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return nothing
    if not found:
        return nothing
    with TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = Path(folder) / "view.html"
        exported = page(view).replace(
            "for (const section", "Object.assign(window, { decode, show, createSelection });\nfor (const section"
        )
        path.write_text(exported, encoding="utf-8")
        browser = playwright.chromium.launch(executable_path=found, args=list(CHROMIUM))
        try:
            opened = browser.new_page()
            opened.goto(path.as_uri())
            opened.wait_for_selector(".tl-view[data-theme]")
            return json.loads(json.dumps(opened.evaluate(_TIMED)))  # type: ignore[no-any-return]
        finally:
            browser.close()
