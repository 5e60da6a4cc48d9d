"""A conversion of layouts: the tensor before and after, and how far each register's element has to come."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from triton_lab.compiled.layouts import BankUse, Conversion, Layout
from triton_lab.compiled.layouts.layout_conversion import NEAREST
from triton_lab.compiled.layouts.layout_tile import HARDWARE
from triton_lab.localization import N_, _, translated
from triton_lab.messages import count, number
from triton_lab.views.drawing import style
from triton_lab.views.drawing.cell_layout import layout
from triton_lab.views.drawing.drawing_text import shape_text
from triton_lab.views.drawing.heatmap import Heatmap, Key
from triton_lab.views.layouts import layout_colors
from triton_lab.views.layouts.bit_matrix import matrix_scene
from triton_lab.views.layouts.element_heatmaps import ROOM, emphasis_on, held_scene, positions_picture, tensor_picture
from triton_lab.views.layouts.layout_colors import Looks
from triton_lab.views.layouts.layout_positions import LayoutPositions, places_of
from triton_lab.views.layouts.layout_scenes import ConversionScene, SideScene
from triton_lab.views.view import View

if TYPE_CHECKING:
    from triton_lab.views.drawing.drawing import Drawing

# From near to far: from light to dark.
LOOKS = (style.UNTOUCHED, *(style.SEQUENTIAL + level for level in (60, 44, 26, 6)))
SAYS = (
    N_("already in this register"),
    N_("from another register of the thread"),
    N_("from another thread of the warp"),
    N_("from another warp"),
    N_("from another CTA"),
)
WAYS = (
    N_("where it is"),
    N_("in the same thread"),
    N_("from thread to thread"),
    N_("from warp to warp"),
    N_("from CTA to CTA"),
)
_TOLD = {
    "nothing": N_("nothing moves"),
    "registers": N_("registers are renamed"),
    "shuffles": N_("by shuffles in each warp"),
    "cluster": N_("through the shared memory of other CTAs"),
}


class ConversionView(View):
    """What moves between two layouts of one tensor; ``element`` picks one, and its way is described.

    Raises LayoutError if there is no such element.
    """

    tight = True

    def __init__(self, conversion: Conversion, element: Sequence[int] | None = None) -> None:
        self.conversion, self.element = conversion, element
        shape = conversion.source.shape
        self.layouts = tuple(Layout(kind, shape, conversion.bits) for kind in conversion.kinds)
        if element is not None:
            self.owners = [each.owner(*element) for each in self.layouts]

    # --- The model ---------------------------------------------------------------------------------

    @cached_property
    def places(self) -> tuple[LayoutPositions, LayoutPositions]:
        """The hardware before and after."""
        before, after = self.layouts
        return places_of(before), places_of(after)

    @cached_property
    def before(self) -> Heatmap:
        return tensor_picture(self.places[0], "before,")

    @cached_property
    def after(self) -> Heatmap:
        return tensor_picture(self.places[1], "after,")

    @cached_property
    def flow(self) -> Heatmap:
        """The registers of the target layout, coloured by how far their elements have to come."""
        places = self.places[1]
        levels = self.conversion.levels()
        styles = np.array([(0, 0, 0, 0), *((colour,) * 3 + (style.PLAIN,) for colour in LOOKS)], dtype=np.uint16)
        counts = self.conversion.counts()
        legend = [
            Key((colour,) * 3 + (style.PLAIN,), f"{says}: {number(counts[name])}")
            for colour, says, name in zip(LOOKS, map(translated, SAYS), NEAREST, strict=True)
            if counts[name]
        ]
        shown = layout(places.shape, room=ROOM)
        names = [layout_colors.warp_name(places, panel) for panel in range(shown.panels)] if shown.panels > 1 else []
        words = layout_colors.of_places(places).words
        found = Looks(levels + 1, styles, legend=legend, words=words)
        return positions_picture(_("registers after: the origin of each value"), shown, found, names)

    # --- Pictures -----------------------------------------------------------------------------------

    def title(self) -> str:
        """Both layouts, what is converted, and by which way."""
        before, after = self.conversion.kinds
        way = translated(_TOLD.get(self.conversion.way, "")) or _("through {way}").format(way=self.conversion.way)
        shape = shape_text(self.conversion.source.shape)
        same = before.name == after.name
        told = (
            _("{name} to another {name2}, {shape} of {bits}: {way}")
            if same
            else _("{name} to {name2}, {shape} of {bits}: {way}")
        )
        return told.format(
            name=before.name,
            name2=after.name,
            shape=shape,
            bits=count(self.conversion.bits, "bit"),
            way=way,
        )

    @property
    def says(self) -> list[str]:
        """The cost of the conversion, and both layouts as they were written."""
        found = [str(self.conversion)]
        plain = self.conversion.in_order()
        if plain is not None:
            stored, loaded = plain
            found.append(
                _(
                    "If the elements lay there in order, it would take {wavefronts} wavefronts to store "
                    "({conflicts}) and {wavefronts2} to load ({conflicts2}). Compilers swizzle or pad to "
                    "need fewer."
                ).format(
                    wavefronts=number(stored.wavefronts),
                    conflicts=_conflicts(stored),
                    wavefronts2=number(loaded.wavefronts),
                    conflicts2=_conflicts(loaded),
                )
            )
        return [
            *found,
            *(f"{when}: {kind}" for when, kind in zip((_("before"), _("after")), self.conversion.kinds, strict=True)),
        ]

    def text(self) -> str:
        counts = [f"{translated(name)} {number(many)}" for name, many in self.conversion.counts().items() if many]
        lines = [self.title(), *self.says, _("registers that come from the {counts}").format(counts=", ".join(counts))]
        return "\n".join([*lines, *self._way()])

    def _way(self) -> list[str]:
        """The way of the picked element to each place that needs it."""
        if self.element is None:
            return []
        found = []
        for place in self.owners[1]:
            wanted = dict(place.parts)
            source = self.conversion.source_of(**wanted)
            far = [name for name in wanted if wanted[name] != source[name]]
            way = translated(WAYS[max([HARDWARE.index(name) + 1 for name in far], default=0)])
            here = next(one for one in self.owners[0] if dict(one.parts) == source)
            told = (
                _("from {here} to {place}, {way}").format(here=here, place=place, way=way)
                if far
                else _("stays in {place}").format(place=place)
            )
            found.append(_("element {index}: {text}").format(index=list(self.element), text=told))
        return found

    def pieces(self) -> list[Drawing]:
        """Both tensors, and the registers after the conversion."""
        from triton_lab.views.drawing import drawing_pieces as pieces

        both = [self.before, self.after]
        return [
            pieces.title(self.title()),
            *pieces.paragraphs([*self.says, *self._way()[:4]]),
            pieces.one_row(both, 28, [emphasis_on(one, self._picked) for one in both]),
            pieces.one_row([self.flow], 28, [emphasis_on(self.flow, self._wanted)]),
        ]

    @cached_property
    def _picked(self) -> np.ndarray | None:
        if self.element is None:
            return None
        return np.asarray(np.arange(self.places[0].elements) == self._number)

    @cached_property
    def _wanted(self) -> np.ndarray | None:
        return None if self.element is None else np.asarray(self.places[1].held == self._number)

    @property
    def _number(self) -> int | None:
        return None if self.element is None else self.conversion.source.pack(self.element)

    def scene(self) -> ConversionScene:
        moves = self.conversion.moves
        return {
            "kind": "conversion",
            "title": self.title(),
            "says": self.says,
            "ways": [translated(way) for way in WAYS],
            "shape": list(self.conversion.source.shape),
            "before": self._side(0, self.before),
            "after": self._side(1, self.after),
            "flow": held_scene(self.flow),
            "moves": [sum(value << shift for value, shift in zip(basis, _shifts(moves.shape), strict=True))
                      for _, bases in moves.ins for basis in bases],
            "element": self._number,
        }  # fmt: skip

    def _side(self, which: int, heatmap: Heatmap) -> SideScene:
        places = self.places[which]
        return {
            "axes": [{"name": name, "size": size} for name, size in places.parts],
            "inputs": list(places.inputs),
            "padding": [],
            "matrix": matrix_scene(places.layout),
            "tensor": held_scene(heatmap),
        }


def _conflicts(use: BankUse) -> str:
    return count(use.conflicts, "bank conflict") if use.conflicts else "no bank conflicts"


def _shifts(sizes: Sequence[int]) -> list[int]:
    """The bit at which each part begins in a packed place; the first part is the lowest."""
    found, at = [], 0
    for size in sizes:
        found.append(at)
        at += size.bit_length() - 1
    return found
