"""Everything in a scene has a bound, and what the views make stays within half of it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, TypedDict, get_type_hints

import pytest

from tests.hostile.mutated import plain
from tests.views.pictures import PICTURES
from tests.wordings import Wording
from triton_lab.examples import Example, all_examples
from triton_lab.polyhedral import scop
from triton_lab.polyhedral.related_work import page_nests
from triton_lab.views.drawing import scene_bounds
from triton_lab.views.drawing.scene_bounds import Most, Product, Times, Within
from triton_lab.views.launch.card.launch_card import SHOWN, Card
from triton_lab.views.launch.gallery import launches_of
from triton_lab.views.scene_shapes import record, shape

FRONT = Path(__file__).parent / "front"
NODE = shutil.which("node", path=str(Path(sys.executable).parent)) or shutil.which("node")


def beyond_half(scenes: Mapping[str, Any], folder: Path) -> list[str]:
    """The scenes that use more than half of a bound, and which."""
    if NODE is None:
        pytest.skip("needs Node, which the environment of the tests brings")
    path = folder / "scenes.jsonl"
    path.write_text(
        "".join(json.dumps([name, plain(scene)]) + "\n" for name, scene in scenes.items()), encoding="utf-8"
    )
    done = subprocess.run([NODE, FRONT / "margins.ts", path], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


class _Unbounded(TypedDict):
    number: int
    share: float
    text: str
    items: list[Annotated[int, Within(0, 1)]]
    of_items: Annotated[list[str], Most(3)]
    entries: dict[str, bool]
    bytes_: bytes
    perhaps: Annotated[int, Within(0, 1)] | str
    pair: tuple[bool, float]


@pytest.mark.parametrize("name", _Unbounded.__annotations__)
def test_a_field_without_a_bound_is_refused_by_its_name(name: str) -> None:
    one = TypedDict("one", {name: get_type_hints(_Unbounded, include_extras=True)[name]})  # type: ignore[misc]
    with pytest.raises(TypeError, match=rf"one\.{name}: \w+.* has no bound"):
        record(one, [])


def test_a_shape_has_its_bounds() -> None:
    assert shape(Annotated[int, Within(0, 9), Times(("rows",), 20)], []) == {
        "whole": [0, 9],
        "times": ["rows"],
        "area": 20,
    }
    assert shape(scene_bounds.Few[scene_bounds.Name] | None, []) == {
        "any": [{"list": {"text": 256}, "most": 64}, "null"],
    }
    # The bound that stands outside of another one counts as well.
    assert shape(Annotated[scene_bounds.Index, Product(7)], [])["product"] == 7


def test_half_of_a_bound_is_seen_to_be_passed(tmp_path: Path, wording: Wording) -> None:
    words = {"kind": "words", "text": "x" * (1 << 16)}
    (told,) = beyond_half({"short": words, "long": {**words, "text": "x" * (1 + (1 << 16))}}, tmp_path)
    wording(told, scene="long", place="scene.text", letters="65,537", most="65,536")


@pytest.mark.slow
def test_pictures_stay_within_half_of_every_bound(tmp_path: Path) -> None:
    views = {name: make() for name, make in PICTURES.items()}
    scenes = {name: view.beginning for name, view in views.items()}
    scenes |= {f"{name}, alone": view.standalone() for name, view in views.items()}
    assert beyond_half(scenes, tmp_path) == []


def test_thousands_of_arrows_stay_within_half_of_every_bound(tmp_path: Path) -> None:
    nests = {"plane": scop(page_nests.WAVEFRONT, n=70), "space": scop(page_nests.MATMUL, n=16)}
    scenes = {name: nest.plot(dependences="value").scene() for name, nest in nests.items()}
    assert beyond_half(scenes, tmp_path) == []


@pytest.mark.parametrize("example", all_examples(), ids=lambda example: example.name)
def test_cards_of_examples_stay_within_half_of_every_bound(example: Example, tmp_path: Path) -> None:
    cards = [Card(launch, SHOWN) for launch in launches_of(example)]
    scenes = {f"{number}": card.standalone() for number, card in enumerate(cards)}
    assert beyond_half(scenes, tmp_path) == []
