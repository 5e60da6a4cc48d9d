"""Orders the files of a run so that several workers, which take file after file, end at about the same time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from tests.durations import Durations


def order(
    tests: Sequence[str],
    durations: Durations,
    *,
    near: Collection[str] = (),
    browser: Collection[str] = (),
    together: Collection[str] = (),
) -> list[int]:
    """Which test comes first, second, ...: by their places in ``tests``; those of a file stay as they are.

    Files that take long come first, so that what is left at the end is short. Before all come those ``near`` to a
    change, and in both parts those that want the ``browser``, which is opened once for them. Those that share what they
    make, ``together``, follow each other, and count as one.
    """
    files = [test.partition("::")[0] for test in tests]
    spent: Counter[str] = Counter()
    for file, seconds in zip(files, durations.each(tests), strict=True):
        spent[file] += seconds
    as_one = sum(spent[file] for file in together)
    for file in together:
        spent[file] = as_one

    def rank(k: int) -> tuple[bool, bool, float, str]:
        return files[k] not in near, files[k] not in browser, -spent[files[k]], files[k]

    return sorted(range(len(tests)), key=rank)
