"""The instances of a static control part, and their dependences: what a schedule puts in order."""

from __future__ import annotations

from functools import cached_property

from triton_lab.polyhedral.core.schedule_visits import Ordered
from triton_lab.polyhedral.core.static_part import StaticPart
from triton_lab.polyhedral.dependence import Dependence, memory_dependences, value_dependences
from triton_lab.polyhedral.legality import Legality, legality


class Instances(StaticPart):
    """A static control part with its dependences, which do not depend on a schedule."""

    @cached_property
    def dependences(self) -> tuple[Dependence, ...]:
        """Memory-based dependences: every pair of instances that access one element, one of them with a write.

        These decide legality: an order that keeps them all gives every read the value it had, without renaming.
        """
        return memory_dependences(self)

    @cached_property
    def value_dependences(self) -> tuple[Dependence, ...]:
        """Value-based flow dependences: from each read to the write whose value it reads (the last one before it)."""
        return value_dependences(self)

    def is_legal(self, schedule: Ordered) -> bool:
        """Whether ``schedule`` keeps every dependence.

        >>> scop.is_legal(schedule.reverse("i"))
        True
        """
        return self.legality(schedule).is_legal

    def legality(self, schedule: Ordered) -> Legality:
        """Whether ``schedule`` keeps every dependence, and if not, which pairs it breaks.

        >>> nest = lab.polyhedral.scop("for (int i = 1; i < n; i++) A[i] = A[i - 1];")
        >>> print(nest.legality(nest.schedule.reverse("i")))
        illegal:
          flow S0 → S0 on A, distance (1): the target runs first
        """
        return legality(self, self.dependences, schedule.tree)
