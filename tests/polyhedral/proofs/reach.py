"""How many accesses of kernels are decided: `python -m tests.polyhedral.proofs.reach [SECONDS]` writes docs/proofs.md.

SECONDS limits each library: what its calls after that launch is not counted.

The kernels are those of the examples, and those of public libraries that are installed beside this project or found on
PYTHONPATH (`library_calls`): nothing is fetched. Without a GPU, flag_gems is imported only with GEMS_VENDOR=nvidia.
"""

from __future__ import annotations

import contextlib
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

import torch

import triton_lab as lab
from tests.polyhedral.proofs.library_calls import LIBRARIES
from tests.polyhedral.proofs.soundness import kernels
from triton_lab.examples import all_examples
from triton_lab.polyhedral.proofs.proof import PROVED, REFUTED, UNKNOWN, Proof
from triton_lab.testing.cuda_on_cpu import in_place_of_a_gpu

PAGE = Path(__file__).parents[3] / "docs" / "proofs.md"
HEAD = """# How far proofs reach

`python -m tests.polyhedral.proofs.reach` proves one launch of each kernel with [`lab.prove`](how-to/proofs.md), without
further assumptions and within three seconds of the processor, the usual bound, and counts the accesses. On a slow
machine more is not known. An access is decided if it is
proved in bounds for every size, or refuted by a launch that failed. `python -m tests.polyhedral.proofs.soundness` then
runs what was proved at 200 sizes of each kernel of the examples.
"""


@dataclass
class Reach:
    """The accesses of some kernels by outcome, and the reasons for what is not known."""

    outcomes: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    rows: list[str] = field(default_factory=list)
    failed: int = 0

    def add(self, name: str, proof: Proof) -> None:
        """Count the accesses of one kernel."""
        own = Counter(one.outcome for one in proof.accesses)
        self.outcomes += own
        reasons = list(dict.fromkeys(one.reason for one in proof.accesses if one.outcome == UNKNOWN))
        self.reasons.update(_short(one.reason) for one in proof.accesses if one.outcome == UNKNOWN)
        self.rows.append(
            f"| {name} | `{proof.kernel}` | {len(proof.accesses)} | {own[PROVED]} | {own[REFUTED]} | {own[UNKNOWN]} "
            f"| {'; '.join(reasons)} |"
        )

    @property
    def share(self) -> str:
        """How many accesses are decided, in percent."""
        total = sum(self.outcomes.values())
        return f"{100 * (total - self.outcomes[UNKNOWN]) / max(1, total):.0f} %"


def _short(reason: str) -> str:
    """The reason without the names of sizes, lines and tensors."""
    for mark in (" (line", " for all values", ": ", ". "):
        reason = reason.partition(mark)[0]
    return reason


def examples() -> Reach:
    """The examples' kernels."""
    found, seen = Reach(), set[str]()
    for example in all_examples():
        for launch in kernels(example):
            if launch.kernel not in seen:
                seen.add(launch.kernel)
                found.add(example.name, lab.prove(launch))
    return found


def library(calls: Mapping[str, Callable[[], Any]], seconds: float) -> Reach:
    """The kernels that these calls launch, forward and backward; calls after ``seconds`` are left out."""
    found, seen = Reach(), set[tuple[str, str]]()
    end = time.monotonic() + seconds
    for name, call in calls.items():
        if time.monotonic() > end:
            break
        torch.manual_seed(0)
        with warnings.catch_warnings(), in_place_of_a_gpu():
            warnings.simplefilter("ignore")
            made: list[Any] = []
            with contextlib.suppress(Exception), lab.record() as launches:  # what a library cannot do here
                made = launches
                _both_ways(call())
            for launch in made:
                if (launch.kernel, launch.file) not in seen:
                    seen.add((launch.kernel, launch.file))
                    found.add(name, lab.prove(launch, refute=False))
    return found


def _both_ways(result: Any) -> None:
    outputs = result if isinstance(result, tuple) else (result,)
    grads = [one for one in outputs if isinstance(one, torch.Tensor) and one.requires_grad]
    if grads:
        torch.autograd.backward(grads, [torch.ones_like(one) for one in grads])


def _page(seconds: float) -> Iterator[str]:
    yield HEAD
    own = examples()
    yield f"## The examples\n\n{_summary(own)}\n"
    yield "| example | kernel | accesses | in bounds | out of bounds | not known | reasons |\n" + 7 * "|---" + "|"
    yield "\n".join(own.rows) + "\n"
    yield "## Public libraries\n"
    yield f"Calls of a library that begin after {seconds:g} seconds are left out; nothing is refuted here.\n"
    yield "| library | version | kernels | accesses | in bounds | not known | decided | most frequent reasons |"
    yield "|---|---|---|---|---|---|---|---|"
    open_rows: list[str] = []
    for name, calls in LIBRARIES.items():
        try:
            version = metadata.version(name)
        except metadata.PackageNotFoundError:
            yield f"| {name} | not installed | | | | | | |"
            continue
        found = library(calls(), seconds)
        if not found.rows:
            yield f"| {name} | {version} | 0: it cannot be imported on this machine | | | | | |"
            continue
        reasons = "; ".join(f"{reason} ({number})" for reason, number in found.reasons.most_common(3))
        open_rows += [f"| {name} {row}" for row in found.rows if not row.endswith("|  |")]
        total = sum(found.outcomes.values())
        yield (
            f"| {name} | {version} | {len(found.rows)} | {total} | {found.outcomes[PROVED]} "
            f"| {found.outcomes[UNKNOWN]} | {found.share} | {reasons} |"
        )
    yield "\nThe kernels of these with an access that is not known:\n"
    yield (
        "| library | call | kernel | accesses | in bounds | out of bounds | not known | reasons |\n" + 8 * "|---" + "|"
    )
    yield from open_rows


def _summary(found: Reach) -> str:
    total = sum(found.outcomes.values())
    return f"Of {total} accesses {total - found.outcomes[UNKNOWN]} are decided ({found.share})."


if __name__ == "__main__":
    PAGE.write_text("\n".join(_page(float(sys.argv[1]) if len(sys.argv) > 1 else 900.0)) + "\n", encoding="utf-8")
