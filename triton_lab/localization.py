"""The language of all texts for users: English, unless a catalogue of translations is there and asked for.

A text for users is a literal inside `_`, with a name for each place that is filled in:

    _("{access} of {argument} is out of bounds").format(access=access, argument=name)

``tests/catalogue.py`` collects these literals into ``locale/triton_lab.pot``; a translation is
``locale/<language>/LC_MESSAGES/triton_lab.mo``. The language is the one given to `use`, else the environment's
(``LANGUAGE``, ``LC_ALL``, ``LC_MESSAGES``, ``LANG``). A text without a translation stays English. This module imports
nothing else of the package, and `gettext` only if there is a folder of translations.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gettext import NullTranslations

__all__ = ["N_", "_", "languages", "ngettext", "nouns", "translated", "use"]

DOMAIN = "triton_lab"
FOLDER = Path(__file__).with_name("locale")

_loaded = False
_catalogue: NullTranslations | None = None  # None is English


def use(language: str | None = None, folder: Path = FOLDER) -> bool:
    """Choose the language of all texts from now on, such as ``zh_CN``; None asks the environment.

    Returns whether there is a catalogue for it. Without one the texts are English.
    """
    global _loaded, _catalogue
    _loaded, _catalogue = True, None
    if folder.is_dir():
        import gettext

        if gettext.find(DOMAIN, str(folder), None if language is None else [language]):
            _catalogue = gettext.translation(DOMAIN, str(folder), None if language is None else [language])
    return _catalogue is not None


def languages(folder: Path = FOLDER) -> list[str]:
    """The languages that have a catalogue, besides English."""
    return sorted(path.parts[-3] for path in folder.glob(f"*/LC_MESSAGES/{DOMAIN}.mo"))


def _(text: str) -> str:
    """The text in the chosen language. The argument is a literal, without an ``f`` before it."""
    return translated(text)


def ngettext(one: str, many: str, count: int) -> str:
    """`_` for a text with a number: ``one`` for a single thing, else ``many``, by the rules of the chosen language."""
    return nouns(one, many, count)


def N_(text: str) -> str:
    """Mark the literal of a constant for translation. `translated` translates it where it is used."""
    return text


def translated(text: str) -> str:
    """The translation of a text that `N_` marks."""
    if not _loaded:
        use()
    return text if _catalogue is None or not text else _catalogue.gettext(text)


def nouns(one: str, many: str, count: int) -> str:
    """`ngettext` for nouns that the functions of `messages` are called with."""
    if not _loaded:
        use()
    if _catalogue is None:
        return one if count == 1 else many
    return _catalogue.ngettext(one, many, count)
