"""What anybody may have put into a saved notebook neither runs, nor freezes its tab, nor fills its memory."""

from __future__ import annotations

import json
from pathlib import Path

from playwright.sync_api import Browser

from tests.hostile.mutated import output, plain, put
from tests.hostile.scenes import by_kind, hostile, judged
from tests.hostile.tab import Tab
from tests.views.pictures import PICTURES

# Views that are made quickly, and have most kinds of scenes.
SOME = ("card of a failure", "tiling over edges", "grid", "storage", "origins", "triangle", "layout", "ragged", "step")
EVERY = 11  # of the mutations of their scenes


def test_a_sample_of_hostile_scenes_is_drawn_or_refused_in_time(browser: Browser, tmp_path: Path) -> None:
    scenes = by_kind([plain(PICTURES[name]().live()) for name in SOME])
    assert len(scenes) > 12
    tab = Tab(browser, tmp_path)
    tried = [judged(name, tab.give(data)) for name, data in hostile(scenes, seed=5, every=EVERY)]
    tab.close()
    assert [one for one in tried if one.outcome in ("wrong", "hung")] == []
    assert {one.outcome for one in tried} == {"survived", "refused"}


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
