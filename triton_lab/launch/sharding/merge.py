"""Merges the findings of a launch's parts, as if the launch had been checked whole."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from triton_lab import messages
from triton_lab.interpreter.kernel_errors import KernelError
from triton_lab.ir import effects
from triton_lab.launch.argument import Argument
from triton_lab.launch.byte_ranges import Bounds, Ints, Ranges
from triton_lab.launch.checks.analysis.evidence import EvidenceLanes
from triton_lab.launch.checks.analysis.finding_text import LISTED, listed, stretches
from triton_lab.launch.checks.check_table import MISREAD, OTHERS, in_order
from triton_lab.launch.checks.rules import fault, idle_program, precedence, unwritten
from triton_lab.launch.diagnosis.finding import MOST_ENDS, Finding
from triton_lab.launch.diagnosis.verdict import Gathering, Verdict
from triton_lab.launch.launch import Launch
from triton_lab.launch.sharding.shard import Done, Whole
from triton_lab.localization import _, translated

# These findings are about the whole launch, so no part can make them.
_OF_ALL = ("idle-program", "unwritten", "precedence")
_ALWAYS_TRUE = "always-true-mask"
# What the messages count at their end.
_COUNTED = ("lane", "program")


def verdict(launch: Launch, whole: Whole, done: Sequence[Done]) -> Verdict:
    """The verdict of a launch that ran in parts without conflicts; ``launch`` itself has no accesses."""
    gathering = Gathering()
    plan = launch.executable.plan
    errors = [stopped.error(plan) for one in done for stopped in one.stopped]
    if isinstance(launch.error, KernelError):
        gathering.run(translated(OTHERS), lambda: fault.check(launch, errors[1:]))
    gathering.findings += united(done)
    gathering.run(translated(MISREAD), lambda: precedence.check(launch, gathering.findings))
    if launch.error is None:
        gathering.run(_("idle programs"), lambda: idle_program.told(launch, _numbers(one.idle for one in done)))
        gathering.run(_("elements of outputs that no program stores to"), lambda: _unwritten(launch, whole, done))
    for one in done:
        for unchecked in one.verdict.unchecked:
            gathering.left_out(unchecked.what, unchecked.why)
    return Verdict(in_order(gathering.findings), gathering.unchecked)


def united(done: Sequence[Done]) -> list[Finding]:
    """The findings of all parts; those of one kind at one operation and argument are merged."""
    found: dict[tuple[object, ...], list[Finding]] = {}
    for one in done:
        for each in one.verdict.findings:
            if each.kind not in _OF_ALL:
                found.setdefault((each.kind, each.op, each.argument), []).append(each)
    return [
        _united(parts)
        for (kind, op, _unused), parts in found.items()
        if kind != _ALWAYS_TRUE or _holds(op, parts, done)
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
    """The first part's message, with the count of all parts."""
    first = parts[0]
    ends = [(part, noun) for part in parts for noun in _COUNTED if part.count > 1]
    noun = next((noun for part, noun in ends if part.message.endswith(messages.in_all(part.count, noun))), None)
    if noun is None and (ends or first.kind == _ALWAYS_TRUE):
        return first.message  # this message has no count
    noun = noun or ("program" if first.kind == "lost-precision" and first.argument is None else "lane")
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


def _numbers(ranges: Iterable[Ranges]) -> Ints:
    return np.concatenate(
        [np.empty(0, np.int64)]
        + [np.arange(*pair) for one in ranges for pair in zip(one.start.tolist(), one.stop.tolist(), strict=True)]
    )


def _unwritten(launch: Launch, whole: Whole, done: Sequence[Done]) -> Iterator[Finding]:
    if not len(whole.unwritten):
        return
    ops = {op.index: op for op in launch.executable.plan.walk()}
    writes = []
    for index in sorted({index for one in done for index in one.touched}):
        everywhere = Ranges.joined(one.touched[index] for one in done if index in one.touched)
        if effects.writes(ops[index]) and len(everywhere):
            hull = int(everywhere.start[0]), int(everywhere.stop[-1])
            writes.append(unwritten.Write(ops[index], _owner(launch, done, index), hull, partial(_same, everywhere)))
    yield from unwritten.told(launch, whole.unwritten, writes)


def _same(where: Ranges) -> Bounds:
    return where


def _owner(launch: Launch, done: Sequence[Done], op: int) -> Argument | None:
    name = next((one.owners[op] for one in done if op in one.owners), None)
    return None if name is None else launch.argument(name)
