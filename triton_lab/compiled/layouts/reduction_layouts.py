"""The layouts of a kernel's reductions and scans: which thread holds their operands, read from a module's text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from triton_lab.compiled.layouts.layout import Layout
from triton_lab.compiled.layouts.layout_error import LayoutError
from triton_lab.compiled.layouts.linear_layout import Basis, Linear
from triton_lab.compiled.layouts.module_layouts import layouts

_REDUCE = re.compile(r'"tt\.reduce"\((%[\w.#]+)')
_SCAN = re.compile(r'"tt\.scan"\((%[\w.#]+)')
_TYPES = re.compile(r"^\s*\}\) : \(", re.MULTILINE)  # after the function that combines two elements
_TENSOR = re.compile(r"tensor<")


def reductions(ttgir: str) -> list[Linear | None]:
    """For each reduction, in the order of the text, the layout of its first operand; None where unknown.

    A reshape just before a sum of everything leaves each number in its register, whatever the new layout says. So the
    layout before the reshape counts, expressed in the shape after it.
    """
    known = layouts(ttgir)
    return [_taken(ttgir, found, known) for found in _REDUCE.finditer(ttgir)]


def scans(ttgir: str) -> list[Linear | None]:
    """For each scan, in the order of the text, the layout of its first operand; None where unknown."""
    known = layouts(ttgir)
    return [_alone(known.get(_type(ttgir, found))) for found in _SCAN.finditer(ttgir)]


def _type(ttgir: str, op: re.Match[str]) -> str:
    """The type of the first operand, which follows the operation's function."""
    types = _TYPES.search(ttgir, op.end())
    return next(_tensors(ttgir[types.end() :]), "") if types else ""


def _taken(ttgir: str, reduce: re.Match[str], known: Mapping[str, Layout]) -> Linear | None:
    taken = _type(ttgir, reduce)
    found = _alone(known.get(taken))
    made = re.findall(rf"^\s*{re.escape(reduce[1])} = (.*)$", ttgir[: reduce.start()], re.MULTILINE)
    if found is None or not made or not made[-1].startswith("tt.reshape "):
        return found
    before, after = _tensors(made[-1])
    source = _alone(known.get(before))
    if source is None or after != taken:
        return None
    moved = {name: [_reshaped(basis, source, found) for basis in source.bases(name)] for name in source.names}
    if any([any(one) for one in moved[name]] != [any(one) for one in found.bases(name)] for name in source.names):
        return None
    return Linear.of(moved, found.shape)


def _alone(layout: Layout | None) -> Linear | None:
    """The map of a layout; None for an unknown one, and for a tensor that a cluster's blocks share."""
    try:
        linear = None if layout is None else layout.linear
    except LayoutError:
        return None
    return None if linear is None or any(any(basis) for basis in linear.bases("block")) else linear


def _tensors(text: str) -> Iterator[str]:
    """The types of tensors in a text, as they are spelled."""
    for found in _TENSOR.finditer(text):
        depth, at = 1, found.end()
        while depth and at < len(text):
            depth += {"<": 1, ">": -1}.get(text[at], 0)
            at += 1
        yield text[found.start() : at]


def _reshaped(place: Sequence[int], source: Linear, into: Linear) -> Basis:
    return into.unpack(source.pack(place))
