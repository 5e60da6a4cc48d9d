"""`Finding`: one thing that is wrong or noteworthy about a launch."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, SupportsIndex, overload

import numpy as np
from numpy.typing import NDArray

from triton_lab import messages
from triton_lab.localization import _
from triton_lab.providers import provided

# How many different values a finding shows as text.
SHOWN = 4
# The most stretches in a finding's extent (16 MB), and the most elements in its ``ends``.
MOST_STRETCHES = 1 << 20
MOST_ENDS = 1 << 20


def _none() -> NDArray[Any]:
    return np.empty(0, np.int64)


def _nowhere() -> NDArray[Any]:
    return np.empty((0, 2), np.int64)


@dataclass(frozen=True)
class Edit:
    """A line of the kernel, numbered as the editor counts, with its text before and after the edit."""

    line: int
    before: str
    after: str


@dataclass(frozen=True)
class Fix:
    """Edits that mend a launch: it was run with them on copies, and the checks found nothing wrong.

    ``condition`` is the mask condition that the first edit adds, and ``kept_out`` how many lanes of the access it
    masked off when it was tried.
    """

    edits: tuple[Edit, ...]
    condition: str = ""
    kept_out: int = 0

    def __str__(self) -> str:
        return "\n".join(f"line {edit.line}: {edit.before.strip()}\n  -> {edit.after.strip()}" for edit in self.edits)


@dataclass(frozen=True, eq=False)
class Finding:
    """One kind of problem at one operation and argument.

    ``count`` is the number of affected lanes. These fields describe the first 100 of them: ``programs`` (linear
    numbers), ``lanes`` (row-major in the block), ``elements`` (of the argument, in storage order from its first
    element), ``events`` (the launch's event of each; -1: not known) and ``values`` (what each loaded, stored, or
    combined as an atomic; for an overflow the wrapped numbers). An access that was stopped has no values: its offset is
    wrong, and is in ``elements``.
    ``hint`` is one sentence on what to do. ``stopped`` means that the launch stopped here, with an error that says the
    same. ``fix`` is a `Fix` that was tried; None if no simple one works. ``orders`` says what a race leaves in memory,
    for each program that may come last.
    ``ends``: for a wrong value that is in no argument's memory, the arguments and elements to which it was stored, at
    most a million elements.
    ``extent``, (stretches, 2): all affected elements of the argument, counted as in ``elements``. A stretch goes from
    its first number up to, but without, its second; stretches ascend and do not touch. Without an argument, they are
    of programs. It is empty if the check does not know them, or if there would be more than a million.
    ``file``: the file of ``line``, if that is a notebook cell or another file than the kernel's.

    >>> with lab.record() as launches:
    ...     total = add(torch.empty(1000), y)
    >>> found = launches[0].findings[0]
    >>> found.kind, found.severity, found.argument, found.count
    ('uninitialized', 'error', 'x_ptr', 1000)
    >>> found.programs[:3], found.lanes[:3]
    (array([0, 0, 0]), array([0, 1, 2]))
    >>> found.hint
    'Create the tensor with torch.zeros, fill it first, or mask off the lanes that were never written.'
    """

    kind: str
    message: str
    hint: str
    line: int | None = None
    column: int | None = None
    argument: str | None = None
    count: int = 0
    programs: NDArray[Any] = field(default_factory=_none)
    lanes: NDArray[Any] = field(default_factory=_none)
    elements: NDArray[Any] = field(default_factory=_none)
    events: NDArray[Any] = field(default_factory=_none, repr=False)
    values: NDArray[Any] = field(default_factory=_none)
    excerpt: tuple[str, ...] = ()
    kernel: str = ""
    stopped: bool = False
    fix: Fix | None = None
    orders: tuple[str, ...] = ()
    file: str = ""
    ends: tuple[tuple[str, NDArray[Any]], ...] = field(default=(), repr=False)
    extent: NDArray[Any] = field(default_factory=_nowhere, repr=False)
    # The operation's number in the plan, since two operations may have the same source location.
    op: int | None = field(default=None, repr=False)

    @property
    def where(self) -> str:
        """The place of ``line`` as text: ``this cell, line 5``, or ``line 5`` if the kernel is in a real file."""
        if self.line is None:
            return ""
        return messages.place(self.file, self.line) if self.file else _("line {number}").format(number=self.line)

    @property
    def severity(self) -> str:
        """``error``, ``warning`` or ``note``."""
        from triton_lab.launch.checks.rule import rules

        return rules()[self.kind].severity

    @property
    def fingerprint(self) -> str:
        """Sixteen hexadecimal digits that stay the same when code around the finding changes.

        A hash of the kind, the kernel, the argument and the text of the source line, without its number or spacing.
        Lists of known findings store it, and code hosts recognise old findings by it. Findings of one kind at equal
        lines of one kernel share it.
        """
        text = " ".join(self.excerpt[0].split()) if self.excerpt else ""
        said = json.dumps([self.kind, self.kernel, self.argument or "", text])
        return hashlib.sha256(said.encode()).hexdigest()[:16]

    @property
    def values_text(self) -> str:
        """The first few different values, ``1.0, 2.0, ...``; for a race they may differ between runs."""
        texts = list(dict.fromkeys(str(value) for value in self.values.tolist()))
        return ", ".join(texts[:SHOWN]) + (", ..." if len(texts) > SHOWN else "")

    def __repr__(self) -> str:
        """One line: the severity, the kind, the place and the message."""
        where = f", {self.where}" if self.where else ""
        return f"<{self.severity} {self.kind}{where}: {self.message}>"

    def __str__(self) -> str:
        where = f"{self.where}: " if self.where else ""
        values = ["  " + _("values: {values}").format(values=self.values_text)] if self.values.size else []
        more = [f"  {line}" for line in (*self.orders, self.hint, *self.fix_lines)]
        return "\n".join([f"{messages.noun(1, self.severity)}: {where}{self.message}", *self.excerpt, *values, *more])

    @property
    def fix_lines(self) -> list[str]:
        """The fix as lines of text; empty without a fix."""
        return [] if self.fix is None else [_("A fix, tried on copies:"), *str(self.fix).split("\n")]

    def _repr_html_(self) -> str:
        return FindingList([self])._repr_html_()


class FindingList(list[Finding]):
    """A list of `Finding`. Printed, or as the last value of a cell, it explains each and says what to do."""

    def __init__(self, findings: Iterable[Finding] = ()) -> None:
        super().__init__(findings)

    @overload
    def __getitem__(self, index: SupportsIndex) -> Finding: ...
    @overload
    def __getitem__(self, index: slice) -> FindingList: ...
    def __getitem__(self, index: SupportsIndex | slice) -> Finding | FindingList:
        if isinstance(index, slice):
            return FindingList(super().__getitem__(index))
        return super().__getitem__(index)

    def __repr__(self) -> str:
        return "\n".join(map(str, self)) if self else "no findings"

    def _repr_html_(self) -> str:
        return str(provided("FindingList.html")(self))


def place_of(finding: Finding, file: str, first: int) -> tuple[str, int]:
    """The finding's file and line; by default the kernel's start, ``file`` and ``first``."""
    return finding.file or file, first if finding.line is None else finding.line
