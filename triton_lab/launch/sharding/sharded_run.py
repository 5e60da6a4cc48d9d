"""Runs a launch in parts: each part runs and is checked by itself, and the results are merged.

The result equals that of the whole launch if no part touched bytes that another part wrote, since then each part has
read the same values. Otherwise the reason is reported, and the launch runs whole.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab import messages
from triton_lab.backend.compiler import options_of
from triton_lab.backend.plugin import launcher
from triton_lab.backend.plugin.error_report import described
from triton_lab.backend.plugin.recorders import LaunchCall
from triton_lab.backend.targets import benchmark_events
from triton_lab.interpreter.kernel_errors import KernelError
from triton_lab.ir import Op, Plan, effects
from triton_lab.launch.argument import Argument, arguments_of
from triton_lab.launch.byte_ranges import NOTHING, Ranges
from triton_lab.launch.checks.analysis.finding_text import element
from triton_lab.launch.checks.race.barriers import results_used
from triton_lab.launch.recording.snapshot import Snapshot
from triton_lab.launch.recording.tape import Tape
from triton_lab.launch.sharding.shard import Done, Whole, perform
from triton_lab.launch.sharding.shard_conflict import Meeting
from triton_lab.launch.sharding.shard_memory import made, put, rmw_of
from triton_lab.launch.source_lines import SourceLines, UserLine
from triton_lab.localization import _

Apart = Callable[[Callable[[Whole, range], Done], Whole, Sequence[range]], list[Done]]
Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Cut:
    """The result of running a launch in parts; without ``done``, ``why`` says in words why it must run whole."""

    whole: Whole | None = None
    done: tuple[Done, ...] = ()
    why: str = ""
    meeting: Meeting | None = None
    error: KernelError | None = None


def in_parts(call: LaunchCall, tape: Tape, kept: Snapshot, most: int, apart: Apart) -> Cut:
    """Run ``call`` in at most ``most`` parts, and write their results into its memory.

    ``tape`` and ``kept`` come from the record. If a part was stopped by an error, nothing is written.
    """
    plan, lines = call.executable.plan, SourceLines(call.source, call.executable)
    why = kept.missing or _reason(call, lines)
    if why:
        return Cut(why=why)
    start = time.perf_counter()
    whole = _whole(call, lines, tape, kept)
    done = tuple(apart(perform, whole, ranges(math.prod(call.grid), most)))
    call.seconds = call.interpreted = time.perf_counter() - start
    benchmark_events.spend(call.seconds)
    first = next((one.stopped[0] for one in done if one.stopped), None)
    if first is None:
        lost = next((one.lost for one in done if one.lost), "")
        met = None if lost else meeting(whole, plan, done)
        if lost or met is not None:
            return Cut(
                why=_("of a part, {lost}, or more parts").format(lost=lost) if met is None else met.text, meeting=met
            )
        put(call.memory, whole, done, plan)
    for one in done:
        sys.stdout.write(one.printed)
    if first is None:
        return Cut(whole, done)
    call.elsewhere = _("copies, part by part")
    return Cut(whole, done, error=described(first.error(plan), call))


def ranges(programs: int, most: int) -> list[range]:
    """The numbers of all programs in at most ``most`` ranges of equal length, except the last."""
    size = -(-programs // most) or 1
    return [range(first, min(first + size, programs)) for first in range(0, programs, size)]


def _whole(call: LaunchCall, lines: SourceLines, tape: Tape, kept: Snapshot) -> Whole:
    function = call.source.fn
    return Whole(
        kernel=call.metadata.name,
        grid=call.grid,
        arguments=tuple(_plain(one) for one in arguments_of(call.signature, list(call.objects.values()))),
        source="".join(function.raw_src),
        first_line=function.starting_line_number,
        file=call.written.file or "",
        plan=call.executable.plan.text,
        lines=dict(lines),
        snapshot=kept,
        limits=launcher.limits,
        room=tape.room,
        unwritten=tape.unwritten,
        blank=tape.blank,
        unknown=tape.unknown,
        tuning=call.tuning,
        site=call.site,
        options=options_of(call.metadata),
    )


def _plain(argument: Argument) -> Argument:
    """The argument without a value that is no plain number or text: it may be any object, and no part needs it."""
    return argument if type(argument.value) in (int, float, bool, str) else replace(argument, value=None)


def _reason(call: LaunchCall, lines: Mapping[int, UserLine | None]) -> str:
    """Why the kernel's programs cannot run in parts, in words; "" if nothing known before the run forbids it."""
    executable = call.executable
    if executable.waiting_loops:
        return _("its programs wait for one another")
    used = results_used(executable.plan)
    for op in executable.plan.walk():
        if not effects.is_access(op):
            continue
        place = lines.get(op.index)
        where = "" if place is None else f" (line {place.line})"
        roots = executable.roots.get(op.index)
        if roots is None or any(call.owners[root] is None for root in roots):
            return _("it uses addresses that belong to no known tensor{where}").format(where=where)
        if effects.updates(op) and op.index in used:
            return _("it uses the result of an atomic{where}, which depends on the order of the programs").format(
                where=where
            )
        if effects.updates(op) and rmw_of(op) is None:
            return _("the result of its atomics depends on their order{where}").format(where=where)
    return ""


# --- Conflicts between parts -------------------------------------------------------------------------


def meeting(whole: Whole, plan: Plan, done: Sequence[Done]) -> Meeting | None:
    """The first conflict between two parts: they touch the same bytes, not only by loads or by atomics of one kind."""
    ops = {op.index: op for op in plan.walk()}
    before: dict[_Key, Ranges] = {}
    for number, one in enumerate(done):
        mine: dict[_Key, list[Ranges]] = {}
        for index, where in one.touched.items():
            mine.setdefault(_key(ops[index], one), []).append(where)
        joined = {key: Ranges.joined(parts) for key, parts in mine.items()}
        for key, where in joined.items():
            for other, there in before.items():
                if not _agree(key, other) and len(both := there & where):
                    return _Two(whole, ops, both).told(done[:number], other, one, key)
        for key, where in joined.items():
            before[key] = before.get(key, NOTHING) | where
    return None


# "load", "store", or for an atomic: its operation, the bytes of its elements, and its argument.
_Key = str | tuple[int, int, str]


def _key(op: Op, done: Done) -> _Key:
    rmw = rmw_of(op)
    if rmw is None:
        return "store" if effects.writes(op) else "load"
    return int(rmw), done.kinds[op.index][2], done.owners.get(op.index, "")


def _agree(one: _Key, other: _Key) -> bool:
    return one == other != "store"


@dataclass(frozen=True, eq=False)
class _Two:
    """A conflict of two parts at the bytes ``both``."""

    whole: Whole
    ops: Mapping[int, Op]
    both: Ranges

    def told(self, earlier: Sequence[Done], other: _Key, part: Done, key: _Key) -> Meeting:
        """The `Meeting` of ``part`` with the first earlier part that touches these bytes."""
        first = self.both[:1]
        there = next(one for one in earlier if self._op(one, other, first) is not None)
        first_op, op = self._op(there, other, first), self._op(part, key, first)
        assert first_op is not None and op is not None
        owner = next((one for one in self.whole.arguments if one.name == part.owners.get(op)), None)
        text = _("{who} {DEEDS} {element}{line}, and {who_2} {DEEDS_2} it{line_2}").format(
            who=self._who(there),
            DEEDS=_DEEDS[_deed(other)],
            element=element(owner, int(first.start[0])),
            line=self._line(first_op),
            who_2=self._who(part),
            DEEDS_2=_DEEDS[_deed(key)],
            line_2=self._line(op),
        )
        stores = "store" in (key, other)
        kind = "race" if stores or "load" in (key, other) else ""
        if key == other == "store" and np.array_equal(made(there, first), made(part, first)):
            kind = "same-value"
        return Meeting(text, self.ops[op], "" if owner is None else owner.name, self.both, kind)

    def _op(self, done: Done, key: _Key, where: Ranges) -> int | None:
        """The part's operation with this key that touches ``where``; None if there is none."""
        return next(
            (at for at, bytes in done.touched.items() if _key(self.ops[at], done) == key and len(bytes & where)), None
        )

    def _who(self, done: Done) -> str:
        several = "one of " if len(done.own) > 1 else ""
        return several + messages.program_range(done.own[0], done.own[-1], self.whole.grid)

    def _line(self, op: int) -> str:
        place = self.whole.lines.get(op)
        return "" if place is None else f" (line {place.line})"


def _deed(key: _Key) -> str:
    return key if isinstance(key, str) else "atomic"


_DEEDS = {"load": "loads", "store": "stores to", "atomic": "updates"}
