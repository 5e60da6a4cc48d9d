"""Heatmaps of one access: the sectors that each warp requests, or the words of each bank of shared memory."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from triton_lab import messages
from triton_lab.compiled.transactions.sectors import SECTOR, Ints
from triton_lab.launch.access import elements_at
from triton_lab.localization import _
from triton_lab.views.compiled.compiled_scenes import TrafficScene
from triton_lab.views.drawing.cell_layout import layout
from triton_lab.views.drawing.heatmap import Heatmap, Noun, buffer
from triton_lab.views.drawing.value_cells import value_heatmap

if TYPE_CHECKING:
    from triton_lab.compiled.transactions import SharedLine, Transfer
    from triton_lab.launch.argument import Argument
    from triton_lab.launch.recording.launch_record import Recorded

ROWS, COLUMNS = 48, 96  # the most warp instructions, and the most sectors
ROOM = (620.0, 330.0)
LANES = 32


@dataclass(frozen=True)
class Traffic:
    """The traffic of an access as a table of numbers.

    ``counts`` are of bytes or words by ``rows`` (warp instructions) and ``columns`` (sectors or banks); ``note`` says
    what is left out, or why there is nothing. ``used``: an argument and its first and last element (columns, 2) in each
    column, row-major; -1 for an address between elements.
    """

    title: str
    counts: Ints
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    across: str
    unit: Noun
    most: int
    note: str = ""
    down: str = "warps"
    used: tuple[Argument, Ints] | None = None

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
    title = _("{kind} of {argument}, line {line}: bytes of each sector that {whose} uses").format(
        kind=one.access.kind, argument=one.argument or "memory", line=one.line, whose=whose
    )
    found = one.lanes(program)
    if found is None:
        why = (one.problem if one.dealt is None else "") or (
            _("the copy engine moves the box, not warps")
            if one.way == "descriptor"
            else _("the program does not reach it")
        )
        return _nothing(title, why)
    addresses, on = found
    names = [(warp, k) for warp in range(addresses.shape[0]) for k in range(addresses.shape[1])]
    asked = [addresses[warp, k][on[warp, k]] for warp, k in names]
    there = [row for row, lanes in enumerate(asked) if len(lanes)]
    if not there:
        return _nothing(title, _("all its lanes are masked off"))
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
    used = (
        None
        if argument is None
        else (argument, _ends(np.concatenate([asked[row] for row in kept]), one.width, argument))
    )
    several = addresses.shape[1] > 1
    left = (
        _("; the first {kept} of {there} requests are shown").format(kept=len(kept), there=len(there))
        if len(kept) < len(there)
        else ""
    )
    total = sum(len(np.unique(lanes // SECTOR)) for lanes in asked)
    named = _("warp {warp}, instruction {number}") if several else _("warp {warp}")
    return Traffic(
        title,
        np.minimum(counts, SECTOR),
        tuple(named.format(warp=names[row][0], number=names[row][1]) for row in kept),
        tuple(_bytes(int(sector) * SECTOR - start, one.argument) for sector in columns),
        _("sectors of 32 bytes, gaps left out") if (np.diff(columns) > 1).any() else _("sectors of 32 bytes"),
        "byte",
        SECTOR,
        _("{requests}, {sectors} of {whose}{left}").format(
            requests=messages.count(len(there), "request"),
            sectors=messages.count(total, "sector"),
            whose=whose,
            left=left,
        ),
        "requests of warps" if several else "warps",
        used,
    )


def _ends(addresses: Ints, width: int, argument: Argument) -> Ints:
    """The first and the last element (sectors, 2) that vectors of ``width`` bytes use in each of their sectors."""
    addresses = np.unique(addresses)
    _sectors, first = np.unique(addresses // SECTOR, return_index=True)
    last = np.append(first[1:], len(addresses)) - 1
    bytes = np.stack([addresses[first], addresses[last] + width - argument.itemsize], axis=1)
    return elements_at(bytes - argument.address, argument)


def of_shared(line: SharedLine) -> Traffic:
    """The words that each warp requests of each bank in the worst instruction of a line."""
    use = line.worst
    title = _("{kind} of shared memory, line {line}: words of each bank that a warp uses at once").format(
        kind=line.kind, line=line.line
    )
    if use.addresses is None:
        return _nothing(title, _("the banks depend on the kernel's data"))
    parts = use.parts()
    counts = np.array([part for _unused, part in parts][:ROWS], np.int64).reshape(-1, LANES)
    if not counts.any():
        return _nothing(title, _("no lane is active"))
    several = len(line.uses) > 1
    told = _("the worst of {uses} instructions: ").format(uses=len(line.uses)) if several else ""
    return Traffic(
        title,
        counts,
        tuple(name for name, _unused in parts[:ROWS]),
        tuple(_("bank {number}").format(number=bank) for bank in range(LANES)),
        "banks",
        "word",
        max(2, int(counts.max())),
        _("{told}{opcode}, {bytes} a thread; words of one bank take turns").format(
            told=told, opcode=use.instruction.opcode, bytes=messages.count(use.width, "byte")
        ),
        _("parts of warps that are served at once") if "," in parts[0][0] else "warps",
    )


def _nothing(title: str, why: str) -> Traffic:
    return Traffic(title, np.zeros((0, 0), np.int64), (), (), "", "byte", 1, why)


def _bytes(offset: int, argument: str | None) -> str:
    told = _("bytes {offset} to {offset2} of {argument}") if argument else _("bytes {offset} to {offset2}")
    return told.format(offset=f"{offset:,}", offset2=f"{offset + SECTOR - 1:,}", argument=argument)
