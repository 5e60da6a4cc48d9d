"""A layout: the tensor with each element's holder, the hardware with the elements that it holds, and the bit matrix."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from triton_lab.compiled.layouts import HardwarePlace, LayoutError
from triton_lab.compiled.layouts import Layout as Asked
from triton_lab.compiled.layouts.linear_layout import counted_part, part_name
from triton_lab.localization import N_, _, translated
from triton_lab.messages import count, number
from triton_lab.views.drawing.cell_layout import layout
from triton_lab.views.drawing.drawing_text import shape_text
from triton_lab.views.drawing.heatmap import Heatmap
from triton_lab.views.layouts import layout_colors
from triton_lab.views.layouts.bit_matrix import HEADING, matrix_drawing, matrix_scene
from triton_lab.views.layouts.element_heatmaps import ROOM, emphasis_on, held_scene, positions_picture, tensor_picture
from triton_lab.views.layouts.layout_positions import LayoutPositions, in_a_line, places_of
from triton_lab.views.layouts.layout_scenes import LayoutScene
from triton_lab.views.view import View

if TYPE_CHECKING:
    from triton_lab.views.drawing.drawing import Drawing

_WHERE = {
    "registers": N_("registers"),
    "shared memory": N_("shared memory"),
    "tensor memory": N_("tensor memory"),
}
TOLD = 4  # elements, or places, that are listed in words


class LayoutView(View):
    """Two linked pictures of one layout, and its bit matrix.

    ``element`` picks an element, whose places stand out. Numbers of ``parts`` (``warp=0, lane=3``) pick places, whose
    elements stand out. Raises LayoutError for what does not exist.
    """

    tight = True

    def __init__(self, asked: Asked, element: Sequence[int] | None = None, **parts: int) -> None:
        if element is not None and parts:
            raise LayoutError(_("pick an element or a part of the hardware, not both"))
        self.asked, self.element, self.parts = asked, element, parts
        if element is not None:
            self.owners = asked.owner(*element)
        elif parts:
            asked.elements(**parts)  # raises for parts that do not exist

    # --- The model ---------------------------------------------------------------------------------

    @cached_property
    def places(self) -> LayoutPositions:
        return places_of(self.asked)

    @cached_property
    def tensor(self) -> Heatmap:
        """The tensor; each element has the colour of the warp and lane that hold it."""
        return tensor_picture(self.places)

    @cached_property
    def hardware(self) -> Heatmap:
        """The places, each with the element that it holds."""
        places = self.places
        shown = layout(places.shape, room=ROOM)
        title, counted = _("registers: a row for each thread, a column for each register"), (1, 1)
        if self.asked.where == "shared memory":
            wide, each = in_a_line(self.asked), max(8, self.asked.bits) // 8
            title = _("shared memory: banks across, lines of 128 bytes down")
            counted = (each, 4) if places.shape[-1] == wide else (1, 1)
        elif self.asked.where == "tensor memory":
            title = _("tensor memory: 128 rows, columns of 32 bits across")
        names = [self._panel_name(number) for number in range(shown.panels)] if shown.panels > 1 else []
        return positions_picture(title, shown, layout_colors.of_places(places), names, (), counted)

    def _panel_name(self, number: int) -> str:
        if self.asked.where == "registers":
            return layout_colors.warp_name(self.places, number)
        return f"CTA {number}"

    # --- Pictures -----------------------------------------------------------------------------------

    def title(self) -> str:
        """The kind of layout, and how much of the hardware it takes."""
        asked = self.asked
        name = asked.kind.name
        copies = (
            _("; each element is held {times}").format(times=count(asked.copies, "time")) if asked.copies > 1 else ""
        )
        return _("{name} layout of a {shape} tensor in {where}: {sizes}{copies}").format(
            name=name,
            shape=shape_text(asked.shape),
            where=translated(_WHERE[asked.where]),
            sizes=self._sizes(),
            copies=copies,
        )

    def _sizes(self) -> str:
        parts = [(name, size) for name, size in self.asked.linear.sizes.items() if name != "block" or size > 1]
        if self.asked.where == "shared memory":
            used = len(self.places.held) // self.places.size("block") * max(8, self.asked.bits) // 8
            return f"{count(used, 'byte')}" + (
                _(" in each of {parts} CTAs").format(parts=parts[-1][1]) if parts[-1][0] == "block" else ""
            )
        if self.asked.where == "registers":  # from the largest to the smallest
            parts.reverse()
        words = [counted_part(size, name) for name, size in parts]
        return " × ".join(words)

    def text(self) -> str:
        """The layout in words, with the elements of the first lanes, or of what is picked."""
        asked = self.asked
        lines = [self.title(), str(asked.kind), *str(asked.linear).splitlines()]
        if self.element is not None:
            held = "; ".join(map(str, self.owners[:TOLD])) + self._more(len(self.owners))
            held = _("element {index} is held by {threads}").format(index=list(self.element), threads=held)
            return "\n".join([*lines, held])
        if asked.where == "registers" and not self.parts:
            shown = [{"warp": 0, "lane": lane} for lane in range(min(2, asked.linear.size("lane")))]
        else:
            shown = [self.parts] if self.parts else []
        return "\n".join([*lines, *(self._holds(parts) for parts in shown)])

    def _holds(self, parts: dict[str, int]) -> str:
        found = self.asked.elements(**parts)
        where = ", ".join(f"{translated(part_name(name))} {value}" for name, value in parts.items())
        return f"{where}: " + " ".join(str(list(one)) for one in found[: 2 * TOLD]) + self._more(len(found), 2 * TOLD)

    @staticmethod
    def _more(found: int, told: int = TOLD) -> str:
        return _(" and {count} more").format(count=number(found - told)) if found > told else ""

    @property
    def says(self) -> list[str]:
        """The line under the title: the layout as it was written."""
        return [str(self.asked.kind)]

    def pieces(self) -> list[Drawing]:
        """Title, both pictures, and the bits."""
        from triton_lab.views.drawing import drawing_pieces as pieces

        emphasis = [emphasis_on(self.tensor, self._elements), emphasis_on(self.hardware, self._places)]
        row = pieces.one_row([self.tensor, self.hardware], 28, emphasis)
        return [
            pieces.title(self.title()),
            *pieces.paragraphs([*self.says, *self._picked_words()]),
            row,
            pieces.title(translated(HEADING)),
            pieces.spaced(matrix_drawing(self.asked.linear, self._lit)),
        ]

    def scene(self) -> LayoutScene:
        places = self.places
        element = None if self.element is None else self.asked.linear.pack(self.element)
        return {
            "kind": "layout",
            "title": self.title(),
            "says": self.says,
            "where": self.asked.where,
            "shape": list(self.asked.shape),
            "bits": self.asked.bits,
            "axes": [{"name": name, "size": size} for name, size in places.parts],
            "inputs": list(places.inputs),
            "padding": list(self.asked.kind.padding),
            "tensor": held_scene(self.tensor),
            "hardware": held_scene(self.hardware),
            "matrix": matrix_scene(self.asked),
            "columns": matrix_drawing(self.asked.linear).scene("", translated(HEADING)),
            "element": element,
            "picked": dict(self.parts),
        }

    # --- What is picked -----------------------------------------------------------------------------

    @cached_property
    def _places(self) -> npt.NDArray[np.bool_] | None:
        """Whether each position (positions,) stands out; None if nothing is picked."""
        if self.element is not None:
            return np.asarray(self.places.held == self.asked.linear.pack(self.element))
        return self.places.chosen(self._named()) if self.parts else None

    @cached_property
    def _elements(self) -> npt.NDArray[np.bool_] | None:
        """Whether each element (elements,) stands out; None if nothing is picked."""
        if self._places is None:
            return None
        found = np.zeros(self.places.elements, dtype=bool)
        held = self.places.held[self._places]
        found[held[held >= 0]] = True
        return found

    def _named(self) -> dict[str, int]:
        """The picked parts as they are drawn: an offset becomes a line and a column."""
        named = dict(self.parts)
        if "offset" in named:
            named["line"], named["column"] = divmod(
                int(self.asked.padded(np.array(named.pop("offset")))), self.places.size("column")
            )
        return named

    @property
    def _lit(self) -> int:
        """The bits of the picked places, packed."""
        if self.element is not None:
            return self.asked.linear.inputs(_inputs(self.owners[0], self.asked))
        return self.asked.linear.inputs(self.parts)

    def _picked_words(self) -> list[str]:
        return [self.text().splitlines()[-1]] if self.element is not None or self.parts else []


def _inputs(place: HardwarePlace, asked: Asked) -> dict[str, int]:
    return dict(place.parts) if not asked.kind.padding else {}
