"""Places in NVIDIA's machine code: the cubin says which line of PTX each instruction was made from, and PTX the rest.

Its table of source lines alone would not do: older ones know of no inlined calls, and what `assembly` mends ptxas has
taken at its word.
"""

from __future__ import annotations

import functools
import re
import subprocess
import tempfile
from collections.abc import Iterator

from triton_lab.compiled.lines import assembly
from triton_lab.compiled.lines.places import Place, Trail

_SECTION = re.compile(r"^\.text\.(.+):$")
_TOLD = re.compile(r'^\s*//## File "([^"]*)", line (\d+)')
_PTX = ".nv_debug_ptx_txt"
_INSTRUCTION = re.compile(r"^\s*/\*[0-9a-f]{4,}\*/\s+(?:\{\s*)?(?:@!?U?P\w+\s+)?([A-Z][\w.]*)")
_WRITTEN = re.compile(r"\t(?:@!?U?P\w+\s+)?([A-Z][\w.]*)")
SECONDS = 30.0


@functools.lru_cache(maxsize=16)
def trails(text: str, cubin: bytes, ptx: str) -> tuple[Trail | None, ...]:
    """One for each line of ``text``, Triton's disassembly of the cubin, which ptxas made of ``ptx``; none at all where
    nvdisasm cannot be run or tells of other instructions."""
    told = {name: list(found) for name, found in _by_function(_told(cubin), assembly.trails(ptx), ptx.split("\n"))}
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
        result.append(trail)
    return tuple(result)


def _told(cubin: bytes) -> str:
    """What nvdisasm says."""
    from triton import knobs

    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        command = [knobs.nvidia.nvdisasm.path, "-g", "--print-line-info-ptx", "--print-code", file.name]
        try:
            return subprocess.run(command, capture_output=True, text=True, check=True, timeout=SECONDS).stdout
        except (OSError, RuntimeError, subprocess.SubprocessError):
            return ""


def _by_function(
    told: str, of_ptx: list[Trail | None], ptx: list[str]
) -> Iterator[tuple[str, list[tuple[str, Trail | None]]]]:
    """The functions, each with its instructions: opcode and trail."""
    name = ""
    found: list[tuple[str, Trail | None]] = []
    now: Trail | None = None
    line_of_ptx = 0
    for line in told.split("\n"):
        if section := _SECTION.match(line):
            yield name, found
            name, found, now, line_of_ptx = section[1], [], None, 0
        elif place := _TOLD.match(line):
            if place[1] == _PTX:
                line_of_ptx = int(place[2])
            else:
                now = Trail((Place(place[1], int(place[2])),)) if int(place[2]) else None
        elif instruction := _INSTRUCTION.match(line):
            # What stands at the begin of a function is of no line of PTX's; the table of source lines has it.
            exact = 0 < line_of_ptx <= len(ptx) and ptx[line_of_ptx - 1].strip() != "{"
            found.append((instruction[1], of_ptx[line_of_ptx - 1] if exact else now))
    yield name, found
