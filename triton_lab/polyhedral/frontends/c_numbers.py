"""The numbers of C text, and their types."""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite

from triton_lab.localization import _

_INTEGERS = {"int": "int32", "long": "int64", "short": "int16"}
_REALS = {"float": "float32", "double": "float64"}


def dtype(words: Iterable[str]) -> str:
    """NumPy's name of the type that C spells with ``words``. Raises ValueError with the reason where a nest may not
    have it."""
    names = set(words) - {"const", "signed"}
    if "unsigned" in names:
        raise ValueError(_("unsigned arithmetic wraps around: it is not affine"))
    for name in ("long", "short", "int"):
        if name in names and "double" not in names:
            return _INTEGERS[name]
    for name in ("double", "float"):
        if name in names:
            return _REALS[name]
    raise ValueError(
        _("type {names}: only int, long, float and double are supported").format(
            names=" ".join(sorted(names)) or "unknown"
        )
    )


def number(kind: str, text: str) -> int | float:
    """The constant ``text``, of which pycparser says that it is a ``kind``. Raises ValueError with the reason where it
    is no number that a nest may have."""
    digits = text.lower()
    if kind in ("float", "double", "long double"):
        return _real(digits.rstrip("l") if digits.startswith("0x") else digits.rstrip("fl"))
    if "unsigned" in kind:
        raise ValueError(_("unsigned arithmetic wraps around: it is not affine"))
    if "int" not in kind:
        raise ValueError(_("{text} is not a number").format(text=text))
    digits = digits.rstrip("l")
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
