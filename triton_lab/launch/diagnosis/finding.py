"""What is wrong, or noteworthy, about a launch."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, SupportsIndex, overload

import numpy as np
from numpy.typing import NDArray

from triton_lab import messages

# So many different values a finding shows as text.
SHOWN = 4
# The extent of a finding has so many stretches at most: 16 MB; where a number ends, so many elements.
MOST_STRETCHES = 1 << 20
MOST_ENDS = 1 << 20

# The gravest first.
SEVERITIES = ERROR, WARNING, NOTE = "error", "warning", "note"

SEVERITY = {
    "out-of-bounds": ERROR,
    "null-pointer": ERROR,
    "misaligned": ERROR,
    "race": ERROR,
    "lane-collision": ERROR,
    "uninitialized": ERROR,
    "deadlock": ERROR,
    "assertion": ERROR,
    "same-value": WARNING,
    "lane-order": WARNING,
    "overflow": WARNING,
    "non-finite": WARNING,
    "lost-precision": WARNING,
    "lossy-store": WARNING,
    "undefined": WARNING,
    "lost-result": WARNING,
    "precedence": WARNING,
    "outside-view": NOTE,
    "alias": NOTE,
    "idle-program": NOTE,
    "always-true-mask": NOTE,
    "standing-load": NOTE,
    "unverified": NOTE,
    "unwritten": NOTE,
}


def gravest(severities: Mapping[str, int]) -> str | None:
    """Of how many findings there are of each severity, the gravest that there is."""
    return next((one for one in SEVERITIES if severities.get(one)), None)


def counted(severities: Mapping[str, int]) -> str:
    """The same in words, ``1 error, 2 notes``; "" where there are none."""
    return ", ".join(messages.count(severities[one], one) for one in SEVERITIES if severities.get(one))


def _none() -> NDArray[Any]:
    return np.empty(0, np.int64)


def _nowhere() -> NDArray[Any]:
    return np.empty((0, 2), np.int64)


@dataclass(frozen=True)
class Edit:
    """A line of the kernel, as the editor counts, and what to write in its place."""

    line: int
    before: str
    after: str


@dataclass(frozen=True)
class Fix:
    """Edits that mend a launch: it was run with them, on copies, and nothing was found wrong any more.

    ``condition`` is what the first of them asks of the lanes that it lets through, and ``kept_out`` how many lanes of
    the access it held back when it was tried.
    """

    edits: tuple[Edit, ...]
    condition: str = ""
    kept_out: int = 0

    def __str__(self) -> str:
        return "\n".join(f"line {edit.line}: {edit.before.strip()}\n  -> {edit.after.strip()}" for edit in self.edits)


@dataclass(frozen=True, eq=False)
class Finding:
    """One kind of thing at one operation and argument.

    ``count`` lanes are concerned. ``programs`` (linear numbers), ``lanes`` (row-major in the
    block) and ``elements`` (of the argument, in the storage's order from its first element) list
    the first 100 of them, ``events`` the launch's event that each belongs to (-1: not known) and
    ``values`` what each of them loaded, stored or, as an atomic, brought along. Of an overflow they
    are the wrapped numbers. An access that was stopped has none: what is wrong there is the offset,
    which is in ``elements``. ``hint`` is one sentence on what to do. ``stopped``: the
    launch went no further, and its error tells of the same. ``fix`` are edits of the kernel that mend it, tried
    before they are offered; None where nothing simple does. ``orders`` says what a race leaves, whoever comes last.
    ``ends``: of what is wrong with a number in no argument's memory, the arguments it was stored to, and in which of
    their elements, a million at most.
    ``extent``, (stretches, 2): all elements of the argument that are concerned, not the first alone, counted as in
    ``elements``: each stretch from its first number up to, and without, its second; they ascend and do not touch. It
    has none where a check does not know them, or where there would be more than a million.
    ``file``: whose line ``line`` is, where that is a notebook's cell or another file than the kernel's.

    >>> with lab.record() as launches:
    ...     total = add(torch.empty(1000), y)
    >>> found = launches[0].findings[0]
    >>> found.kind, found.severity, found.argument, found.count
    ('uninitialized', 'error', 'x_ptr', 1000)
    >>> found.programs[:3], found.lanes[:3]
    (array([0, 0, 0]), array([0, 1, 2]))
    >>> found.hint
    'Make the tensor with torch.zeros, or fill it, or mask the lanes that nobody has written.'
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
    # The operation, by its number in the plan: two of them may stand at one place.
    op: int | None = field(default=None, repr=False)

    @property
    def where(self) -> str:
        """Where ``line`` is, for a reader: ``this cell, line 5``, or ``line 5`` of a kernel that is in a real file."""
        if self.line is None:
            return ""
        return messages.place(self.file, self.line) if self.file else f"line {self.line}"

    @property
    def severity(self) -> str:
        """``error``, ``warning`` or ``note``."""
        return SEVERITY[self.kind]

    @property
    def fingerprint(self) -> str:
        """Sixteen hexadecimal digits that stay the same while code around the finding changes.

        Of the kind, the kernel, the argument and the text of the source's line, but not its number or how it is
        spaced: what a list of known findings keeps, and what tells a code host that a finding is an old one. Findings
        of one kind at equal lines of one kernel share it.
        """
        text = " ".join(self.excerpt[0].split()) if self.excerpt else ""
        said = json.dumps([self.kind, self.kernel, self.argument or "", text])
        return hashlib.sha256(said.encode()).hexdigest()[:16]

    @property
    def values_text(self) -> str:
        """The first few different values, ``1.0, 2.0, ...``; of a race they may differ from run to run."""
        texts = list(dict.fromkeys(str(value) for value in self.values.tolist()))
        return ", ".join(texts[:SHOWN]) + (", ..." if len(texts) > SHOWN else "")

    def __str__(self) -> str:
        where = f"{self.where}: " if self.where else ""
        values = [f"  values: {self.values_text}"] if self.values.size else []
        more = [f"  {line}" for line in (*self.orders, self.hint, *self.fix_lines)]
        return "\n".join([f"{self.severity}: {where}{self.message}", *self.excerpt, *values, *more])

    @property
    def fix_lines(self) -> list[str]:
        """The fix in words, line by line; none where there is none."""
        return [] if self.fix is None else ["A fix, tried on copies:", *str(self.fix).split("\n")]

    def _repr_html_(self) -> str:
        return FindingList([self])._repr_html_()


class FindingList(list[Finding]):
    """A list of `Finding`; printed, or the last value of a cell, it says what each is and what to do."""

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
        from triton_lab.views.launch.card.findings_text import findings_html

        return findings_html(self)


def place_of(finding: Finding, file: str, first: int) -> tuple[str, int]:
    """File and line, of a kernel that begins at ``file:first``: there where the finding has no line of its own."""
    return finding.file or file, first if finding.line is None else finding.line
