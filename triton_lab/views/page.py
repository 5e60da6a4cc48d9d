"""A view as one HTML page that needs nothing else: script, style and data inside."""

from __future__ import annotations

import base64
import gzip
import html
import json
import zlib
from collections.abc import Mapping
from typing import Any

from triton_lab.views.drawing import style
from triton_lab.views.view import View
from triton_lab.views.widget import FRONT, script

_START = """
const decode = (value) => {
  if (Array.isArray(value)) return value.map(decode);
  if (value === null || typeof value !== "object") return value;
  if (typeof value.base64 === "string") return Uint8Array.from(atob(value.base64), (letter) => letter.charCodeAt(0));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, decode(item)]));
};
{
  const data = document.querySelector("main script");
  const bytes = new Blob([Uint8Array.from(atob(data.textContent), (letter) => letter.charCodeAt(0))]);
  const text = await new Response(bytes.stream().pipeThrough(new DecompressionStream("gzip"))).text();
  show(decode(JSON.parse(text)), data.parentElement, createSelection({}));
}
"""


def page(view: View, theme: style.Theme = style.LIGHT) -> str:
    """The whole page as text."""
    module = script(view.front).replace("export default { render };", "")
    css = (FRONT / "view.css").read_text(encoding="utf-8")
    scene = base64.b64encode(gzip.compress(_json(view.standalone()), mtime=0)).decode("ascii")
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{html.escape(view.title())}</title>'
        f"<style>body{{background:{theme.ground};color:{theme.ink};margin:16px;font-family:{style.WEB_FONT}}}{css}</style>"
        f'</head><body><main><script type="application/gzip">{scene}</script></main>'
        f'<script type="module">{module}{_START}</script></body></html>'
    )


def size(scene: Mapping[str, Any]) -> int:
    """About how many characters a scene takes in a page; at least a quarter of what it is unpacked."""
    text = _json(scene)
    return max(len(text) // 4, len(zlib.compress(text, 1)) * 4 // 3)


def _json(scene: Mapping[str, Any]) -> bytes:
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
