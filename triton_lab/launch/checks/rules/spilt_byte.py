"""Bytes that a GPU makes of two floats in one register, where the first does not fit and changes the second."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from triton_lab import messages
from triton_lab.launch.checks.analysis.byte_pairs import byte_watcher, changed_bytes
from triton_lab.launch.checks.analysis.evidence import Evidence
from triton_lab.launch.checks.analysis.finding_text import finding, others
from triton_lab.launch.checks.analysis.stored_lanes import stored_from
from triton_lab.launch.checks.rule import Concerned, Rule
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.launch.diagnosis.severity import WARNING
from triton_lab.launch.recording.watcher import Watcher
from triton_lab.localization import N_, _, translated

_MEND = N_("Clamp the value before the conversion: tl.clamp(x, 0.0, 255.0).")


class SpiltByteRule(Rule):
    """A float that does not fit `tl.uint8` changes the byte of the lane after it on a GPU."""

    kind = "spilt-byte"
    severity = WARNING
    subject = N_("bytes that a GPU makes of two floats")
    summary = N_("A float that does not fit tl.uint8 changes the byte of the lane after it on a GPU.")
    why = N_(
        "A thread of sm_90 converts two neighbouring floats to 16 bits each and puts both into one register, without "
        "cutting off the upper bits of the first. So a number above 255 also changes the byte of its neighbour, whose "
        "own number is right: 918.1 and 5.0 become 150 and 7. On the CPU the neighbour stays."
    )
    remedy = N_("Clamp before the conversion: `tl.clamp(x, 0.0, 255.0)`, or `.to(tl.int32) & 255` if it should wrap.")
    intended = N_("If the bytes after numbers above 255 do not matter.")
    blind = N_(
        "Which lanes share a register is decided by layouts that the compiler chooses. Here these are neighbours along "
        "the last axis, if the block has two elements or more for each thread."
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
        return {self.kind: byte_watcher(evidence)}
