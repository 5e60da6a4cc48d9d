"""Which Triton the tests run with."""

from __future__ import annotations

import triton

VERSION = tuple(map(int, triton.__version__.split(".")[:2]))
BEFORE_3_7 = VERSION < (3, 7)
