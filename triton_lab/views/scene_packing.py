"""Scenes as they travel: as one text, in a page or in a notebook's output, or as plain values beside their bytes."""

from __future__ import annotations

import base64
import gzip
import json
import zlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from triton_lab.views.scenes import Scene


def packed(scene: Scene) -> str:
    """The scene as base64 of gzip of JSON; the same scene gives the same text. `front/packed.js` reads it.

    Raises ValueError for a number that is not finite: JSON has none such.
    """
    return base64.b64encode(gzip.compress(_json(scene, finite=True), mtime=0)).decode("ascii")


def size(scene: Scene) -> int:
    """About how many characters a scene takes when packed; at least a quarter of what it is unpacked."""
    text = _json(scene)
    return max(len(text) // 4, len(zlib.compress(text, 1)) * 4 // 3)


def fitting(names: Iterable[str], make: Callable[[str], Scene], room: int) -> dict[str, Scene]:
    """The scenes of ``names`` that have room in so many characters, those that come first before others."""
    found: dict[str, Scene] = {}
    for name in names:
        made = make(name)
        needed = size(made)
        if needed <= room:
            found[name] = made
            room -= needed
    return found


def beside(value: Any, buffers: list[bytes]) -> Any:
    """``value`` with its bytes moved to ``buffers``."""
    if isinstance(value, bytes):
        buffers.append(value)
        return {"buffer": len(buffers) - 1}
    if isinstance(value, Mapping):
        return {key: beside(item, buffers) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [beside(item, buffers) for item in value]
    return value


def _json(scene: Scene, finite: bool = False) -> bytes:
    """Bytes as base64. Raises ValueError where it must be ``finite`` and is not."""
    return json.dumps(_plain(scene), separators=(",", ":"), allow_nan=not finite).encode()


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return {"base64": base64.b64encode(value).decode("ascii")}
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value
