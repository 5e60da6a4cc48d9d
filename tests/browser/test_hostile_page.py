"""What anybody may have put into a saved notebook neither runs, nor freezes its tab, nor fills its memory."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser

from tests.hostile.mutated import output, plain, put
from tests.hostile.outcome import Try
from tests.hostile.scenes import by_kind, hostile, judged
from tests.hostile.tab import Tab
from tests.views.pictures import PICTURES

# Views that are made quickly, and have most kinds of scenes.
SOME = ("card of a failure", "tiling over edges", "grid", "storage", "origins", "triangle", "layout", "ragged", "step")
EVERY = 11  # of the mutations of their scenes
TIMES = 3  # at most: what Chromium keeps until it collects garbage depends on what else the machine does


def tried(tab: Tab, name: str, data: Any) -> Try:
    """What becomes of a scene at its best: one that is too costly is so each time."""
    for _ in range(TIMES):
        found = judged(name, tab.give(data))
        if found.outcome in ("survived", "refused"):
            break
    return found


def test_a_sample_of_hostile_scenes_is_drawn_or_refused_in_time(browser: Browser, tmp_path: Path) -> None:
    scenes = by_kind([plain(PICTURES[name]().live()) for name in SOME])
    assert len(scenes) > 12
    tab = Tab(browser, tmp_path)
    found = [tried(tab, name, data) for name, data in hostile(scenes, seed=5, every=EVERY)]
    tab.close()
    assert [one for one in found if one.outcome in ("wrong", "hung")] == []
    assert {one.outcome for one in found} == {"survived", "refused"}


def _buffer(size: int) -> dict[str, Any]:
    return {"type": "u1", "bytes": plain(bytes(size))}


def test_what_a_scene_has_in_all_is_bounded(browser: Browser, tmp_path: Path) -> None:
    grid, storage = plain(PICTURES["grid"]().live()), plain(PICTURES["storage"]().live())
    side = 1024
    layout = {"shape": [side, side], "origin": [0, 0], "panels": 1, "across": 1, "rows": side, "columns": side}
    large = {**storage["grids"][0], "layout": {**layout, "down": 1, "right": 1}, "room": [side, side]}

    def pictures(count: int) -> Any:
        return {**storage, "grids": [large] * count, "tensors": storage["tensors"][:1] * count}

    def levels(count: int) -> Any:
        one = {**storage["grids"][0], "levels": _buffer(count)}
        return {**storage, "grids": [one], "tensors": storage["tensors"][:1]}

    def programs(*sizes: int) -> Any:
        return {**grid, "grid": sizes, "inputs": grid["inputs"][:1] * 64}

    tab = Tab(browser, tmp_path)
    for name, within, beyond in (
        ("pixels", pictures(2), pictures(4)),
        ("numbers", levels(4_100_000), levels(4_200_000)),
        ("programs", programs(512, 512, 1), programs(100, 100, 100)),
    ):
        assert tried(tab, name, output(json.dumps(within))) == Try(name, "survived")
        assert tried(tab, name, output(json.dumps(beyond))) == Try(name, "refused")
    tab.close()


def test_a_tab_that_was_left_gives_its_pixels_back_and_is_drawn_anew(browser: Browser, tmp_path: Path) -> None:
    storage = plain(PICTURES["storage"]().live())
    card = plain(PICTURES["card of a failure"]().live())
    card |= {"tabs": [{"name": name, "label": name} for name in "ab"], "parts": dict.fromkeys("ab", storage)}
    page = browser.new_page()
    page.goto(Tab(browser, tmp_path).address)
    page.wait_for_function("window.ready")
    page.evaluate("(data) => window.give(data, false)", output(json.dumps(card | {"opened": None})))
    page.evaluate("window.first = document.querySelector('.tl-cells')")
    pixels = "JSON.stringify([window.first.width, window.first.toDataURL()])"
    before = page.evaluate(pixels)
    page.get_by_role("tab", name="b", exact=True).click()
    assert page.evaluate("window.first.width") == 0
    page.get_by_role("tab", name="a", exact=True).click()
    assert page.evaluate(pixels) == before
    page.close()


def test_a_number_without_end_leaves_the_still_picture(browser: Browser, tmp_path: Path) -> None:
    tiling = plain(PICTURES["tiling over edges"]().live())
    tab = Tab(browser, tmp_path)
    sound = tab.give(output(json.dumps(tiling)))
    assert (sound.kind, sound.faults) == ("drawn", [])
    layer = tiling["layer"]
    for name in ("panels", "across", "rows", "columns"):
        seen = tab.give(output(json.dumps(put(tiling, ("layers", layer, "layout", name), 1e308))))
        assert seen.kind == "refused" and f"{name} is" in seen.told, seen
        assert seen.seconds < 0.5
    tab.close()
