"""A picture as HTML inside a notebook's output, for places that show HTML and know nothing of the lab.

The HTML holds the packed scene, the still picture and a small script. Where scripts may run, the live picture takes the
place of the still one; where they may not, the still one stays. The code that draws is 140 KB, so one picture of a
notebook carries it for all others. A picture in Colab carries its own: each output is a page of its own there.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import os
import zlib
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from weakref import ref

from triton_lab.localization import browser_texts, language
from triton_lab.views.script_bundle import LOADER, OUTPUT, script, stylesheet

if TYPE_CHECKING:
    from triton_lab.views.view import View

_GZIP = 16 + zlib.MAX_WBITS


def picture(scene: str, png: str, alt: str, size: Mapping[str, int] | None = None) -> str:
    """A packed scene as HTML, and in its place a PNG (base64) until it is drawn. With its ``size`` the page has room
    for it before it is read."""
    room = "".join(f' {side}="{int(size[side])}"' for side in ("width", "height") if size and side in size)
    still = f'<img alt="{html.escape(alt)}"{room} src="data:image/png;base64,{png}">' if png else html.escape(alt)
    return f'<div class="triton-lab-picture"><script type="application/gzip">{scene}</script>{still}</div>'


def output(scene: str, png: str, alt: str, width: int | None, carries_code: bool) -> str:
    """`picture` with the script that draws it; it has the code itself, or takes it from a picture that carries it."""
    version, code = _code(language())
    carried = f'<script type="application/gzip+json">{code}</script>' if carries_code else ""
    inner = picture(scene, png, alt, None if width is None else {"width": width}).removesuffix("</div>")
    named = inner.replace("<div ", f'<div data-code="{version}" ', 1)
    return f"{named}{carried}<script>{script(LOADER)}</script></div>"


@lru_cache(maxsize=2)
def _code(_: str) -> tuple[str, str]:
    """The version of what draws, for `loader.js`, and the code itself: base64 of gzip of JSON."""
    code = f"(() => {{\n{script(OUTPUT)}\n}})();\n"
    text = json.dumps({"code": code, "style": stylesheet(), "texts": browser_texts()}, separators=(",", ":")).encode()
    packer = zlib.compressobj(9, zlib.DEFLATED, _GZIP)
    packed = base64.b64encode(packer.compress(text) + packer.flush()).decode("ascii")
    return hashlib.sha256(text).hexdigest()[:8], packed


class _Carrier:
    """The output that carries the code: the first picture of a kernel, and again when its cell runs again."""

    def __init__(self) -> None:
        self._cell: str | None = None
        self._run = ""
        self._view: ref[View] | None = None

    def is_carried_by(self, view: View, cell: str, run: str) -> bool:
        """Whether ``view`` carries the code: a picture of the cell with that id, in the run with that id."""
        if self._cell is None or (cell and cell == self._cell and run != self._run):
            self._cell, self._run, self._view = cell, run, ref(view)
        return self._view is not None and self._view() is view


_carriers: dict[str, _Carrier] = {}  # by the language of the texts in the code


def html_of(view: View, scene: str, png: bytes, alt: str, width: int) -> str:
    """The HTML of a view for the cell that runs now."""
    cell, run = _running()
    carrier = _carriers.setdefault(language(), _Carrier())
    carries = "COLAB_RELEASE_TAG" in os.environ or carrier.is_carried_by(view, cell, run)
    return output(scene, base64.b64encode(png).decode("ascii"), alt, width, carries)


def _running() -> tuple[str, str]:
    """The id of the cell that runs, if the front end names it, and that of this run; "" where unknown."""
    from IPython.core.getipython import get_ipython

    asked: Any = getattr(get_ipython(), "get_parent", dict)()
    try:
        return str(asked["metadata"].get("cellId") or ""), str(asked["header"]["msg_id"])
    except (KeyError, TypeError, AttributeError):
        return "", ""
