"""Tries fixes: replays a launch with an edited source, on copies of its memory, and checks the result."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Sequence
from dataclasses import replace as but
from typing import TYPE_CHECKING

import numpy as np

from triton_lab.interpreter.kernel_errors import KernelError, StepLimit, from_signal
from triton_lab.interpreter.machine import batch_size
from triton_lab.launch.diagnosis.finding import Finding, Fix
from triton_lab.launch.diagnosis.fix import edited, edits, filled
from triton_lab.launch.diagnosis.fix_policy import FixPolicy, Repair
from triton_lab.launch.diagnosis.severity import NOTE
from triton_lab.launch.diagnosis.verdict import Unchecked, Verdict, reason_of
from triton_lab.launch.recording.tape import Tape
from triton_lab.launch.replay.instrumented_copy import remade
from triton_lab.launch.replay.replay_run import replay
from triton_lab.launch.source_lines import SourceLines
from triton_lab.localization import N_, _, translated

if TYPE_CHECKING:
    from triton_lab.launch.access import Access
    from triton_lab.launch.launch import Launch

# The most edits in a fix, the most tries, and the most loop iterations.
_EDITS, _TRIES, _STEPS = 3, 12, 10_000
_ROOM = 64 << 20
# A launch is tried again if it computes at most so many bytes, which takes about half a second: a fix must not depend
# on the machine or on what else it does. An operation on a batch of programs costs as much as computing `_OPERATION`.
_MOST_BYTES, _OPERATION = 512 << 20, 10_000

_MASKED = N_(
    "The value comes from masked-off lanes of a load: they are 0 in this run and "
    "undefined on a GPU. Pass a neutral value with other=, or replace these lanes with "
    "tl.where before they are used."
)

Check = Callable[["Launch"], Verdict]


def with_fix(launch: Launch, found: Verdict, check: Check, policy: FixPolicy) -> Verdict:
    """The verdict, with a ``fix`` in findings that a simple one mends: what stopped the launch, NaN and infinity."""
    try:
        findings = [_with_fix(launch, one, found.findings, check, policy) for one in found.findings]
        told = {one.argument for one in findings if one.hint.startswith(translated(_MASKED))}
        findings = [one for one in findings if one.kind not in policy.told_by_fill or one.argument not in told]
    except Exception as error:
        left = Unchecked(_("whether a simple fix exists"), reason_of(error))
        return but(found, unchecked=[*found.unchecked, left])
    return but(found, findings=findings)


def _with_fix(
    launch: Launch, finding: Finding, findings: Sequence[Finding], check: Check, policy: FixPolicy
) -> Finding:
    repair = policy.repair[finding.kind]
    if finding.stopped and repair is Repair.MASK:
        return _mended(launch, finding, findings, check, policy)
    return _filled(launch, finding, findings, check) if repair is Repair.FILL else finding


def _filled(launch: Launch, finding: Finding, findings: Sequence[Finding], check: Check) -> Finding:
    """The finding of NaN or infinity, with a fix if an ``other=`` for masked-off lanes of a load removes it."""
    if not _can_be_tried(launch):
        return finding
    kernel = launch.compiled[0].fn
    known = {(one.kind, one.argument) for one in findings if one is not finding}
    for after in filled(kernel.src):
        tried = _run(launch, after)
        if tried is None or tried.error is not None:
            continue
        left = {(one.kind, one.argument) for one in check(tried).findings if one.severity != NOTE}
        if left <= known - {(finding.kind, finding.argument)}:
            return but(finding, fix=Fix(edits(kernel, after)), hint=f"{translated(_MASKED)} {finding.hint}")
    return finding


def _can_be_tried(launch: Launch) -> bool:
    kept = launch.snapshot is not None and not launch.snapshot.missing and launch.tape is not None
    source = launch.compiled[0]
    return kept and _computed(launch) <= _MOST_BYTES and source is not None and source.fn.fn is not None


def _computed(launch: Launch) -> int:
    """About the bytes of values that a replay computes, with what its operations cost besides."""
    assert launch.tape is not None
    plan = launch.executable.plan
    footprint = launch.executable.routines[plan.kernel.name].footprint
    size = min(launch.programs, batch_size(launch.tape.limits, footprint))
    turns = math.ceil(launch.programs / max(1, size)) + (launch.tape.steps or 0)
    operations = sum(1 for _unused in plan.kernel.walk())
    return turns * (operations * _OPERATION + size * footprint)


def _mended(launch: Launch, finding: Finding, findings: Sequence[Finding], check: Check, policy: FixPolicy) -> Finding:
    if finding.argument is None or not _can_be_tried(launch):
        return finding
    kernel = launch.compiled[0].fn
    known = {(one.kind, one.argument) for one in findings if one is not finding}
    tries = _TRIES
    # Edits are tried breadth first, since one edit is better than two.
    todo = [(finding, launch, kernel.src, Fix(()))]
    for _unused in range(_EDITS):
        further = []
        for wrong, before, text, fix in todo:
            for after, condition in edited(before, wrong, text) if _walks(before) else ():
                if tries == 0:
                    return finding
                tries -= 1
                tried = _run(launch, after)
                if tried is None or not _keeps_the_rest(before, tried, wrong):
                    continue
                made = fix if fix.condition else Fix((), condition, _kept_out(before, tried))
                found = [one for one in check(tried).findings if one.severity != NOTE or one.kind in policy.unrepaired]
                new = [one for one in found if (one.kind, one.argument) not in known]
                if not new:
                    return but(finding, fix=but(made, edits=edits(kernel, after)))
                stopped = [one for one in new if one.stopped and policy.repair[one.kind] is Repair.MASK]
                if len(new) == 1 and stopped and (stopped[0].line, stopped[0].argument) != (wrong.line, wrong.argument):
                    further.append((stopped[0], tried, after, made))
        todo = further
    return finding


def _run(launch: Launch, text: str) -> Launch | None:
    """The launch replayed with another source; None if that does not compile or its accesses do not fit the tape."""
    assert launch.tape is not None
    source, metadata = launch.compiled
    try:
        source, executable = remade(source, metadata, launch.surroundings, ast.parse(text), text)
    except Exception as error:  # the front end may raise anything, and an edit that it refuses is no fix
        if from_signal(error):
            raise
        return None
    old = launch.tape
    tape = Tape(_ROOM, old.limits, old.unwritten, old.blank, old.unknown)
    tried = but(
        launch,
        executable=executable,
        compiled=(source, metadata),
        events=tape.events,
        kinds=tape.kinds,
        lines=SourceLines(source, executable),
        tape=tape,
        error=None,
        dropped="",
        watched={},
        outputs=[],
    )
    try:
        replay(tried, access_observer=tape, limits=but(old.limits, steps=_STEPS), strict=True)
    except KernelError as error:
        tried.error = error
        if isinstance(error, StepLimit):
            tape.cut_short(_STEPS + 1)
        tape.failed(error, executable.plan)
    return None if tape.dropped else tried


def _walks(launch: Launch) -> bool:
    """Whether the access that stopped the launch has consecutive elements; otherwise its offsets may be wrong."""
    if launch.stopped is None:
        return False
    op, event = launch.stopped
    _unused, _unused, itemsize = launch.kinds[op]
    return bool(event.shape) and bool((np.diff(event.addresses(), axis=-1) == itemsize).all())


def _kept_out(before: Launch, after: Launch) -> int:
    """How many lanes of the access that stopped the launch the new mask turns off."""
    (old,) = (one for one in before.accesses if one.stopped is not None)
    (new,) = (one for one in after.accesses if (one.line, one.column, one.kind) == (old.line, old.column, old.kind))
    lanes = 0
    for turn in range(old.iterations):
        ran = old.executed(turn).reshape(-1)
        lanes += int((old.mask(turn) & ~new.mask(turn))[ran].sum())
    return lanes


def _keeps_the_rest(before: Launch, after: Launch, wrong: Finding) -> bool:
    """Whether the edit masks off the lanes out of bounds, and for a one-dimensional argument only those.

    A store must still cover each element of its argument; otherwise more than a mask was wrong.
    """
    (old,) = (one for one in before.accesses if one.stopped is not None)
    new = [one for one in after.accesses if (one.line, one.column, one.kind) == (old.line, old.column, old.kind)]
    if len(new) != 1 or new[0].block != old.block:
        return False
    argument = before.argument(wrong.argument or "")
    if old.kind != "load" and not _covers(new[0], math.prod(argument.shape)):
        return False
    line = len(argument.shape) < 2
    return all(_same(old, new[0], turn, line) for turn in range(old.iterations))


def _covers(access: Access, elements: int) -> bool:
    """Whether the access touches each of its argument's elements."""
    touched = np.zeros(elements, np.bool_)
    for turn in range(access.iterations):
        at = access.element(iteration=turn)[access.mask(turn)]
        touched[at[at >= 0]] = True
    return bool(touched.all())


def _same(old: Access, new: Access, turn: int, exactly: bool) -> bool:
    """`_keeps_the_rest` for one iteration; ``exactly``: no other lane may be masked off."""
    if turn >= new.iterations:
        return False
    stray = old.strayed(turn)
    ran = old.executed(turn).reshape(-1)
    wanted, there = (old.mask(turn) & ~stray)[ran], new.mask(turn)[ran]
    return bool((there == wanted).all() if exactly else (there <= wanted).all())
