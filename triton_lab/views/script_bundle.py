"""The modules in `front/` joined into one script, and their style sheet.

A widget's script is a single text, and so is that of a self-contained page. The modules in `front/` are plain ES
modules that import each other by relative name, so a type checker, Node and a bundler (such as that of the JupyterLab
extension) take them as they are. `script` joins an entry module with everything that it imports.
"""

from __future__ import annotations

import json
import posixpath
import re
from functools import cache
from pathlib import Path

from triton_lab.localization import browser_texts, language

FRONT = Path(__file__).parent / "front"
# The entry modules. ``widget.js`` draws the scene of a widget, ``page.js`` that of its page, ``saved.js`` that of a
# notebook's output (JupyterLab's extension bundles the modules as they are), ``site.js`` the pictures in a page of the
# site, ``output.js`` those in HTML outputs of a notebook, which ``loader.js`` gives to it, and ``picture.js`` one in a
# site of MyST. All draw with ``view.js``.
WIDGET, PAGE, SAVED, SITE, VIEW = "widget.js", "page.js", "saved.js", "site.js", "view.js"
OUTPUT, PICTURE = "output.js", "picture.js"
ENTRIES = (WIDGET, PAGE, SAVED, SITE, OUTPUT, PICTURE, VIEW)
LOADER = "loader.js"

_IMPORT = re.compile(r"""^import \{([^}]*)\} from "(\.{1,2}/[\w./-]+\.js)";\n""", re.MULTILINE)
_EXPORT = re.compile(r"^export (?!default)", re.MULTILINE)
_OTHER = re.compile(r"^(?:import\b|export (?:\{|\*|let|var)|(?:let|const|var) [{\[]).*", re.MULTILINE)
_DECLARED = re.compile(r"^(export )?(?:async )?(?:const|let|var|class|function\*?) (\w+)", re.MULTILINE)
_TOLD = re.compile(r"^[ ]*/\*\*(?:(?!\*/).)*\*/\n", re.MULTILINE | re.DOTALL)


class CannotAssemble(ValueError):
    """A module is written in a way that `script` cannot join; the message says what and where."""


def script(entry: str, folder: Path | None = None) -> str:
    """One ES module made of ``entry`` and all modules that it imports.

    Modules import each other as ``import { a, b } from "../launch/c.js";`` without renaming, and no name is declared in
    two of them; so it is enough to leave out the import lines and the ``export`` words. Raises CannotAssemble
    otherwise.
    """
    return _joined(entry, folder or FRONT)


def stylesheet(folder: Path | None = None) -> str:
    """The style sheet of all views: the colours of the themes, then the rules."""
    return "".join(((folder or FRONT) / name).read_text(encoding="utf-8") for name in ("theme.css", "view.css"))


def carried_texts() -> str:
    """The element of a page that carries the texts of the chosen language; "" for English."""
    texts = browser_texts()
    if not texts:
        return ""
    data = json.dumps(texts, ensure_ascii=False).replace("<", "\\u003c")  # no text ends the element
    return f'<script type="application/json" class="tl-texts">{data}</script>'


def page_language() -> str:
    """The ``lang`` of a page: ``zh-CN``."""
    return language().replace("_", "-")


def needs(name: str, text: str) -> list[tuple[str, str]]:
    """The imports of module ``name``: the words between the braces, and the module by its path in the folder."""
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
        # Comments about types and for readers are not sent to the browser.
        parts.append(_TOLD.sub("", _EXPORT.sub("", rest)))
        open_.pop()

    add(entry)
    return "\n".join(parts)
