"""All layouts of a compiled kernel: a list of its values, and the picture of the one that is picked."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from triton_lab.compiled.kernel_layouts import HEADINGS, KernelLayouts, LaidOut
from triton_lab.compiled.layouts import Conversion, LayoutError
from triton_lab.localization import _, all_translated
from triton_lab.messages import count
from triton_lab.views.layouts.conversion_view import ConversionView
from triton_lab.views.layouts.layout_scenes import LaidOutScene, LayoutsScene
from triton_lab.views.layouts.layout_view import LayoutView
from triton_lab.views.missing_picture import in_words
from triton_lab.views.scene_packing import fitting
from triton_lab.views.scenes import Scene
from triton_lab.views.view import View

if TYPE_CHECKING:
    from triton_lab.views.drawing.drawing import Drawing

SAVED_BYTES = 200_000  # all pictures in a notebook's output
PAGE_BYTES = 2_700_000
MOST_ROWS = 40  # of the list in a static picture


class KernelLayoutsView(View):
    """The values of ``layouts`` in a list; parts ``name/0``, ``name/1``, ... are the pictures of their layouts."""

    def __init__(self, layouts: KernelLayouts, name: str = "layouts") -> None:
        self.layouts, self.name = layouts, name

    @cached_property
    def pictures(self) -> dict[Any, int]:
        """The different pictures, by what they show, each with its number."""
        found: dict[Any, int] = {}
        for each in self.layouts:
            found.setdefault(_key(each), len(found))
        return found

    @cached_property
    def _shown(self) -> list[LaidOut]:
        """The first value of each picture."""
        found: dict[Any, LaidOut] = {}
        for each in self.layouts:
            found.setdefault(_key(each), each)
        return list(found.values())

    @property
    def rows(self) -> list[LaidOut]:
        """The values listed at first: data and conversions of layouts, or all values if there are none of those."""
        return [each for each in self.layouts if each.is_data or each.cost] or list(self.layouts)

    @property
    def first(self) -> int:
        """The picture shown at first: the most expensive conversion, or the first value."""
        rows = self.rows
        moved = [each for each in rows if isinstance(each.moves, Conversion) and each.moves.way != "nothing"]
        return self.pictures[_key((moved or rows)[-1 if moved else 0])] if rows else 0

    def title(self) -> str:
        kinds = {each.layout for each in self.layouts}
        changes = [each for each in self.layouts.conversions if each.cost != "nothing moves"]
        told = _(", {changes} of a layout").format(changes=count(len(changes), "change")) if changes else ""
        return f"{self.layouts.kernel}: {count(len(kinds), 'layout')}{told}"

    def view(self, number: int) -> View:
        """The picture of that number. Raises LookupError, and LayoutError for what cannot be drawn."""
        if not 0 <= number < len(self._shown):
            raise LookupError(_("{kernel} has no layout {number}").format(kernel=self.layouts.kernel, number=number))
        each = self._shown[number]
        return ConversionView(each.moves) if isinstance(each.moves, Conversion) else LayoutView(each.layout)

    def part(self, name: str) -> Scene:
        """The scene of one picture."""
        number = name.rpartition("/")[2]
        if not number.isdigit():
            return super().part(name)
        try:
            return self.view(int(number)).scene()
        except LayoutError as error:
            return in_words(str(error))

    def others(self) -> list[str]:
        """The names of the parts, that of the first picture first."""
        numbers = sorted(range(len(self.pictures)), key=lambda number: number != self.first)
        return [f"{self.name}/{number}" for number in numbers]

    def scene(self) -> LayoutsScene:
        return self._scene(0)

    def saved(self) -> LayoutsScene:
        """The scene with the pictures that fit into a notebook's output."""
        return self._scene(SAVED_BYTES)

    def standalone(self) -> LayoutsScene:
        """The scene with the pictures that fit into a page."""
        return self._scene(PAGE_BYTES)

    def _scene(self, room: int) -> LayoutsScene:
        listed = {id(each) for each in self.rows}
        rows: list[LaidOutScene] = [
            {
                "cells": list(each.row()),
                "line": each.line,
                "part": f"{self.name}/{self.pictures[_key(each)]}",
                "minor": id(each) not in listed,
            }
            for each in self.layouts
        ]
        return {
            "kind": "layouts",
            "title": self.title(),
            "headings": list(all_translated(HEADINGS)),
            "rows": rows,
            "first": f"{self.name}/{self.first}",
            "parts": fitting(self.others(), self.part, room) if room else {},
        }

    def text(self) -> str:
        return f"{self.title()}\n{self.layouts}"

    def pieces(self) -> list[Drawing]:
        """The list, and the first pictures."""
        from triton_lab.views.drawing import drawing_pieces as pieces

        if not len(self.layouts):
            return [pieces.title(self.title())]
        rows = [each.row() for each in self.rows[:MOST_ROWS]]
        left = len(self.layouts) - len(rows)
        more = pieces.paragraphs([_("and {count} more").format(count=left)] if left > 0 else [])
        listed = pieces.table([all_translated(HEADINGS), *rows])
        return [pieces.title(self.title()), listed, *more, *self.view(self.first).pieces()]


def _key(each: LaidOut) -> Any:
    """The key of a value's picture: values with equal keys share it."""
    before = each.before if isinstance(each.moves, Conversion) else None
    return (each.layout, each.layout.shape, each.layout.bits, before, before.kind if before else each.layout.kind)
