"""Accesses through an argument that touch its storage outside of its elements.

A GPU allows this, and it is often harmless: the memory belongs to the tensor of which the argument is a view.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from triton_lab.launch.argument import Argument
from triton_lab.launch.checks.analysis.evidence import Evidence, SeenAccess
from triton_lab.launch.checks.analysis.finding_text import FoundLanes, element, finding, others, program
from triton_lab.launch.checks.rule import Concerned, Rule
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.launch.diagnosis.severity import NOTE
from triton_lab.launch.view_bytes import ViewBytes
from triton_lab.localization import N_, _, translated

_MEND = N_(
    "Check the offsets against the view's shape and strides (use .stride(0), not the "
    "width), and mask off what lies outside."
)


class OutsideViewRule(Rule):
    """A lane accesses the storage of its tensor outside of the view that was passed."""

    kind = "outside-view"
    severity = NOTE
    subject = N_("accesses outside a view")
    summary = N_("A lane accesses the storage of its tensor outside of the view that was passed.")
    why = N_(
        "The memory exists, so the kernel does not stop. But it holds other elements of the tensor behind the view: "
        "a load reads a neighbour, and a store changes it."
    )
    remedy = N_(
        "Check the offsets against the view's shape and strides: use `.stride(0)`, not the width. Mask off what lies "
        "outside."
    )
    intended = N_("If the kernel reads a margin on purpose, as a stencil does, and its mask or `tl.where` discards it.")
    blind = N_("An offset that stays in the view but touches the wrong element is not found.")
    concerned = Concerned.ONE
    by_luck = True
    superseded_by = ("assumed-contiguous",)
    mark = N_("outside the view")

    def check(self, evidence: Evidence, found: Sequence[Finding]) -> Iterator[Finding]:
        """One finding for each access that leaves its view."""
        views: dict[str, ViewBytes] = {}
        strays = FoundLanes()
        for sight in evidence.sights("load", "store", "atomic"):
            argument = evidence.owner(sight.op)
            if argument is None or argument.kind != "tensor" or not evidence.is_bound(sight.op) or _is_all(argument):
                continue
            if argument.name not in views:
                views[argument.name] = ViewBytes(argument.address, argument.shape, argument.strides, argument.itemsize)
            view = views[argument.name]
            if _leaves(evidence, sight, view):
                lanes = evidence.active_lanes(sight)
                outside = view.ahead(lanes.address) < sight.itemsize
                outside &= lanes.address < argument.storage_address + argument.storage_bytes
                outside &= lanes.address + sight.itemsize > argument.storage_address
                strays.add(sight, lanes.where(outside))
        launch = evidence.launch
        for op, lanes, count in strays:
            argument = evidence.owner(op)
            assert argument is not None
            yield finding(
                launch,
                self.kind,
                _(
                    "{program} touches {element}, which is outside the view (shape {shape}, stride {strides}){others}"
                ).format(
                    program=program(launch, int(lanes.program[0])),
                    element=element(argument, int(lanes.address[0])),
                    shape=argument.shape,
                    strides=argument.strides,
                    others=others(count),
                ),
                translated(_MEND),
                op=op,
                argument=argument,
                lanes=lanes,
                count=count,
            )


def _leaves(evidence: Evidence, sight: SeenAccess, view: ViewBytes) -> bool:
    """Whether an active lane touches bytes outside the view."""
    low, high = evidence.hull(sight)
    if int(view.ahead(np.array([low]))[0]) >= high - low:
        return False
    runs = evidence.runs(sight)
    return not bool((view.ahead(runs.start) >= runs.stop - runs.start).all())


def _is_all(argument: Argument) -> bool:
    """Whether every byte of the storage belongs to an element."""
    count = 1
    for extent in argument.shape:
        count *= extent
    return argument.is_contiguous and count * argument.itemsize == argument.storage_bytes
