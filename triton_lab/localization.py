"""The language of all texts for users: English, unless a catalogue of translations is there and asked for.

A text for users is a literal inside `_`, with a name for each place that is filled in:

    _("{access} of {argument} is out of bounds").format(access=access, argument=name)

``tests/catalogue.py`` collects these literals, and those of the browser (``views/front/localization.js``), into
``locale/triton_lab.pot``. A translation is ``locale/<language>/LC_MESSAGES/triton_lab.mo``, with the browser's texts
beside it in a JSON file. The language is the one given to `language`, else JupyterLab's, else the environment's
(``LANGUAGE``, ``LC_ALL``, ``LC_MESSAGES``, ``LANG``). A text without a translation stays English. This module imports
nothing else of the package, and `gettext` only if there is a folder of translations.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gettext import NullTranslations

__all__ = [
    "N_",
    "_",
    "all_translated",
    "alone",
    "browser_texts",
    "follow",
    "in_english",
    "language",
    "languages",
    "ngettext",
    "nouns",
    "translated",
    "use",
]

DOMAIN = "triton_lab"
ENGLISH = "en"

_loaded = False
_by_user = False  # whether `language` has chosen
_catalogue: NullTranslations | None = None  # None is English
_place: Path | None = None  # the .mo file of the catalogue


def catalogues() -> Path:
    """The folder of the translations."""
    return Path(os.environ.get("TRITON_LAB_LOCALE") or Path(__file__).with_name("locale"))


def language(name: str | None = None) -> str:
    """Choose the language of all texts from now on, such as ``"zh_CN"`` or ``"en"``. Returns the one in use.

    Without a name it only returns it. Pictures that are drawn already keep their language. Raises ValueError if there
    is no translation into the language.

        >>> lab.language()
        'en'
    """
    global _by_user
    if name is not None:
        if not use(name) and name != ENGLISH:
            known = ", ".join([ENGLISH, *languages()])
            raise ValueError(
                _("there is no translation into {name}. Languages: {known}").format(name=name, known=known)
            )
        _by_user = True
    elif not _loaded:
        use()
    return ENGLISH if _place is None else _place.parts[-3]


def follow(name: str) -> None:
    """Take over JupyterLab's language, such as ``zh-CN``, unless the user has chosen one, or it is English."""
    if not _by_user and not name.lower().startswith(ENGLISH):
        use(name.replace("-", "_"))


def use(language: str | None = None, folder: Path | None = None) -> bool:
    """Choose the language of all texts from now on, such as ``zh_CN``; None asks the environment.

    Returns whether there is a catalogue for it. Without one the texts are English.
    """
    global _loaded, _catalogue, _place
    _loaded, _catalogue, _place = True, None, None
    where = catalogues() if folder is None else folder
    if where.is_dir():
        import gettext

        asked = None if language is None else [language]
        if found := gettext.find(DOMAIN, str(where), asked):
            _catalogue, _place = gettext.translation(DOMAIN, str(where), asked), Path(found)
    return _catalogue is not None


@contextmanager
def in_english() -> Iterator[None]:
    """Inside, all texts are English: to compare them with what another program says."""
    global _catalogue
    held, _catalogue = _catalogue, None
    try:
        yield
    finally:
        _catalogue = held


def browser_texts(name: str | None = None) -> dict[str, Any]:
    """The catalogue of the browser's texts, in the chosen language or in one by its name; empty for English.

    ``language`` is its name, ``texts`` has the translations of each text, and ``forms`` the number of the plural form
    of each count from 0 to 199 (see ``views/front/localization.js``).
    """
    if not _loaded:
        use()
    place = _place
    if name is not None:
        wanted = name.replace("-", "_").lower()
        own = next((each for each in languages() if each.lower() == wanted), None)
        place = None if own is None else catalogues() / own / "LC_MESSAGES" / f"{DOMAIN}.mo"
    if not place or not place.with_suffix(".json").is_file():
        return {}
    import json

    found: dict[str, Any] = json.loads(place.with_suffix(".json").read_text(encoding="utf-8"))
    return found


def languages(folder: Path | None = None) -> list[str]:
    """The languages that have a catalogue, besides English."""
    where = catalogues() if folder is None else folder
    return sorted(path.parts[-3] for path in where.glob(f"*/LC_MESSAGES/{DOMAIN}.mo"))


def _(text: str) -> str:
    """The text in the chosen language. The argument is a literal, without an ``f`` before it."""
    return translated(text)


def ngettext(one: str, many: str, count: int) -> str:
    """`_` for a text with a number: ``one`` for a single thing, else ``many``, by the rules of the chosen language."""
    return alone(one, nouns(one, many, count))


def N_(text: str) -> str:
    """Mark the literal of a constant for translation. `translated` translates it where it is used."""
    return text


def translated(text: str) -> str:
    """The translation of a text that `N_` marks."""
    if not _loaded:
        use()
    return text if _catalogue is None or not text else alone(text, _catalogue.gettext(text))


def alone(text: str, own: str) -> str:
    """``own``, the translation of ``text``, where no number stands before it.

    Chinese has a measure word between a number and a noun. The noun's translation has it before a ``|``, and here it is
    left out: ``个|元素``. Before ``||`` stands a noun that is another word behind a number: ``次||时间`` for three
    times, and for the time. (A text that has a ``|`` itself is no noun.)
    """
    return own if "|" in text or "|" not in own else own.rpartition("|")[2].strip()


def all_translated(texts: Iterable[str]) -> tuple[str, ...]:
    """`translated` for each of several texts, such as the headings of a table."""
    return tuple(translated(text) for text in texts)


def nouns(one: str, many: str, count: int) -> str:
    """`ngettext` for nouns that the functions of `messages` are called with, with a measure word (see `alone`)."""
    if not _loaded:
        use()
    if _catalogue is None:
        return one if count == 1 else many
    return _catalogue.ngettext(one, many, count)
