"""Reads MLIR's location lines as `Location`."""

from __future__ import annotations

import re
from dataclasses import replace

from triton_lab.ir.plan import Location
from triton_lab.ir.text_cursor import unescape

_ALIAS = re.compile(r"^(#loc\d*) = loc\((.*)\)$", re.MULTILINE)
# Only the start of a range (`"f":1:2 to 3:4`, `to :7`) is read.
_FILE = re.compile(r'^"((?:[^"\\]|\\.)*)":(\d+):(\d+)(?: to [\d:]+)?$')
_NAMED = re.compile(r'^"((?:[^"\\]|\\.)*)"(?:\((.*)\))?$')
_CALL = re.compile(r"^callsite\((.*)\)$")
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|.', re.DOTALL)  # a string, or a character
_FUSED = re.compile(r"^fused(?:<.*?>)?\[(.*)\]$")


class Locations:
    """The location aliases of one module's text."""

    def __init__(self, text: str) -> None:
        self.aliases = {found.group(1): found.group(2) for found in _ALIAS.finditer(text)}
        self.known: dict[str, Location | None] = {}

    def read(self, text: str) -> Location | None:
        """The location that ``text`` (an alias or a location written out) stands for."""
        text = text.strip()
        if text not in self.known:
            self.known[text] = self._read(self.aliases.get(text, text))
        return self.known[text]

    def _read(self, text: str) -> Location | None:
        if text.startswith("#loc"):
            return self.read(text) if text in self.aliases else None
        if (place := _FILE.match(text)) is not None:
            return Location(unescape(place.group(1)), int(place.group(2)), int(place.group(3)))
        if (named := _NAMED.match(text)) is not None:
            inner = self.read(named.group(2)) if named.group(2) else None
            return None if inner is None else replace(inner, name=unescape(named.group(1)))
        if (call := _CALL.match(text)) is not None:
            callee, caller = _split(call.group(1), " at ")
            inside = self.read(callee)
            outside = self.read(caller)
            return outside if inside is None else _append(inside, outside)
        if (fused := _FUSED.match(text)) is not None:
            first, _ = _split(fused.group(1), ",")
            return self.read(first)
        return None


def _append(inside: Location, outside: Location | None) -> Location:
    """``inside``, with ``outside`` as its outermost caller."""
    if inside.caller is None:
        return replace(inside, caller=outside)
    return replace(inside, caller=_append(inside.caller, outside))


def _split(text: str, separator: str) -> tuple[str, str]:
    """Divide at the first ``separator`` outside brackets and strings."""
    depth = 0
    for token in _TOKEN.finditer(text):
        depth += (token.group() in ("(", "[")) - (token.group() in (")", "]"))
        if depth == 0 and text.startswith(separator, token.start()):
            return text[: token.start()], text[token.start() + len(separator) :]
    return text, ""
