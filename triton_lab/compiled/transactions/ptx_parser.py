"""PTX as data: instructions with their operands and source lines, blocks, and the loops around them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

Position: TypeAlias = tuple[int, int]
"""Line and column."""

Chain: TypeAlias = tuple[Position, ...]
"""A place in the source, then the places of its callers, out to the kernel."""

_LOC = re.compile(r"\.loc\s+(\d+)\s+(\d+)\s+(\d+)(?:,\s*function_name\s+\S+,\s*inlined_at\s+(\d+)\s+(\d+)\s+(\d+))?")
_LABEL = re.compile(r"([$\w]+):")
_GUARD = re.compile(r"@(!?)(%\w+)\s+")
_SPELLED = re.compile(r"([a-z][\w.:]*)(?:\s(.*))?", re.DOTALL)  # an instruction behind its guard
_JUMP = re.compile(r"\bbra(?:\.uni)?\s+([$\w]+)")
_TARGET = re.compile(r"[$]\w+")


@dataclass(frozen=True)
class Instruction:
    """One instruction.

    ``guard`` is the predicate under which it runs, and whether that is negated; ``operands`` are as spelled;
    ``chain`` is empty where PTX has no place; ``block`` numbers straight runs, ``function`` the functions of the
    module; ``line`` is the line of the text, from 1 on, on which it ends.
    """

    opcode: str
    operands: tuple[str, ...]
    guard: tuple[str, bool] | None
    chain: Chain
    block: int
    index: int
    function: int
    line: int

    @property
    def parts(self) -> list[str]:
        """The opcode's parts: ``ld.global.v4.b32`` has four."""
        return self.opcode.split(".")

    @property
    def lane_bytes(self) -> int:
        """How many bytes it moves per lane: 16 for ``ld.global.v4.b32`` and for a ``cp.async`` of 0x10."""
        if self.opcode.startswith("cp.async"):
            return int(self.operands[2], 0)
        found = [one for one in self.parts if re.fullmatch(r"[bsuf]\d+(?:x2)?", one)]
        bits = int(re.sub(r"\D", " ", found[-1]).split()[0]) * (2 if found[-1].endswith("x2") else 1) if found else 0
        count = next((int(one[1:]) for one in self.parts if re.fullmatch(r"v\d", one)), 1)
        return bits // 8 * count


class Ptx:
    """The instructions of a module, in order; ``labels`` has the block of each jump target."""

    def __init__(self, text: str) -> None:
        self.instructions: list[Instruction] = []
        self.labels: dict[str, int] = {}
        self._starts: set[int] = {0}  # blocks that no block falls through to
        self._read(text)

    def _read(self, text: str) -> None:
        block, foreign = 0, False
        chain: Chain = ()
        callers: dict[tuple[int, int, int], Chain] = {}
        rest, targets = "", set(_JUMP.findall(text))  # other labels are for debuggers
        for number, raw in enumerate(text.split("\n"), 1):
            if "// begin inline asm" in raw or "// end inline asm" in raw:
                # LLVM counts lines on inside inline assembly, so places there are wrong.
                foreign = "begin" in raw
            line = raw.partition("//")[0].strip()
            if (place := _LOC.match(line)) is not None:
                if not foreign:
                    chain = _chain(place, callers)
                continue
            if line.startswith((".visible", ".func", ".entry")):
                block += 1
                self._starts.add(block)
            if not line or (line.startswith(".") and not rest):
                continue
            label = _LABEL.match(line) if not rest else None
            if label is not None:
                if label[1] in targets:
                    block += 1
                    self.labels[label[1]] = block
                line = line[label.end() :].strip()
            *whole, rest = f"{rest} {line}".split(";") if line else ("",)
            for statement in whole:
                made = self._instruction(
                    statement.strip(" {}\t") if "," not in statement else statement, chain, block, number
                )
                if made is not None:
                    self.instructions.append(made)
                    block += made.parts[0] in ("bra", "ret")
            rest = rest.strip().lstrip("{}()")

    def _instruction(self, statement: str, chain: Chain, block: int, line: int) -> Instruction | None:
        text = statement.strip().lstrip("{} \t")
        guard = _GUARD.match(text)
        text = text[guard.end() :] if guard else text
        spelled = _SPELLED.fullmatch(text)
        if spelled is None:
            return None
        named = (guard[2], guard[1] == "!") if guard else None
        return Instruction(
            spelled[1],
            tuple(_split(spelled[2] or "")),
            named,
            chain,
            block,
            len(self.instructions),
            len(self._starts),
            line,
        )

    # --- Control flow ---------------------------------------------------------------------------------

    @cached_property
    def successors(self) -> dict[int, list[int]]:
        """The possible successors of each block."""
        last = {one.block: one for one in self.instructions}
        blocks = sorted({*last, *self.labels.values(), *self._starts})
        found: dict[int, list[int]] = {}
        for here, after in zip(blocks, [*blocks[1:], None], strict=True):
            end = last.get(here)
            jumps = _TARGET.findall(" ".join(end.operands)) if end and end.opcode.startswith("bra") else []
            falls = end is None or not end.opcode.startswith(("bra", "ret")) or end.guard is not None
            found[here] = [self.labels[name] for name in jumps if name in self.labels]
            if falls and after is not None and after not in self._starts:
                found[here].append(after)
        return found

    @cached_property
    def depths(self) -> dict[int, int]:
        """How many loops are around each block. A loop is what lies between a jump back and its earlier target."""
        depths = dict.fromkeys(self.successors, 0)
        loops: dict[int, set[int]] = {}
        before: dict[int, list[int]] = {block: [] for block in self.successors}
        for block, after in self.successors.items():
            for one in after:
                before[one].append(block)
        for block, after in self.successors.items():
            for head in after:
                if head <= block:  # blocks are numbered in text order, and LLVM places a loop's blocks in a row
                    loops.setdefault(head, {head}).update(_reaching(block, head, before))
        for body in loops.values():
            for block in body:
                depths[block] += 1
        return depths


def _reaching(end: int, head: int, before: Mapping[int, Sequence[int]]) -> set[int]:
    """The blocks from which ``end`` can be reached without passing ``head``."""
    found, waiting = {head}, [end]
    while waiting:
        block = waiting.pop()
        if block not in found:
            found.add(block)
            waiting += before[block]
    return found


def _chain(place: re.Match[str], callers: dict[tuple[int, int, int], Chain]) -> Chain:
    file, line, column = (int(place[k]) for k in (1, 2, 3))
    outside: Chain = ()
    if place[4] is not None:
        called = int(place[4]), int(place[5]), int(place[6])
        outside = ((called[1], called[2]), *callers.get(called, ()))
    callers[file, line, column] = outside
    return ((line, column), *outside)


def _split(text: str) -> Iterator[str]:
    """The operands, split at commas outside of braces and brackets."""
    depth, start = 0, 0
    for at, character in enumerate(text):
        depth += (character in "{[(") - (character in "}])")
        if character == "," and depth == 0:
            yield text[start:at].strip()
            start = at + 1
    if text[start:].strip():
        yield text[start:].strip()
