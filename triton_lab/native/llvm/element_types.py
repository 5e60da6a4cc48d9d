"""How the elements of Triton's types are stored: in registers, and in memory.

Integers and pointers are integers; float32 and float64 are themselves. Narrower floats are stored as their bits, so
that moving them changes nothing: arithmetic widens them to ``float`` and rounds once.
"""

from __future__ import annotations

from triton_lab.localization import _
from triton_lab.native.unsupported import Unsupported

_KINDS = {
    "i1": "i1",
    "i8": "i8",
    "i16": "i16",
    "i32": "i32",
    "i64": "i64",
    "ptr": "i64",
    "index": "i64",
    "f32": "float",
    "f64": "double",
    "f16": "i16",
    "bf16": "i16",
    "f8E4M3FN": "i8",
    "f8E5M2": "i8",
    "f8E4M3FNUZ": "i8",
    "f8E5M2FNUZ": "i8",
    "f8E4M3B11FNUZ": "i8",
}


def kind_of(element: str) -> str:
    """The kind of register that holds one element: ``i64`` for a pointer, ``i16`` for the bits of a bf16."""
    kind = _KINDS.get(element)
    if kind is None:
        raise Unsupported(_("elements of type {element}").format(element=element))
    return kind


def is_narrow(element: str) -> bool:
    """Whether elements are floats that registers hold as bits."""
    return element[0] in "fb" and element not in ("f32", "f64")


def width_of(element: str) -> int:
    """The bytes of an element in memory."""
    kind = kind_of(element)
    return 1 if kind == "i1" else {"i8": 1, "i16": 2, "i32": 4, "float": 4, "i64": 8, "double": 8}[kind]
