"""Rules that found nothing in a launch, and so need not run on the next one that looks the same to them.

What a rule looks at is the kernel, the arguments, the places that were touched, which bytes of memory were never
written before the launch, and which stores may have stored NaN or infinity. All of that is compared, but for where in
memory the tensors lie. A rule that has looked at the contents of memory runs on each launch.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from triton_lab.launch.argument import Argument
from triton_lab.launch.byte_ranges import Ranges

if TYPE_CHECKING:
    from triton_lab.launch.diagnosis.verdict import Gathering
    from triton_lab.launch.recording.launch_record import Recorded
    from triton_lab.launch.recording.snapshot import Snapshot

# The number of a region and an offset in it; -1 and the address itself outside of all.
Place: TypeAlias = "tuple[int, int]"

_KEPT = "silent rules"
# How many launches are remembered that touch the same places, and the most ranges of bytes that are compared.
_LAUNCHES, _RANGES = 16, 256
# An address may be aligned to elements of at most so many bytes.
_ALIGNED = 16


@dataclass(slots=True)
class SilentRules:
    """The ``kinds`` of findings whose rules found nothing in a launch like this, before any other found something."""

    kinds: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, launch: Recorded) -> SilentRules:
        """Those that are common to the launches like this one; new ones if there is none."""
        tape, snapshot = launch.tape, launch.snapshot
        if tape is None or snapshot is None or tape.shared is None or _is_special(launch):
            return cls()
        key = _key(launch, snapshot)
        if key is None:
            return cls()
        known: dict[Hashable, SilentRules] = tape.shared.setdefault(_KEPT, {})
        while key not in known and len(known) >= _LAUNCHES:
            known.pop(next(iter(known)), None)
        return known.setdefault(key, cls())

    @contextmanager
    def learning(self, launch: Recorded, kind: str, gathering: Gathering) -> Iterator[None]:
        """Inside, the rule of a ``kind`` is checked: it is silent if it finds nothing and reads no memory."""
        before = _reads(launch)
        yield
        if _reads(launch) == before and not (gathering.findings or gathering.unchecked):
            self.kinds.add(kind)


def _reads(launch: Recorded) -> int:
    return 0 if launch.snapshot is None else launch.snapshot.reads


def _is_special(launch: Recorded) -> bool:
    """Whether the checks look at more of a launch than `_key` compares."""
    tape = launch.tape
    assert tape is not None
    failed = launch.error is not None or tape.stopped is not None or bool(tape.dropped)
    tuned = launch.tuning is not None or bool(launch.configs) or bool(len(launch.tried_writes))
    in_part = launch.part is not None or bool(launch.watched) or bool(launch.dropped)
    return failed or tuned or in_part or bool(tape.barriers) or bool(launch.outputs) or bool(len(tape.unverified))


def _key(launch: Recorded, snapshot: Snapshot) -> Hashable | None:
    """What the checks look at, with places in memory counted from the start of their region; None if that is not known.

    Regions are numbered as the arguments name them.
    """
    tape = launch.tape
    assert tape is not None
    held = sorted(snapshot.regions, key=lambda region: region.start)
    starts = [region.start for region in held]
    order: dict[int, int] = {}

    def place(address: int) -> Place:
        at = int(np.searchsorted(starts, address, side="right")) - 1
        if at < 0 or address > starts[at] + len(held[at].data):
            return -1, address
        return order.setdefault(at, len(order)), address - starts[at]

    try:
        arguments = tuple(_described(one, place) for one in launch.arguments)
        hash(arguments)
    except TypeError:  # a value that cannot be compared
        return None
    if len(order) < len(held):  # memory that was found by its address
        return None
    regions = tuple((starts[at] % _ALIGNED, len(held[at].data), held[at].writable) for at in order)
    states = tuple(_relative(each, place) for each in (tape.unwritten, tape.blank, tape.unknown))
    told = launch.source, launch.file, launch.first_line, launch.kernel, launch.grid, launch.target
    return None if None in states else (told, arguments, regions, states, frozenset(tape.strange))


def _described(argument: Argument, place: Callable[[int], Place]) -> Hashable:
    """An argument with its places, and its value so that -0.0 is not 0.0, nor 1 True."""
    where = place(argument.storage_address), place(argument.address)
    return replace(argument, value=None, address=0, storage_address=0), where, _distinct(argument.value)


def _distinct(value: Any) -> Hashable:
    if isinstance(value, tuple):
        return tuple(map(_distinct, value))
    return type(value), repr(value) if isinstance(value, float) else value


def _relative(ranges: Ranges, place: Callable[[int], Place]) -> Hashable | None:
    """The ranges by the places of their ends; None if there are many."""
    if len(ranges) > _RANGES:
        return None
    ends = zip(ranges.start.tolist(), ranges.stop.tolist(), strict=True)
    return tuple(sorted((place(start), stop - start) for start, stop in ends))
