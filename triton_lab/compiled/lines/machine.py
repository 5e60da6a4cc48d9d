"""Places in NVIDIA's machine code: the cubin's line table, as nvdisasm tells it beside its own disassembly."""

from __future__ import annotations

import functools
import re
import subprocess
import tempfile
from collections.abc import Iterator, Mapping

from triton_lab.compiled.lines.assembly import misplaced
from triton_lab.compiled.lines.places import Place, Trail

_SECTION = re.compile(r"^\.text\.(.+):$")
_TOLD = re.compile(r'^\s*//## File "([^"]*)", line (\d+)(?: inlined at "([^"]*)", line (\d+))?')
_INSTRUCTION = re.compile(r"^\s*/\*[0-9a-f]{4,}\*/\s+(?:\{\s*)?(?:@!?U?P\w+\s+)?([A-Z][\w.]*)")
_WRITTEN = re.compile(r"\t(?:@!?U?P\w+\s+)?([A-Z][\w.]*)")
SECONDS = 30.0


@functools.lru_cache(maxsize=16)
def trails(text: str, cubin: bytes, ptx: str) -> list[Trail | None]:
    """One for each line of ``text``, Triton's disassembly of the cubin, which ptxas made of ``ptx``; none at all where
    nvdisasm cannot be run or tells of other instructions."""
    mended = misplaced(ptx)
    told = {name: list(found) for name, found in _by_function(_told(cubin))}
    result: list[Trail | None] = []
    left: Iterator[tuple[str, Trail | None]] = iter(())
    for line in text.split("\n"):
        if line.startswith("Function:"):
            left = iter(told.get(line.removeprefix("Function:").strip(), []))
        found = _WRITTEN.search(line)
        name, trail = next(left, ("", None)) if found else ("", None)
        if found and name != found[1]:
            left = iter(())  # the two no longer tell of the same
            trail = None
        result.append(_mended(name, trail, mended))
    return result


def _mended(name: str, trail: Trail | None, mended: Mapping[tuple[str, int], Mapping[str, Trail]]) -> Trail | None:
    """The trail, but for what PTX has told wrongly of an instruction of that name."""
    if trail is None:
        return None
    place = trail.places[0]
    known = mended.get((place.file, place.line), {})
    return known.get(name.partition(".")[0]) or known.get("") or trail


def _told(cubin: bytes) -> str:
    """What nvdisasm says."""
    from triton import knobs

    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        command = [knobs.nvidia.nvdisasm.path, "--print-line-info-inline", "--print-code", file.name]
        try:
            return subprocess.run(command, capture_output=True, text=True, check=True, timeout=SECONDS).stdout
        except (OSError, RuntimeError, subprocess.SubprocessError):
            return ""


def _by_function(told: str) -> Iterator[tuple[str, list[tuple[str, Trail | None]]]]:
    """The functions, each with its instructions: opcode and trail."""
    name = ""
    found: list[tuple[str, Trail | None]] = []
    now: tuple[Place, ...] = ()
    fresh = True  # whether what is told next stands for itself, and not for the calls around what was told
    for line in told.split("\n"):
        if section := _SECTION.match(line):
            yield name, found
            name, found, now = section[1], [], ()
        elif place := _TOLD.match(line):
            here = Place(place[1], int(place[2]))
            outer = (Place(place[3], int(place[4])),) if place[3] else ()
            # Each line tells one call; the next goes on where it ended.
            now = (here, *outer) if fresh else (now if now[-1] == here else (*now, here)) + outer
            fresh = False
        elif instruction := _INSTRUCTION.match(line):
            found.append((instruction[1], Trail(now) if now and now[0].line else None))
            fresh = True
    yield name, found
