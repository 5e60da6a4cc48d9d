"""In another language no text of a picture stays English."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import pytest
from matplotlib.text import Text

from tests import pseudo_language
from tests.views import pictures
from tests.views.pictures import PICTURES
from triton_lab.lazy.graph import JoinedAxis
from triton_lab.localization import browser_texts
from triton_lab.polyhedral import Schedule
from triton_lab.views.html_page import page
from triton_lab.views.launch.benchmark.sweep_view import SweepView
from triton_lab.views.lazy.explain import StepView
from triton_lab.views.notebook_output import saved
from triton_lab.views.polyhedral.iteration_view import IterationView
from triton_lab.views.polyhedral.maximal_view import MaximalView
from triton_lab.views.proofs.proof_view import ProofView
from triton_lab.views.scenes import WordsScene
from triton_lab.views.view import View
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
ENGLISH = {("sweep", "table")}  # an exception's own message
# Fields of scenes in which stand code, names that the user has given, and the text of a kernel, line by line.
CODE = DATA | {"lines", "compare", "inputs"}
# Units, Python's values, and the words that Chinese keeps too (docs/course-zh/glossary.po).
KEPT = {"ms", "ulp", "True", "False", "None", "inf", "lane", "warp", "constexpr"}
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


def texts(
    value: Any, kind: str = "", field: str = "", without: Collection[str] = DATA
) -> Iterator[tuple[str, str, str]]:
    """The texts of a scene, each with the kind of its scene and its field; those of fields ``without`` are left out."""
    if isinstance(value, str):
        yield kind, field, value
    elif isinstance(value, dict):
        kind = value.get("kind", kind) if isinstance(value.get("kind", ""), str) else kind
        for name, inner in value.items():
            if name not in without:
                yield from texts(inner, kind, field if name.isdigit() else name, without)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from texts(inner, kind, field, without)


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


def code_words(view: View) -> set[str]:
    """The words of code and of given names in a picture: in its source, its arguments, its graph."""
    found = {pseudo_language.left(text) for _, field, text in texts(view.live(), without=()) if field in CODE}
    if isinstance(view, StepView):
        step = view.step
        found |= {
            str(step.graph),
            step.executable.source,
            *step.ingredients.names(),
            *vars(step.ingredients).values(),
            str(JoinedAxis(0)),
        }
    if isinstance(view, ProofView):
        found |= {one.code for one in view.proof.accesses}
    if isinstance(view, MaximalView):
        found |= {text for text, _part, _reasons in view.parts.marks()}
    if isinstance(view, IterationView):
        found |= {str(statement.domain.set) for statement in view.schedule.scop.statements} | set(dir(Schedule))
    if isinstance(view, SweepView):
        found |= set(view.lines) | {row.error for row in view.sweep}
    return {word for text in found for word in re.findall(r"[A-Za-z]+", text)}


@pytest.mark.parametrize("name", PICTURES)
def test_a_still_picture_has_no_english_word_left(name: str) -> None:
    """Not one word that is neither code, nor a name that the user gave."""
    view = PICTURES[name]()
    whole = [*view.text().splitlines(), *(text for _, _, text in texts(view.live(), without=()))]
    drawn = [text.get_text() for text in view.figure().findobj(Text)]
    known = code_words(view) | KEPT
    english = {
        (word, text)
        for text in [*drawn, view.title(), *view.text().splitlines()]
        for word in pseudo_language.words(text) - known
        if not inside(text, whole)
    }
    assert not english, english


def inside(line: str, texts: list[str]) -> bool:
    """Whether a line, of a text that was wrapped, stands inside of brackets in one of these texts."""
    places = ((text, text.find(line.strip())) for text in texts)
    return any(at > 0 and text[:at].count("⟦") > text[:at].count("⟧") for text, at in places)


def test_a_page_an_output_and_a_widget_say_which_language_they_are_in() -> None:
    view = next(iter(PICTURES.values()))()
    text = page(view)
    assert text.startswith('<!doctype html><html lang="de">') and 'class="tl-texts">{"language": "de"' in text
    assert saved(view)["language"] == "de"
    assert scene_widget(WordsScene(kind="words", text="")).texts == browser_texts() != {}
