"""The live objects of a type, looked for without another thread at work."""

from __future__ import annotations

import gc
from functools import partial
from itertools import chain, compress, starmap
from typing import Any


def instances(kind: type[Any], *generations: int, reached: bool = False) -> list[Any]:
    """The objects of ``kind`` and its subclasses in the collector's ``generations``; without these, in all of them.

    With ``reached``, those that some tracked object refers to: a NumPy array is not tracked itself.

    Only C functions run between the first look and the last, so Python starts no other thread there. Another thread
    may be making a tuple: CPython refuses to finish it (SystemError) while one more list has a reference to it.
    """
    seen: list[Any] = []
    found: list[Any] = []
    looked = map(gc.get_objects, generations or (None,))
    # The type is asked: `isinstance` would run foreign code, which lazy proxies have for their class.
    chosen = compress(seen, map(partial(type.__subclasscheck__, kind), map(type, seen)))
    steps = (
        partial(seen.extend, chain.from_iterable(starmap(gc.get_referents, looked) if reached else looked)),
        partial(found.extend, chosen),
        partial(seen.clear),
    )
    try:
        list(map(partial.__call__, steps))
    finally:
        seen.clear()
    return found
