"""The head of a launch's card: what ran, on which target, and with which arguments."""

from __future__ import annotations

import math
from typing import Any

from triton_lab.launch.checks.analysis.source_nodes import undeclared
from triton_lab.launch.maps.tensor_storage import memories
from triton_lab.localization import N_, _, translated
from triton_lab.messages import count, launched
from triton_lab.views.drawing.drawing_text import number_text, time_text
from triton_lab.views.launch.card.launch_panels import Panels

UNCHECKED = N_(
    "The CPU runs kernels of any size. To see whether a GPU has enough registers, shared memory and threads for this "
    "one, look at kernel.n_regs, kernel.n_spills and kernel.metadata.shared."
)


class CardHead(Panels):
    """The head of a card, in words, above the panels of its tabs."""

    def title(self) -> str:
        launch = self.launch
        return launched(launch.kernel, launch.grid)

    def facts(self) -> list[str]:
        """The facts of the launch: target, programs, time."""
        launch = self.launch
        where = launch.target.upper() + (f", {device}" if (device := self.device()) else "")
        facts = [where, count(math.prod(launch.grid), "program")]
        return [*facts, _("failed")] if launch.error else [*facts, *time_text(launch)]

    def device(self) -> str:
        """The name of the GPU that ran the launch, "" if it is not known."""
        time = getattr(self.launch, "time", None)
        return "" if time is None else str(time.device)

    HEADINGS = ("", N_("Shape"), N_("Stride"), N_("dtype"), N_("Offset"), N_("Storage"))

    def table(self) -> list[tuple[str, ...]]:
        """One row for each tensor argument, below `HEADINGS`; equal letters mean shared storage."""
        letters: dict[str, str] = {}
        for memory in memories(self.tensors):
            several = len(memory.tensors) > 1
            for number in memory.tensors:
                letters[self.tensors[number].name] = memory.letter + (" (shared)" if several else "")
        rows: list[tuple[str, ...]] = []
        for argument in self.tensors:
            shape, strides = str(tuple(argument.shape)), str(tuple(argument.strides))
            rows.append((argument.name, shape, strides, argument.dtype, str(argument.offset), letters[argument.name]))
        return rows

    def scalars(self) -> list[str]:
        """The other arguments: a line of scalars, of constexprs, and of those that Triton made constants itself."""
        own = _("constant, since Triton specializes on 1 and None")
        named: dict[str, list[str]] = {_("scalar"): [], "constexpr": [], own: []}
        plain = undeclared(self.launch)
        for one in self.launch.arguments:
            if one.kind in ("scalar", "constexpr"):
                kind = own if one.name.split("[")[0] in plain else "constexpr"
                named[_("scalar") if one.kind == "scalar" else kind].append(f"{one.name} = {_value(one.value)}")
        return [f"{name}: {', '.join(told)}" for name, told in named.items() if told]

    def unchecked(self) -> str:
        """What a GPU might still refuse, "" if the launch ran on one; shown while the pointer is on the facts."""
        return translated(UNCHECKED) if self.launch.target == "cpu" else ""


def _value(value: Any) -> str:
    """A scalar argument as text, short."""
    text = number_text(value) if isinstance(value, float) else str(value)
    return text if len(text) <= 40 else text[:39] + "…"
