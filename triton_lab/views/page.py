"""A view as one HTML page that needs nothing else: script, style and data inside."""

from __future__ import annotations

import base64
import gzip
import html
import json
import zlib
from collections.abc import Mapping
from typing import Any

from triton_lab.views.assembly import PAGE, script, stylesheet
from triton_lab.views.drawing import style
from triton_lab.views.scenes import Scene
from triton_lab.views.view import View


def page(view: View, theme: style.Theme = style.LIGHT) -> str:
    """The whole page as text."""
    css = stylesheet()
    scene = base64.b64encode(gzip.compress(_json(view.standalone()), mtime=0)).decode("ascii")
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{html.escape(view.title())}</title>'
        f"<style>body{{background:{theme.ground};color:{theme.ink};margin:16px;font-family:{style.WEB_FONT}}}{css}</style>"
        f'</head><body><main><script type="application/gzip">{scene}</script></main>'
        f'<script type="module">{script(PAGE)}</script></body></html>'
    )


def size(scene: Scene) -> int:
    """About how many characters a scene takes in a page; at least a quarter of what it is unpacked."""
    text = _json(scene)
    return max(len(text) // 4, len(zlib.compress(text, 1)) * 4 // 3)


def _json(scene: Scene) -> bytes:
    """Bytes as base64."""
    return json.dumps(_plain(scene), separators=(",", ":")).encode()


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return {"base64": base64.b64encode(value).decode("ascii")}
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value
