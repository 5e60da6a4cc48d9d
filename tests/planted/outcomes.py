"""What becomes of a mutant: what the checks find in it and not in the example, and whether its numbers hold."""

from __future__ import annotations

import contextlib
import functools
import importlib
import signal
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

import triton_lab
from tests.planted.mutants import Mutant
from triton_lab.interpreter.kernel_errors import KernelError

NEAR = 3  # lines between a mistake and a finding that a reader still takes for its place
# From the best to the worst; what is refused, stopped at a time limit, or harmless, no check needs to find.
OUTCOMES = ("found", "elsewhere", "noted", "numbers alone", "harmless", "refused", "endless")
FOUND, NOTED, COUNTED = OUTCOMES[:2], OUTCOMES[:3], OUTCOMES[:4]


@dataclass(frozen=True)
class Outcome:
    """``word`` is one of `OUTCOMES`.

    ``found``: an error or a warning within `NEAR` lines of the mistake; ``elsewhere``: one on another line, as of an
    access whose address the mistake has shifted, or in the kernel of a launcher with a mistake. ``noted``: no more than
    a note that the example has not. ``numbers alone``: nothing of all this, and the example's reference differs.
    """

    word: str
    kinds: tuple[str, ...] = ()
    right: bool = False

    def __str__(self) -> str:
        told = ", ".join(self.kinds)
        return self.word + (f": {told}" if told else "") + (" (right numbers)" if self.right and told else "")


@contextlib.contextmanager
def limited(seconds: int) -> Iterator[None]:
    """Raises TimeoutError after so many seconds."""

    def stop(*_: Any) -> None:
        raise TimeoutError

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)


def run(each: Any) -> tuple[Any, str]:
    """The launches of an example, and whether its numbers are right, wrong, or the mutant was refused."""
    launches: Any = ()
    try:
        with triton_lab.record() as launches:
            each.check()
    except AssertionError:
        return launches, "wrong"
    except KernelError:
        return launches, "stopped"
    except TimeoutError:
        return launches, "endless"
    except Exception as error:
        return launches, f"refused ({type(error).__name__})"
    return launches, "right"


def outcome(mutant: Mutant, folder: Path) -> Outcome:
    """What the checks and the numbers say of a mutant, which is built in ``folder``."""
    ends: set[str] = set()
    found: list[Any] = []
    for each in mutant.build(folder).EXAMPLES:
        torch.manual_seed(0)
        with limited(60):
            launches, end = run(each)
            ends.add(end)
            found += [one for launch in launches for one in launch.findings]
    if any(end.startswith("refused") for end in ends):
        return Outcome("refused", tuple(sorted(end for end in ends if end.startswith("refused"))))
    grave = [one for one in found if one.severity in ("error", "warning") or one.kind == "unverified"]
    right = ends == {"right"}
    if grave:
        line = int(mutant.name.split(":")[1])
        near = any(one.line is not None and abs(one.line - line) <= NEAR for one in grave)
        return Outcome("found" if near else "elsewhere", _kinds(grave), right)
    if "endless" in ends:
        return Outcome("endless")
    if right:
        return Outcome("harmless")
    new = [one for one in found if (one.kind, one.line, one.argument) not in _notes(mutant.page)]
    return Outcome("noted" if new else "numbers alone", _kinds(new))


def _kinds(findings: Sequence[Any]) -> tuple[str, ...]:
    return tuple(sorted({one.kind for one in findings}))


@functools.cache
def _notes(page: str) -> set[tuple[Any, ...]]:
    """What is found in the page's examples as they are: notes, by kind, line and argument."""
    found: set[tuple[Any, ...]] = set()
    for each in importlib.import_module(f"triton_lab.examples.{page}").EXAMPLES:
        torch.manual_seed(0)
        launches, _ = run(each)
        found |= {(one.kind, one.line, one.argument) for launch in launches for one in launch.findings}
    return found
