"""Coverage as plain data: of one process, merged from several, and as lines for a terminal."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from triton_lab.localization import _
from triton_lab.messages import count
from triton_lab.testing.coverage.mark_tracing import Arc, Mask, Traces
from triton_lab.testing.coverage.statement_blocks import Branch, KernelFunction


@dataclass
class Covered:
    """A kernel or a helper: its statements, its branches, and the ``arcs`` that were taken.

    ``zero`` has the heads of loops that ran no iteration.
    """

    name: str
    file: str
    start: int
    lines: list[int]
    choices: list[Branch]
    arcs: set[Arc] = field(default_factory=set)
    zero: set[int] = field(default_factory=set)

    @property
    def ran(self) -> set[int]:
        """The statements that ran."""
        return {line for arc in self.arcs for line in arc if line > 0} & {*self.lines}

    @property
    def missing(self) -> list[int]:
        """The statements that never ran."""
        return sorted({*self.lines} - self.ran)

    def partial(self) -> Iterator[tuple[Branch, str]]:
        """The branches that went only one way, each with the words for the other way."""
        for choice in self.choices:
            ways = {to == choice.body for came, to in self.arcs if came == choice.line}
            if ways == {True} and not (choice.loop and choice.line in self.zero):
                yield choice, "never left" if choice.loop else "never false"
            elif ways == {False}:
                yield choice, "never entered" if choice.loop else "never true"


def covered(traces: Traces) -> dict[str, Covered]:
    """The coverage by key. A function of elements counts as run if the statement that names it ran."""
    result = {
        key: Covered(each.name, each.file, each.start, each.lines, list(each.choices), set(traces.arcs.get(key, ())))
        for key, each in traces.functions.items()
    }
    for file, line in traces.zero:
        for each in result.values():
            if each.file == file and line in each.lines:
                each.zero.add(line)
    for key, places in traces.within.items():
        if any(_ran(traces, file, line) for file, line in places):
            result[key].arcs |= _straight(traces.functions[key])
    return result


def _ran(traces: Traces, file: str, line: int) -> bool:
    """Whether the statement of a line ran."""
    for key, each in traces.functions.items():
        if each.file == file:
            for head in {came for arc in traces.arcs.get(key, ()) for came in arc if came > 0}:
                if head <= line <= each.ends.get(head, head):
                    return True
    return False


def _straight(function: KernelFunction) -> set[Arc]:
    """The arcs of a function with a single way through; for others, the ways that elements took are not known."""
    if len(function.blocks) > 1:
        return {(-function.start, line) for line in function.blocks[0].lines[:1]}
    way = [-function.start, *function.lines, -function.start]
    return set(itertools.pairwise(way))


@dataclass
class Coverage:
    """The coverage of a session: functions and masks."""

    functions: dict[str, Covered] = field(default_factory=dict)
    masks: dict[tuple[str, int, int], Mask] = field(default_factory=dict)

    @classmethod
    def of(cls, traces: Traces) -> Coverage:
        """The coverage from the traces of one process."""
        return cls(covered(traces), dict(traces.masks))

    def as_data(self) -> dict[str, Any]:
        """The coverage as numbers, text, lists and dictionaries."""
        functions = {
            key: {**asdict(each), "arcs": sorted(each.arcs), "zero": sorted(each.zero), "missing": each.missing}
            for key, each in self.functions.items()
        }
        return {"functions": functions, "masks": [asdict(mask) for mask in self.masks.values()]}

    def merge(self, told: Mapping[str, Any]) -> None:
        """Add the coverage of another process."""
        for key, values in told["functions"].items():
            each = self.functions.get(key)
            if each is None:
                choices = [Branch(**choice) for choice in values["choices"]]
                each = Covered(values["name"], values["file"], values["start"], values["lines"], choices)
                self.functions[key] = each
            each.arcs.update((came, to) for came, to in values["arcs"])
            each.zero.update(values["zero"])
        for values in told["masks"]:
            mask = Mask(**values)
            known = self.masks.setdefault((mask.file, mask.line, mask.column), mask)
            known.on, known.off = known.on or mask.on, known.off or mask.off

    def summary(self, relative: Callable[[str], str]) -> Iterable[str]:
        """A line for each function, with its parts that never ran, and for each mask that never changed."""
        for each in sorted(self.functions.values(), key=lambda one: (one.file, one.start)):
            partial = [f"line {choice.line} {way}" for choice, way in each.partial()]
            missing = [f"missing {_runs(each.missing)}"] if each.missing else []
            told = f"{len(each.ran)} of {count(len(each.lines), 'statement')}"
            yield f"{relative(each.file)}:{each.start}: {each.name}: {'; '.join([told, *missing, *partial])}"
        for mask in self.masks.values():
            if not (mask.on and mask.off):
                both = not mask.on and not mask.off
                told = "never came to" if both else "never false" if mask.on else "never true"
                yield _("{relative}:{line}: {kernel}: mask of the {kind} {told}").format(
                    relative=relative(mask.file), line=mask.line, kernel=mask.kernel, kind=mask.kind, told=told
                )


def _runs(lines: list[int]) -> str:
    """Line numbers as ranges: ``3-5, 9``."""
    runs: list[list[int]] = []
    for line in lines:
        if runs and line == runs[-1][1] + 1:
            runs[-1][1] = line
        else:
            runs.append([line, line])
    return ", ".join(str(low) if low == high else f"{low}-{high}" for low, high in runs)
