"""Merges the findings of a launch's parts, as if the launch had been checked whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from triton_lab import messages
from triton_lab.interpreter.kernel_errors import KernelError
from triton_lab.ir import Op, effects
from triton_lab.launch.argument import Argument
from triton_lab.launch.byte_ranges import NOTHING, Bounds, Ints, Ranges
from triton_lab.launch.checks.analysis.evidence import EvidenceLanes
from triton_lab.launch.checks.analysis.finding_text import LISTED, listed, stretches
from triton_lab.launch.checks.analysis.launch_summary import LaunchSummary, Write
from triton_lab.launch.checks.check_run import finished
from triton_lab.launch.checks.rule import Merge, WholeRule, rules
from triton_lab.launch.diagnosis.finding import MOST_ENDS, Finding
from triton_lab.launch.diagnosis.verdict import Gathering, Verdict
from triton_lab.launch.launch import Launch
from triton_lab.launch.sharding.shard import Done, Whole
from triton_lab.localization import translated


class Merged(LaunchSummary):
    """What the parts of a launch know together. ``errors`` are those of all parts, the first one first."""

    def __init__(self, launch: Launch, whole: Whole, done: Sequence[Done]) -> None:
        super().__init__(launch)
        self._whole, self._done = whole, done
        plan = launch.executable.plan
        self._ops = {op.index: op for op in plan.walk()}
        self._errors = [stopped.error(plan) for one in done for stopped in one.stopped]

    @property
    def complete(self) -> bool:
        """Whether no part was stopped."""
        return self.launch.error is None

    @property
    def unwritten(self) -> Ranges:
        """The bytes that were never written before the launch."""
        return self._whole.unwritten

    def idle(self) -> Ints:
        """The numbers of the programs that touched no memory."""
        idle = [one.idle for one in self._done]
        pairs = [pair for one in idle for pair in zip(one.start.tolist(), one.stop.tolist(), strict=True)]
        return np.concatenate([np.empty(0, np.int64), *(np.arange(*pair) for pair in pairs)])

    def writes(self) -> list[Write]:
        """The writes of the launch, by operation."""
        return self._touched(effects.writes)

    def reads(self) -> list[Write]:
        """The reads of the launch, by operation."""
        return self._touched(effects.reads)

    def read_by_several(self) -> Ranges:
        """The bytes that several programs read, of one part or of two."""
        several, before = Ranges.joined(one.several for one in self._done), NOTHING
        for one in self._done:
            own = Ranges.joined(where for index, where in one.touched.items() if effects.reads(self._ops[index]))
            several, before = Ranges.joined([several, before & own]), Ranges.joined([before, own])
        return several

    def _touched(self, concerns: Callable[[Op], bool]) -> list[Write]:
        found = []
        for index in sorted({index for one in self._done for index in one.touched}):
            everywhere = Ranges.joined(one.touched[index] for one in self._done if index in one.touched)
            if concerns(self._ops[index]) and len(everywhere):
                hull = int(everywhere.start[0]), int(everywhere.stop[-1])
                found.append(Write(self._ops[index], self._owner(index), hull, partial(_same, everywhere)))
        return found

    def other_failures(self, error: KernelError) -> Iterator[KernelError]:
        """The errors of other programs, without replays."""
        return iter(self._errors[1:])

    def _owner(self, op: int) -> Argument | None:
        name = next((one.owners[op] for one in self._done if op in one.owners), None)
        return None if name is None else self.launch.argument(name)


def verdict(launch: Launch, whole: Whole, done: Sequence[Done]) -> Verdict:
    """The verdict of a launch that ran in parts without conflicts; ``launch`` itself has no accesses."""
    gathering, summary = Gathering(), Merged(launch, whole, done)
    gathering.findings += united(done)
    for rule in rules().values():
        if isinstance(rule, WholeRule):
            gathering.run(translated(rule.subject), partial(rule.check, summary, gathering.findings))
    for one in done:
        for unchecked in one.verdict.unchecked:
            gathering.left_out(unchecked.what, unchecked.why)
    return Verdict(finished(launch, gathering.findings), gathering.unchecked)


def united(done: Sequence[Done]) -> list[Finding]:
    """The findings of all parts; those of one kind at one operation and argument are merged."""
    found: dict[tuple[str, int | None, str | None], list[Finding]] = {}
    for one in done:
        for each in one.verdict.findings:
            found.setdefault((each.kind, each.op, each.argument), []).append(each)
    return [
        _united(parts)
        for (kind, op, _unused), parts in found.items()
        if rules()[kind].merge is not Merge.ALL or _holds(op, parts, done)
    ]


def _holds(op: object, parts: Sequence[Finding], done: Sequence[Done]) -> bool:
    """Whether all parts that ran ``op`` have this finding; False if a part was stopped, as its rest is not known."""
    return not any(one.stopped for one in done) and len(parts) == sum(op in one.touched for one in done)


def _united(parts: Sequence[Finding]) -> Finding:
    """One finding from several; its lanes are listed in the order of the parts, and so of the programs."""
    first = parts[0]
    if len(parts) == 1:
        return replace(first, events=np.full_like(first.events, -1))
    count = sum(part.count for part in parts)
    programs, lanes, elements, values = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("programs", "lanes", "elements", "values")
    )
    if len(lanes) == len(programs) > 0:
        at = listed([EvidenceLanes.timeless(programs, lanes, np.arange(len(programs)))]).address
    else:
        at = np.arange(min(len(programs), LISTED))
    return replace(
        first,
        message=_counted(parts, count),
        count=count,
        programs=programs[at],
        lanes=lanes[at] if len(lanes) == len(programs) else lanes[:LISTED],
        elements=elements[at] if len(elements) == len(programs) else elements[:LISTED],
        values=values[at] if len(values) == len(programs) else values[:LISTED],
        events=np.full(len(at), -1),
        orders=next((part.orders for part in parts if part.orders), ()),
        ends=tuple(_ends(parts)),
        extent=_extent(parts),
    )


def _counted(parts: Sequence[Finding], count: int) -> str:
    """The first part's message, with the count of all parts if a message of the kind has one."""
    first, rule = parts[0], rules()[parts[0].kind]
    noun = rule.noun(first)
    ends = [part.message.endswith(messages.in_all(part.count, noun)) for part in parts if part.count > 1]
    if rule.merge is Merge.ALL or not all(ends):
        return first.message
    return first.message.removesuffix(messages.in_all(first.count, noun)) + messages.in_all(count, noun)


def _extent(parts: Sequence[Finding]) -> Ints:
    """The extent of all parts; empty if it is not known for one part."""
    known = [part.extent for part in parts]
    first, stop = np.concatenate(known if all(map(len, known)) else [known[0][:0]]).T
    return stretches(first, stop)


def _ends(parts: Sequence[Finding]) -> Iterator[tuple[str, Ints]]:
    by_name: dict[str, list[Ints]] = {}
    for part in parts:
        for name, elements in part.ends:
            by_name.setdefault(name, []).append(elements)
    for name, each in by_name.items():
        yield name, np.concatenate(each)[:MOST_ENDS]


def _same(where: Ranges) -> Bounds:
    return where
