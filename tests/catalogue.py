"""The texts for users as a gettext catalogue: ``python -m tests.catalogue``, or ``make catalogue``.

It collects the literals of `_`, `N_` and `ngettext`, the nouns that `messages.count` and its like are given, and the
same of the browser's scripts (`tests.scripts`). It writes the template ``triton_lab/locale/triton_lab.pot`` (not
committed), brings each ``triton_lab.po`` up to it, and compiles that to the ``.mo`` which the package reads and the
``.json`` for the browser. ``--new zh_CN`` begins a translation. It prints how many texts are translated, and how many
strings of four words and more in each room stand outside of the catalogue.
"""

from __future__ import annotations

import argparse
import ast
import gettext
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from string import Formatter
from typing import NamedTuple, get_args

from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

from tests import scripts, sources
from triton_lab.localization import DOMAIN, catalogues

MARKS = {"_": 1, "N_": 1, "ngettext": 2}  # how many of the first arguments are texts
# The functions of `messages` that take a noun, and its place among the arguments. Its plural may come behind it.
NOUNS = {"count": 1, "noun": 1, "span": 2, "numbered": 2, "has": 2, "rounded": 1, "in_all": 1, "all_of": 1}
# A single word, and no part of a name, a path, a call or a number.
WORD = re.compile(r"(?<![\w.%@/(\[{<-])[A-Za-z]?[a-z]{2,}(?![\w=(\[{/>-]|\.\w)")
PROSE = re.compile(r"(?:[A-Za-z][A-Za-z'-]*[,:;]? +){3}[A-Za-z]")


class Text(NamedTuple):
    """A text for users in the source: the text, or its singular and its plural."""

    file: str
    line: int
    ids: tuple[str, ...]


def called(node: ast.Call) -> str:
    """The last name of what is called."""
    return node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")


def literal(node: ast.expr | None) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def marks(file: sources.Source) -> Iterator[ast.Call]:
    """The calls that mark texts in a file."""
    known = {
        name.asname or name.name
        for node in file.nodes
        if isinstance(node, ast.ImportFrom) and node.module == "triton_lab.localization"
        for name in node.names
    }
    for node in file.nodes:
        if isinstance(node, ast.Call) and called(node) in known & MARKS.keys():
            yield node


def texts(file: sources.Source) -> Iterator[Text]:
    """The texts of a file, by line."""
    marked = {id(node) for node in marks(file)}
    calls = [node for node in file.nodes if isinstance(node, ast.Call)]
    for node in sorted(calls, key=lambda each: each.lineno):
        name = called(node)
        if id(node) in marked:
            ids = tuple(literal(each) for each in node.args[: MARKS[name]])
            if all(ids):
                yield Text(file.name, node.lineno, tuple(each for each in ids if each))
        elif (place := NOUNS.get(name)) and len(node.args) > place and (one := literal(node.args[place])):
            many = literal(node.args[place + 1]) if len(node.args) > place + 1 else None
            yield Text(file.name, node.lineno, (one, many or f"{one}s"))


def template() -> Catalog:
    """All texts of the package."""
    catalogue = Catalog(project="triton-lab", msgid_bugs_address="the repository", charset="utf-8")
    for each in [*map(texts, sources.python()), script_texts()]:
        for text in each:
            known = catalogue.get(text.ids[0])
            # A noun that one place counts and another has alone: the plural wins.
            ids = text.ids if known is None or isinstance(known.id, str) else known.id
            if known is not None and isinstance(known.id, str) and len(text.ids) > 1:
                catalogue.delete(text.ids[0])
            catalogue.add(ids if len(ids) > 1 else ids[0], locations=[(text.file, text.line)])
    return catalogue


def script_texts() -> Iterator[Text]:
    """The texts of the browser's scripts, and the labels of JupyterLab's settings."""
    for name, script in scripts.files():
        for found in scripts.texts(script):
            yield Text(name, found.line, found.ids)
    for name, label in scripts.labels():
        yield Text(name, 1, (label,))


def for_browser(translation: Catalog) -> dict[str, object]:
    """What the browser gets of a translation: the texts of its scripts, and those that the glossary explains."""
    from triton_lab.views.drawing.glossary import GLOSSARY
    from triton_lab.views.drawing.heatmap import Noun

    own = {each.ids[0] for each in script_texts()} | set(GLOSSARY.values()) | set(get_args(Noun))
    words = {word for key in GLOSSARY for word in key.split(":")}
    found: dict[str, list[str]] = {}
    for message in translation:
        one = message.id[0] if isinstance(message.id, tuple) else message.id
        if one and not message.fuzzy and (one in own or one.lower() in words):
            strings = message.string if isinstance(message.string, tuple) else (message.string,)
            if all(strings):
                found[one] = list(strings)
    plural = gettext.c2py(translation.plural_expr)
    forms = "".join(str(plural(count)) for count in range(200))
    return {"language": str(translation.locale_identifier), "forms": forms, "texts": found}


def names(text: str) -> set[str]:
    """The names of the places in a text that are filled in. Raises ValueError where a brace is left open."""
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}


# What takes a regular expression, for words of Triton's or torch's.
PATTERNS = {"Rule", "says", *(f"re.{name}" for name in ("compile", "match", "fullmatch", "search", "findall", "sub"))}


def outside(file: sources.Source) -> Iterator[tuple[int, str]]:
    """Strings of four words and more that are neither docstrings nor in the catalogue, each with its line."""
    inside: set[int] = set()
    for call in marks(file):
        inside |= {id(each) for argument in call.args for each in ast.walk(argument)}
    for node in file.nodes:
        if isinstance(node, ast.Expr | ast.Assert):
            inside |= {id(each) for each in ast.walk(node)} if isinstance(node, ast.Assert) else {id(node.value)}
        elif isinstance(node, ast.JoinedStr):
            inside |= {id(each) for each in node.values}
        elif isinstance(node, ast.Call) and node.args and ast.unparse(node.func) in PATTERNS:
            inside |= {id(each) for each in ast.walk(node.args[0])}
    for node in file.nodes:
        if id(node) in inside:
            continue
        if isinstance(node, ast.JoinedStr):
            text = "".join(literal(each) or "x" for each in node.values)
        else:
            text = (literal(node) if isinstance(node, ast.Constant) else None) or ""
        if PROSE.search(text):
            yield getattr(node, "lineno", 0), text


def glued(file: sources.Source) -> Iterator[tuple[int, str]]:
    """F-strings outside of the catalogue in which a word stands beside a place, ``f"stored: {name}"``, by line.

    Another language can neither translate the word nor choose its place.
    """
    marked = {id(each) for call in marks(file) for argument in call.args for each in ast.walk(argument)}
    for node in file.nodes:
        if isinstance(node, ast.JoinedStr) and id(node) not in marked:
            text = "".join(literal(each) or "{}" for each in node.values)
            if WORD.search(text):
                yield node.lineno, text


def outside_of_script(script: str) -> Iterator[tuple[int, str]]:
    """Strings and templates of four words and more that a script does not mark, each with its line."""
    return ((line, text) for line, text in scripts.unmarked(script) if PROSE.search(text))


def room(file: sources.Source) -> str:
    """The room of a file; pictures of launches count by themselves."""
    parts = file.name.split("/")
    return "/".join(parts[:2]) if parts[:2] == ["views", "launch"] else parts[0] if len(parts) > 1 else "."


def rooms() -> tuple[Counter[str], Counter[str]]:
    """How many texts of each room are in the catalogue, and how many strings of four words and more are not."""
    inside: Counter[str] = Counter()
    left: Counter[str] = Counter()
    for file in sources.python():
        inside[room(file)] += sum(1 for _ in texts(file))
        left[room(file)] += sum(1 for _ in outside(file))
    for name, script in scripts.files():
        inside[scripts.room(name)] += sum(1 for _ in scripts.texts(script))
        left[scripts.room(name)] += sum(1 for _ in outside_of_script(script))
    inside["labextension"] += sum(1 for _ in scripts.labels())
    return inside, left


def compiled(place: Path) -> Catalog:
    """Bring a translation up to the template, and write it and what the package reads of it."""
    with place.open("rb") as file:
        catalogue = read_po(file, locale=place.parts[-3], domain=DOMAIN)
    catalogue.update(template(), update_creation_date=False)
    with place.open("wb") as file:
        write_po(file, catalogue, width=120, sort_output=True, include_lineno=False)
    with place.with_suffix(".mo").open("wb") as file:
        write_mo(file, catalogue)
    place.with_suffix(".json").write_text(json.dumps(for_browser(catalogue), ensure_ascii=False), encoding="utf-8")
    return catalogue


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.catalogue", description="Write the catalogue of texts.")
    parser.add_argument("--new", metavar="LANGUAGE", help="begin a translation, for example zh_CN")
    parser.add_argument("--left", metavar="ROOM", help="list the strings of a room that are not in the catalogue")
    asked = parser.parse_args()
    if asked.left:
        for file in sources.python():
            for line, text in sorted({*outside(file), *glued(file)}) if room(file) == asked.left else ():
                print(f"{file.name}:{line}: {text!r}")
        for name, script in scripts.files():
            for line, text in outside_of_script(script) if scripts.room(name) == asked.left else ():
                print(f"{name}:{line}: {text!r}")
        return
    catalogues().mkdir(exist_ok=True)
    if asked.new:
        place = catalogues() / asked.new / "LC_MESSAGES" / f"{DOMAIN}.po"
        place.parent.mkdir(parents=True, exist_ok=True)
        with place.open("xb") as file:
            write_po(file, Catalog(locale=asked.new, project="triton-lab"))
    with (catalogues() / f"{DOMAIN}.pot").open("wb") as file:
        write_po(file, template(), width=120, sort_output=True, include_lineno=False)
    for place in sorted(catalogues().glob(f"*/LC_MESSAGES/{DOMAIN}.po")):
        catalogue = compiled(place)
        done = sum(1 for each in catalogue if each.id and each.string and not each.fuzzy)
        print(f"{place.parts[-3]}: {done:,} of {len(catalogue):,} texts are translated")
    inside, left = rooms()
    for name in sorted({*inside, *left}):
        print(f"{name:14} {inside[name]:5,} texts in the catalogue, {left[name]:5,} strings outside")
    print(f"{'all':14} {inside.total():5,} texts in the catalogue, {left.total():5,} strings outside")


if __name__ == "__main__":
    main()
