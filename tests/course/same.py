"""Changes that make another right answer: told apart from wrong ones by hand, each with its reason."""

from __future__ import annotations

from tests.course.mutants import Mutant

# (exercise, what the node has become): why it means the same.
SAME = {
    ("relu", "x < 0"): "",
}
SAME = {key: why for key, why in SAME.items() if why}


def means_the_same(name: str, mutant: Mutant) -> bool:
    """Whether the change gives another right answer."""
    return (name, mutant.became) in SAME
