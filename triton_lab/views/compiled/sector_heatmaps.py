"""Heatmaps of one access: the sectors that each warp requests, or the words of each bank of shared memory."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from triton_lab import messages
from triton_lab.compiled.transactions.sectors import SECTOR, Ints
from triton_lab.views.compiled.compiled_scenes import TrafficScene
from triton_lab.views.drawing.cell_layout import layout
from triton_lab.views.drawing.heatmap import Heatmap, buffer
from triton_lab.views.drawing.value_cells import value_heatmap

if TYPE_CHECKING:
    from triton_lab.compiled.transactions import SharedLine, Transfer
    from triton_lab.launch.recording.launch_record import Recorded

ROWS, COLUMNS = 48, 96  # the most warp instructions, and the most sectors
ROOM = (620.0, 330.0)
LANES = 32


@dataclass(frozen=True)
class Traffic:
    """The traffic of an access as a table of numbers.

    ``counts`` are of bytes or words by ``rows`` (warp instructions) and ``columns`` (sectors or banks); ``note`` says
    what is left out, or why there is nothing.
    """

    title: str
    counts: Ints
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    across: str
    unit: str
    most: int
    note: str = ""
    down: str = "warps"

    @cached_property
    def heatmap(self) -> Heatmap | None:
        """The counts on a ramp; None if there are no counts."""
        if not self.counts.size:
            return None
        values = self.counts.reshape(-1)
        place = layout(self.counts.shape, room=ROOM)
        made = value_heatmap(place, values, values > 0, "", 0.0, float(self.most), room=ROOM)
        return replace(made, ramp_name=f"{self.unit}s", steps=(f"→ {self.across}", f"↓ {self.down}"), noun=self.unit)

    def scene(self) -> TrafficScene:
        """The traffic as data for the browser."""
        return {
            "kind": "traffic",
            "title": self.title,
            "heatmap": None if self.heatmap is None else self.heatmap.as_scene(),
            "counts": buffer(self.counts.astype(np.uint32)),
            "rows": list(self.rows),
            "columns": list(self.columns),
            "unit": self.unit,
            "note": self.note,
        }


def of_transfer(one: Transfer, launch: Recorded, program: int) -> Traffic:
    """The sectors that each warp requests when ``program`` runs an access for the first time."""
    whose = messages.program(program, launch.grid)
    title = f"{one.access.kind} of {one.argument or 'memory'}, line {one.line}: bytes that {whose} wants of each sector"
    found = one.lanes(program)
    if found is None:
        why = (one.problem if one.dealt is None else "") or (
            "the box is moved by a unit of its own, not by warps"
            if one.way == "descriptor"
            else "it does not get there"
        )
        return _nothing(title, why)
    addresses, on = found
    names = [(warp, k) for warp in range(addresses.shape[0]) for k in range(addresses.shape[1])]
    asked = [addresses[warp, k][on[warp, k]] for warp, k in names]
    there = [row for row, lanes in enumerate(asked) if len(lanes)]
    if not there:
        return _nothing(title, "all its lanes are off")
    kept: list[int] = []
    sectors: set[int] = set()
    for row in there[:ROWS]:
        more = sectors | set(np.unique(asked[row] // SECTOR).tolist())
        if len(more) > COLUMNS and kept:
            break
        kept, sectors = [*kept, row], more
    columns = np.array(sorted(sectors), np.int64)
    counts = np.zeros((len(kept), len(columns)), np.int64)
    for place, row in enumerate(kept):
        each = np.unique(asked[row])
        np.add.at(counts[place], np.searchsorted(columns, each // SECTOR), one.width)
    argument = next((each for each in launch.arguments if each.name == one.argument), None)
    start = argument.address if argument is not None else int(columns[0]) * SECTOR
    several = addresses.shape[1] > 1
    left = f"; the first {len(kept)} of {len(there)} requests are shown" if len(kept) < len(there) else ""
    total = sum(len(np.unique(lanes // SECTOR)) for lanes in asked)
    return Traffic(
        title,
        np.minimum(counts, SECTOR),
        tuple(f"warp {names[row][0]}" + (f", instruction {names[row][1]}" if several else "") for row in kept),
        tuple(_bytes(int(sector) * SECTOR - start, one.argument) for sector in columns),
        "sectors of 32 bytes, gaps left out" if (np.diff(columns) > 1).any() else "sectors of 32 bytes",
        "byte",
        SECTOR,
        f"{messages.count(len(there), 'request')}, {messages.count(total, 'sector')} of {whose}{left}",
        "requests of warps" if several else "warps",
    )


def of_shared(line: SharedLine) -> Traffic:
    """The words that each warp requests of each bank in the worst instruction of a line."""
    use = line.worst
    title = f"{line.kind} of shared memory, line {line.line}: words that a warp wants of each bank at once"
    if use.addresses is None:
        return _nothing(title, "the kernel's data decide which banks are asked")
    parts = use.parts()
    counts = np.array([part for _, part in parts][:ROWS], np.int64).reshape(-1, LANES)
    if not counts.any():
        return _nothing(title, "no lane is on")
    several = len(line.uses) > 1
    told = f"the worst of {len(line.uses)} instructions: " if several else ""
    return Traffic(
        title,
        counts,
        tuple(name for name, _ in parts[:ROWS]),
        tuple(f"bank {bank}" for bank in range(LANES)),
        "banks",
        "word",
        max(2, int(counts.max())),
        f"{told}{use.instruction.opcode}, {messages.count(use.width, 'byte')} a lane; words of one bank take turns",
        "parts of warps that are served at once" if "," in parts[0][0] else "warps",
    )


def _nothing(title: str, why: str) -> Traffic:
    return Traffic(title, np.zeros((0, 0), np.int64), (), (), "", "byte", 1, why)


def _bytes(offset: int, argument: str | None) -> str:
    return f"bytes {offset:,} to {offset + SECTOR - 1:,}" + (f" of {argument}" if argument else "")
