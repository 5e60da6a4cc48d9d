"""Places in LLVM's text: ``!dbg !7`` behind an instruction refers to a location at the end of the module.

A location reads ``!7 = !DILocation(line: 3, scope: !4, inlinedAt: !9)``.
"""

from __future__ import annotations

import posixpath
import re

from triton_lab.compiled.lines.source_trail import Trail, TrailPlace
from triton_lab.ir.text_cursor import unescape

_NODE = re.compile(r"^!(\d+) = (?:distinct )?!(DI\w+)\((.*)\)$")
_FIELD = re.compile(r'(\w+): (?:"((?:[^"\\]|\\.)*)"|!(\d+)|([\w| ]+))')
_USED = re.compile(r", !dbg !(\d+)(?:,|\s|$)|\) .*!dbg !(\d+) \{$")


def trails(text: str) -> list[Trail | None]:
    """A trail for each line of a module that is an instruction or begins a function; None for the others."""
    lines = text.split("\n")
    nodes: dict[str, tuple[str, dict[str, str]]] = {}
    for line in lines:
        if line.startswith("!") and (found := _NODE.match(line)):
            fields = {name: unescape(text) or node or plain for name, text, node, plain in _FIELD.findall(found[3])}
            nodes[found[1]] = found[2], fields
    reader = _Reader(nodes)
    result: list[Trail | None] = []
    for line in lines:
        used = None if line.startswith("!") else _USED.search(line)
        places = reader.places(used[1] or used[2]) if used else ()
        result.append(Trail(places) if places else None)
    return result


class _Reader:
    """Reads locations from a module's ``nodes``: the kind and fields of each, by number."""

    def __init__(self, nodes: dict[str, tuple[str, dict[str, str]]]) -> None:
        self._nodes = nodes
        self._known: dict[str, tuple[TrailPlace, ...]] = {}

    def places(self, number: str) -> tuple[TrailPlace, ...]:
        """The places that node ``number`` represents; none for an instruction that the compiler made up."""
        known = self._known.get(number)
        if known is None:
            self._known[number] = ()
            known = self._known[number] = self._read(number)
        return known

    def _read(self, number: str) -> tuple[TrailPlace, ...]:
        kind, fields = self._nodes.get(number, ("", {}))
        file, line = self._file(number), int(fields.get("line", 0) or 0)
        here = (TrailPlace(file, line, int(fields.get("column", 0) or 0)),) if file and line else ()
        if kind == "DILocation" and "inlinedAt" in fields:
            return here + self.places(fields["inlinedAt"])
        return here

    def _file(self, number: str) -> str:
        """The file of a location or scope."""
        for _ in range(64):  # scopes are nested
            kind, fields = self._nodes.get(number, ("", {}))
            if kind == "DIFile":
                return posixpath.join(fields.get("directory", ""), fields.get("filename", ""))
            number = fields.get("file") or fields.get("scope", "")
        return ""
