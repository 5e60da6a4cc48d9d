"""A language that puts each text of the catalogue into brackets: what has none, a translation cannot change."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo

from tests import catalogue
from triton_lab import localization
from triton_lab.localization import DOMAIN

NAME = "de"  # one that JupyterLab and babel know
_INNERMOST = re.compile(r"⟦[^⟦⟧]*⟧")
# Two words side by side. Names of arguments, types, units and code have none.
_WORDS = re.compile(r"(?<![\w.])(?:[A-Za-z]?[a-z]{3,}[,:;]? [a-z]{2,}|[a-z]{2,}[,:;]? [a-z]{3,})(?![\w(=.])")


@cache
def translation() -> Catalog:
    """The whole catalogue with each text in brackets."""
    whole = Catalog(locale=NAME)
    for message in catalogue.template():
        if isinstance(message.id, tuple):
            whole.add(message.id, tuple(f"⟦{each}⟧" for each in message.id))
        elif message.id:
            whole.add(message.id, f"⟦{message.id}⟧")
    return whole


def write(folder: Path) -> None:
    """Write the language as the package keeps its translations."""
    place = folder / NAME / "LC_MESSAGES"
    place.mkdir(parents=True)
    with (place / f"{DOMAIN}.mo").open("wb") as file:
        write_mo(file, translation())
    texts = json.dumps(catalogue.for_browser(translation()), ensure_ascii=False)
    (place / f"{DOMAIN}.json").write_text(texts, encoding="utf-8")


def spoken(folder: Path) -> Iterator[Path]:
    """The body of a fixture: all texts are in brackets, until the test ends."""
    write(folder)
    assert localization.use(NAME, folder)
    yield folder
    localization.use("en")


def left(text: str) -> str:
    """What stands outside of all brackets. A line of a text that was wrapped may have one bracket alone."""
    while (inner := _INNERMOST.sub("", text)) != text:
        text = inner
    return re.sub(r"^[^⟦]*⟧|⟦[^⟧]*$", "", text)


def is_english(text: str) -> bool:
    """Whether words stand outside of all brackets."""
    return bool(_WORDS.search(left(text)))


def words(text: str) -> set[str]:
    """The single words that stand outside of all brackets."""
    return set(catalogue.WORD.findall(left(text)))
