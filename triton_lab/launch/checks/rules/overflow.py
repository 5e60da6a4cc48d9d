"""Integers that do not fit their type and wrap: offsets, lengths and masks in 32 bits, and numbers of 8 and 16 bits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from triton_lab import messages
from triton_lab.ir import Op
from triton_lab.launch.checks.analysis.evidence import Evidence
from triton_lab.launch.checks.analysis.finding_text import LaneTally, finding, others
from triton_lab.launch.checks.analysis.int32_overflow import int32_watcher, wraps
from triton_lab.launch.checks.analysis.narrow_overflow import CASTS, narrow_watcher, narrow_wraps
from triton_lab.launch.checks.analysis.overflow_taint import WrapExample
from triton_lab.launch.checks.analysis.stored_lanes import stored_from
from triton_lab.launch.checks.analysis.stored_overflow import stored_suspects
from triton_lab.launch.checks.rule import Concerned, Rule, in_turn
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.launch.diagnosis.severity import WARNING
from triton_lab.launch.recording.watcher import Watcher
from triton_lab.localization import N_, _, ngettext, translated

_MEND = N_("Compute the offset in 64 bits: convert one operand first, with .to(tl.int64).")
_MEND_STORED = N_(
    "Compute the number in 64 bits: convert one operand first, with .to(tl.int64), and store it in an int64 tensor."
)
_MEND_SUM = N_("Sum in 64 bits: convert the terms first, with .to(tl.int64).")
_MEND_NARROWING = N_("Keep the number in 64 bits: remove the conversion to the narrower type.")
_MEND_NARROW = N_("Convert one operand first, with .to(tl.int32). Narrow the result only if it is known to fit.")
_MEND_NARROW_FLOAT = N_(
    "Clamp the value with tl.clamp to the range of the type before the conversion: for tl.int8, -128.0 to 127.0."
)


class OverflowRule(Rule):
    """A number does not fit its type and wraps."""

    kind = "overflow"
    severity = WARNING
    subject = N_("overflow of integers")
    summary = N_("A number does not fit its type and wraps.")
    why = N_(
        "Triton computes offsets in int32. From 2,147,483,648 on they become negative, so a kernel that is right for "
        "small tensors touches other memory for large ones. A GPU reports nothing."
    )
    remedy = N_(
        "Convert one operand first: `.to(tl.int64)` for offsets, `.to(tl.int32)` for numbers of 8 and 16 bits. Pass "
        "large strides as they are: Triton takes an argument above 2**31 - 1 as int64."
    )
    intended = N_(
        "If numbers wrap on purpose, as in a hash or a random generator. Arithmetic with large odd constants is not "
        "reported, nor are results that go into bit masks, shifts or remainders."
    )
    blind = N_(
        "In 32 bits, these numbers are examined: those that decide addresses, masks and loops, those that are "
        "widened to 64 bits and stored, and those that are stored and depend on no data. In 8 and 16 bits: products, "
        "sums that a loop carries, and floats that are too large to convert."
    )
    concerned = Concerned.ONE
    by_luck = True
    causes = ("out-of-bounds", "misaligned")
    mark = N_("overflow")

    def check(self, evidence: Evidence, found: Sequence[Finding]) -> Iterator[Finding]:
        """One finding for each operation that wraps, in 32 bits for each argument whose access is wrong."""
        return in_turn(_int32(evidence), _narrow(evidence))

    def watchers(self, evidence: Evidence) -> Mapping[str, Watcher | None]:
        """One for offsets, masks and loops, one for narrow numbers; None if nothing can wrap."""
        return {"overflow": int32_watcher(evidence), "narrow": narrow_watcher(evidence)}

    def programs_mark(self, count: int) -> str:
        """The words for programs in which a number wraps."""
        return ngettext("{count} program with an overflow", "{count} programs with an overflow", count)


def _int32(evidence: Evidence) -> Iterator[Finding]:
    """One finding for each operation that wraps and each argument whose access is wrong."""
    launch = evidence.launch
    if launch.snapshot is None:
        return
    by_place: dict[tuple[int, str], LaneTally] = {}
    examples: dict[tuple[int, int], WrapExample] = {}
    for taint in wraps(evidence):
        examples.update(taint.examples)
        for (origin, index), lanes in taint.reached.items():
            argument = evidence.owner(evidence.ops[index])
            by_place.setdefault((origin, "" if argument is None else argument.name), LaneTally()).join(lanes)
    for (origin, name), tally in sorted(by_place.items(), key=lambda place: place[0]):
        lanes_there, count = tally.listed(), tally.count
        number = int(lanes_there.program[0])
        shown = examples.get((origin, number)) or next(each for (op, _unused), each in examples.items() if op == origin)
        op = evidence.ops[origin]
        found = finding(
            launch,
            OverflowRule.kind,
            _("in {program}, {words} {exact} does not fit int{bits} and becomes {wrapped}{others}").format(
                program=messages.program(number, launch.grid),
                words=shown.words,
                exact=shown.exact,
                bits=shown.bits,
                wrapped=shown.wrapped,
                others=others(count),
            ),
            _mend(op, op.index in evidence.once(stored_suspects)),
            op=op,
            argument=launch.argument(name) if name else None,
            lanes=lanes_there,
            count=count,
            where=tally.where,
        )
        wrapped_in = [examples.get((origin, number), shown).wrapped for number in found.programs.tolist()]
        yield replace(found, values=np.array(wrapped_in, np.int64))


def _mend(op: Op, stored: bool) -> str:
    if op.regions:
        return translated(_MEND_SUM)
    if stored:
        return translated(_MEND_STORED)
    return translated(_MEND_NARROWING) if op.name == "arith.trunci" else translated(_MEND)


def _narrow(evidence: Evidence) -> Iterator[Finding]:
    """One finding for each operation that wraps."""
    launch = evidence.launch
    if launch.snapshot is None:
        return
    looked = narrow_wraps(evidence)
    for index, tally in sorted(looked.found.items()):
        op = evidence.ops[index]
        lanes, count = tally.listed(), tally.count
        text, shape = looked.examples[index]
        program = messages.program(int(lanes.program[0]), launch.grid)
        lane = messages.lane(int(lanes.lane[0]), shape)
        who = _("{lane} of {program}").format(lane=lane, program=program) if lane else program
        yield finding(
            launch,
            OverflowRule.kind,
            _("in {who}, {text}{others}").format(who=who, text=text, others=others(count)),
            translated(_MEND_NARROW_FLOAT) if op.name in CASTS else translated(_MEND_NARROW),
            op=op,
            lanes=lanes,
            count=count,
            ends=stored_from(evidence, op, tally.where),
        )
