"""Each test starts with an empty cache, donors in the hash, and nothing pending from another test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from triton_lab import lazy
from triton_lab.lazy.storage import _live


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    _live.clear()  # tensors in a failed test's traceback
    lazy.cache.clear()
    lazy.history.clear()
    with lazy.hash_includes_donors(True):
        yield
