"""What is generated: a function that runs programs of a launch one after the other, in ascending order.

**The function** (``Generated.symbol``) has C's calling convention and this signature::

    int64 run(int64 *arguments, int64 first, int64 end, int64 *grid, int64 *regions, char *scratch, int64 *fault)

``arguments``  a slot of 8 bytes for each of the kernel's arguments, its bits in the lowest bytes (what is above them
               is not read), in the order of ``plan.kernel.arguments``.
``first, end`` the numbers of the programs to run; x counts fastest.
``grid``       its three extents.
``regions``    two addresses, start and stop, for each entry of ``Generated.regions``: the memory that this access may
               touch. Nothing outside is read or written. The bytes of the regions must not change their owner while
               the function runs.
``scratch``    ``Generated.scratch`` bytes, aligned to 64, the caller's own; what they hold does not matter.
``fault``      four numbers. The function writes the first two when it stops early: a guard (an entry of
               ``Generated.guards``), and whether it failed ``LATE``. The third is how many rounds of loops may pass
               until it calls the fourth, the address of an ``int64 ask()``: that says how many may until the next
               time, or 0: then the function stops where it is, with `STOPPED` for the guard, and in the second place
               the operation, by its index, that is the loop.

It returns ``end`` when all programs ran. Otherwise it returns the number of a program that a guard stopped: the
programs before it have run, and it has not changed any memory, so that NumPy may run it from its start; then the
function can be called again for those after it. Only if it was `STOPPED`, or if ``fault[1]`` is `LATE`, has it changed
some: the kernel's memory was changed by someone else while it ran, and nobody can tell what it would have done.

The function holds no state of its own: threads may run it at once, with scratch and faults of their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from triton_lab.ir import Plan
from triton_lab.native.unsupported import Unsupported

__all__ = ["EARLY", "LATE", "STOPPED", "Generated", "Guard", "Signature", "Slot", "Unsupported", "generate"]

EARLY, LATE = 0, 1
STOPPED = -1


@dataclass(frozen=True, slots=True)
class Signature:
    """What a function is specialised on, beside the plan (which has the arguments' types).

    ``groups`` has a number for the region of each access, by the operation's index: accesses of one number touch
    the same memory, those of different numbers never do. Every access of the plan must be in it.
    ``vector`` is the width of the processor's vectors in bytes: 16, 32 or 64. ``registers`` is how many there are.
    """

    groups: tuple[tuple[int, int], ...]
    vector: int = 64
    registers: int = 32

    @property
    def group(self) -> Mapping[int, int]:
        return dict(self.groups)


@dataclass(frozen=True, slots=True)
class Slot:
    """Memory that a function asks for: the region of one access. ``writes``: it must be writable."""

    op: int
    writes: bool


@dataclass(frozen=True, slots=True)
class Guard:
    """A place where a program may be handed to NumPy: the operation, and what did not hold.

    ``what`` is "bounds" (an access leaves its region or is not aligned), "wraps" (integers of an address left their
    type), "within" (a remainder that would have changed its operand), or "step" (of a loop that does not count up).
    """

    op: int
    what: str


@dataclass(frozen=True, slots=True)
class Generated:
    """A function as LLVM IR text, and what it wants of its caller. Plain data: it can be kept in a file."""

    text: str
    symbol: str
    scratch: int
    regions: tuple[Slot, ...]
    guards: tuple[Guard, ...] = field(repr=False)


def generate(plan: Plan, signature: Signature) -> Generated:
    """The function for all programs of ``plan``. Raises Unsupported, in a user's words, for what it does not know."""
    from triton_lab.native.kernel import make

    return make(plan, signature)
