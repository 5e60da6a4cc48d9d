"""Runs what was proved: `python -m tests.polyhedral.proofs.soundness` tries 200 sizes for each kernel of the examples.

An access that is proved in bounds must not fail at any of them.
"""

from __future__ import annotations

import itertools
import random
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import triton_lab as lab
from triton_lab.examples import Example, all_examples
from triton_lab.polyhedral.proofs.proof import PROVED
from triton_lab.polyhedral.proofs.proof_model import ProofModel
from triton_lab.polyhedral.proofs.prove import most_proved, stored_to
from triton_lab.polyhedral.proofs.sized_launch import launch_at
from triton_lab.polyhedral.proofs.suggested_assumptions import suggested

SMALL = 4


@dataclass(frozen=True)
class Tried:
    """How many launches ran, and those that failed at an access that is proved: sizes and line."""

    kernel: str
    ran: int
    wrong: list[tuple[dict[str, int], int | None]]


def kernels(example: Example) -> Iterator[Any]:
    """One launch of each kernel of an example."""
    with lab.record() as launches:
        example.run(**example.inputs("small", 0, "cpu"))
    yield from {launch.kernel: launch for launch in reversed(launches)}.values()


def tried(launch: Any, number: int, seconds: float) -> Tried:
    """``number`` launches with small and random sizes of what `lab.prove` proves of this one."""
    _sizes, model, accesses, _doubtful = most_proved(launch, (), suggested([launch], stored_to(launch), True), True)
    proved = {(one.line, one.column) for one in accesses if one.outcome == PROVED}
    end, ran, wrong = time.monotonic() + seconds, 0, []
    for values in itertools.islice(_values(model), 50 * number):
        if time.monotonic() > end or ran >= number:
            break
        found = launch_at(model, values)
        if found is None:
            continue
        ran += 1
        fault = getattr(found.error, "fault", None)
        place = None if fault is None else found.lines.get(found.error.op.index)
        strays = place is not None and fault.kind in ("out-of-bounds", "null-pointer")
        if strays and (place.line, place.column) in proved:
            wrong.append((values, place.line))
    return Tried(launch.kernel, ran, wrong)


def _values(model: ProofModel) -> Iterator[dict[str, int]]:
    free = sorted(model.sizes.free)
    if len(free) <= 2:
        for small in itertools.product(range(SMALL), repeat=len(free)):
            yield dict(zip(free, small, strict=True))
    rng = random.Random(0)
    while True:
        most = rng.choice([2, 5, 20, 150])
        chosen = {name: rng.randint(0, most) for name in free if "stride" not in name}
        # Rows that do not overlap are assumed of outputs: half of the tensors have as much room as they may need.
        wide = max([40, *chosen.values()]) ** rng.choice([1, 1, 2])
        yield chosen | {
            name: wide if rng.random() < 0.5 else wide + rng.randint(0, most) for name in free if "stride" in name
        }


def main() -> None:
    total = wrong = 0
    for example in all_examples():
        for launch in kernels(example):
            found = tried(launch, 200, 120.0)
            total, wrong = total + found.ran, wrong + len(found.wrong)
            print(
                f"{example.name:<20} {found.kernel:<28} {found.ran:>4} launches, {len(found.wrong)} wrong", flush=True
            )
    print(f"{total} launches, {wrong} wrong")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
