"""Texts for users can be translated: they are literals in `_`, with named places, and translations keep these."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

import pytest
import torch
import triton
import triton.language as tl
from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po

import triton_lab as lab
from tests import catalogue, pseudo_language, scripts, sources
from triton_lab import localization, messages
from triton_lab.localization import DOMAIN, _, catalogues, ngettext, translated

# Strings of four words and more in each room that are not in the catalogue. Some are no texts for users: patterns,
# code, names of fields. A number here may only become smaller.
OUTSIDE = {
    ".": 3,
    "backend": 3,
    "command": 4,
    "compiled": 17,
    "course": 48,
    "examples": 7,
    "interpreter": 9,
    "ir": 31,
    "launch": 10,
    "lazy": 10,
    "native": 13,
    "notebook": 15,
    "polyhedral": 18,
    "remote": 13,
    "testing": 11,
    "labextension": 12,
    "views": 29,  # one of them a stylesheet
    "views/front": 9,
    "views/launch": 2,
}  # fmt: skip
# F-strings in which a word stands beside a place. Most are code, messages for developers or HTML. The same holds.
GLUED = {
    ".": 3,
    "backend": 7,
    "command": 13,
    "compiled": 19,
    "course": 16,
    "examples": 3,
    "interpreter": 39,
    "ir": 34,
    "launch": 18,
    "lazy": 53,
    "native": 46,
    "notebook": 26,
    "polyhedral": 57,
    "remote": 7,
    "testing": 15,
    "views": 45,
    "views/launch": 12,
}  # fmt: skip


def marked() -> Iterator[tuple[str, ast.Call]]:
    for file in sources.python():
        for node in catalogue.marks(file):
            yield f"{file.name}:{node.lineno}", node


def test_only_literals_are_marked() -> None:
    """A translator cannot know what an f-string or a variable will say."""
    wrong = [
        f"{where}: {ast.unparse(node)}"
        for where, node in marked()
        if not all(map(catalogue.literal, node.args[: catalogue.MARKS[catalogue.called(node)]])) or node.keywords
    ]
    assert not wrong, "\n".join(wrong)


def test_places_have_names_and_no_format() -> None:
    """``{program}``: another language has another order, and formats numbers in its own way."""
    wrong = []
    for where, node in marked():
        for text in filter(None, map(catalogue.literal, node.args)):
            places = [each for each in Formatter().parse(text) if each[1] is not None]
            if any(not str(name).isidentifier() or form or change for _, name, form, change in places):
                wrong.append(f"{where}: {text}")
    assert not wrong, "\n".join(wrong)


def test_no_function_that_translates_has_a_variable_of_that_name() -> None:
    wrong = []
    for file in sources.python():
        calls = {id(node) for node in catalogue.marks(file) if catalogue.called(node) == "_"}
        for function in (node for node in file.nodes if calls and isinstance(node, ast.FunctionDef)):
            inner = list(ast.walk(function))
            named = [node for node in inner if isinstance(node, ast.Name) and node.id == "_"]
            if calls & set(map(id, inner)) and any(isinstance(node.ctx, ast.Store) for node in named):
                wrong.append(f"{file.name}:{function.lineno}")
    assert not wrong, f"name the variable otherwise: {wrong}"


def test_translations_keep_the_names_of_the_places() -> None:
    for path in catalogues().glob(f"*/LC_MESSAGES/{DOMAIN}.po"):
        with path.open("rb") as file:
            check(read_po(file))


def check(translation: Catalog) -> None:
    """Raises AssertionError where a translation lacks a place, or has one that its text has not."""
    for message in translation:
        if message.id and message.string and not message.fuzzy:
            ids = message.id if isinstance(message.id, tuple) else (message.id,)
            strings = message.string if isinstance(message.string, tuple) else (message.string,)
            wanted = set().union(*map(catalogue.names, ids))
            for string in filter(None, strings):
                assert catalogue.names(string) <= wanted, string
                assert catalogue.names(ids[0]) <= catalogue.names(string), string


# A text that is no literal: a noun that is counted, what `N_` marks in Python, a label of a schema.
VARIABLE = {
    "drawing/explained.js": 1,
    "language.ts": 1,
    "localization.js": 2,
}


def test_only_literals_are_marked_in_scripts() -> None:
    found = {name: len(list(scripts.variables(text))) for name, text in scripts.files()}
    assert {name: count for name, count in found.items() if count} == {
        next(full for full in found if full.endswith(name)): count for name, count in VARIABLE.items()
    }


def test_places_of_scripts_have_plain_names() -> None:
    wrong = [
        f"{name}:{found.line}: {one}"
        for name, text in scripts.files()
        for found in scripts.texts(text)
        for one in found.ids
        if any(not place.isidentifier() for place in catalogue.names(one))
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    ("script", "marked", "unmarked"),
    [
        ("tr('a {b}', { b: `c ${tr(\"d\")} e` })", [("a {b}",), ("d",)], ["c x e"]),
        ("trn('one', 'many', n)", [("one", "many")], []),
        ('x(...trParts("a " + "b"));', [("a b",)], []),
        ("countOf(n, 'pass', 'passes'); countOf(n, \"line\")", [("pass", "passes"), ("line", "lines")], ["passes"]),
        ("/* tr('no') */ const r = /['\"`]/; // 'no'\nf('yes')", [], ["yes"]),
        ("const tr = (text) => other.tr('a');", [], ["a"]),
        ("a / b; 'c' / d", [], ["c"]),
        ("`${{ a: { b: 'x' } }}` + '\\u00d7'", [], ["x", "x", "×"]),
    ],
)
def test_the_scanner_finds_texts_in_scripts(script: str, marked: list[tuple[str, ...]], unmarked: list[str]) -> None:
    assert [found.ids for found in scripts.texts(script)] == marked
    assert [text for _, text in scripts.unmarked(script)] == unmarked


def test_the_browser_gets_its_own_texts_with_the_forms_of_their_plurals(brackets: Path) -> None:
    localization.use("de", brackets)
    found = localization.browser_texts()
    assert found["language"] == "de" and found["forms"][:3] == "101" and len(found["forms"]) == 200
    wanted = {each.ids[0] for each in catalogue.script_texts()}
    assert wanted <= set(found["texts"]) and found["texts"]["Source"] == ["⟦Source⟧"]
    assert len(found["texts"]) < len(list(catalogue.template())) / 3
    localization.use("en")
    assert localization.browser_texts() == {}


def test_a_user_s_choice_goes_before_jupyterlab_s(brackets: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_LAB_LOCALE", str(brackets))
    monkeypatch.setattr(localization, "_by_user", False)
    localization.follow("en")
    assert lab.language() == "en"
    localization.follow("de")
    assert lab.language() == "de"
    assert lab.language("en") == "en"
    localization.follow("de")
    assert lab.language() == "en"
    with pytest.raises(ValueError, match="fr"):
        lab.language("fr")


def test_less_and_less_stands_outside_of_the_catalogue() -> None:
    _inside, left = catalogue.rooms()
    grown = {room: number for room, number in left.items() if number > OUTSIDE.get(room, 0)}
    assert not grown, f"put the texts into _(): python -m tests.catalogue --left {next(iter(grown))}"


def test_ever_fewer_words_are_glued_to_what_is_filled_in() -> None:
    """``f"stored: {name}"``: such a word stays English in all languages."""
    glued: Counter[str] = Counter()
    for file in sources.python():
        glued[catalogue.room(file)] += sum(1 for _found in catalogue.glued(file))
    wrong = {room: (number, GLUED.get(room, 0)) for room, number in glued.items() if number > GLUED.get(room, 0)}
    assert not wrong, f"put the texts into _(): python -m tests.catalogue --left {next(iter(wrong))}"
    loose = {room: glued[room] for room, number in GLUED.items() if glued[room] < number - 10}
    assert not loose, f"these are fewer now; write it into GLUED: {loose}"


def test_the_bounds_are_today_s() -> None:
    _inside, left = catalogue.rooms()
    loose = {room: left[room] for room, number in OUTSIDE.items() if left[room] < number - 10}
    assert not loose, f"these are fewer now; write it into OUTSIDE: {loose}"


@pytest.fixture
def brackets(tmp_path: Path) -> Iterator[Path]:
    """A language that puts each text into brackets."""
    pseudo_language.write(tmp_path)
    yield tmp_path
    localization.use("en")


def test_a_chosen_language_translates_and_another_stays_english(brackets: Path) -> None:
    assert localization.languages(brackets) == ["de"]
    assert not localization.use("fr", brackets)
    assert _("{count} {noun}") == "{count} {noun}" and ngettext("program", "programs", 2) == "programs"
    assert localization.use("de", brackets)
    assert _("{count} {noun}") == "⟦{count} {noun}⟧"
    assert [ngettext("program", "programs", n) for n in (1, 2)] == ["⟦program⟧", "⟦programs⟧"]
    assert translated("") == "" and translated("no such text") == "no such text"


def test_the_environment_chooses_and_english_needs_no_gettext(brackets: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANGUAGE", "de")
    assert localization.use(None, brackets)
    monkeypatch.setenv("LANGUAGE", "en")
    assert not localization.use(None, brackets)
    code = (
        "import sys; from triton_lab import localization as l;"
        "assert l._('a') == 'a' and (l.catalogues().is_dir() or 'gettext' not in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_a_translation_without_a_place_is_found() -> None:
    wrong = Catalog(locale="de")
    wrong.add("{count} of {name}", "{count}")
    with pytest.raises(AssertionError):
        check(wrong)


@triton.jit
def beyond(x_ptr, out_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.load(x_ptr + at))


def test_an_error_and_its_finding_are_in_the_chosen_language(brackets: Path) -> None:
    localization.use("de", brackets)
    with lab.record() as launches, pytest.raises(lab.KernelError) as caught:
        beyond[(1,)](torch.ones(12), torch.empty(16), BLOCK=16)
    found = next(each for each in launches[0].findings if each.stopped)
    texts = [str(caught.value).split("\n")[0], found.message, found.hint, repr(launches[0])]
    assert all(text.startswith("⟦") for text in texts), texts
    assert found.kind == "out-of-bounds" and found.severity == "error", "data stays as it is"


@pytest.fixture
def chinese() -> Iterator[None]:
    """Within, texts are Chinese."""
    assert localization.use("zh_CN")
    yield
    localization.use("en")


@pytest.mark.usefixtures("chinese")
def test_a_measure_word_stands_behind_a_number_alone() -> None:
    assert messages.count(3, "program") == "3 个程序实例"
    assert messages.count(2, "byte") == "2 字节"
    assert messages.numbered(5, 5, "element") == "元素 5"
    assert _("element") == ngettext("element", "elements", 2) == messages.noun(2, "element") == "元素"


@pytest.mark.usefixtures("chinese")
def test_no_text_shows_the_mark_of_a_measure_word() -> None:
    """Of no text of the catalogue, however it is asked for: a noun may be counted in one place and alone in another."""
    for message in catalogue.template():
        one, many = message.id if isinstance(message.id, tuple) else (message.id, message.id)
        shown = translated(one), messages.noun(2, one, many), messages.count(3, one, many)
        assert "|" in one or not any("|" in text for text in shown), one
    assert translated("time") == "时间" and messages.count(3, "time") == "3 次"


def test_every_translation_is_whole() -> None:
    wanted = {each.id if isinstance(each.id, str) else each.id[0] for each in catalogue.template() if each.id}
    for path in catalogues().glob(f"*/LC_MESSAGES/{DOMAIN}.po"):
        with path.open("rb") as file:
            there = [each for each in read_po(file, domain=DOMAIN) if each.id]
        done = {each.id if isinstance(each.id, str) else each.id[0] for each in there if each.string and not each.fuzzy}
        assert done == wanted, "python -m tests.catalogue, and translate what it adds"
        compiled = path.with_suffix(".mo")
        assert compiled.is_file() and localization.use(path.parts[-3])
        assert all(_(one) != one or not one.strip() for one in ("load", "store", "program {coordinates}"))
    localization.use("en")
