"""The source beside every stage, and the tabs that a compiled launch has: what is sent is what was compiled."""

from __future__ import annotations

import time

import numpy as np
import pytest

from tests.views.artists import words as words_of
from tests.views.contract import wrongs
from tests.wordings import Wording
from triton_lab.compiled.compiled import Compiled
from triton_lab.compiled.explanations import operation
from triton_lab.examples import example
from triton_lab.views.compiled import stages_view as picture
from triton_lab.views.compiled.stages_view import Stages
from triton_lab.views.launch.card.launch_tabs import COMPILED_TABS
from triton_lab.views.launch.gallery import launches_of
from triton_lab.views.notebook_output import MOST_CHARACTERS, SCENE
from triton_lab.views.scene_packing import packed


@pytest.fixture(scope="module")
def launch():
    return launches_of(example("attention_full"))[0]


@pytest.fixture(scope="module")
def made(launch) -> dict[str, Compiled]:
    return {one.target: one for one in launch.compile(["sm_90", "gfx942"])}


@pytest.mark.parametrize("target", ["sm_90", "gfx942"])
def test_the_scene_is_the_text_with_its_links(made, target: str) -> None:
    compiled = made[target]
    scene = compiled.plot.stages().scene()
    assert wrongs(scene) == []
    assert [stage["name"] for stage in scene["stages"]] == compiled.lines.stages
    for stage in scene["stages"]:
        whole = str(compiled.stages[stage["name"]]).splitlines()
        lines = stage["text"].split("\n")
        numbers, trail, op = (array(stage[name]) for name in ("numbers", "trail", "op"))
        assert len(lines) == len(numbers) == len(trail) == len(op)
        assert stage["left"] == 0
        for text, number, which, what in zip(lines, numbers, trail, op, strict=True):
            assert whole[number - 1].startswith(text[: text.find(" loc(")] if " loc(" in text else text[:20])
            assert operation(stage["name"], text) == (stage["ops"][what - 1][0] if what else "")
            written = compiled.lines.written(compiled.lines.source(stage["name"], int(number)))
            rows = stage["trails"][which - 1][0] if which else []
            assert [scene["source"][row][0] for row in rows] == [line for _, line in written]
        # What is left out has nothing to do with any line, or says only where others come from.
        kept = set(numbers.tolist())
        for number, text in enumerate(whole, start=1):
            if number not in kept and operation(stage["name"], text):
                assert text.lstrip().startswith(("#", "!", ".")), text


def test_the_stages_that_are_asked_for_stand_beside_the_source(made, wording: Wording) -> None:
    plot = made["sm_90"].plot
    assert plot.stages().scene()["shown"] == ["ttgir", "sass"]
    assert plot.stages("ttir").scene()["shown"] == ["ttir"]
    assert plot.stages("ptx", "sass").scene()["shown"] == ["ptx", "sass"]
    with wording.raises(ValueError, asked="ttir, hlo"):
        plot.stages("ttir", "hlo")
    with pytest.raises(ValueError, match="at most two"):
        plot.stages("ttir", "ptx", "sass")


def array(packed_numbers) -> np.ndarray:
    return np.frombuffer(packed_numbers["bytes"], packed_numbers["type"])


def test_it_fits_into_a_notebook_and_is_made_at_once(made) -> None:
    compiled = made["sm_90"]
    compiled.plot.stages().scene()  # what asks nvdisasm is remembered
    begun = time.process_time()
    scene = Stages(compiled).scene()
    assert time.process_time() - begun < 1.0
    assert len(packed(scene)) < MOST_CHARACTERS / 2


def test_what_has_no_room_is_counted(made, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(picture, "MOST_CHARACTERS", 20_000)
    scene = Stages(made["sm_90"]).scene()
    assert sum(len(stage["text"]) for stage in scene["stages"]) <= 20_000
    assert scene["stages"][-1]["left"] > 100
    assert wrongs(scene) == []


def test_words_count_instructions_and_give_reasons(made) -> None:
    text = made["sm_90"].plot.stages().text()
    (dot,) = [line for line in text.splitlines() if "tl.dot(q, k" in line]
    assert int(dot.split()[5]) > 8, "of SASS"
    (zeros,) = [line for line in text.splitlines() if "largest = tl.full" in line]
    assert "folded into line" in zeros


def test_the_picture_has_both_columns(made) -> None:
    figure = made["sm_90"].plot.stages().figure()
    words = [one.text for one in words_of(figure)]
    assert any("tl.dot(" in word for word in words) and any("tt.load" in word for word in words)
    assert not any(word.strip().startswith("stride_qh") for word in words), "parameters stay out"


def test_a_compiled_launch_has_the_tabs(launch, made) -> None:
    card = launch.plot()
    names = [tab["name"] for tab in card.scene()["tabs"]]
    assert names[: len(COMPILED_TABS)] == [tab.name for tab in COMPILED_TABS if tab.name in names]
    assert {"compiled", "stages", "passes"} <= set(names)
    assert card.first == "compiled"
    choice = card.part("stages")
    assert [item["label"] for item in choice["items"]] == ["sm_90", "gfx942"]
    assert card.part("stages/1")["title"].startswith("attention_kernel for gfx942")
    assert card.part("stages/2")["kind"] == card.part("stages/x")["kind"] == "words"
    assert "instructions" in card.text()


def test_a_launch_that_was_not_compiled_has_none() -> None:
    card = launches_of(example("softmax"))[0].plot()
    assert not {tab.name for tab in COMPILED_TABS} & {tab["name"] for tab in card.scene()["tabs"]}


def test_what_was_compiled_shows_itself(made) -> None:
    data, _ = made["sm_90"]._repr_mimebundle_()
    assert SCENE in data and "image/png" in data
    card = made["sm_90"].plot()
    parts = card.saved()["parts"]
    assert "stages/0" in parts
    assert not any(name.startswith("passes") for name in parts), "passes wait for somebody who asks"
    assert wrongs(card.saved()) == []
