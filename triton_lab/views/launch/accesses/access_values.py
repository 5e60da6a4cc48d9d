"""Touched values: the values that were loaded from or stored to an argument, and their distribution."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from triton_lab import messages
from triton_lab.launch.maps.accessed_values import ElementValues, element_values
from triton_lab.launch.maps.value_histogram import histogram
from triton_lab.localization import N_, _, translated
from triton_lab.views.drawing.heatmap import buffer
from triton_lab.views.drawing.value_picture import block_heatmap, block_scene, ends, painting, summary
from triton_lab.views.launch.accesses.accesses_view import Accesses
from triton_lab.views.launch.values.variable_view import VariableScene
from triton_lab.views.view import View

if TYPE_CHECKING:
    from triton_lab.launch.access import Access
    from triton_lab.launch.launch import Launch
    from triton_lab.views.drawing.drawing import Drawing


# By the kind of the accesses, "" for several kinds. An atomic returns what an element held before.
TITLES = {
    "load": N_("{subject}: the values loaded"),
    "store": N_("{subject}: the values stored"),
    "atomic": N_("{subject}: the values before each update"),
    "": N_("{subject}: the values at its last access"),
}


class TouchedValues(View):
    """The values of one access, or of all accesses to an argument (given by name)."""

    tight = True

    def __init__(self, launch: Launch, what: Access | str) -> None:
        self.accesses = Accesses(launch, what)
        self.argument = self.accesses.argument

    @cached_property
    def found(self) -> ElementValues:
        """The touched elements with their values."""
        return element_values(self.argument, [one.completed for one in self.accesses.accesses])

    def title(self) -> str:
        kinds = {access.kind for access in self.accesses.accesses}
        title = TITLES[kinds.pop() if len(kinds) == 1 else ""]
        return translated(title).format(subject=self.accesses.subject())

    def text(self) -> str:
        found = self.found
        if not found.everything.size:
            return _("{title}\nno lane touches {name}").format(title=self.title(), name=self.argument.name)
        lines = [
            self.title(),
            _("{sum} of {elements} touched").format(
                sum=messages.number(int(found.touched.sum())), elements=messages.count(len(found.touched), "element")
            ),
        ]
        return "\n".join([*lines, _("all lanes: {values}").format(values=summary(found.everything))])

    def pieces(self) -> list[Drawing]:
        """The touched elements with the histogram of all lanes."""
        from triton_lab.views.drawing.drawing_pieces import beside, title
        from triton_lab.views.drawing.heatmap_drawing import heatmap_drawing
        from triton_lab.views.drawing.histogram_figure import histogram_drawing

        found = self.found
        last = found.last.reshape(self.argument.shape)
        touched = found.touched.reshape(self.argument.shape)
        heatmap = block_heatmap(last, *ends(found.last[found.touched]), mask=touched)
        bars = histogram_drawing(histogram(found.everything))
        return [title(self.title()), beside([heatmap_drawing(heatmap), bars], 40)]

    def scene(self) -> VariableScene:
        from triton_lab.views.drawing.histogram_figure import histogram_scene

        found, shape = self.found, self.argument.shape
        low, high = ends(found.last[found.touched])
        return {
            "kind": "variable",
            "title": self.title(),
            "name": self.argument.name,
            "fixed": None,
            "empty": "" if found.last.size else self.text(),
            "dtype": str(found.everything.dtype),
            "block": list(shape),
            "picture": block_scene(shape),
            "painting": painting(),
            "ends": (low, high),
            "programs": buffer(np.zeros(1, dtype=np.uint32)),
            "dropped": 0,
            "reached": [buffer(np.ones(1, dtype=np.uint8))],
            "grid": list(self.accesses.launch.grid),
            "values": [buffer(found.last.astype(np.float32))],
            "mask": buffer(found.touched.astype(np.uint8)),
            "bars": histogram_scene(histogram(found.everything)),
            "program": 0,
            "iteration": 0,
        }
