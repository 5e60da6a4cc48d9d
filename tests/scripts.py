"""The texts for users in JavaScript and TypeScript: the literals of `tr`, `trn` and `trParts`, for `tests.catalogue`.

A scanner that knows comments, strings, templates and regular expressions is enough: the type checker reads the rest.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.sources import PACKAGE

FRONT = PACKAGE / "views" / "front"
EXTENSION = PACKAGE.parent / "labextension"
MARKS = {"tr": 1, "trParts": 1, "trn": 2}  # how many of the first arguments are texts
NOUNS = {"countOf": 1, "numbered": 2}  # which argument is a noun; its plural may come behind it
LABELS = ("title", "description")  # what a settings schema shows

_TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\n]*|/\*.*?\*/)
      | (?P<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
      | (?P<word>[\w$]+)
      | (?P<sign>=>|.)""",
    re.VERBOSE | re.DOTALL,
)
_REGEX = re.compile(r"/(?:[^/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/\w*")
_PART = re.compile(r"(?:[^`\\$]|\\.|\$(?!\{))*", re.DOTALL)
_NO_REGEX_AFTER = re.compile(r"[\w$)\]}\"'`]$")
_KEYWORDS = {"return", "typeof", "case", "in", "of"}


class Token(NamedTuple):
    """``kind`` is string, template, word or sign. ``text`` is what it says, with ``x`` for each place of a template."""

    kind: str
    text: str
    line: int


class ScriptText(NamedTuple):
    """A text for users in a script: the text, or its singular and its plural; and the numbers of its tokens."""

    line: int
    ids: tuple[str, ...]
    tokens: tuple[int, ...]


def tokens(text: str) -> list[Token]:
    """The tokens of a script. What stands in a template's places follows the template."""
    found: list[Token] = []
    _scan(text, 0, found, inside=False)
    return found


def _scan(text: str, at: int, found: list[Token], inside: bool) -> int:
    """Scan up to the end, or up to the brace that closes a place of a template. Returns where that is."""
    depth = 0
    while at < len(text):
        line = text.count("\n", 0, at) + 1
        if text[at] == "`":
            at = _template(text, at + 1, found, line)
            continue
        before = found[-1] if found else None
        starts = before is None or before.text in _KEYWORDS or not _NO_REGEX_AFTER.search(before.text or '"')
        if text[at] == "/" and starts and text[at : at + 2] not in ("//", "/*") and (regex := _REGEX.match(text, at)):
            found.append(Token("word", "/", line))
            at = regex.end()
            continue
        token = _TOKEN.match(text, at)
        assert token is not None
        at = token.end()
        if token["space"]:
            continue
        if inside and token["sign"] == "{":
            depth += 1
        elif inside and token["sign"] == "}":
            if not depth:
                return at
            depth -= 1
        if token["string"]:
            found.append(Token("string", _unquoted(token["string"][1:-1]), line))
        else:
            found.append(Token("word" if token["word"] else "sign", token[0], line))
    return at


def _template(text: str, at: int, found: list[Token], line: int) -> int:
    place = len(found)
    parts = []
    found.append(Token("template", "", line))
    while True:
        part = _PART.match(text, at)
        assert part is not None
        parts.append(_unquoted(part[0]))
        at = part.end()
        if text[at : at + 2] != "${":
            found[place] = Token("template", "x".join(parts), line)
            return at + 1
        at = _scan(text, at + 2, found, inside=True)


def _unquoted(text: str) -> str:
    return re.sub(
        r"\\u([0-9a-fA-F]{4})|\\(.)", lambda m: chr(int(m[1], 16)) if m[1] else {"n": "\n"}.get(m[2], m[2]), text
    )


def texts(text: str) -> Iterator[ScriptText]:
    """The texts that a script marks, and the nouns that it counts."""
    every = tokens(text)
    for k, token in enumerate(every):
        wanted = MARKS.get(token.text) if token.kind == "word" else None
        noun = NOUNS.get(token.text) if token.kind == "word" else None
        if (wanted is None and noun is None) or k + 1 >= len(every) or every[k + 1].text != "(" or _is_member(every, k):
            continue
        arguments = list(_arguments(every, k + 2))
        if wanted is not None:
            ids = [_literal(every, each) for each in arguments[:wanted]]
            if all(ids):
                inside = tuple(at for each in arguments[:wanted] for at in each)
                yield ScriptText(token.line, tuple(each for each in ids if each), inside)
        elif noun is not None and len(arguments) > noun and (one := _literal(every, arguments[noun])):
            many = _literal(every, arguments[noun + 1]) if len(arguments) > noun + 1 else None
            yield ScriptText(token.line, (one, many or f"{one}s"), tuple(arguments[noun]))


def _is_member(every: list[Token], k: int) -> bool:
    """Whether a name is a method's, or is being declared. ``...tr()`` is neither."""
    before = [each.text for each in every[max(0, k - 2) : k]]
    return before[-1:] == ["function"] or (before[-1:] == ["."] and before != [".", "."])


def _arguments(every: list[Token], at: int) -> Iterator[list[int]]:
    """The numbers of the tokens of each argument of a call, from behind its bracket on."""
    depth = 0
    now: list[int] = []
    for k in range(at, len(every)):
        sign = every[k].text if every[k].kind == "sign" else ""
        if sign in ("(", "[", "{"):
            depth += 1
        elif sign in (")", "]", "}"):
            if not depth:
                break
            depth -= 1
        elif sign == "," and not depth:
            yield now
            now = []
            continue
        now.append(k)
    if now:
        yield now


def _literal(every: list[Token], numbers: list[int]) -> str | None:
    """The text of an argument that is a string, or strings with + between them."""
    strings = [every[k] for k in numbers[::2]]
    if all(one.kind == "string" for one in strings) and all(every[k].text == "+" for k in numbers[1::2]):
        return "".join(one.text for one in strings)
    return None


def unmarked(text: str) -> Iterator[tuple[int, str]]:
    """The strings and templates of a script that are not in a mark, each with its line."""
    marked = {at for each in texts(text) for at in each.tokens}
    for k, token in enumerate(tokens(text)):
        if token.kind in ("string", "template") and k not in marked:
            yield token.line, token.text


def variables(text: str) -> Iterator[int]:
    """The lines in which a text is marked that is no literal."""
    every = tokens(text)
    for k, token in enumerate(every[:-1]):
        wanted = MARKS.get(token.text) if token.kind == "word" else None
        if wanted is None or every[k + 1].text != "(" or _is_member(every, k):
            continue
        if not all(_literal(every, each) for each in list(_arguments(every, k + 2))[:wanted]):
            yield token.line


def files() -> Iterator[tuple[str, str]]:
    """The scripts of the views and of JupyterLab's extension, without what is generated: a name and the text."""
    for path in sorted(FRONT.rglob("*.js")):
        text = path.read_text(encoding="utf-8")
        if "not to be edited" not in text[:300]:
            yield path.relative_to(PACKAGE).as_posix(), text
    for path in sorted((EXTENSION / "src").rglob("*.ts")):
        yield path.relative_to(EXTENSION.parent).as_posix(), path.read_text(encoding="utf-8")


def labels() -> Iterator[tuple[str, str]]:
    """The labels of the settings of JupyterLab's extension: the file's name and the text."""
    for path in sorted((EXTENSION / "schema").glob("*.json")):
        found: list[str] = []

        def walk(value: object, key: str = "", found: list[str] = found) -> None:
            if isinstance(value, str) and key in LABELS:
                found.append(value)
            elif isinstance(value, dict):
                for name, inner in value.items():
                    walk(inner, name)

        walk(json.loads(path.read_text(encoding="utf-8")))
        yield from ((path.relative_to(EXTENSION.parent).as_posix(), text) for text in found)


def room(name: str) -> str:
    """The room of a script."""
    return "labextension" if name.startswith("labextension/") else "views/front"


def path_of(name: str) -> Path:
    return (EXTENSION.parent if name.startswith("labextension/") else PACKAGE) / name
