"""What each compiler pass changed: Triton's MLIR passes, one by one, read from the dump that the compiler prints."""

from __future__ import annotations

import difflib
import re
import tempfile
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import SupportsIndex, overload

from triton_lab.compiled import compiler_client
from triton_lab.compiled.compilation_text import aligned, without_places
from triton_lab.compiled.compile_failure import CompileError
from triton_lab.compiled.compiler_client import MAX_BYTES, SECONDS
from triton_lab.compiled.explanations import operation
from triton_lab.compiled.front_end import Request
from triton_lab.localization import _
from triton_lab.messages import count

MOST_BYTES = 128 << 20  # of the compiler's dump
MOST_LINES = 400  # of one pass's diff
COMPARED = 3_000_000  # lines before times lines after; larger modules are not compared line by line
START = "what Triton reads"
_HEAD = re.compile(
    r"^// -----// IR Dump Before (?P<name>\S+?)(?::? ?(?P<argument>[\w-]+)(?:\{.*\})?| \((?P<old>[\w-]+)\))? "
    r"\('(?P<on>[\w.]+)' operation(?:: @[^)]*)?"
)
_TIME = re.compile(r"^ {2,}(\d+\.\d+) \( *[\d.]+%\)(?: +\d+\.\d+ \( *[\d.]+%\))?( +)(\S.*)$")
# The first pass on the way to LLVM IR: it makes branches between blocks of loops.
_LOWERING = "convert-scf-to-cf"
_NUMBERED = re.compile(r"%\d+|%[A-Za-z_]\w*?(?=_\d+\b)_\d+")


@dataclass(frozen=True)
class Pass:
    """One pass: its class's ``name``, its ``argument`` for mlir-opt, and its ``seconds`` (None where not reported).

    ``changed`` says whether the pass changed the module. ``diff`` has the lines that differ, in the format of
    ``diff -u``; numbers of values are ignored, and a long diff is cut. ``ops`` has the counts of operations by name,
    before and after, where they changed. ``module`` is the whole module after the pass, in TTIR or TTGIR, if the pass
    changed it.
    """

    name: str
    argument: str
    seconds: float | None
    changed: bool
    diff: str = field(repr=False, default="")
    ops: dict[str, tuple[int, int]] = field(repr=False, default_factory=dict)
    module: str = field(repr=False, default="")


class Passes(list[Pass]):
    """The passes in the order in which they ran; they print as a table.

    >>> passes = launch.compile("sm_90").passes
    >>> next(one.argument for one in passes if "ttg" in one.diff)
    'convert-triton-to-tritongpu'
    """

    def __init__(self, passes: Iterable[Pass] = (), cut: bool = False) -> None:
        super().__init__(passes)
        self.cut = cut

    @overload
    def __getitem__(self, index: SupportsIndex) -> Pass: ...
    @overload
    def __getitem__(self, index: slice) -> Passes: ...
    def __getitem__(self, index: SupportsIndex | slice) -> Pass | Passes:
        found = super().__getitem__(index)
        return Passes(found, self.cut) if isinstance(found, list) else found

    @property
    def changing(self) -> Passes:
        """The passes that changed the module.

        >>> 0 < len(launch.compile("sm_90").passes.changing) < len(launch.compile("sm_90").passes)
        True
        """
        return Passes([one for one in self if one.changed], self.cut)

    def introduced(self, op: str) -> list[Pass]:
        """The passes that added operations called ``op``. The first entry may be the front end's output, not a pass.

        >>> [one.argument for one in launch.compile("sm_90").passes.introduced("tt.load")]
        ['']
        """
        return [one for one in self if one.ops.get(op, (0, 0))[1] > one.ops.get(op, (0, 0))[0]]

    def __str__(self) -> str:
        rows: list[tuple[str, ...]] = [("", _("pass"), _("time"), _("changed"))]
        for number, one in enumerate(self):
            time = "" if one.seconds is None else f"{one.seconds * 1000:.1f} ms"
            grown = [f"{name} {before} → {after}" for name, (before, after) in one.ops.items()][:4]
            changed = ", ".join(grown) or _("order, attributes or operands") if one.changed else _("nothing")
            rows.append((str(number or ""), one.name, time, changed))
        return "\n".join([*aligned(rows), *([_("the rest was too long")] if self.cut else [])])

    def __repr__(self) -> str:
        return str(self)


def passes_of(request: Request, kernel: str, place: tuple[str, int]) -> Passes:
    """The passes of a kernel that begins at ``place``; implements `Compiled.passes`."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "passes"
        outcome = compiler_client.ask(request, SECONDS, MAX_BYTES, threading.Event(), dump=str(path))
        if outcome.failure:
            told = _("{kernel}: its passes cannot be shown: {failure}").format(kernel=kernel, failure=outcome.failure)
            raise CompileError(told, request.target.name, "llir", place, outcome.said)
        with path.open("rb") as file:
            written = file.read(MOST_BYTES + 1)
    return read(written[:MOST_BYTES].decode(errors="replace"), len(written) > MOST_BYTES)


def read(text: str, cut: bool = False) -> Passes:
    """The passes in a compiler's dump; ``cut`` if the dump was longer than ``text``."""
    dumps = list(_dumps(text))
    times = _Times(text)
    found: list[Pass] = []
    first = dumps[0][2] if dumps else ""
    lines = _lines(first)
    found.append(Pass(START, "", None, True, "", {name: (0, n) for name, n in sorted(_counted(lines).items())}, first))
    is_lowered = False
    for k, (name, argument, body) in enumerate(dumps):
        seconds = times.next(name)
        is_lowered = is_lowered or argument == _LOWERING
        if k + 1 == len(dumps):
            # The last pass makes LLVM IR, which is not dumped.
            continue
        following = dumps[k + 1][2]
        if following == body:
            found.append(Pass(name, argument, seconds, False))
            continue
        after = _lines(following)
        changed = after != lines
        diff = _diff(lines, after) if changed else ""
        ops = _grown(lines, after) if changed else {}
        found.append(Pass(name, argument, seconds, changed, diff, ops, following if changed and not is_lowered else ""))
        lines = after
    return Passes(found, cut)


def _dumps(text: str) -> Iterator[tuple[str, str, str]]:
    """Each pass's name and argument, and the whole module before it.

    A pass on one function, run inside another pass, belongs to the outer one.
    """
    for piece in re.split(r"^(?=// -----// )", text, flags=re.MULTILINE):
        head, _, body = piece.partition("\n")
        found = _HEAD.match(head)
        if found and found["on"] != "tt.func":
            module = body.partition("\n===-")[0]
            yield found["name"], found["argument"] or found["old"] or "", module.strip()


class _Times:
    """How long passes took, in the order in which they ran."""

    def __init__(self, text: str) -> None:
        self._left: list[tuple[str, float]] = []
        inside = False
        for line in text.split("\n"):
            found = _TIME.match(line)
            if not found:
                continue
            depth, name = len(found[2]), found[3]
            # Passes over one function, or in a nested pipeline, are listed below a line with its name.
            if depth == 2:
                inside = name.endswith("Pipeline")
            if (depth == 2 or inside) and not name.startswith(("'", "(A)", "Rest", "Total")):
                self._left.append((name, float(found[1])))

    def next(self, name: str) -> float | None:
        """How long the next pass of that name took; None where it is not reported."""
        for k, (one, seconds) in enumerate(self._left[:8]):
            if one == name:
                del self._left[: k + 1]
                return seconds
        return None


def _lines(module: str) -> list[str]:
    return list(without_places(module))


def _counted(lines: Iterable[str]) -> Counter[str]:
    return Counter(filter(None, (operation("ttgir", line) for line in lines)))


def _grown(before: Sequence[str], after: Sequence[str]) -> dict[str, tuple[int, int]]:
    """The counts of operations by name, before and after, where they differ, the largest change first."""
    one, other = _counted(before), _counted(after)
    names = sorted({*one, *other}, key=lambda name: (-abs(other[name] - one[name]), name))
    return {name: (one[name], other[name]) for name in names if one[name] != other[name]}


def _diff(before: Sequence[str], after: Sequence[str]) -> str:
    """The lines in which two modules differ, with two around them; values match by their use, not their number."""
    if len(before) * len(after) > COMPARED:
        told = [
            _("- {before} lines").format(before=f"{len(before):,}"),
            _("+ {after} lines: too much changed for a line-by-line comparison").format(after=f"{len(after):,}"),
        ]
        return "\n".join(told)
    one, other = ([_NUMBERED.sub("%", line) for line in lines] for lines in (before, after))
    found: list[str] = []
    for group in difflib.SequenceMatcher(None, one, other, autojunk=False).get_grouped_opcodes(2):
        start, end = group[0], group[-1]
        found.append(f"@@ -{start[1] + 1},{end[2] - start[1]} +{start[3] + 1},{end[4] - start[3]} @@")
        for kind, low, high, second, last in group:
            if kind == "equal":
                found += [f" {line}" for line in after[second:last]]
            else:
                found += [f"-{line}" for line in before[low:high]] + [f"+{line}" for line in after[second:last]]
    left = len(found) - MOST_LINES
    return "\n".join(
        [*found[:MOST_LINES], *([_("… {lines}").format(lines=count(left, "more line"))] if left > 0 else [])]
    )
