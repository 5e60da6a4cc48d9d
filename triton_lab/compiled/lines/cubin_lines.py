"""Which line of PTX each instruction of a cubin was made from.

The cubin has a table for it in the form of a DWARF 2 line table (section 6.2 of that standard), under a name of
NVIDIA's.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from triton_lab.localization import _

STEP = 16  # bytes of an instruction, from sm_70 on
_TABLE = ".nv_debug_line_sass"
_HEADER = struct.Struct("<IIQQQQIIQQ")  # of a section: ELF, 64 bits
_SYMBOL = struct.Struct("<IBBHQQ")
_RELOCATION = struct.Struct("<QQ")


class _Section(NamedTuple):
    kind: int
    content: bytes
    entry: int


@dataclass
class _Rows:
    """The rows of a table: instruction addresses and their lines, from ``start`` of the section's text on."""

    place: int  # where the table holds its first address
    start: int
    lines: list[tuple[int, int]]
    end: int


def lines_of_ptx(cubin: bytes) -> dict[str, list[int]]:
    """For each function, the line of PTX, from 1 on, of each of its instructions; 0 where the table has none.

    Empty for bytes that are no cubin or have no such table.
    """
    try:
        return dict(_functions(cubin))
    except (struct.error, IndexError, ValueError):
        return {}


def _functions(cubin: bytes) -> Iterator[tuple[str, list[int]]]:
    sections = _sections(cubin)
    names = list(sections)
    if _TABLE not in sections:
        return
    owner = dict(_owners(sections, names))
    for rows in _sequences(sections[_TABLE].content):
        text = owner.get(rows.place, "")
        found = [0] * (len(sections[text].content) // STEP) if text in sections else []
        for (address, line), (following, _unused) in zip(rows.lines, [*rows.lines[1:], (rows.end, 0)], strict=True):
            for k in range((address - rows.start) // STEP, min(len(found), (following - rows.start) // STEP)):
                found[k] = line
        yield text.removeprefix(".text."), found


def _sections(cubin: bytes) -> dict[str, _Section]:
    if cubin[:4] != b"\x7fELF":
        return {}
    (offset,) = struct.unpack_from("<Q", cubin, 0x28)
    size, count, named = struct.unpack_from("<HHH", cubin, 0x3A)
    headers = [_HEADER.unpack_from(cubin, offset + k * size) for k in range(count)]
    texts = headers[named][4]
    return {
        _text_at(cubin, texts + name): _Section(kind, cubin[start : start + length], entry)
        for name, kind, _unused, _unused, start, length, _unused, _unused, _unused, entry in headers
    }


def _owners(sections: dict[str, _Section], names: list[str]) -> Iterator[tuple[int, str]]:
    """Where in the table an address is filled in, and the code section it lies in."""
    symbols = sections[".symtab"].content
    for form in (".rela", ".rel"):
        if (found := sections.get(f"{form}{_TABLE}")) is None:
            continue
        for at in range(0, len(found.content), found.entry):
            place, info = _RELOCATION.unpack_from(found.content, at)
            index = _SYMBOL.unpack_from(symbols, (info >> 32) * _SYMBOL.size)[3]
            yield place, names[index]


def _sequences(table: bytes) -> Iterator[_Rows]:
    """The runs of instructions that a table describes."""
    at = 0
    while at + 10 < len(table):
        length, version, header = struct.unpack_from("<IHI", table, at)
        end, program = at + 4 + length, at + 10 + header
        if version > 3:
            raise ValueError(_("a table of a later version has another header"))
        unit, _unused, base, span, first = struct.unpack_from("<BBbBB", table, at + 10)
        yield from _run(table, program, end, unit, base, span, first, table[at + 15 : at + 14 + first])
        at = end


def _run(
    table: bytes, at: int, end: int, unit: int, base: int, span: int, first: int, operands: bytes
) -> Iterator[_Rows]:
    """Run a line program; ``operands`` has the number of operands of each standard opcode."""
    place, start, address, line = -1, 0, 0, 1
    rows: list[tuple[int, int]] = []
    while at < end:
        opcode = table[at]
        at += 1
        if opcode >= first:
            address += (opcode - first) // span * unit
            line += base + (opcode - first) % span
            rows.append((address, line))
        elif opcode == 0:
            length, at = _unsigned(table, at)
            if table[at] == 1:  # the end of a sequence
                yield _Rows(place, start, rows, address)
                address, line, rows = 0, 1, []
            elif table[at] == 2:  # an address, which is filled in later
                place = at + 1
                start = address = int.from_bytes(table[at + 1 : at + length], "little")
            at += length
        elif opcode == 1:
            rows.append((address, line))
        elif opcode == 2:
            by, at = _unsigned(table, at)
            address += by * unit
        elif opcode == 3:
            by, at = _signed(table, at)
            line += by
        elif opcode == 8:
            address += (255 - first) // span * unit
        elif opcode == 9:
            address += int.from_bytes(table[at : at + 2], "little")
            at += 2
        else:
            for _unused in range(operands[opcode - 1]):
                _unused, at = _unsigned(table, at)


def _unsigned(table: bytes, at: int) -> tuple[int, int]:
    """A number in LEB128, and the position behind it."""
    value = shift = 0
    while True:
        value |= (table[at] & 0x7F) << shift
        shift += 7
        at += 1
        if table[at - 1] < 0x80:
            return value, at


def _signed(table: bytes, at: int) -> tuple[int, int]:
    value, end = _unsigned(table, at)
    bits = 7 * (end - at)
    return value - (1 << bits) if value >> (bits - 1) else value, end


def _text_at(cubin: bytes, at: int) -> str:
    return cubin[at : cubin.index(b"\0", at)].decode()
