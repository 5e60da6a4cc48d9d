"""Changes that make another right answer: told apart from wrong ones by hand, each with its reason."""

from __future__ import annotations

from tests.course.mutants import Mutant

# Exercise -> what the changed node has become -> why it means the same.
SAME: dict[str, dict[str, str]] = {
    "sum_of_three": {
        "tl.load(x_ptr + offsets, mask=inside)": "a lane that has no element stores nothing",
        "tl.load(x_ptr + offsets, mask=inside, other=1.0)": "a lane that has no element stores nothing",
    },
    "take": {
        "tl.load(index_ptr + offsets, mask=mask)": "a lane that has no index stores nothing",
        "tl.load(index_ptr + offsets, mask=mask, other=1.0)": "a lane that has no index stores nothing",
        "1": "the index of a lane that has none: it stores nothing",
    },
}


def means_the_same(name: str, mutant: Mutant) -> bool:
    """Whether the change gives another right answer."""
    return mutant.became in SAME.get(name, ())
