"""The names of layouts' parameters: as in TTGIR (``sizePerThread``), or as in Python (``size_per_thread``)."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from typing import Any

from triton_lab.compiled.layouts.layout_kind import LayoutKind


def plain(name: str) -> str:
    """A name without what its two spellings differ in."""
    return name.replace("_", "").lower()


def parameter_names(kind: type[LayoutKind]) -> list[str]:
    """The names of a kind's parameters in Python."""
    return [field.name.rstrip("_") for field in dataclasses.fields(kind)]  # type: ignore[arg-type]


def as_written(message: str, kind: type[LayoutKind], parameters: Mapping[str, Any]) -> str:
    """A message that spells the parameters as the caller did: as in Python, or as in TTGIR."""
    python = any("_" in key for key in parameters) or not any(key != key.lower() for key in parameters)
    written = {plain(key): key for key in parameters}
    names = {name.rstrip("_") for name in parameter_names(kind)}
    spelled = {plain(name): name if python else _ttgir(name) for name in names} | written
    return re.sub(r"\b[A-Za-z]+(?:_[A-Za-z]+)*\b(?! layout)", lambda found: _called(found[0], spelled), message)


def _called(word: str, spelled: Mapping[str, str]) -> str:
    # "Order" or "version" in a sentence are plain words; a parameter's name looks like a name.
    is_name = "_" in word or any(letter.isupper() for letter in word[1:])
    return spelled.get(plain(word), word) if is_name else word


def _ttgir(name: str) -> str:
    """The name in TTGIR's spelling: ``sizePerThread``, ``warpsPerCTA``, ``CGALayout``."""
    if name == "cta_layout":
        return "ctaLayout"
    first, *rest = [word.upper() if word in ("cta", "cga") else word for word in name.split("_")]
    return first + "".join(word if word.isupper() else word.title() for word in rest)
