"""Translations of the course: none is out of date, and none has lost what is no prose."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from babel.messages.catalog import Catalog, Message
from markdown_it import MarkdownIt

from tests.course.chapters import defined
from triton_lab.course import NotSolved, exercise
from triton_lab.course.edition import Notebook, as_python, read, source_of, stripped, student
from triton_lab.course.translation import (
    LANGUAGES,
    PREFACE,
    Passage,
    catalogues,
    edition,
    passages,
    put,
    read_catalogue,
    refreshed,
    translated,
)
from triton_lab.views.notebook_output import SCENE
from triton_lab.views.scene_packing import packed, unpacked

FOLDER = Path(__file__).parents[2] / "notebooks"
GLOSSARY = FOLDER / "locale" / "zh_CN" / "glossary.po"
CHAPTERS = catalogues(FOLDER, "zh")

each = pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)


@cache
def catalogue(path: Path) -> Catalog:
    return read_catalogue(path)


def messages(path: Path) -> list[Message]:
    return [message for message in catalogue(path) if message.id]


def everywhere() -> Iterator[tuple[str, str]]:
    """What every catalogue says of every message."""
    for place in CHAPTERS.values():
        yield from ((message.id, message.string) for message in messages(place))


def code(cells: list[str]) -> Notebook:
    return {"cells": [{"cell_type": "code", "metadata": {}, "source": text} for text in cells]}


def markdown(text: str) -> Notebook:
    return {"cells": [{"cell_type": "markdown", "metadata": {}, "source": text}]}


def found(notebook: Notebook) -> list[Passage]:
    return [one for cell in notebook["cells"] for one in passages(cell)]


def test_every_chapter_is_translated() -> None:
    assert set(CHAPTERS) == set(FOLDER.glob("*.ipynb"))
    files = {path for language in LANGUAGES.values() for path in (FOLDER / "locale" / language).iterdir()}
    assert files == {*CHAPTERS.values(), GLOSSARY}, "a catalogue without a chapter"


@each
def test_no_translation_is_out_of_date(path: Path) -> None:
    there = messages(CHAPTERS[path])
    wanted = {one.text for one in found(read(path))} | {PREFACE}
    assert {message.id for message in there} == wanted, "run `make translations`"
    assert [message.id for message in there if message.fuzzy or not message.string] == [], "to be translated"
    assert not catalogue(CHAPTERS[path]).obsolete


def kept(text: str) -> dict[str, set[str]]:
    """What of a message is no prose: code, formulas, where links lead; and names of exercises, which are in code."""
    prose = re.sub(r"(`+)(.+?)\1", " ", text)
    return {
        "code": {code for _, code in re.findall(r"(`+)(.+?)\1", text)},
        "formulas": set(re.findall(r"\$[^$]+\$", prose)),
        "links": set(re.findall(r"\]\(([^)]*)\)", prose)),
        "numbers": set(re.findall(r"(?<!\w)\d+(?:,\d{3})*(?!\w|-D)", prose)),
    }


def marks(text: str) -> list[str]:
    """The emphasis of a message, as Markdown reads it: beside Chinese punctuation it may not be read as such."""
    (inline,) = (token for token in MarkdownIt("commonmark").parse(text) if token.type == "inline")
    return sorted(token.type for token in inline.children if token.nesting == 1)


@each
def test_code_links_formulas_and_emphasis_survive(path: Path) -> None:
    for message in messages(CHAPTERS[path]):
        assert kept(message.string) == kept(message.id), message.string
        assert marks(message.string) == marks(message.id), message.string
        assert "\n" not in message.string and message.string == message.string.strip()


@each
def test_the_code_of_an_edition_is_that_of_the_course_and_so_are_its_outputs(path: Path) -> None:
    course, made = read(path)["cells"], edition(path, "zh")["cells"]
    assert [cell["cell_type"] for cell in made] == [cell["cell_type"] for cell in course]
    for ours, theirs in zip(made, course, strict=True):
        assert asked_nothing(ours) == asked_nothing(theirs)
        if ours["cell_type"] == "code":
            assert without_docstrings(source_of(ours)) == without_docstrings(source_of(theirs))


def asked_nothing(cell: dict[str, Any]) -> dict[str, Any]:
    """A cell without its source, and without the question and the reason that a prediction shows."""
    cell = json.loads(json.dumps(cell)) | {"source": ""}
    for data in (output.get("data", {}) for output in cell.get("outputs", ())):
        scene = data.get(SCENE, {}).get("scene")
        if scene and unpacked(scene)["kind"] == "prediction":
            data[SCENE]["scene"] = unpacked(scene) | {"question": "", "why": ""}
            data.pop("text/plain")
    return cell


def without_docstrings(text: str) -> str:
    """The code of a cell without what is said in words: docstrings, and the question and reason of a prediction."""
    tree = ast.parse(as_python(text))
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "predict":
            node.args[:1] = []
            node.keywords = [one for one in node.keywords if one.arg != "why"]
        if isinstance(node, ast.FunctionDef) and ast.get_docstring(node):
            del node.body[0]
    return ast.dump(tree, include_attributes=False) + f"{text.count(chr(10))} lines"


@each
def test_nothing_is_left_in_english(path: Path) -> None:
    """A message may do without Chinese if it has no words: a formula by itself, say."""
    for message in messages(CHAPTERS[path]):
        worded = re.search(r"[a-z]{2}", re.sub(r"\$[^$]+\$", "", prose(message.id)))
        assert not worded or re.search(r"[\u4e00-\u9fff]", message.string), message.string


@each
def test_students_get_an_edition_without_solutions(path: Path) -> None:
    ours, theirs = stripped(edition(path, "zh"), path.stem), stripped(read(path), path.stem)
    assert "SOLUTION" not in json.dumps(ours)
    assert ("To do: " in json.dumps(ours)) == ("To do: " in json.dumps(theirs))
    assert [cell["metadata"] for cell in ours["cells"]] == [cell["metadata"] for cell in theirs["cells"]]
    assert [asked_nothing(cell) for cell in ours["cells"]] == [asked_nothing(cell) for cell in theirs["cells"]]


def test_a_stub_in_chinese_says_what_is_to_be_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_LAB_PROGRESS", str(tmp_path / "progress.json"))
    path = FOLDER / "00_first_kernel.ipynb"
    texts = map(source_of, stripped(edition(path, "zh"), path.stem)["cells"])
    (stub,) = (text for text in texts if "def add_constant(" in text)
    with pytest.raises(NotSolved, match="To do: 加载 x 的一块"):
        exercise("add_constant").check(defined(stub, "add_constant"))


def test_the_same_english_is_the_same_chinese_everywhere() -> None:
    said: dict[str, set[str]] = {}
    for english, chinese in everywhere():
        said.setdefault(english, set()).add(chinese)
    assert {english: ways for english, ways in said.items() if len(ways) > 1} == {}


def test_a_term_is_said_in_one_way() -> None:
    """Where several fit, as `access function` and `access`, the longest is meant."""
    terms = {term.id: term.string for term in sorted(messages(GLOSSARY), key=lambda term: -len(term.id))}
    word = re.compile(rf"\b({'|'.join(terms)})(?:e?s)?\b", re.IGNORECASE)
    said = [(found.lower(), chinese) for english, chinese in everywhere() for found in word.findall(prose(english))]
    assert set(terms) - {term for term, _ in said} == set(), "terms that no chapter has"
    assert {
        (terms[t], chinese) for t, chinese in said if not any(way in chinese for way in terms[t].split("|"))
    } == set()


def prose(text: str) -> str:
    """A message without code and its names, and without the addresses and titles of what is in English elsewhere."""
    return re.sub(r"`[^`]*`|\"\w+\"|\]\([^)]*\)|\*[A-Z][^*]+\*|\b[A-Z]{2,}\b", " ", text)


def test_a_message_is_a_paragraph_an_item_a_heading_a_summary_or_a_cell_of_a_table() -> None:
    text = (
        "# One\n\nTwo\nthree, `code`\n\n1. four\n   five\n2. six\n   - seven\n\n> eight\n\n```\nno\n```\n\n"
        "| a b | a |\n|---|---|\n| nine | a |\n\n<details>\n<summary>ten</summary>\n\neleven\n\n</details>\n"
    )
    texts = ["One", "Two three, `code`", "four five", "six", "seven", "eight", "a b", "a", "nine", "a", "ten", "eleven"]
    assert [one.text for one in found(markdown(text))] == texts
    catalogue = Catalog()
    for one in texts:
        catalogue.add(one, one.upper())
    assert source_of(translated(markdown(text), catalogue)["cells"][0]) == (
        "# ONE\n\nTWO THREE, `CODE`\n\n1. FOUR FIVE\n2. SIX\n   - SEVEN\n\n> EIGHT\n\n```\nno\n```\n\n"
        "| A B | A |\n|---|---|\n| NINE | A |\n\n<details>\n<summary>TEN</summary>\n\nELEVEN\n\n</details>\n"
    )


CODE = '''%%triton cpu --show # shown
def f(x):
    """What it is."""
    y = "# no comment"  # a comment
    # BEGIN SOLUTION: what to do
    return y  # noqa: E501
    # INSTEAD
    # return x
    # END SOLUTION'''


def test_of_code_comments_tasks_and_docstrings_are_messages() -> None:
    texts = ["What it is.", "a comment", "what to do"]
    assert [one.text for one in found(code([CODE]))] == texts
    assert found(code(["%%bash\n# in another language\nif then"])) == []


def test_a_changed_message_is_fuzzy_a_new_one_empty_and_one_that_is_gone_goes() -> None:
    catalogue = Catalog(locale="zh_CN")
    refreshed(catalogue, markdown("# Kernels\n\nPrograms of sixteen.\n\nGone."))
    for message in catalogue:
        message.string = f"{message.id}!" if message.id else message.string
    now = markdown("# Kernels\n\nPrograms of thirty.\n\nSomething else entirely.")
    refreshed(catalogue, now)
    told = [(message.id, message.string, message.fuzzy) for message in catalogue if message.id]
    assert told == [
        (PREFACE, f"{PREFACE}!", False),
        ("Kernels", "Kernels!", False),
        ("Programs of thirty.", "Programs of sixteen.!", True),
        ("Something else entirely.", None, False),
    ]
    # What is not sure is read in English.
    text = f"# Kernels!\n\n> {PREFACE}!\n\nPrograms of thirty.\n\nSomething else entirely."
    assert source_of(translated(now, catalogue)["cells"][0]) == text


def test_an_edition_is_a_folder_with_the_whole_course(tmp_path: Path) -> None:
    made = put(FOLDER, "zh", tmp_path / "zh")
    assert [path.name for path in made] == sorted(path.name for path in FOLDER.glob("*.ipynb"))
    assert all("本版译自英文课程" in path.read_text(encoding="utf-8") for path in made)
    assert (tmp_path / "zh" / "images").is_dir()
    assert "SOLUTION" not in student(made[0], tmp_path / "student")[0].read_text(encoding="utf-8")


def test_a_question_before_a_picture_is_asked_in_chinese(tmp_path: Path) -> None:
    asked = 'predict("How " "many?", [1, 2], right=1, picture=p, why="So it is.")'
    scene = {"kind": "prediction", "question": "How many?", "why": "So it is.", "choices": ["1", "2"]}
    course = code([asked])
    course["cells"][0]["outputs"] = [
        {"data": {SCENE: {"scene": packed(scene)}, "text/plain": ["How many?\n", "So it is."]}}
    ]
    made = Catalog(locale="zh_CN")
    made.add("How many?", "有多少？")
    made.add("So it is.", "正是如此。")
    (cell,) = translated(course, made)["cells"]
    assert source_of(cell) == 'predict("有多少？", [1, 2], right=1, picture=p, why="正是如此。")'
    data = cell["outputs"][0]["data"]
    assert unpacked(data[SCENE]["scene"]) == scene | {"question": "有多少？", "why": "正是如此。"}
    assert data["text/plain"] == ["有多少？\n", "正是如此。"]
