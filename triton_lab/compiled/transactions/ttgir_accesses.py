"""The accesses in TTGIR: the source place of each, the loops around it, and its block's layout."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from triton_lab.compiled.layouts import LayoutError, Linear
from triton_lab.compiled.layouts.layout_parser import types_of
from triton_lab.compiled.transactions.ptx_parser import Chain
from triton_lab.ir import traits
from triton_lab.ir.effects import ACCESSES
from triton_lab.ir.locations import Locations
from triton_lab.localization import _

_BY_TMA = "ttng.async_tma"
# How PTX moves each access, by its operation's name.
_COPIES = traits.names(lambda trait: trait.kind is traits.Kind.ACCESSES and trait.name.startswith(_BY_TMA))
WAYS = {
    **{name: "descriptor" if effect.described else effect.kind for name, effect in ACCESSES.items()},
    **dict.fromkeys(_COPIES, "descriptor"),
    "ttg.async_copy_global_to_local": "async copy",
}
_OP = re.compile(r"^\s*(?:%[\w#:, %]+ = )?\"?((?:tt|ttg|ttng)\.\w+)\"?\b")
_LOC = re.compile(r"\bloc\((#loc\d*|.*)\)\s*$")
_LOOP = re.compile(r"^\s*(?:%[\w#:, %]+ = )?scf\.(?:for|while)\b")
_ALIAS = re.compile(r"^#\w+ = #tt\w*\.", re.MULTILINE)


@dataclass(frozen=True)
class GpuAccess:
    """One operation that accesses global memory.

    ``linear`` is the layout of its pointers, None for a single element; ``refused`` says why it is unknown; ``depth``
    counts the loops around it; ``line`` is the line in TTGIR.
    """

    name: str
    chain: Chain
    depth: int
    linear: Linear | None
    shape: tuple[int, ...]
    line: int
    refused: str = ""

    @property
    def way(self) -> str:
        return WAYS[self.name]


def gpu_accesses(ttgir: str) -> list[GpuAccess]:
    """The global-memory operations of a module, in order."""
    places = Locations(ttgir)
    found = list(_lines(ttgir))
    # Types are read from these lines alone: a kernel has thousands.
    head = [line for line in ttgir.splitlines() if _ALIAS.match(line)]
    small = "\n".join([*head, *(each[2].rpartition(" loc(")[0] for each in found)])
    layouts = {each.line - len(head) - 1: each for each in types_of(small) if each.element.startswith("!tt.ptr")}
    accesses = []
    for row, (name, number, text, depth) in enumerate(found):
        loc = _LOC.search(text)
        place = places.read(loc[1]) if loc else None
        chain = tuple((one.line, one.column) for one in place.frames()) if place else ()
        typed, refused, linear = layouts.get(row), "", None
        if typed is not None:
            try:
                linear = typed.kind.linear(typed.shape)
            except LayoutError as error:
                refused = str(error)
        elif "tensor<" in text and WAYS[name] != "descriptor" and "x!tt.ptr<" in text:
            refused = _("its layout is not known here")
        shape = typed.shape if typed is not None else ()
        accesses.append(GpuAccess(name, chain, depth, linear, shape, number, refused))
    return accesses


def _lines(ttgir: str) -> Iterator[tuple[str, int, str, int]]:
    """Name, line, text and depth of each access."""
    loops: list[int] = []  # the indentation of each open loop
    for number, text in enumerate(ttgir.splitlines(), 1):
        inside = len(text) - len(text.lstrip())
        while loops and text.strip() and inside <= loops[-1] and not text.lstrip().startswith("} do"):
            loops.pop()
        if _LOOP.match(text):
            loops.append(inside)
        op = _OP.match(text)
        if op is not None and op[1] in WAYS:
            yield op[1], number, text, len(loops)
