"""What is generated: a function that runs programs of a launch one after the other, in ascending order.

**The function** (``Generated.symbol``) has C's calling convention and this signature::

    int64 run(int64 *arguments, int64 first, int64 end, int64 *grid, int64 *regions, char *scratch, int64 *fault)

``arguments``  a slot of 8 bytes for each of the kernel's arguments, its bits in the lowest bytes (what is above them
               is not read), in the order of ``plan.kernel.arguments``. The slot of a tensor descriptor says how many
               bytes behind ``arguments`` its numbers are: the base's address, 1 if it is padded with NaN, extents and
               strides in elements, of 8 bytes each.
``first, end`` the numbers of the programs to run; x counts fastest.
``grid``       its three extents.
``regions``    two numbers for each entry of ``Generated.regions``, of the memory that this access may touch: where it
               starts and stops. Of an access that may touch several regions, or any: where in ``regions`` the first
               one's start and stop are, counted in numbers, and how many regions there are. Of one that ``keeps`` (see
               below): how far behind its region the two others lie. Nothing outside is read or written. The bytes of
               the regions must not change their owner while the function runs.
``scratch``    ``Generated.scratch`` bytes, aligned to 64, the caller's own; what they hold does not matter.
``fault``      five numbers. The function writes the first two when it stops early: a guard (an entry of
               ``Generated.guards``), and whether it failed ``LATE``; and the last: an address that may not be touched,
               0 if it knows none. The third is how many rounds of loops may pass
               until it calls the fourth, the address of a ``void ask(int64 *rounds)``: that writes how many may until
               the next time. If it writes nothing, or 0, the function stops where it is, with `STOPPED` for the guard,
               and in the second place the operation, by its index, that is the loop.

It returns ``end`` when all programs ran. Otherwise it returns the number of a program that a guard stopped: the
programs before it have run, and it has not changed any memory, so that NumPy may run it from its start; then the
function can be called again for those after it. Only if it was `STOPPED`, or if ``fault[1]`` is `LATE`, has it changed
some: the kernel's memory was changed by someone else while it ran, and nobody can tell what it would have done.

**A transaction** (``Generated.transaction``) is a launch whose programs may wait for one another, or whose guards
depend on what they have written: a guard that fails, fails for the launch. The programs before it have run, and its own
may have changed memory, too. Before a byte is changed for the first time, what it was is kept at the same place of a
second region, and 255 is put there in a third one, which is 0 before: so the caller can put back what there was, and
have NumPy run the launch from its start. Only one thread at a time may run its programs, in ascending order.

The function holds no state of its own: threads may run it at once, with scratch and faults of their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from triton_lab.ir import Plan
from triton_lab.native.unsupported import Unsupported

__all__ = ["EARLY", "LATE", "STOPPED", "Generated", "Guard", "RegionSlot", "Signature", "Unsupported", "generate"]

EARLY, LATE = 0, 1
STOPPED = -1


@dataclass(frozen=True, slots=True)
class Signature:
    """What a function is specialised on, beside the plan (which has the arguments' types).

    ``groups`` has numbers for the regions that each access may touch, by the operation's index: accesses that share
    no number never touch the same memory. Every access of the plan must be in it. With no number an access may touch
    any memory but that of accesses with numbers, if one of the two writes.
    ``vector`` is the width of the processor's vectors in bytes: 16, 32 or 64. ``registers`` is how many there are.
    ``fused``: it multiplies and adds in one instruction. ``halves``: it converts float16.
    """

    groups: tuple[tuple[int, tuple[int, ...]], ...]
    vector: int = 64
    registers: int = 32
    fused: bool = True
    halves: bool = True

    @property
    def group(self) -> Mapping[int, tuple[int, ...]]:
        return dict(self.groups)


@dataclass(frozen=True, slots=True)
class RegionSlot:
    """Memory that a function asks for: the region of one access. ``writes``: it must be writable. ``keeps``: where what
    the access changes is kept, in a transaction."""

    op: int
    writes: bool
    keeps: bool = False


@dataclass(frozen=True, slots=True)
class Guard:
    """A place where a program may be handed to NumPy: the operation, and what did not hold.

    ``what`` is "bounds" (an access leaves its region or is not aligned), "wraps" (integers of an address left their
    type), "within" (a remainder that would have changed its operand, a corner before a tensor's start), "step" (of a
    loop that does not count up), "strides" (of a descriptor, which are not as they should be), "asserts", or "waits" (a
    round of a loop has achieved nothing).
    """

    op: int
    what: str


@dataclass(frozen=True, slots=True)
class Generated:
    """A function as LLVM IR text, and what it wants of its caller. Plain data: it can be kept in a file."""

    text: str
    symbol: str
    scratch: int
    regions: tuple[RegionSlot, ...]
    guards: tuple[Guard, ...] = field(repr=False)
    transaction: bool = False


def generate(plan: Plan, signature: Signature) -> Generated:
    """The function for all programs of ``plan``. Raises Unsupported, in a user's words, for what it does not know."""
    from triton_lab.native.lowering.kernel_function import make

    return make(plan, signature)
