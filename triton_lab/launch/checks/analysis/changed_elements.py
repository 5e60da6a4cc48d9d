"""Elements that a launch reads and then changes: what it finds in memory decides what it leaves there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab import messages
from triton_lab.ir import Op
from triton_lab.ir.effects import Rmw
from triton_lab.launch.byte_ranges import Ints
from triton_lab.launch.checks.analysis.evidence import Evidence, EvidenceLanes, SeenAccess
from triton_lab.launch.recording.replay_error import CannotReplay
from triton_lab.launch.replay.replay_run import recall
from triton_lab.localization import _

Array = NDArray[Any]
_MOST = 1 << 22  # lanes that are examined


def changed_elements(evidence: Evidence) -> Iterator[tuple[Op, EvidenceLanes]]:
    """Each operation that reads elements before the launch changes them, with these lanes.

    An atomic that adds counts with all its lanes. A launch that leaves what it found, as ``relu`` in place does the
    second time, changes nothing. Raises CannotReplay if a launch is too large, or cannot be run again.
    """
    atomics = [sight for sight in evidence.sights("atomic") if _adds(sight.op)]
    for op, sights in _by_op(atomics).items():
        yield op, _joined([evidence.active_lanes(sight) for sight in sights])
    stores, loads = list(evidence.sights("store")), list(evidence.sights("load"))
    written = [evidence.hull(sight) for sight in stores]
    loads = [one for one in loads if any(_meet(evidence.hull(one), other) for other in written)]
    if not stores or not loads:
        return
    if sum(sight.event.lanes for sight in (*stores, *loads)) > _MOST:
        raise CannotReplay(
            _("more than {lanes} read and write the same memory").format(lanes=messages.count(_MOST, "lane"))
        )
    values = recall(evidence.launch, {sight.op.index for sight in (*stores, *loads)})
    stored, left = _left(evidence, stores, values)
    for op, sights in _by_op(loads).items():
        found = [_changed(evidence, sight, stored, left, values) for sight in sights]
        if some := [lanes for lanes in found if len(lanes)]:
            yield op, _joined(some)


def _adds(op: Op) -> bool:
    """Whether an atomic gives another result each time that it is repeated."""
    return op.name == "tt.atomic_rmw" and int(op.attributes["atomic_rmw_op"]) in (Rmw.ADD, Rmw.FADD, Rmw.XOR)


def _meet(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def _by_op(sights: Sequence[SeenAccess]) -> dict[Op, list[SeenAccess]]:
    found: dict[int, list[SeenAccess]] = {}
    for sight in sights:
        found.setdefault(sight.op.index, []).append(sight)
    return {some[0].op: some for some in found.values()}


def _left(evidence: Evidence, stores: Sequence[SeenAccess], values: dict[int, list[Array]]) -> tuple[Array, Array]:
    """(addresses, 2) each address that is stored to with the time of the first store, and the bytes left there."""
    lanes = _joined([evidence.active_lanes(sight) for sight in stores])
    bits = np.concatenate([_bits(evidence, sight, evidence.active_lanes(sight), values) for sight in stores])
    order = np.lexsort((lanes.time, lanes.address))
    address, time, bits = lanes.address[order], lanes.time[order], bits[order]
    first = np.flatnonzero(np.r_[True, address[1:] != address[:-1]]) if len(address) else np.zeros(0, np.int64)
    last = np.append(first[1:] - 1, len(address) - 1) if len(address) else first
    return np.stack([address[first], time[first]], axis=1), bits[last]


def _changed(
    evidence: Evidence, load: SeenAccess, stored: Array, left: Array, values: dict[int, list[Array]]
) -> EvidenceLanes:
    """The lanes of a load whose element the launch stores to later, and leaves another value in."""
    lanes = evidence.active_lanes(load)
    place = np.searchsorted(stored[:, 0], lanes.address)
    place = np.minimum(place, len(stored) - 1)
    here = (stored[place, 0] == lanes.address) & (lanes.time < stored[place, 1])
    return lanes.where(here & (left[place] != _bits(evidence, load, lanes, values)))


def _bits(evidence: Evidence, sight: SeenAccess, lanes: EvidenceLanes, values: dict[int, list[Array]]) -> Ints:
    """The values of some lanes of an access, as integers of their bits."""
    event, index = sight.event, sight.op.index
    block = values[index][evidence.tape.events[index].index(event)]
    row = np.searchsorted(event.programs, lanes.program)
    found = np.ascontiguousarray(block.reshape(len(event.programs), -1)[row, lanes.lane])
    return found.view(f"u{found.dtype.itemsize}").astype(np.int64) if found.dtype.itemsize <= 8 else found


def _joined(parts: Sequence[EvidenceLanes]) -> EvidenceLanes:
    names = ("program", "lane", "address", "time")
    return EvidenceLanes(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))
