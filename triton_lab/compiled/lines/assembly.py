"""Places in PTX and in AMD's assembly: ``.loc 1 30 28`` says it of all instructions up to the next.

PTX names the place that a call was inlined at, which an earlier ``.loc`` has followed further out; AMD's has the whole
trail in a comment, where files go by their last names.

Within assembly that Triton writes out by itself, of several lines, LLVM counts on: the second line is told to stand one
line further down in the source than the first. `trails` counts back; what ptxas has taken at its word is `misplaced`.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from triton_lab.compiled.lines.places import Place, Trail

_FILE = re.compile(r'^\s*\.file\s+(\d+)\s+"([^"]*)"(?:\s+"([^"]*)")?')
_LOC = re.compile(r"^\s*\.loc\s+(\d+)\s+(\d+)\s+(\d+)(.*)$")
_INLINED = re.compile(r"inlined_at\s+(\d+)\s+(\d+)\s+(\d+)")
_CALLERS = re.compile(r"@\[ ([^\s:@][^@\]]*?):(\d+):(\d+)")
_NO_INSTRUCTION = re.compile(r"^\s*(?:$|\.|//|;|[{}()]|[\w$.@]+:)")
_END = re.compile(r"^\s*\.section\b|^\.Lfunc_end|^}")
_BEGINS, _ENDS = re.compile(r"// begin inline asm|;+\s*#?ASMSTART"), re.compile(r"// end inline asm|;+\s*#?ASMEND")
_OPCODE = re.compile(r"^\s*(?:@!?%\w+\s+)?([a-z]\w*(?:\.(?:global|shared|async))*)")
# What an instruction of PTX is among those of SASS, as far as Triton writes it out.
_BECOMES = {
    "ld.global": "LDG",
    "st.global": "STG",
    "ld.shared": "LDS",
    "st.shared": "STS",
    "cp.async": "LDGSTS",
    "wgmma": "WARPGROUP",
    "atom.global": "ATOMG",
}


@dataclass(frozen=True)
class _Told:
    """A line: whether it is an instruction, where it comes from, and the place that was told of it."""

    text: str
    trail: Trail | None
    told: Place | None


def trails(text: str) -> list[Trail | None]:
    """One for each line: of instructions, and of the lines that name the place."""
    return [line.trail for line in _read(text)]


def misplaced(text: str) -> Mapping[tuple[str, int], Mapping[str, Trail]]:
    """By file and line as they were told wrongly: the true trail for instructions of SASS with such a name, and under
    "" for all, where nothing else is told to stand there."""
    wrong: dict[tuple[str, int], dict[str, set[Trail]]] = {}
    right: dict[tuple[str, int], set[str]] = {}
    for line in _read(text):
        found = _OPCODE.match(line.text)
        if line.trail is None or line.told is None or not found or _LOC.match(line.text):
            continue
        name, told = _BECOMES.get(found[1], ""), (line.told.file, line.told.line)
        if line.trail.places[0] != line.told:
            wrong.setdefault(told, {}).setdefault(name, set()).add(line.trail)
        else:
            right.setdefault(told, set()).add(name)
    result: dict[tuple[str, int], dict[str, Trail]] = {}
    for told, named in wrong.items():
        every = {trail for trails in named.values() for trail in trails}
        known = {
            name: next(iter(trails))
            for name, trails in named.items()
            if name and len(trails) == 1 and name not in right.get(told, ())
        }
        if told not in right and len(every) == 1:
            known[""] = next(iter(every))
        result[told] = known
    return result


def _read(text: str) -> Iterator[_Told]:
    lines = text.split("\n")
    files = {
        found[1]: posixpath.join(found[2], found[3]) if found[3] else found[2]
        for line in lines
        if (found := _FILE.match(line))
    }
    by_name = {posixpath.basename(file): file for file in files.values()}
    # The trail that was told last of a place, to which others are inlined.
    last: dict[Place, tuple[Place, ...]] = {}
    now: tuple[Place, ...] = ()
    told: Place | None = None
    written: int | None = None  # how many lines of assembly that is written out came before
    for line in lines:
        found = _LOC.match(line)
        if found:
            told = Place(files.get(found[1], ""), int(found[2]), int(found[3]))
            place = told._replace(line=told.line - (written or 0)) if told.line else told
            outer = _outer(found[4], files, by_name, last)
            now = (place, *outer) if place.line > 0 and place.file else ()
            if now:
                last[place] = now
        elif _BEGINS.search(line):
            written = 0
        elif _ENDS.search(line):
            written = None
        elif _END.match(line):
            now = ()
        elif written is not None:
            written += 1
        there = bool(now) and (found is not None or not _NO_INSTRUCTION.match(line))
        yield _Told(line, Trail(now) if there else None, told)


def _outer(
    rest: str, files: dict[str, str], by_name: dict[str, str], last: dict[Place, tuple[Place, ...]]
) -> tuple[Place, ...]:
    """Where the call stands, further and further out."""
    if found := _INLINED.search(rest):
        call = Place(files.get(found[1], ""), int(found[2]), int(found[3]))
        return last.get(call, (call,))
    return tuple(
        Place(by_name.get(name, name), int(line), int(column)) for name, line, column in _CALLERS.findall(rest)
    )
