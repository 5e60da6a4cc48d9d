"""`PipelineFilm`: the asynchronous work of one program over time: the busy queues, their buffers, and the waits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np

from triton_lab import messages
from triton_lab.interpreter.asynchronous.async_events import AsyncEvent
from triton_lab.ir import Op
from triton_lab.launch.recording.launch_record import Recorded
from triton_lab.launch.replay.replay_run import replay
from triton_lab.localization import N_, _, translated

# The name of each queue of work.
WORKERS = {
    "copies": N_("copies (cp.async)"),
    "loads": N_("TMA loads"),
    "stores": N_("TMA stores"),
    "products": N_("tensor core (wgmma)"),
    "tensor core": N_("tensor core (tcgen05)"),
}
_STEPS = {
    "issued": N_("starts"),
    "landed": N_("ends"),
    "committed": N_("makes a group"),
    "arrived": N_("arrives at"),
    "phase": N_("ends a phase of"),
    "waits": N_("waits"),
    "waited": N_("has waited"),
    "read": N_("reads"),
    "written": N_("writes"),
    "unwritten": N_("reads what was never written"),
    "fenced": N_("fence between proxies"),
    "begin": N_("begins"),
    "end": N_("ends"),
}
_WAITS = {"waits": N_("waits for"), "waited": N_("has waited for")}  # of a barrier
# A part of a buffer: the operation that allocates the buffer, by index, and the part's first byte.
Place = tuple[int, int]
SpanKind = Literal["work", "wait", "fills", "full", "reads", "phase"]
MOST = 600  # moments of a film


@dataclass(frozen=True)
class FilmSpan:
    """Something that lasts from moment ``first`` to ``last`` in the row ``row``; ``works`` are the numbers of the work
    that it is, or that a wait waits for; ``line`` of the source."""

    row: str
    kind: SpanKind
    first: int
    last: int
    text: str
    line: int | None = None
    works: tuple[int, ...] = ()


@dataclass(frozen=True)
class FilmMoment:
    """One event: what happens, in words, in which ``row``, on which ``line``, to which ``work`` (0: none).

    ``touches`` names the buffers or barriers, and ``after`` what came first, if it was waited for. ``acts``: the warps
    do this themselves.
    """

    row: str
    told: str
    line: int | None
    work: int = 0
    touches: str = ""
    after: str = ""
    acts: bool = False

    @property
    def sentence(self) -> str:
        """All of it in words."""
        return f"{self.told} {self.touches}".strip() + (f", {self.after}" if self.after else "")


@dataclass
class PipelineFilm:
    """The events of ``program`` (a linear number), in order. Raises CannotReplay if the launch cannot be run again."""

    launch: Recorded
    program: int = 0
    cut: bool = field(default=False, init=False)

    @cached_property
    def events(self) -> list[AsyncEvent]:
        """The program's events, at most `MOST`; ``cut`` says whether there were more."""
        found: list[AsyncEvent] = []

        def listen(event: AsyncEvent) -> None:
            if self.program in event.programs:
                found.append(event)

        replay(self.launch, events=listen)
        self.cut = len(found) > MOST
        return found[:MOST]

    @cached_property
    def slots(self) -> dict[Place, str]:
        """The name of each part of a buffer: ``ring[1]``; of buffers of one name: ``ring (2)``."""
        places: dict[int, set[int]] = {}
        names: dict[int, str] = {}
        for event in self.events:
            for buffer, _base, _writes in event.touches:
                names[buffer.site] = buffer.name or _("buffer")
            for (site, base), _writes in self._touched(event):
                places.setdefault(site, set()).add(base)
        told: dict[int, str] = {}
        for site in sorted(places):
            same = sum(name == names[site] for name in (names[other] for other in told))
            told[site] = f"{names[site]} ({same + 1})" if same else names[site]
        return {
            (site, base): f"{told[site]}[{k}]" if len(bases) > 1 else told[site]
            for site, bases in places.items()
            for k, base in enumerate(sorted(bases))
        }

    @cached_property
    def moments(self) -> list[FilmMoment]:
        """Each event in words."""
        made = []
        for now, event in enumerate(self.events):
            touched = [self.slots[place] for place, _writes in self._touched(event)]
            row = partition_name(event.partition)
            landed = self._landing(now)
            queue = event.queue if event.work and event.kind in ("issued", "landed") else landed and landed.queue
            who = translated(WORKERS[queue]) if queue else row
            told = _("{who}: {what}").format(who=who, what=translated(_STEPS[event.kind]))
            if touched and event.kind in _WAITS:
                told = _("{who}: {what}").format(who=who, what=translated(_WAITS[event.kind]))
            after = self._ended_by(now) if event.kind == "waited" else ""
            line = self._line(event.work_op if event.kind == "landed" else event.op)
            acts = not event.work and event.kind not in (*_WAITS, "phase")
            made.append(FilmMoment(row, told, line, event.work, ", ".join(touched), after, acts))
        return made

    def _landing(self, now: int) -> AsyncEvent | None:
        """The work whose end ended the phase that event ``now`` is the end of; None if an arrival did, or no phase."""
        event, before = self.events[now], self.events[now - 1] if now else None
        ended = event.kind == "phase" and before is not None and before.kind == "landed"
        return before if ended and before is not None and before.work_op is event.op else None

    def _ended_by(self, now: int) -> str:
        """The arrival that ended the wait whose end is event ``now``, in words; "" if none did."""
        here = [place for place, _writes in self._touched(self.events[now])]
        for number in range(now - 1, -1, -1):
            event = self.events[number]
            if event.kind == "phase" and [place for place, _writes in self._touched(event)] == here:
                if (landed := self._landing(number)) is not None:
                    parts = ", ".join(self.slots[place] for place, _writes in self._touched(landed))
                    return _("until {work} had ended {parts}").format(
                        work=translated(WORKERS[landed.queue]), parts=parts
                    )
                line, who = self._line(event.op), partition_name(event.partition)
                if line is None:
                    return _("until {who} arrived").format(who=who)
                return _("until {who} arrived in line {line}").format(who=who, line=line)
        return ""

    @cached_property
    def rows(self) -> list[str]:
        """The rows: partitions, then who works for them."""
        partitions = sorted({event.partition for event in self.events})
        queues = [name for name in WORKERS if any(event.work and event.queue == name for event in self.events)]
        return [*map(partition_name, partitions), *(translated(WORKERS[name]) for name in queues)]

    @cached_property
    def buffers(self) -> list[str]:
        """The parts of buffers that are filled or read, in their order in memory; no barriers."""
        used = {place for event in self.events for place, _writes in self._touched(event)} - self._barrier_places
        return [self.slots[place] for place in sorted(used)]

    @cached_property
    def barriers(self) -> list[str]:
        """The barriers, in their order in memory."""
        return [self.slots[place] for place in sorted(self._barrier_places)]

    @cached_property
    def _barrier_places(self) -> set[Place]:
        return {
            place
            for event in self.events
            if event.kind in ("arrived", "phase") or event.kind in ("waits", "waited")
            for place, _writes in self._touched(event)
        }

    @cached_property
    def spans(self) -> list[FilmSpan]:
        """Everything that lasts: work, waits, what fills and reads buffers, and phases of barriers."""
        return [*self._works(), *self._waits(), *self._phases()]

    def _works(self) -> Iterator[FilmSpan]:
        begun: dict[int, tuple[int, AsyncEvent]] = {}
        full: dict[str, int] = {}
        end = len(self.events)
        for now, event in enumerate(self.events):
            if event.kind == "issued":
                begun[event.work] = now, event
                for place, writes in self._touched(event):
                    if writes and (slot := self.slots[place]) in full:
                        yield FilmSpan(slot, "full", full.pop(slot), now, "")
            elif event.kind == "written":
                for place, _writes in self._touched(event):
                    if (slot := self.slots[place]) in full:
                        yield FilmSpan(slot, "full", full.pop(slot), now, "")
                    if place not in self._barrier_places:
                        full[slot] = now
            elif event.kind == "landed" and event.work in begun:
                yield from self._work(*begun.pop(event.work), now)
                full |= {self.slots[place]: now for place, writes in self._touched(event) if writes}
        for first, event in begun.values():
            yield from self._work(first, event, end)
        for slot, first in full.items():
            yield FilmSpan(slot, "full", first, end, "")

    def _work(self, first: int, event: AsyncEvent, last: int) -> Iterator[FilmSpan]:
        touched = [(self.slots[place], writes) for place, writes in self._touched(event)]
        text = ", ".join(dict.fromkeys(slot for slot, _writes in touched))
        line, works = self._line(event.op), (event.work,)
        yield FilmSpan(translated(WORKERS[event.queue]), "work", first, last, text, line, works)
        for slot, writes in touched:
            yield FilmSpan(slot, "fills" if writes else "reads", first, last, "", line, works)

    def _waits(self) -> Iterator[FilmSpan]:
        begun: dict[int, int] = {}
        ended: dict[tuple[int, int], list[tuple[int, int]]] = {}  # by partition, and by the operation that waited
        for now, event in enumerate(self.events):
            here = event.partition
            if event.kind == "waits":
                begun.setdefault(here, now)
            elif event.kind == "landed" and event.op is not None:
                ended.setdefault((here, event.op.index), []).append((now, event.work))
            elif event.kind == "waited" and event.op is not None:
                found = ended.pop((here, event.op.index), [])
                first = min([begun.pop(here, now), *(moment for moment, _work in found)])
                told = ", ".join(self.slots[place] for place, _writes in self._touched(event))
                works = tuple(work for _moment, work in found)
                yield FilmSpan(partition_name(here), "wait", first, now, told, self._line(event.op), works)
        for here, first in begun.items():
            event = self.events[first]
            told = ", ".join(self.slots[place] for place, _writes in self._touched(event))
            yield FilmSpan(partition_name(here), "wait", first, len(self.events), told, self._line(event.op))

    def _phases(self) -> Iterator[FilmSpan]:
        since: dict[str, tuple[int, int]] = dict.fromkeys(self.barriers, (0, 0))
        for now, event in enumerate(self.events):
            if event.kind == "phase":
                for place, _writes in self._touched(event):
                    first, phase = since[self.slots[place]]
                    yield FilmSpan(self.slots[place], "phase", first, now, str(phase & 1))
                    since[self.slots[place]] = now, phase + 1
        for bar, (first, phase) in since.items():
            yield FilmSpan(bar, "phase", first, len(self.events), str(phase & 1))

    def _touched(self, event: AsyncEvent) -> list[tuple[Place, bool]]:
        """The parts of buffers of an event, and whether each is written."""
        where = int(np.flatnonzero(event.programs == self.program)[0])
        return [
            ((buffer.site, int(base[where if len(base) > 1 else 0])), writes) for buffer, base, writes in event.touches
        ]

    def _line(self, op: Op | None) -> int | None:
        place = None if op is None else self.launch.lines.get(op.index)
        return None if place is None else place.line

    def title(self) -> str:
        """The kernel and the program."""
        return _("{kernel}, {program}: its pipeline").format(
            kernel=self.launch.kernel, program=messages.program(self.program, self.launch.grid)
        )


def partition_name(number: int) -> str:
    """The words for a partition of warps; 0 is the default one."""
    return _("partition {number}").format(number=number) if number else _("the program's warps")


def has_film(launch: Recorded) -> bool:
    """Whether a launch works on shared memory, so that there is a film of it."""
    return any(type.is_shared for function in launch.executable.plan.functions.values() for type in function.types)
