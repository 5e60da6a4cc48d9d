"""One script from the modules in `front/`, and one style sheet.

A widget's script is a single text, and so is that of a page which stands alone. The modules in `front/` are plain ES
modules that import each other by relative name, so that a type checker, Node and a bundler (that of the JupyterLab
extension) take them as they are; `script` joins an entry with what it imports, for a widget and a page alike.
"""

from __future__ import annotations

import posixpath
import re
from functools import cache
from pathlib import Path

FRONT = Path(__file__).parent / "front"
# ``widget.js`` draws what a widget carries, ``page.js`` what its page carries, ``saved.js`` what a notebook's output
# carries, for JupyterLab's extension, which bundles the modules as they are, and ``site.js`` what stands in a page of
# many things. All draw with ``view.js``.
WIDGET, PAGE, SAVED, SITE, VIEW = "widget.js", "page.js", "saved.js", "site.js", "view.js"
ENTRIES = (WIDGET, PAGE, SAVED, SITE, VIEW)

_IMPORT = re.compile(r"""^import \{([^}]*)\} from "(\.{1,2}/[\w./-]+\.js)";\n""", re.MULTILINE)
_EXPORT = re.compile(r"^export (?!default)", re.MULTILINE)
_OTHER = re.compile(r"^(?:import\b|export (?:\{|\*|let|var)|(?:let|const|var) [{\[]).*", re.MULTILINE)
_DECLARED = re.compile(r"^(export )?(?:async )?(?:const|let|var|class|function\*?) (\w+)", re.MULTILINE)
_TOLD = re.compile(r"^[ ]*/\*\*(?:(?!\*/).)*\*/\n", re.MULTILINE | re.DOTALL)


class CannotAssemble(ValueError):
    """A module is written in a way that `script` does not join: it says what and where."""


def script(entry: str, folder: Path | None = None) -> str:
    """One ES module from ``entry`` and all that it imports.

    Modules import each other as ``import { a, b } from "../launch/c.js";`` with no renaming, and no name is declared in
    two of them; so leaving out the import lines and ``export`` words is enough. Raises CannotAssemble where that is not
    so.
    """
    return _joined(entry, folder or FRONT)


def stylesheet(folder: Path | None = None) -> str:
    """The style sheet of all views: the colours of the themes, then the rules."""
    return "".join(((folder or FRONT) / name).read_text(encoding="utf-8") for name in ("theme.css", "view.css"))


def needs(name: str, text: str) -> list[tuple[str, str]]:
    """What module ``name`` imports: the words between the braces, and the module, by its path in the folder."""
    here = posixpath.dirname(name)
    return [(words, posixpath.normpath(posixpath.join(here, path))) for words, path in _IMPORT.findall(text)]


@cache
def _joined(entry: str, folder: Path) -> str:
    parts: list[str] = []
    exported: dict[str, set[str]] = {}
    home: dict[str, str] = {}
    open_: list[str] = []

    def add(name: str) -> None:
        if name in open_:
            raise CannotAssemble(f"{name} imports itself, through {', '.join(open_[open_.index(name) + 1 :]) or name}")
        if name in exported:
            return
        open_.append(name)
        text = (folder / name).read_text(encoding="utf-8")
        for words, needed in needs(name, text):
            if not (folder / needed).is_file():
                raise CannotAssemble(f"{name} imports {needed}, which is not there")
            add(needed)
            for word in filter(None, (word.strip() for word in words.split(","))):
                if word not in exported[needed]:
                    raise CannotAssemble(f"{name} imports {word!r}, which {needed} does not export")
        rest = _IMPORT.sub("", text)
        if other := _OTHER.search(rest):
            raise CannotAssemble(f"{name}: {other[0]!r} is not a way to import, export or declare that is known here")
        for _, declared in _DECLARED.findall(rest):
            if declared in home:
                raise CannotAssemble(f"{declared} is declared in {home[declared]} and in {name}")
            home[declared] = name
        exported[name] = {declared for export, declared in _DECLARED.findall(rest) if export}
        # What is said about types and to readers need not go to the browser.
        parts.append(_TOLD.sub("", _EXPORT.sub("", rest)))
        open_.pop()

    add(entry)
    return "\n".join(parts)
