"""The text of a kernel as it grows: its lines, its variables, and the dimensions over which each value varies.

Every iterator of a lane is a block in its own dimension (``i[:, None]``, ``j[None, :]``), so that expressions
broadcast; the ``axes`` of a text are the dimensions over which it varies.
"""

from __future__ import annotations

from dataclasses import dataclass

from triton_lab.polyhedral.blocks.fresh_names import FreshNames
from triton_lab.polyhedral.blocks.lane_blocks import LaneBlock
from triton_lab.polyhedral.blocks.lane_values import IndexPrinter, names_in
from triton_lab.polyhedral.core.loop_nest import Expr


@dataclass(frozen=True)
class Text:
    """A piece of the kernel's text; ``axes`` are the block's dimensions over which its value varies."""

    text: str
    axes: frozenset[int] = frozenset()


class LaneText:
    """The text of a kernel whose lanes are ``blocks``, in the ``language`` of the source's expressions."""

    def __init__(self, blocks: tuple[LaneBlock, ...], names: FreshNames, language: str) -> None:
        self.rank = sum(bool(block.constant) for block in blocks)
        self.shape = [block.constant for block in blocks if block.constant]
        self.names = names
        self.axes: dict[str, frozenset[int]] = {}
        self.index = IndexPrinter(language)
        self.lines: list[str] = []
        self.depth = 0

    def _line(self, text: str) -> None:
        self.lines.append(f"{'    ' * self.depth}{text}")

    def _text(self, expression: Expr) -> Text:
        return Text(self.index.text(expression, 0), self._axes(expression))

    def _axes(self, expression: Expr) -> frozenset[int]:
        return frozenset(axis for name in names_in(expression) for axis in self.axes.get(name, ()))

    def _set(self, wanted: str, value: Text) -> Text:
        """A variable that holds ``value``."""
        name = self.names(wanted)
        self._line(f"{name} = {value.text}")
        return Text(name, value.axes)

    def _mask(self, outer: Text | None, conditions: list[Text]) -> Text | None:
        """The conjunction of ``outer`` and ``conditions``, as a variable."""
        parts = [outer.text] if outer else []
        parts += [f"({c.text})" if outer or len(conditions) > 1 else c.text for c in conditions]
        if not conditions:
            return outer
        axes = frozenset().union(*(c.axes for c in conditions), outer.axes if outer else ())
        return self._set("mask", Text(" & ".join(parts), axes))

    def _broadcast(self, value: Text, axes: frozenset[int]) -> Text:
        """``value`` broadcast to the dimensions ``axes`` and its own."""
        whole = value.axes | axes
        if whole == value.axes:
            return value
        sizes = [size if k in whole else "1" for k, size in enumerate(self.shape)]
        return Text(f"tl.broadcast_to({value.text}, ({', '.join(sizes)}{',' if len(sizes) == 1 else ''}))", whole)

    def _extreme(self, which: str, value: Expr, mask: Text | None) -> str:
        """The least or greatest ``value`` over the active lanes."""
        text = self._text(value)
        if not text.axes:
            return text.text
        shown = text.text
        if mask:
            shown = f"tl.where({mask.text}, {shown}, {'2147483647' if which == 'min' else '-2147483648'})"
        return f"tl.{which}({shown})"
