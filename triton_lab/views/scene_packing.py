"""Scenes in the forms that are sent: one text for a page or a notebook's output, or plain values and buffers."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from triton_lab.localization import _
from triton_lab.views.scenes import Scene

_GZIP = 16 + zlib.MAX_WBITS  # the form that zlib gives the name and the time of no file
_MOST_ITEMS = 1 << 18  # lists, maps and what is in them, as in `front/packed.js`
_MOST_BYTES = 1 << 26  # of a scene that is unpacked here
_PIECE = 1 << 16  # bytes that are packed before the length is looked at


def packed(scene: Scene) -> str:
    """The scene as base64 of gzip of JSON; the same scene gives the same text. `front/packed.js` reads it.

    Raises ValueError for a number that is not finite, which JSON cannot hold.
    """
    text = packed_within(scene, None)
    assert text is not None
    return text


def packed_within(scene: Scene, most: int | None) -> str | None:
    """As `packed`; None if the text has more than ``most`` characters, which is seen before all is packed."""
    text = _json(scene, finite=True)
    packer = zlib.compressobj(9, zlib.DEFLATED, _GZIP)
    found = b""
    for start in range(0, len(text), _PIECE):
        found += packer.compress(text[start : start + _PIECE])
        if most is not None and len(found) * 4 // 3 > most:
            return None
    whole = base64.b64encode(found + packer.flush()).decode("ascii")
    return whole if most is None or len(whole) <= most else None


def unpacked(text: str) -> dict[str, Any]:
    """The scene of a `packed` text as plain data, whose bytes stay base64.

    Raises ValueError for another text, or for one with more than 64 MiB of JSON.
    """
    reader = zlib.decompressobj(_GZIP)
    try:
        found = reader.decompress(base64.b64decode(text, validate=True), _MOST_BYTES)
    except zlib.error as error:
        raise ValueError(_("this is no picture of the lab's: {error}").format(error=error)) from error
    scene = json.loads(found) if reader.eof else None
    if not isinstance(scene, dict):
        raise ValueError(_("this is no picture of the lab's"))
    return scene


def size(scene: Scene) -> int:
    """The approximate number of characters of a packed scene; at least a quarter of its unpacked size."""
    text = _json(scene)
    return max(len(text) // 4, len(zlib.compress(text, 1)) * 4 // 3)


def is_drawable(scene: Scene, most: int) -> bool:
    """Whether the packed scene has at most so many characters, and no more items than a browser unpacks."""
    text = _json(scene)
    return sum(map(text.count, (b",", b"[", b"{"))) <= _MOST_ITEMS and packed_within(scene, most) is not None


def fitting(names: Iterable[str], make: Callable[[str], Scene], room: int) -> dict[str, Scene]:
    """The scenes of ``names`` that fit into so many characters; earlier names take precedence."""
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
    """The scene as JSON with its bytes as base64. If it must be ``finite`` and is not, raises ValueError."""
    return json.dumps(_plain(scene), separators=(",", ":"), allow_nan=not finite).encode()


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return {"base64": base64.b64encode(value).decode("ascii")}
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value
