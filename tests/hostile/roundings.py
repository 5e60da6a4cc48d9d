"""Random kernels: differences of one unit, which are no rounding, and other roundings, which are no difference.

Each is compared twice: with another run of the same kernel, and with what other roundings of its operations give.
"""

from __future__ import annotations

from collections.abc import Iterator

from tests.hostile.outcome import Try
from tests.launch.comparison.random_programs import Counts, tried

PROGRAMS = 300


def tries(seed: int) -> Iterator[Try]:
    """One try for each kernel and each kind of comparison."""
    for number in range(seed * PROGRAMS, (seed + 1) * PROGRAMS):
        for same in (True, False):
            counts = Counts()
            tried(number, counts, same)
            name = f"{number}, {'the same kernel' if same else 'other roundings'}"
            yield Try(name, "wrong" if counts.false or counts.unreached else "survived", counts.seen)
