"""A planted bug: a kernel with one mistake, its mended twin, and what must be found in it.

Each module of this folder may hold some; `planted` finds them.

A kernel holds both: `MENDED` is a constexpr, so one of the two is compiled. Where the mistake is the caller's, the
kernel has no such parameter and the launch differs. The line where the mistake shows carries the comment `# BUG`.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Plant:
    """`run(mended)` launches on fresh tensors; the last launch has the bug, or not.

    Found must be: `kind`, on a line of `source` (a kernel or a helper that it calls) marked `# BUG` - on no line at
    all where none is marked -, at `argument`, in exactly `programs` (linear numbers; None: not said). The page of the
    kind shows the plant that is `shown`, by default the shortest. It is no bug under a Triton that `mends` it.
    """

    name: str
    why: str
    run: Callable[[bool], None]
    source: Any
    kind: str
    argument: str | None
    programs: frozenset[int] | None
    shown: bool = False
    mends: bool = False

    @property
    def lines(self) -> set[int | None]:
        """The marked lines, as the file counts. Two are marked where two operations make the bug together."""
        text, first = inspect.getsourcelines(self.source.fn)
        return {first + k for k, line in enumerate(text) if "# BUG" in line} or {None}


def plant(
    source: Any,
    kind: str,
    argument: str | None = None,
    programs: Iterable[int] | None = None,
    shown: bool = False,
    mends: bool = False,
) -> Callable[[Callable[[bool], None]], Plant]:
    """Makes a `Plant` of the function below it; the function's docstring says what is wrong."""

    def make(run: Callable[[bool], None]) -> Plant:
        which = None if programs is None else frozenset(programs)
        return Plant(run.__name__, inspect.getdoc(run) or "", run, source, kind, argument, which, shown, mends)

    return make


@cache
def planted() -> list[Plant]:
    """The planted bugs of all modules of this folder that are bugs under the installed Triton."""
    return [each for each in every_plant() if not each.mends]


@cache
def every_plant() -> list[Plant]:
    """The planted bugs of all modules of this folder, also those that the installed Triton mends."""
    folder = Path(__file__).parent
    names = [each.name for each in pkgutil.iter_modules([str(folder)]) if not each.name.startswith("test_")]
    beds = [importlib.import_module(f"{__package__}.{name}") for name in names]
    return [each for bed in beds for each in vars(bed).values() if isinstance(each, Plant)]
