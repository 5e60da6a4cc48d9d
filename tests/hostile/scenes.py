"""Scenes of saved notebooks, which anybody may have made: none runs a script, freezes its tab or fills its memory.

Every kind of scene is taken from the views, and tampered with in all the ways of `mutated`. A scene is drawn, or it is
refused in a line beside its still picture. With some forty things that a reader does it takes the tab's own thread
less than two seconds, and the tab less than 250 MB beside Chromium itself; what takes longer counts as hung.
"""

from __future__ import annotations

import json
import random
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.hostile.mutated import ATTACK, MUTATIONS, output, places, plain, spelled
from tests.hostile.outcome import Outcome, Try
from tests.hostile.tab import Seen, Tab
from triton_lab.views.declarations import kinds

MOST_SECONDS = 2.0
MOST_MEMORY = 250 << 20
FEW = 6  # mutations of a larger scene; of the smallest of its kind there are all
LARGE = 100_000  # characters: of a larger scene there is a smaller one of its kind


def tries(seed: int) -> Iterator[Try]:
    """A scene of each kind, small and large, in every mutation; and some texts that are no scenes."""
    from playwright.sync_api import sync_playwright

    from tests.conftest import CHROMIUM_ARGUMENTS, chromium

    found = bases()
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=chromium(), args=CHROMIUM_ARGUMENTS)
        tab = Tab(browser, Path(folder))
        for name, data in hostile(found, seed):
            yield judged(name, tab.give(data))
        tab.close()
        browser.close()


def judged(name: str, seen: Seen) -> Try:
    """What a scene's outcome is called, and why where it is wrong."""
    cost = f"{seen.seconds:.2f} s, {seen.memory >> 20} MB, {seen.kind} {seen.told[:200]}"
    if seen.kind == "hung" or seen.seconds > MOST_SECONDS:
        return Try(name, "hung", cost)
    if seen.kind == "wrong" or seen.faults or seen.memory > MOST_MEMORY:
        return Try(name, "wrong", f"{cost} {'; '.join(seen.faults)}")
    outcome: Outcome = "survived" if seen.kind == "drawn" else "refused"
    return Try(name, outcome)


def bases() -> dict[str, Any]:
    """Scenes of every kind, as JSON has them, by their names: the smallest that the views make, and a larger one."""
    import torch

    from tests.views.test_scenes import MAKERS, softmax
    from triton_lab.views.launch.card.launch_card import SHOWN, Card
    from triton_lab.views.launch.storage.storage_view import storage

    whole = [make().live() for make in MAKERS.values()]
    whole.append(Card(softmax(), SHOWN).part("assigned@1"))
    whole.append(storage(torch.zeros(1000, 1000)).part("storage/grid/0/window/0.1.2.3.4"))
    return by_kind([plain(scene) for scene in whole])


def by_kind(scenes: list[Any]) -> dict[str, Any]:
    """The scenes in these scenes by their kinds: the smallest of each, and a larger one."""
    found: dict[str, list[str]] = {kind: [] for kind in kinds()}
    for scene in scenes:
        for _, value in places(scene):
            if isinstance(value, dict) and value.get("kind") in found and "statement" not in value:
                found[value["kind"]].append(json.dumps(value))
    every: dict[str, Any] = {}
    for kind, texts in found.items():
        texts = sorted(set(texts), key=lambda text: (len(text), text))
        few = [text for text in texts if len(text) < LARGE]
        if texts:
            every[f"{kind}, small"] = json.loads(texts[0])
        if len(few) > 1:
            every[f"{kind}, large"] = json.loads(few[-1])
    return every


def hostile(found: dict[str, Any], seed: int, every: int = 1) -> Iterator[tuple[str, Any]]:
    """Outputs by their names: each scene as it is, in each mutation, and in odd numbers; ``every`` n-th of them."""
    count = 0
    for name, scene in found.items():
        ways = ["odd numbers", *MUTATIONS]
        if name.endswith("large"):
            ways = random.Random(f"{seed} {name}").sample(ways, FEW)
        for mutation in ["as it is", *ways]:
            count += 1
            if count % every:
                continue
            chance = random.Random(f"{seed} {name} {mutation} {count}")
            if mutation == "odd numbers":
                yield f"{name}: {mutation}", output(spelled(scene, chance))
                continue
            made = scene if mutation == "as it is" else MUTATIONS[mutation](scene, chance)
            if made is not None:
                yield f"{name}: {mutation}", output(json.dumps(made))
    yield from texts()


def texts() -> Iterator[tuple[str, Any]]:
    """Outputs that have no scene."""
    shown = {"version": 1, "follows": False, "panel": False}
    yield "no record", ATTACK
    yield "nothing", None
    yield "another version", {**shown, "version": 2, "scene": ""}
    yield "no base64", {**shown, "scene": "~~~"}
    yield "no gzip", {**shown, "scene": "aGVsbG8="}
    yield "a long text", {**shown, "scene": "A" * 4_000_000}
    yield "a bomb of zeros", output(json.dumps({"kind": "words", "text": "0" * (1 << 27)}))
    yield "a bomb of lists", output(f"[{'[],' * 5_000_000}0]")
    yield "a bomb of names", output("{" + ",".join(f'"{k}":{k}' for k in range(50_000)) + "}")
    yield "a bomb of depth", output("[" * 1_000_000 + "]" * 1_000_000)
    yield "no JSON", output("{kind: 'words'}")
    yield "a number", output("1")
    yield "half a letter", output('{"kind":"words","text":"\ud800"}')
