"""Bytes that a GPU makes of two floats in one register, where the first does not fit and changes the second.

On sm_90 a thread converts two neighbouring floats to 16 bits each, shifts the second by 8, and joins the two without a
mask: ``cvt.rzi.u16.f32`` twice, ``shl.b16``, ``or.b16``. So the upper bits of a first number above 255 are added to the
byte of the second. Which lanes are pairs depends on the layout; the compiler gives a thread neighbours along the last
axis if the block has at least two elements for each thread.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from triton_lab import messages
from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.runtime_values import Value
from triton_lab.interpreter.variants.arithmetic_variants import cast_in_pairs
from triton_lab.ir import Op, Type, traits
from triton_lab.launch.checks.analysis.evidence import Evidence, EvidenceLanes
from triton_lab.launch.checks.analysis.finding_text import LaneTally, finding, others
from triton_lab.launch.checks.analysis.stored_lanes import stored_from
from triton_lab.launch.checks.rule import Concerned, Rule
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.launch.diagnosis.severity import WARNING
from triton_lab.launch.recording.watcher import Watcher
from triton_lab.launch.replay.replay_run import replay
from triton_lab.localization import N_, _, translated

_WARP = 32  # threads
_WARPS = 4  # Triton's default
# Casts of floats to unsigned integers.
_CASTS = traits.names(lambda trait: trait.makes == "integer" and trait.signed is False)
_MEND = N_("Clamp the value before the conversion: tl.clamp(x, 0.0, 255.0).")


class SpiltByteRule(Rule):
    """A float that does not fit `tl.uint8` changes the byte of the lane after it on a GPU."""

    kind = "spilt-byte"
    severity = WARNING
    subject = N_("bytes that a GPU makes of two floats")
    summary = N_("A float that does not fit tl.uint8 changes the byte of the lane after it on a GPU.")
    why = N_(
        "A thread of sm_90 converts two neighbouring floats to 16 bits each and puts both into one register, without "
        "cutting off the upper bits of the first. A number above 255 also changes the byte of its neighbour: "
        "918.1 and 5.0 become 150 and 7. On the CPU the neighbour keeps its value."
    )
    remedy = N_("Clamp before the conversion: `tl.clamp(x, 0.0, 255.0)`, or `.to(tl.int32) & 255` if it should wrap.")
    intended = N_("If the bytes after numbers above 255 do not matter.")
    blind = N_(
        "The compiler's layouts decide which lanes share a register. Here they are taken to be neighbours along the "
        "last axis, if the block has two elements or more for each thread."
    )
    concerned = Concerned.ONE
    mark = N_("bytes that a GPU changes")

    def check(self, evidence: Evidence, found: Sequence[Finding]) -> Iterator[Finding]:
        """One finding for each conversion with such bytes."""
        launch = evidence.launch
        if launch.snapshot is None:
            return
        text = _(
            "in {lane} of {program}, {byte} becomes {changed} on a GPU, as {first} in the lane before does not fit "
            "uint8{others}"
        )
        looked = changed_bytes(evidence)
        if looked is None:
            return
        for index, tally in sorted(looked.found.items()):
            op, one = evidence.ops[index], looked.examples[index]
            lanes, count = tally.listed(), tally.count
            yield finding(
                launch,
                self.kind,
                text.format(
                    lane=messages.lane(int(lanes.lane[0]), one.shape),
                    program=messages.program(int(lanes.program[0]), launch.grid),
                    byte=one.byte,
                    changed=one.changed,
                    first=f"{one.first:g}",
                    others=others(count),
                ),
                translated(_MEND),
                op=op,
                lanes=lanes,
                count=count,
                ends=stored_from(evidence, op, tally.where),
            )

    def watchers(self, evidence: Evidence) -> Mapping[str, Watcher | None]:
        """One if threads convert two floats to unsigned bytes."""
        return {self.kind: _byte_watcher(evidence)}


@dataclass(frozen=True)
class ChangedByte:
    """The first byte of an operation that a GPU changes.

    ``shape`` is that of its block. ``first`` is the float in the lane before it, which does not fit. ``byte`` is what
    the CPU makes of the lane's own float, and ``changed`` is what a GPU makes of it.
    """

    shape: tuple[int, ...]
    first: float
    byte: int
    changed: int


class BytePairs(Watcher):
    """Finds changed bytes in the results of the operations ``suspects`` (by index): ``found``, with ``examples``."""

    def __init__(self, suspects: frozenset[int]) -> None:
        self.suspects = suspects
        self.found: dict[int, LaneTally] = {}
        self.examples: dict[int, ChangedByte] = {}

    def after(self, frame: Frame, op: Op, operands: Sequence[Value], result: Any) -> None:
        if op.index not in self.suspects:
            return
        shape = frame.result_type(op).shape
        given = np.broadcast_to(frame.spread(op, 0, operands[0]), (frame.count, *shape))
        if not (given[..., ::2] >= 256).any():
            return
        casts = cast_in_pairs(frame, op, operands[0])
        alone, paired = (np.broadcast_to(one, given.shape).view(np.uint8).reshape(-1) for one in casts)
        chosen = np.flatnonzero(alone != paired)
        if not len(chosen):
            return
        at = int(chosen[0])
        one = ChangedByte(shape, float(given.reshape(-1)[at - 1]), int(alone[at]), int(paired[at]))
        self.examples.setdefault(op.index, one)
        size = int(np.prod(shape))
        programs, lane = frame.programs[chosen // size], chosen % size
        # The lanes have no addresses: they are numbered over all programs, as `stored_from` needs.
        lanes = EvidenceLanes.timeless(programs, lane, programs * size + lane)
        self.found.setdefault(op.index, LaneTally(1)).add(lanes)


def _byte_watcher(evidence: Evidence) -> BytePairs | None:
    """The watcher for the running launch; None if no thread casts two floats to unsigned bytes."""
    suspects = frozenset(_suspects(evidence))
    return BytePairs(suspects) if suspects else None


def changed_bytes(evidence: Evidence) -> BytePairs | None:
    """The watcher after the launch, or after a replay; None as for `byte_watcher`. Raises CannotReplay."""
    seen = evidence.launch.watched.get("spilt-byte")
    if isinstance(seen, BytePairs):
        return seen
    looked = _byte_watcher(evidence)
    if looked is not None:
        replay(evidence.launch, observer=looked)
    return looked


def _suspects(evidence: Evidence) -> Iterator[int]:
    warps = getattr(evidence.launch.compiled[1], "num_warps", _WARPS)
    for function in evidence.launch.executable.plan.functions.values():
        for op in function.walk():
            if op.name in _CASTS and _pairs(function.types[op.results[0]], warps):
                yield op.index


def _pairs(type: Type, warps: int) -> bool:
    """Whether each thread holds at least two neighbouring bytes of a block of this type."""
    return type.bits == 8 and bool(type.shape) and type.shape[-1] % 2 == 0 and type.size >= 2 * _WARP * warps
