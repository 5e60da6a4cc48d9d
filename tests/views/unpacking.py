"""A packed scene read back: the other side of `triton_lab.views.scene_packing`, in Python."""

from __future__ import annotations

import base64
import gzip
import json
from typing import Any


def unpacked(text: str) -> Any:
    """The scene, its bytes as they were."""
    return json.loads(gzip.decompress(base64.b64decode(text)), object_hook=_bytes)


def _bytes(found: dict[str, Any]) -> Any:
    return base64.b64decode(found["base64"]) if set(found) == {"base64"} else found
