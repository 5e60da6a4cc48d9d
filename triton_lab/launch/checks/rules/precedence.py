"""Finds comparisons in the kernel whose operator precedence in Python differs from how they look."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from triton_lab.backend.source.kernel_source import KernelSource
from triton_lab.backend.source.operator_precedence import places
from triton_lab.launch.checks.analysis.finding_text import named_file
from triton_lab.launch.diagnosis.finding import Finding

if TYPE_CHECKING:
    from triton_lab.launch.recording.launch_record import Recorded


def check(launch: Recorded, known: Iterable[Finding]) -> Iterator[Finding]:
    """One finding for each place, except those that the advice of ``known`` findings already names."""
    if launch.compiled[0] is None:  # a launch that was loaded from a file, with its findings
        return
    hints = [one.hint for one in known]
    written = KernelSource(launch.compiled[0].fn, launch.executable.plan)
    for place, one in places(written):
        if not any(str(one) in hint for hint in hints):
            yield Finding(
                "precedence",
                one.message,
                one.hint,
                line=place.line,
                column=place.column,
                excerpt=tuple(written.excerpt(place)),
                kernel=launch.kernel,
                file=named_file(launch, place.file),
            )
