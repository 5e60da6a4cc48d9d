"""Places in NVIDIA's machine code: the cubin says which line of PTX each instruction was made from, and PTX the rest.

The cubin's table of source lines is not used: older ones have no inlined calls, and ptxas has copied the wrong lines
that `assembly_lines` corrects.
"""

from __future__ import annotations

import re

from triton_lab.compiled.lines import assembly_lines
from triton_lab.compiled.lines.cubin_lines import lines_of_ptx
from triton_lab.compiled.lines.source_trail import Trail

_WRITTEN = re.compile(r"\t(?:@!?U?P\w+\s+)?[A-Z]")


def trails(text: str, cubin: bytes, ptx: str) -> list[Trail | None]:
    """A trail for each line of ``text``, Triton's disassembly of the cubin that ptxas made of ``ptx``.

    None for the lines of a function that the cubin does not describe, or describes with another length.
    """
    told = lines_of_ptx(cubin)
    of_ptx, written = assembly_lines.trails(ptx), ptx.split("\n")
    lines = text.split("\n")
    result: list[Trail | None] = [None] * len(lines)
    for name, instructions in functions(lines):
        known = told.get(name, [])
        if len(known) == len(instructions):
            for k, line in zip(instructions, known, strict=True):
                result[k] = _trail(line, of_ptx, written)
    return result


def functions(lines: list[str]) -> list[tuple[str, list[int]]]:
    """The functions of a disassembly, each with the numbers of its instructions' lines."""
    found: list[tuple[str, list[int]]] = []
    for k, line in enumerate(lines):
        if line.startswith("Function:"):
            found.append((line.removeprefix("Function:").strip(), []))
        elif found and _WRITTEN.search(line):
            found[-1][1].append(k)
    return found


def _trail(line: int, of_ptx: list[Trail | None], written: list[str]) -> Trail | None:
    """Where a line of PTX comes from. Lines at the beginning of a function belong to its first place."""
    if not 0 < line <= len(written):
        return None
    if written[line - 1].strip() == "{":
        return next((trail for trail in of_ptx[line:] if trail is not None), None)
    return of_ptx[line - 1]
