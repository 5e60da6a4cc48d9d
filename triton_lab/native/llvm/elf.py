"""Reads object code as an ELF file, 64-bit and little-endian: its processor, and the functions that it calls."""

from __future__ import annotations

import struct

_MAGIC = b"\x7fELF\x02\x01"
_SYMBOLS, _UNDEFINED = 2, 0


def machine_of(code: bytes) -> int | None:
    """The number of its processor: 62 is x86-64, 183 is arm64; None if this is no such file."""
    return int.from_bytes(code[18:20], "little") if code[:6] == _MAGIC and len(code) >= 64 else None


def undefined(code: bytes) -> set[str]:
    """The names of the external functions and data that it needs. Raises ValueError if it is damaged."""
    if machine_of(code) is None:
        raise ValueError("no object code")
    try:
        table, size, count = struct.unpack_from("<Q", code, 40)[0], *struct.unpack_from("<HH", code, 58)
        sections = [struct.unpack_from("<IIQQQQIIQQ", code, table + number * size) for number in range(count)]
        found: set[str] = set()
        for _, kind, _, _, start, length, link, _, _, each in sections:
            if kind != _SYMBOLS:
                continue
            names = sections[link][4]
            for at in range(start, start + length, each):
                name, _, _, section = struct.unpack_from("<IBBH", code, at)
                if name and section == _UNDEFINED:
                    found.add(code[names + name : code.index(b"\0", names + name)].decode())
        return found
    except (struct.error, IndexError) as error:
        raise ValueError("damaged object code") from error
