"""In another language no text of a picture stays English."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import pseudo_language
from tests.views import pictures
from tests.views.pictures import PICTURES
from triton_lab.localization import browser_texts
from triton_lab.views.html_page import page
from triton_lab.views.notebook_output import saved
from triton_lab.views.scenes import WordsScene
from triton_lab.views.widget import scene_widget

# Fields that hold code, or data of the lab that the browser translates.
DATA = {
    "source",
    "program",
    "excerpt",
    "fix",
    "failure",
    "key",
    "keys",
    "where",
    "name",
    "over",
    "dims",
    "formulas",
    "iterators",
}
# Names of the changes that a comparison tries, and an exception's own message.
ENGLISH = {("comparison", "causes"), ("sweep", "table")}
# A part of the hash of a lazy graph, a line in the middle of a text that was wrapped, and a line of a kernel.
PIECES = re.compile(r"\d on cpu$|^ *holds out\d|\btl\.store\(")


@pytest.fixture(scope="module", autouse=True)
def brackets(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    forget()
    yield from pseudo_language.spoken(tmp_path_factory.mktemp("locale"))
    forget()


def forget() -> None:
    """Let go of launches that tests before have recorded: their errors have a language."""
    for one in vars(pictures).values():
        if hasattr(one, "cache_clear"):
            one.cache_clear()


def texts(value: Any, kind: str = "", field: str = "") -> Iterator[tuple[str, str, str]]:
    """The texts of a scene, each with the kind of its scene and its field."""
    if isinstance(value, str):
        yield kind, field, value
    elif isinstance(value, dict):
        kind = value.get("kind", kind) if isinstance(value.get("kind", ""), str) else kind
        for name, inner in value.items():
            if name not in DATA:
                yield from texts(inner, kind, field if name.isdigit() else name)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from texts(inner, kind, field)


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_has_no_english_left(name: str) -> None:
    view = PICTURES[name]()
    found = [*texts(view.live()), ("title", "title", view.title())]
    english = [
        each
        for each in found
        if pseudo_language.is_english(each[2]) and each[:2] not in ENGLISH and not PIECES.search(each[2])
    ]
    assert english == [] and any("⟦" in text for _, _, text in found)


def test_a_page_an_output_and_a_widget_say_which_language_they_are_in() -> None:
    view = next(iter(PICTURES.values()))()
    text = page(view)
    assert text.startswith('<!doctype html><html lang="de">') and 'class="tl-texts">{"language": "de"' in text
    assert saved(view)["language"] == "de"
    assert scene_widget(WordsScene(kind="words", text="")).texts == browser_texts() != {}
