"""Places in PTX and in AMD's assembly: ``.loc 1 30 28`` holds for all instructions up to the next ``.loc``.

PTX names the place at which a call was inlined; an earlier ``.loc`` gives that place's own callers. AMD's assembly
has the whole trail in a comment, which names files by the last part of their paths.

Within inline assembly of several lines that Triton writes, LLVM counts lines on: it places the second line of
assembly one source line below the first. The reader here undoes that.
"""

from __future__ import annotations

import posixpath
import re

from triton_lab.compiled.lines.source_trail import Trail, TrailPlace

_STRING = r'"((?:[^"\\]|\\.)*)"'
_FILE = re.compile(rf"^\s*\.file\s+(\d+)\s+{_STRING}(?:\s+{_STRING})?", re.MULTILINE)
_ESCAPE = re.compile(rb"\\([0-7]{3}|.)")
_LOC = re.compile(r"^\s*\.loc\s+(\d+)\s+(\d+)\s+(\d+)(.*)$")
_INLINED = re.compile(r"inlined_at\s+(\d+)\s+(\d+)\s+(\d+)")
_CALLERS = re.compile(r"@\[ ([^\s:@][^@\]]*?):(\d+):(\d+)")
_NO_INSTRUCTION = re.compile(r"^\s*(?:$|\.|//|;|[{}()]|[\w$.@]+:)")
_END = re.compile(r"^\s*\.section\b|^\.Lfunc_end|^}")
_BEGINS, _ENDS = re.compile(r"// begin inline asm|;+\s*#?ASMSTART"), re.compile(r"// end inline asm|;+\s*#?ASMEND")


def files_of(text: str) -> dict[str, str]:
    """The source files of a text, by their numbers in ``.loc``."""
    return {number: posixpath.join(*map(_unescaped, filter(None, parts))) for number, *parts in _FILE.findall(text)}


def _unescaped(text: str) -> str:
    """Undo the assemblers' escapes: three octal digits for a byte of UTF-8, or a backslash before a character."""

    def one(found: re.Match[bytes]) -> bytes:
        code = found[1]
        return bytes([int(code, 8)]) if len(code) == 3 else code

    return _ESCAPE.sub(one, text.encode()).decode(errors="replace")


def trails(text: str) -> list[Trail | None]:
    """A trail for each line that is an instruction or names a place; None for the others."""
    lines = text.split("\n")
    files = files_of(text)
    by_name = {posixpath.basename(file): file for file in files.values()}
    # The last trail recorded for a place, which calls inlined there continue.
    last: dict[TrailPlace, tuple[TrailPlace, ...]] = {}
    now: tuple[TrailPlace, ...] = ()
    written: int | None = None  # how many lines of this inline assembly came before
    result: list[Trail | None] = []
    for line in lines:
        found = _LOC.match(line)
        if found:
            place = TrailPlace(files.get(found[1], ""), max(0, int(found[2]) - (written or 0)), int(found[3]))
            outer = _outer(found[4], files, by_name, last)
            now = (place, *outer) if place.line and place.file else ()
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
        result.append(Trail(now) if there else None)
    return result


def _outer(
    rest: str, files: dict[str, str], by_name: dict[str, str], last: dict[TrailPlace, tuple[TrailPlace, ...]]
) -> tuple[TrailPlace, ...]:
    """The place of the call, and of its callers, outwards."""
    if found := _INLINED.search(rest):
        call = TrailPlace(files.get(found[1], ""), int(found[2]), int(found[3]))
        return last.get(call, (call,))
    return tuple(
        TrailPlace(by_name.get(name, name), int(line), int(column)) for name, line, column in _CALLERS.findall(rest)
    )
