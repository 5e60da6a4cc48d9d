"""A mistake as learners make it, and what the picture of it must show: known from the code, not from our checks.

A mistake is a cell: a kernel and the lines that launch it, with nothing from outside but `torch`, `triton` and `tl`.
The line where it shows carries the comment `# BUG`.
"""

from __future__ import annotations

import inspect
import itertools
import re
import textwrap
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

# A place in an argument: its index, which of a stray lane lies outside of the shape.
Place = tuple[int, ...]
HEAD = "import torch, triton, triton.language as tl"


@dataclass(frozen=True)
class Mistake:
    """`run` launches `kernel` once, on fresh tensors.

    The picture shows `kind` of finding at the `places` of `argument`, or where it `ends` if it is in no argument, and
    `programs` (linear numbers; None where it is chance who is told of) with it, on a line that is marked. `says` is
    what must be read beside it. Where both are None, no argument is to blame, and words must do; "refused" is a kernel
    that Triton does not compile.
    """

    name: str
    why: str
    run: Callable[[], None]
    kernel: Any
    kind: str
    argument: str | None
    places: frozenset[Place]
    programs: frozenset[int] | None
    says: str
    ends: str | None = None

    @property
    def drawn(self) -> str | None:
        """The argument whose picture shows it."""
        return self.argument or self.ends

    @property
    def lines(self) -> set[int]:
        """The marked lines, as the file counts."""
        found = set()
        for part in (self.kernel.fn, self.run):
            text, first = inspect.getsourcelines(part)
            found |= {first + k for k, line in enumerate(text) if "# BUG" in line}
        return found

    @property
    def cell(self) -> str:
        """The same as a cell of a notebook."""
        body = inspect.getsource(self.run).split('"""\n', 1)[1]
        marked = f"{inspect.getsource(self.kernel.fn)}\n{textwrap.dedent(body)}".rstrip()
        return f"%%triton cpu\n{HEAD}\n\n" + re.sub("  # (BUG|noqa).*", "", marked)


def mistake(
    kernel: Any,
    kind: str,
    argument: str | None = None,
    places: Iterable[Place | int] = (),
    programs: Iterable[int] | None = None,
    says: str = "",
    ends: str | None = None,
) -> Callable[[Callable[[], None]], Mistake]:
    """Makes a `Mistake` of the function below it; the function's docstring says what somebody thought, or forgot."""

    def make(run: Callable[[], None]) -> Mistake:
        at = frozenset((place,) if isinstance(place, int) else place for place in places)
        which = None if programs is None else frozenset(programs)
        return Mistake(run.__name__, inspect.getdoc(run) or "", run, kernel, kind, argument, at, which, says, ends)

    return make


def box(*sides: Iterable[int]) -> list[Place]:
    """The places of all rows and columns named."""
    return list(itertools.product(*sides))
