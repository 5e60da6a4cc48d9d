"""Values in LLVM's text: registers and literals, scalars and vectors.

Kinds are LLVM's scalar types as text: ``i1``, ``i8``, ``i16``, ``i32``, ``i64``, ``half``, ``float``, ``double``,
``ptr``. `element_types` says how Triton's types are stored in them.
"""

from __future__ import annotations

from dataclasses import dataclass

_BYTES = {"i1": 1, "i8": 1, "i16": 2, "half": 2, "i32": 4, "float": 4, "i64": 8, "double": 8, "ptr": 8, "i128": 16}


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
