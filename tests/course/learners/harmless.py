"""Answers that were written as wrong, and turned out to be right: by exercise and number in ``WRONG``, with the reason.

They are tried as right answers. `python -m tests.course.learners` counts them among these, not among the wrong ones.
"""

from __future__ import annotations

from collections.abc import Mapping

_IDLE = "the programs past the end are masked off, and do nothing"
_AGAIN = "the kernel stores the whole result, and the host only writes the same numbers once more"
_COPY = "a copy of an argument is allowed where the text does not ask for all strides"

HARMLESS: Mapping[str, Mapping[int, str]] = {
    "add_constant": {5: _AGAIN},
    "square_in_place": {3: _IDLE},
    "fused": {2: _AGAIN},
    "outer_relu": {6: "the text promises a new matrix, and no order in memory"},
    "copy_any": {3: _AGAIN},
    "pad_rows": {4: _AGAIN},
    "take": {7: "the store has the mask of the index, so that no undefined index reaches the result"},
    "dot_of_bytes": {2: "a product of two bytes fits 16 bits, and tl.sum adds them up in 32"},
    "swap": {4: _IDLE},
    "softmax": {13: "up to three passes over a row are accepted"},
    "running_sums": {8: "only lanes past the end, and a sum that no block follows, have undefined values", 11: _COPY},
    "recurrence": {3: _AGAIN},
    "batched": {4: _COPY},
    "bands": {4: _AGAIN},
    "attention": {14: _COPY},
    "delta_of": {10: "the first of the two loads is used by nothing, and the compiler removes it"},
}
