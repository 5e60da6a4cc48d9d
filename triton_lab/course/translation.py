"""Editions of the course in other languages, made from its notebooks and gettext catalogues.

The catalogue ``locale/zh_CN/00_first_kernel.po`` beside ``00_first_kernel.ipynb`` has a message for each passage: a
heading, a paragraph, a list item; in code a comment, the task in place of a solution, a one-line docstring, and the
question of `predict` with its reason. The code stays, and so do the outputs, but for such a question above its picture:
a translated edition is not run again.
"""

from __future__ import annotations

import ast
import copy
import io
import re
import tokenize
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from triton_lab.course.edition import Notebook, as_python, notebooks_at, read, source_of, write
from triton_lab.views.notebook_output import SCENE
from triton_lab.views.scene_packing import packed, unpacked

if TYPE_CHECKING:
    from babel.messages.catalog import Catalog

LANGUAGES: Mapping[str, str] = {"zh": "zh_CN"}  # the name of a language, and the folder of its catalogues
PREFACE = (
    "This edition is translated from the English course and has its outputs, so pictures are in English until you run "
    'their cells. What the lab says is in JupyterLab\'s language; `lab.language("zh_CN")` chooses Chinese.'
)
_BEFORE = "preface"  # the context of text that only the translation has, below the first heading

# A comment of a cell; after the mark that begins a solution stands the task.
_COMMENT = re.compile(r"#+ *(?P<mark>BEGIN SOLUTION|INSTEAD|END SOLUTION)?:? *(?P<text>.*)")
_ASKED = {"question": "question", "why": "answer"}  # arguments of `predict`, and the kinds of passages that they are
_SUMMARY = re.compile(r"<summary>(?P<text>[^<\n]+)</summary>")  # what a folded passage shows
_FOR_TOOLS = re.compile(r"noqa|type:|fmt:|ruff:")
_DOCSTRING = re.compile(r"[rR]?(?P<quotes>\"\"\"|'''|\"|')(?P<text>[^\n]*)(?P=quotes)")


@dataclass(frozen=True)
class Passage:
    """A passage of a cell: the message, its place in the cell's text, and its kind."""

    text: str
    start: int
    end: int
    kind: str


def passages(cell: dict[str, Any]) -> list[Passage]:
    """The messages of a cell, in order. The lines of a paragraph are one message."""
    of = {"markdown": _of_markdown, "code": _of_code}.get(cell["cell_type"])
    return [one for one in of(source_of(cell)) if one.text.strip()] if of else []


def edition(path: Path, language: str) -> Notebook | None:
    """The notebook at ``path`` in a language of `LANGUAGES`; None if it is not translated.

    Raises FileNotFoundError if no notebook beside it is translated.
    """
    if language not in LANGUAGES or not (catalogue := _place(path, language)).parent.is_dir():
        raise FileNotFoundError(f"the course in {path.parent} has no translation into {language!r}")
    return translated(read(path), read_catalogue(catalogue)) if catalogue.exists() else None


def put(source: Path, language: str, folder: Path) -> list[Path]:
    """Write the edition of a notebook, or of all in a folder, into ``folder``; returns the written notebooks.

    Notebooks without a catalogue are copied as they are, so that links to them work. Raises FileNotFoundError if there
    is no notebook.
    """
    return write({path: edition(path, language) or read(path) for path in notebooks_at(source)}, folder)


def translated(notebook: Notebook, catalogue: Catalog) -> Notebook:
    """The notebook in the language of ``catalogue``; untranslated messages, and fuzzy ones, stay English."""
    notebook = copy.deepcopy(notebook)
    preface = _said(catalogue, PREFACE, _BEFORE)
    for cell in notebook["cells"]:
        text = source_of(cell)
        for one in reversed(found := passages(cell)):
            said = _said(catalogue, one.text) or text[one.start : one.end]
            if preface and one is found[0] and one.kind == "heading":
                said, preface = f"{said}\n\n> {preface}", ""
            text = text[: one.start] + said + text[one.end :]
        cell["source"] = text
        asked = {one.text: _said(catalogue, one.text) for one in found if one.kind in _ASKED.values()}
        for output in cell.get("outputs", ()) if any(asked.values()) else ():
            _ask_in(asked, output.get("data", {}))
    return notebook


def _ask_in(asked: Mapping[str, str], data: dict[str, Any]) -> None:
    """Put the translations of a question and its reason, ``asked``, into an output that shows them."""
    if "scene" in data.get(SCENE, {}):
        scene = unpacked(data[SCENE]["scene"])
        for name in _ASKED:
            scene[name] = asked.get(str(scene.get(name))) or scene.get(name)
        if scene["kind"] == "prediction":
            data[SCENE]["scene"] = packed(scene)
    if "text/plain" in data:
        text = "".join(data["text/plain"])
        for english, said in asked.items():
            text = text.replace(english, said or english)
        data["text/plain"] = text.splitlines(keepends=True) if isinstance(data["text/plain"], list) else text


def refreshed(catalogue: Catalog, notebook: Notebook) -> None:
    """Update a catalogue to its notebook: remove old messages, mark changed ones as fuzzy, add new ones as empty."""
    from babel.messages.catalog import Catalog

    template = Catalog()
    template.add(PREFACE, auto_comments=["below the first heading, in the translation alone"], context=_BEFORE)
    for one in (one for cell in notebook["cells"] for one in passages(cell)):
        template.add(one.text, auto_comments=[one.kind])
    catalogue.update(template, update_creation_date=False)


def catalogues(folder: Path, language: str) -> dict[Path, Path]:
    """The translated notebooks of a folder, each with its catalogue."""
    return {path: place for path in notebooks_at(folder) if (place := _place(path, language)).exists()}


def read_catalogue(path: Path) -> Catalog:
    """A catalogue from its file; an empty file begins one. Raises ModuleNotFoundError if Babel is not installed."""
    from babel.messages.catalog import Catalog
    from babel.messages.pofile import read_po

    if not path.stat().st_size:
        return Catalog(
            locale=path.parent.name,
            header_comment=f"# The chapter {path.stem} of the course. Its terms are those of glossary.po.",
            project="triton-lab",
            msgid_bugs_address="the repository",
            last_translator="triton-lab contributors",
            language_team=path.parent.name,
            fuzzy=False,
        )
    with path.open("rb") as file:
        return read_po(file, locale=path.parent.name, abort_invalid=True)


def _write_catalogue(path: Path, catalogue: Catalog) -> None:
    from babel.messages.pofile import write_po

    with path.open("wb") as file:  # each message on one line: a small change gives a small diff
        write_po(file, catalogue, width=0, ignore_obsolete=True, include_previous=True)


def _place(path: Path, language: str) -> Path:
    return path.parent / "locale" / LANGUAGES[language] / f"{path.stem}.po"


def _said(catalogue: Catalog, text: str, context: str | None = None) -> str:
    message = catalogue.get(text, context)
    return "" if message is None or message.fuzzy else str(message.string or "")


def _of_markdown(text: str) -> Iterator[Passage]:
    from markdown_it import MarkdownIt

    starts, at = _starts(text), 0
    for before, token in pairwise(MarkdownIt("commonmark").enable("table").parse(text)):
        if token.type == "html_block" and token.map and (summary := _SUMMARY.search(token.content)):
            start = text.index(summary[0], max(at, starts[token.map[0]])) + len("<summary>")
            at = start + len(summary["text"])
            yield Passage(summary["text"], start, at, "paragraph")
        elif token.type == "inline" and token.map:
            lines = token.content.split("\n")
            start = text.index(lines[0], max(at, starts[token.map[0]]))
            last = starts[token.map[0] + len(lines) - 1]
            at = text.index(lines[-1], max(start, last)) + len(lines[-1])
            yield Passage(" ".join(lines), start, at, "heading" if before.type == "heading_open" else "paragraph")


def _of_code(text: str) -> Iterator[Passage]:
    """The comments and one-line docstrings of a cell. A cell that is no Python has none; magics count as code."""
    python, starts = as_python(text), _starts(text)
    try:
        documented = _documented(python)
        tokens = list(tokenize.generate_tokens(io.StringIO(python).readline))
    except (SyntaxError, tokenize.TokenError):
        return
    asked = {one.start: one for one in _asked(python, starts)}
    lines, code = text.split("\n"), python.split("\n")
    instead = False  # between INSTEAD and END SOLUTION, comments contain code
    for token in tokens:
        row, column = token.start
        found = None
        if token.type == tokenize.COMMENT and lines[row - 1] == code[row - 1]:
            found, kind = _COMMENT.fullmatch(token.string), "comment"
            mark = found and found["mark"]
            instead = mark == "INSTEAD" or (instead and mark != "END SOLUTION")
            if mark == "BEGIN SOLUTION":
                kind = "what is to be done"
        elif token.type == tokenize.STRING and token.start in documented:
            found, kind = _DOCSTRING.fullmatch(token.string), "docstring"
        elif token.type == tokenize.STRING and (one := asked.get(starts[row - 1] + column + 1)):
            yield one
        if found and not instead and not _FOR_TOOLS.match(found["text"]):
            start = starts[row - 1] + column
            yield Passage(found["text"], start + found.start("text"), start + found.end("text"), kind)


def _documented(python: str) -> set[tuple[int, int]]:
    """The places where docstrings begin: line and column."""
    owners = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    found = (
        node.body[0] for node in ast.walk(ast.parse(python)) if isinstance(node, owners) and ast.get_docstring(node)
    )
    return {(node.lineno, node.col_offset) for node in found}


def _asked(python: str, starts: list[int]) -> Iterator[Passage]:
    """What a call of `predict` asks and explains: literals, of which one in several parts is one passage."""
    for call in ast.walk(ast.parse(python)):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "predict":
            given = [("question", one) for one in call.args[:1]] + [(one.arg or "", one.value) for one in call.keywords]
            for name, one in given:
                if name in _ASKED and isinstance(one, ast.Constant) and one.end_lineno and one.end_col_offset:
                    start = starts[one.lineno - 1] + one.col_offset + 1
                    end = starts[one.end_lineno - 1] + one.end_col_offset - 1
                    yield Passage(str(one.value), start, end, _ASKED[name])


def _starts(text: str) -> list[int]:
    """The offset at which each line of a text begins."""
    return [0, *(found.end() for found in re.finditer("\n", text))]


def main() -> None:
    """``python -m triton_lab.course.translation NOTEBOOKS LANGUAGE [FOLDER]``."""
    import sys

    if not 3 <= len(sys.argv) <= 4 or sys.argv[2] not in LANGUAGES:
        sys.exit(
            f"python -m triton_lab.course.translation NOTEBOOKS {'|'.join(LANGUAGES)} [FOLDER]: write the edition of "
            "NOTEBOOKS to FOLDER; without one, bring its catalogues up to NOTEBOOKS"
        )
    source, language = Path(sys.argv[1]), sys.argv[2]
    for written in put(source, language, Path(sys.argv[3])) if sys.argv[3:] else ():
        print(written)
    for path, place in catalogues(source, language).items() if not sys.argv[3:] else ():
        catalogue = read_catalogue(place)
        refreshed(catalogue, read(path))
        _write_catalogue(place, catalogue)
        open_ = sum(1 for message in catalogue if message.id and (message.fuzzy or not message.string))
        print(f"{place}: {open_ or 'nothing'} to translate")


if __name__ == "__main__":
    main()
