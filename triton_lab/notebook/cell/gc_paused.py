"""Python's garbage is not looked for while a cell's pictures are awaited.

Imports and scenes make much that stays and hardly anything to throw away, but so much that Python goes through all that
there is: with torch loaded 0.13 s, in the midst of a first picture that takes 0.6 s. It does so afterwards.
"""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def unswept() -> Iterator[None]:
    """Collect no cycles inside; for work that is bounded, and never while code of the user's runs."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
