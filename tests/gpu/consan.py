"""Planted bugs in Gluon kernels under ConSan, beside the CPU target: ``python -m tests.gpu.consan OUT [KIND ...]``.

Needs a Hopper GPU and at most five minutes. Prints a table of kinds of bugs and verdicts, and writes OUT/consan.json.
With kinds, only bugs of these are tried, and no right kernels.

The ConSan of Triton 3.6 does not know ``mbarrier.expect``: it takes each TMA load for one arrival (triton-lang/triton
#9046 mended that later), so that two loads at a barrier that counts to 1 are a deadlock to it, in right kernels too.
`counted` is the same kernel with one arrival for each load. Both are tried.

It has no check either for fences, for bytes, for stores that nothing waits for at the end, for a sum in registers that
is used while its product runs, and for what TMA stores before TMA has loaded it; and it does not know that cp.async can
arrive at a barrier. In partitions of warps its assertions end the kernel without words: "trap" in the table.
"""

from __future__ import annotations

import ast
import json
import os
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import triton_lab as lab
from tests.gluon import pipelines
from tests.gluon.cases import Case, right
from tests.gluon.plant import Bug, bugs, module_of, outcome, reached
from tests.gpu.forked_tasks import HANGS, NOT_BEGUN, Task, answers
from tests.gpu.gluon_cases import hopper, on_gpu

AT_ONCE = 14
SECONDS = 220  # for all
EACH = 30
# In this order. ConSan has a check for the first four; it has none for bytes and fences, and these may make a GPU hang.
KINDS = ("wait", "commit", "count", "phase", "arrival", "init", "fence", "bytes")
PIPELINES = "counted_pipelines"  # the module that takes the place of tests.gluon.pipelines


@dataclass(frozen=True)
class Planted:
    """A bug in a kernel, and the number of its module."""

    case: Case
    bug: Bug
    number: int

    def __str__(self) -> str:
        return f"{self.case} {self.bug.line} {self.bug.change}"


def shallow() -> list[Case]:
    """One case of each kernel; of a ring the one of depth 1, since ConSan's code grows with the buffers."""
    found: dict[str, Case] = {}
    for case in hopper():
        if case.kernel not in found or case.depth == 1:
            found[case.kernel] = case
    return list(found.values())


def two_loads(source: str, kernel: str) -> bool:
    """Whether a kernel has two loads at one barrier."""
    tree = ast.parse(source)
    functions = {one.name: ast.unparse(one) for one in tree.body if isinstance(one, ast.FunctionDef)}
    return any(re.search(r"nbytes \+ |\bloaded\(", functions[name]) for name in reached(tree, kernel))


def counted(source: str, kernel: str = "") -> str:
    """A module in which each load arrives at its barrier, and the barriers of ``kernel`` count their loads.

    Lines keep their numbers.
    """
    two = kernel and two_loads(source, kernel)
    source = re.sub(r"mbarrier\.expect\((.+?), (\S+) \+ (\S+?)(, pred=pred)?\)$", _two_arrivals, source, flags=re.M)
    source = source.replace("from tests.gluon.pipelines import", f"from {PIPELINES} import")
    if not two:
        return source
    before, name, rest = source.partition(f"def {kernel}(")
    text, decorator, after = rest.partition("\n@gluon.jit")
    text = re.sub(r"(mbarrier\.init\((?:bar|bars\.index\([k1]\)), count=)1\)", r"\g<1>2)", text)
    text = re.sub(r"((?:full|bars?) = barriers\([^,]+, )1\)", r"\g<1>2)", text)
    return before + name + text + decorator + after


def _two_arrivals(match: re.Match[str]) -> str:
    bar, first, second, pred = match.groups(default="")
    return f"mbarrier.expect({bar}, {first}{pred}); mbarrier.expect({bar}, {second}{pred})"


def sources(folder: Path) -> Iterator[tuple[Case, Path]]:
    """One case of each kernel that can have a bug, with its module's file, or with one whose loads are counted."""
    (folder / f"{PIPELINES}.py").write_text(counted(Path(str(pipelines.__file__)).read_text()))
    sys.path.insert(0, str(folder))
    for case in shallow():
        path = Path(str(case.module.__file__))
        if any(bug.kind in KINDS for bug in bugs(path, case.kernel)):
            place = folder / f"counted_{case.kernel}.py"
            place.write_text(counted(path.read_text(), case.kernel))
            yield case, place


def checked(case: Case, source: str | None, folder: Path, number: int) -> str:
    """What a GPU says of a kernel: of the case's own module, or of a source."""
    module = None if source is None else module_of(source, folder, number)
    return "right" if right(on_gpu(case, module)) else "wrong"


def here(some: list[Planted], folder: Path) -> dict[str, list[Any]]:
    """What the CPU target says of bugs."""
    with lab.target("cpu"):
        found = {str(one): outcome(one.case, one.bug, folder, one.number) for one in some}
    return {name: [one.rule, one.line] for name, one in found.items()}


def tasks(folder: Path, kinds: Sequence[str] = KINDS) -> tuple[list[Task], dict[str, Planted]]:
    """All that is to be done for bugs of some kinds, the most important first; and the bugs by name."""
    right_ones, ours, planted = [], [], []
    for case, place in sources(folder):
        source = place.read_text()
        number = 10_000 + len(right_ones)
        right_ones.append(Task(("as written", str(case)), lambda case=case: checked(case, None, folder, 0), True, EACH))  # type: ignore[misc]
        if two_loads(Path(str(case.module.__file__)).read_text(), case.kernel):

            def one(case: Case = case, source: str = source, number: int = number) -> str:
                return checked(case, source, folder, number)

            right_ones.append(Task(("counted", str(case)), one, True, EACH))
        some = [bug for bug in bugs(place, case.kernel) if bug.kind in kinds]
        mine = [Planted(case, bug, 1000 + len(planted) + k) for k, bug in enumerate(some)]
        planted += mine
        ours.append(Task(("here", str(case)), lambda mine=mine: here(mine, folder)))  # type: ignore[misc]
    bugged = []
    for each in sorted(planted, key=lambda one: (one.bug.change.endswith("counts 2"), KINDS.index(one.bug.kind))):

        def other(each: Planted = each) -> str:
            return checked(each.case, each.bug.source, folder, each.number)

        bugged.append(Task(("bugs", str(each)), other, True, EACH))
    return (right_ones if len(kinds) == len(KINDS) else []) + ours + bugged, {str(one): one for one in planted}


def verdict(answer: Any, named: list[Any] | None) -> str:
    """A column of the table: what ConSan says of a bug, and whether that is the line that the CPU target names."""
    text = str(answer)
    if not text.startswith("asserts "):
        told = {"AcceleratorError": "trap", "PassManager": "not compiled"}
        found = next((short for words, short in told.items() if words in text), "fails")
        return text if text in ("right", "wrong", HANGS, NOT_BEGUN) else found
    line, said = text.removeprefix("asserts ").split(": ", 1)
    kind = "deadlock" if "eadlock" in said else "arrivals" if "arrive" in said else "access"
    return f"{kind}, {'our' if named and named[1] == int(line) else 'another'} line"


def main(out: str, *kinds: str) -> None:
    """Try all, or bugs of some kinds. The file is written after each, so that a run that is cut short leaves some."""
    Path(out).mkdir(parents=True, exist_ok=True)
    found: dict[str, dict[str, Any]] = {"as written": {}, "counted": {}, "here": {}, "bugs": {}}
    with tempfile.TemporaryDirectory() as name:
        todo, planted = tasks(Path(name), kinds or KINDS)
        for task, answer in answers(todo, SECONDS, AT_ONCE):
            kind, label = task.label
            found[kind].update(answer if kind == "here" and isinstance(answer, dict) else {label: answer})
            (Path(out) / "consan.json").write_text(json.dumps(found, indent=1) + "\n")
    for kind in ("as written", "counted"):
        print(f"right kernels, {kind}:", Counter(verdict(one, None).split(",")[0] for one in found[kind].values()))
        print({label: one for label, one in found[kind].items() if one != "right"})
    table = Counter(
        (one.bug.kind, verdict(found["bugs"].get(name, NOT_BEGUN), found["here"].get(name)))
        for name, one in planted.items()
    )
    for kind in kinds or KINDS:
        print(f"{kind:8}", {column: count for (row, column), count in sorted(table.items()) if row == kind})
    silent = [name for name, one in found["here"].items() if name in planted and one[0] in ("same", "wrong", "other")]
    print(f"{len(planted)} bugs; the CPU target tried {len(found['here'])}, and names all but", silent)


if __name__ == "__main__":
    os.environ.pop("TRITON_DEFAULT_BACKEND", None)
    main(*sys.argv[1:])
