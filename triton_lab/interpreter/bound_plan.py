"""A plan, bound to the functions that run its operations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from triton_lab.interpreter.bound_code import Routine, compile_plan, waits
from triton_lab.interpreter.op_registry import Implementation
from triton_lab.ir import Plan, effects
from triton_lab.ir.provenance import Roots, pointer_roots
from triton_lab.ir.spin_wait import waiting_loops

Region = TypeVar("Region")


@dataclass(frozen=True, slots=True, eq=False)
class Executable:
    """A plan, bound once and run many times.

    ``waiting_loops`` are the operations in which programs wait for others; ``waits`` are these and all operations that
    contain one. ``updates``: the plan has atomics that write. ``kept`` stores what other modules cache with the plan,
    under their own names.
    """

    plan: Plan
    routines: Mapping[str, Routine]
    waiting_loops: frozenset[int]
    waits: frozenset[int]
    roots: Mapping[int, Roots]
    updates: bool
    kept: dict[str, Any] = field(default_factory=dict)

    def reach(self, owners: Sequence[frozenset[Region] | None]) -> dict[int, frozenset[Region] | None]:
        """The regions that each access may touch: those of the arguments its pointer can come from.

        ``owners`` has the regions (or what names them) of each of the kernel's arguments, or None for an address of
        unknown memory. None in the result means anywhere.
        """
        result: dict[int, frozenset[Region] | None] = {}
        for op, roots in self.roots.items():
            reached = [None] if roots is None else [owners[k] for k in roots]
            known = [regions for regions in reached if regions is not None]
            result[op] = frozenset().union(*known) if len(known) == len(reached) else None
        return result

    @classmethod
    def of(cls, plan: Plan, instead: Mapping[str, Implementation] | None = None) -> Executable:
        """Bind ``plan``. Operations named in ``instead`` run the functions there: see `arithmetic_variants`."""
        loops = waiting_loops(plan)
        updates = any(effects.updates(op) for op in plan.walk())
        return cls(plan, compile_plan(plan, instead or {}), loops, waits(plan, loops), pointer_roots(plan), updates)
