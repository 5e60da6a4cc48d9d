"""C's types and numbers: NumPy's names for types, the range of each integer type, and constants."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import isfinite

from triton_lab.localization import _

_REALS = {"float": "float32", "double": "float64"}
# What <stdint.h> and <stddef.h> name; the text need not define them.
STANDARD = {
    **{f"{sign}int{bits}_t": f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)},
    "size_t": "uint64", "ssize_t": "int64", "ptrdiff_t": "int64", "intptr_t": "int64", "uintptr_t": "uint64",
}  # fmt: skip


def dtype(words: Iterable[str], typedefs: Mapping[str, str]) -> str:
    """NumPy's name of the type that C spells with ``words``; ``typedefs`` has the types that the text names itself.

    Raises ValueError with the reason where a nest may not have it.
    """
    names = [w for w in words if w not in ("const", "signed", "volatile")] or ["int"]
    if len(names) == 1:
        known = typedefs.get(names[0]) or STANDARD.get(names[0]) or _REALS.get(names[0])
        if known:
            return known
    if "_Bool" in names:
        return "uint8"
    if "double" in names and "_Complex" not in names:
        return "float64"
    sign = "u" if "unsigned" in names else ""
    for name, bits in (("char", 8), ("short", 16), ("long", 64), ("int", 32), ("unsigned", 32)):
        if name in names:
            return f"{sign}int{bits}"
    raise ValueError(
        _("type {names}: only integers, float and double are supported").format(
            names=" ".join(sorted(names)) or "unknown"
        )
    )


def limits(kind: str) -> tuple[int, int] | None:
    """The least and greatest value of an integer type by NumPy's name; None for others."""
    bits = kind.removeprefix("u").removeprefix("int")
    if not bits.isdigit() or "int" not in kind:
        return None
    size = int(bits)
    return (0, 2**size - 1) if kind.startswith("u") else (-(2 ** (size - 1)), 2 ** (size - 1) - 1)


def number(kind: str, text: str) -> int | float:
    """The constant ``text``, of which pycparser says that it is a ``kind``. Raises ValueError with the reason where it
    is no number that a nest may have."""
    digits = text.lower()
    if kind in ("float", "double", "long double"):
        return _real(digits.rstrip("l") if digits.startswith("0x") else digits.rstrip("fl"))
    if kind == "char" and len(text) == 3:
        return ord(text[1])
    if "int" not in kind or "char" in kind:
        raise ValueError(_("{text} is not a number").format(text=text))
    digits = digits.rstrip("ul")
    try:
        value = int(digits, 8) if digits.startswith("0") and digits.isdigit() else int(digits, 0)
    except ValueError:
        raise ValueError(_("this is not a number")) from None
    if value >= 1 << 63:
        raise ValueError(_("this number does not fit in 64 bits"))
    return value


def _real(digits: str) -> float:
    try:
        value = float.fromhex(digits) if digits.startswith("0x") else float(digits)
    except (OverflowError, ValueError):
        raise ValueError(_("this is not a number")) from None
    if not isfinite(value):
        raise ValueError(_("this number is greater than the greatest double"))
    return value
