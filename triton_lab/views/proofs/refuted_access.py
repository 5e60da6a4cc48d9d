"""A refuted access at the smallest wrong sizes: the tensor in its storage, and the lanes of the program that leaves it.

Elements stand in a row, in the order of storage. Long runs are left out between the first elements, those around the
lanes, and the last ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from triton_lab import messages
from triton_lab.localization import _
from triton_lab.views.drawing import style
from triton_lab.views.drawing.drawing import Drawing, DrawnText, Line, Rectangle
from triton_lab.views.drawing.drawing_pieces import paragraphs, title
from triton_lab.views.drawing.drawing_text import shape_text

if TYPE_CHECKING:
    from triton_lab.launch.access import Access
    from triton_lab.polyhedral.proofs.proof import AccessProof

_CELL = 36.0  # CSS pixels
_GAP = 22.0  # what is left out
_ENDS = 2  # elements that are shown at the start, and before the end
_MOST = 16  # lanes that are drawn


def refuted_pieces(found: AccessProof) -> list[Drawing]:
    """The drawings of a refuted access, below a heading; empty if the record does not have the access that stopped."""
    assert found.launch is not None
    # Other sizes may make another plan: its operations have other numbers.
    stopped = next((one for one in found.launch.accesses if one.stopped is not None), None)
    if stopped is None or found.argument is None:
        return []
    tensor = found.launch.argument(found.argument)
    size = tensor.storage_bytes // tensor.itemsize if tensor.itemsize else 0
    heading = _("line {line}, {sizes}: {name} ({shape}) in storage").format(
        line=found.line, sizes=_sizes(found), name=tensor.name, shape=shape_text(tensor.shape)
    )
    lanes = _lanes(stopped, tensor.storage_address, found)
    outside = [k for k in lanes if not 0 <= k < size]
    told = _("{program}: {lanes} of this {kind} {verb} the tensor, which has {elements}").format(
        program=messages.program(_number(found), found.launch.grid),
        lanes=_named(lanes, outside),
        kind=messages.access_noun(found.kind),
        verb=messages.noun(len(outside), "leaves", "leave"),
        elements=messages.count(size, "element"),
    )
    return [title(heading), *paragraphs([told], "error"), _row(lanes, size)]


def _sizes(found: AccessProof) -> str:
    return ", ".join(f"{name} = {value}" for name, value in found.sizes.items()) or _("these sizes")


def _number(found: AccessProof) -> int:
    assert found.launch is not None and found.program is not None
    x, y, z = found.program
    return x + found.launch.grid[0] * (y + found.launch.grid[1] * z)


def _lanes(access: Access, start: int, found: AccessProof) -> Mapping[int, str]:
    """By element of the storage, the lane that touches it: those that leave the tensor, and some that do not."""
    event = access.stopped
    assert event is not None
    row = int(np.flatnonzero(event.programs == _number(found))[0])
    active = np.flatnonzero(event.active()[row].reshape(-1))
    elements = (event.addresses()[row].reshape(-1)[active] - start) // access.itemsize
    stray = event.astray()[row].reshape(-1)[active]
    order = np.lexsort((active, ~stray))[:_MOST]
    named = {}
    for position in order[::-1].tolist():
        place = np.unravel_index(int(active[position]), event.shape) if event.shape else ()
        named[int(elements[position])] = ", ".join(str(int(k)) for k in place)
    return dict(sorted(named.items()))


def _named(lanes: Mapping[int, str], outside: list[int]) -> str:
    """The lanes outside in words; a scalar access has none."""
    names = [lanes[k] for k in outside]
    if names == [""]:
        return _("the only lane")
    shown = [f"({name})" if "," in name else name for name in names[:4]]
    more = len(names) - len(shown)
    listed = [*shown, messages.count(more, "more", "more")] if more else shown
    return f"{messages.noun(len(names), 'lane')} {', '.join(listed)}"


def _row(lanes: Mapping[int, str], size: int) -> Drawing:
    """The elements that are shown, in order, with their lanes below them."""
    made, x, above = Drawing(), 12.0, 28.0
    bottom = above + _CELL
    before: int | None = None
    for k in sorted(_shown(lanes, size)):
        if before is not None and k != before + 1:
            made.add(DrawnText(x + _GAP / 2, above + _CELL / 2, "…", colour="faint", align="center"))
            x += _GAP
        if k >= size and (before is None or before < size):  # the end of the tensor
            x += _edge(made, x, above, _("end"))
        inside, touched = 0 <= k < size, k in lanes
        edge = "line" if not touched else "accent" if inside else "error"
        made.add(
            Rectangle(
                x + 1,
                above,
                _CELL - 2,
                _CELL,
                "panel" if inside else "none",
                edge,
                line=2.0 if touched else 1.0,
                dashed=not inside,
            )
        )
        made.add(DrawnText(x + _CELL / 2, above - 9, str(k), style.SMALL, "faint" if inside else "error", "center"))
        if not inside and touched:
            made.add(*_cross(x + _CELL / 2, above + _CELL / 2, 8.0))
        if touched:
            colour = "ink" if inside else "error"
            made.add(Line(((x + _CELL / 2, bottom + 18), (x + _CELL / 2, bottom + 3)), colour, 1.4))
            name = lanes[k]
            made.add(DrawnText(x + _CELL / 2, bottom + 27, name, style.SMALL, colour, "center", bold=not inside))
        x, before = x + _CELL, k
        if k < 0 and not any(k < other < 0 for other in lanes):  # the start of the tensor
            x += _edge(made, x, above, _("start"))
    named = any(lanes.values())
    if named:
        made.add(DrawnText(x + 8, bottom + 27, _("lanes"), style.SMALL, "faint"))
    made.add(DrawnText(x + 8, above - 9, _("elements"), style.SMALL, "faint"))
    made.width, made.height = x + 80, bottom + 48
    return made.fitted()


def _edge(made: Drawing, x: float, y: float, word: str) -> float:
    """A strong line where the tensor starts or ends; the width that it takes."""
    middle = x + 7
    made.add(Line(((middle, y - 5), (middle, y + _CELL + 5)), "ink", 2.5, arrow=False))
    made.add(DrawnText(middle, y - 19, word, style.SMALL, "ink", "center", bold=True))
    return 14.0


def _cross(x: float, y: float, half: float) -> Iterator[Line]:
    for sign in (-1, 1):
        yield Line(((x - half, y - sign * half), (x + half, y + sign * half)), "error", 2.6, arrow=False)


def _shown(lanes: Mapping[int, str], size: int) -> set[int]:
    ends = {*range(min(_ENDS, size)), *range(max(0, size - _ENDS), size)}
    return ends | set(lanes)
