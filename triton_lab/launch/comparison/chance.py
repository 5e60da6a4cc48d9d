"""`beyond_chance`: whether elements are too many, or too different, to become right by chance."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from triton_lab.launch.comparison.argument_difference import Compared
from triton_lab.launch.comparison.number_formats import is_float, wide

# How many different values must become right (fewer may by chance), and for integers how many elements.
DISTINCT, _WHOLE = 4, 16
# Or so many bits of chance: which elements are wrong, and what was expected there.
_BITS = 24


def beyond_chance(plain: Sequence[Compared], found: Sequence[Compared] = ()) -> bool:
    """Whether the differing elements (that are right in ``found``) are too many to become right by chance."""
    bits = 0.0
    for k, one in enumerate(plain):
        wrong = ~one.explained & found[k].same if found else ~one.explained
        expected = np.asarray(wide(one.b))
        counts = np.unique(expected[wrong], return_counts=True)[1]
        whole = is_float(one.dtype) or counts.sum() >= _WHOLE
        if (len(counts) >= DISTINCT and whole) or (len(counts) > 1 and counts.sum() - counts.max() >= _WHOLE):
            return True
        # One number for all of them: then which elements they are is no chance.
        if not found and counts.sum() >= _WHOLE and np.count_nonzero(~wrong) >= _WHOLE:
            return True
        if not found and wrong.any():
            shares = np.unique(expected, return_counts=True)[1] / expected.size
            bits += _ways(expected.size, int(counts.sum())) - counts.sum() * math.log2(float((shares**2).sum()))
    return bits >= _BITS


def _ways(count: int, chosen: int) -> float:
    """In how many ways so many are chosen, in bits."""
    return (math.lgamma(count + 1) - math.lgamma(chosen + 1) - math.lgamma(count - chosen + 1)) / math.log(2)
