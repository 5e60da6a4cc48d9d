"""Values in LLVM's text: registers and literals, scalars and vectors.

Kinds are LLVM's scalar types as text: ``i1``, ``i8``, ``i16``, ``i32``, ``i64``, ``half``, ``float``, ``double``,
``ptr``. `element_types` says how Triton's types are stored in them.
"""

from __future__ import annotations

import math
import operator
import struct
from dataclasses import dataclass

_BYTES = {"i1": 1, "i8": 1, "i16": 2, "half": 2, "i32": 4, "float": 4, "i64": 8, "double": 8, "ptr": 8, "i128": 16}
_MANGLED = {"half": "f16", "float": "f32", "double": "f64", "ptr": "p0"}


def bytes_of(kind: str) -> int:
    """The bytes of an element of ``kind`` in memory."""
    return _BYTES[kind]


def bits_of(kind: str) -> int:
    """The bits of an element of ``kind``."""
    return 1 if kind == "i1" else 8 * _BYTES[kind]


@dataclass(frozen=True, slots=True)
class Reg:
    """A value in the text: a register or a literal. ``lanes`` is 0 for a scalar."""

    name: str
    kind: str
    lanes: int = 0

    @property
    def type(self) -> str:
        """LLVM's type: ``float``, ``<16 x float>``."""
        return f"<{self.lanes} x {self.kind}>" if self.lanes else self.kind

    @property
    def is_float(self) -> bool:
        return self.kind in ("half", "float", "double")

    @property
    def literal(self) -> int | None:
        """The value of a scalar integer literal (0 or 1 for an ``i1``); None for a register."""
        if self.lanes or self.name[0] == "%" or self.is_float or self.kind == "ptr":
            return None
        return {"true": 1, "false": 0}[self.name] if self.kind == "i1" else int(self.name)

    def __str__(self) -> str:
        return f"{self.type} {self.name}"


def text_of(kind: str, value: float) -> str:
    """A number as a literal: integers modulo their width, floats rounded to their kind."""
    if kind == "ptr":
        return "null"
    if kind == "i1":
        return "true" if value else "false"
    if kind[0] == "i":
        bits = bits_of(kind)
        return str((int(value) + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1))
    return text_of_bits(kind, _bits_of_float(kind, value))


_PREDICATES = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}


def compared(predicate: str, a: int, b: int, bits: int) -> bool:
    """The result of LLVM's comparison of two integers of ``bits`` bits."""
    if predicate[0] == "u":
        a, b = a % (1 << bits), b % (1 << bits)
    return bool(_PREDICATES[predicate[-2:]](a, b))


_FORMATS = {"half": ("<e", "<H"), "float": ("<f", "<I"), "double": ("<d", "<Q")}


def _bits_of_float(kind: str, value: float) -> int:
    to, of = _FORMATS[kind]
    try:
        packed = struct.pack(to, value)
    except OverflowError:
        packed = struct.pack(to, math.copysign(math.inf, value))
    return int(struct.unpack(of, packed)[0])


def text_of_bits(kind: str, bits: int) -> str:
    """A float's literal from its bits. LLVM writes the bits of the same number as a double, but a half with its own
    bits.
    """
    if kind == "half":
        return f"0xH{bits:04X}"
    if kind == "double":
        return f"0x{bits:016X}"
    sign, exponent, fraction = bits >> 31, bits >> 23 & 0xFF, bits & 0x7FFFFF
    if exponent == 0xFF:
        return f"0x{sign << 63 | 0x7FF << 52 | fraction << 29:016X}"
    number = struct.unpack("<f", struct.pack("<I", bits))[0]
    return f"0x{struct.unpack('<Q', struct.pack('<d', number))[0]:016X}"


def mangled(x: Reg) -> str:
    """A value's type as LLVM names it in its intrinsics: ``v8f32``."""
    return (f"v{x.lanes}" if x.lanes else "") + _MANGLED.get(x.kind, x.kind)
