"""Views as one HTML page that needs nothing else: script, style and data inside."""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from triton_lab.views import style
from triton_lab.views.view import View
from triton_lab.views.widget import FRONT, script

_START = """
const decode = (value) => {
  if (Array.isArray(value)) return value.map(decode);
  if (value === null || typeof value !== "object") return value;
  if (typeof value.base64 === "string") return Uint8Array.from(atob(value.base64), (letter) => letter.charCodeAt(0));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, decode(item)]));
};
for (const section of document.querySelectorAll("section")) {
  const selection = createSelection({});
  for (const data of section.querySelectorAll("script")) {
    show(decode(JSON.parse(data.textContent)), data.parentElement, selection);
  }
}
"""


@dataclass(frozen=True)
class Section:
    """Scenes under a heading, which share what is picked; ``note`` is said below the heading."""

    heading: str
    scenes: Sequence[str]
    note: str = ""


def page(view: View, theme: style.Theme = style.LIGHT) -> str:
    """One view as a whole page."""
    return document(view.title(), [Section("", [encoded(view)])], theme, view.front)


def encoded(view: View) -> str:
    """A view's scene as JSON, its bytes as base64."""
    # "</" would end the script element early, whatever string it stands in.
    return json.dumps(_plain(view.standalone()), separators=(",", ":")).replace("</", "<\\/")


def document(title: str, sections: Sequence[Section], theme: style.Theme = style.LIGHT, front: str = View.front) -> str:
    """A page of several sections, as text."""
    module = script(front).replace("export default { render };", "")
    css = (FRONT / "view.css").read_text(encoding="utf-8")
    body = "".join(map(_section, sections))
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{html.escape(title)}</title>'
        f"<style>body{{background:{theme.ground};color:{theme.ink};margin:16px;font-family:{style.WEB_FONT}}}"
        f"h2{{font-size:17px;margin:28px 0 6px}}p{{font-size:13px}}{css}</style></head>"
        f'<body>{body}<script type="module">{module}{_START}</script></body></html>'
    )


def _section(section: Section) -> str:
    heading = f"<h2>{html.escape(section.heading)}</h2>" if section.heading else ""
    note = f"<p>{html.escape(section.note)}</p>" if section.note else ""
    scenes = "".join(f'<div><script type="application/json">{scene}</script></div>' for scene in section.scenes)
    return f"<section>{heading}{note}{scenes}</section>"


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return {"base64": base64.b64encode(value).decode("ascii")}
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value
