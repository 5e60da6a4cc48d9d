"""The generated function: it runs programs of a launch one after another, in ascending order.

**The function** (``Generated.symbol``) has C's calling convention and this signature::

    int64 run(int64 *arguments, int64 first, int64 end, int64 *grid, int64 *regions, char *scratch, int64 *fault)

``arguments``  a slot of 8 bytes for each of the kernel's arguments, in the order of ``plan.kernel.arguments``. Its bits
               are in the lowest bytes; those above are not read. The slot of a tensor descriptor says how many bytes
               behind ``arguments`` its numbers are: the base's address, 1 if it is padded with NaN, extents and
               strides in elements, of 8 bytes each.
``first, end`` the numbers of the programs to run; x counts fastest.
``grid``       its three extents.
``regions``    two numbers for each entry of ``Generated.regions``: the start and stop of the memory that this access
               may touch. For an access that may touch several regions, or any: the place in ``regions`` of the first
               region's start and stop, counted in numbers, and the number of regions. For an entry that ``keeps`` (see
               below): the distances from its region to the two others. Nothing outside is read or written. The bytes
               of the regions must not change their owner while the function runs.
``scratch``    ``Generated.scratch`` bytes of the caller, aligned to 64; their contents do not matter.
``fault``      five numbers. If the function stops early, it writes the first two: a guard (an entry of
               ``Generated.guards``), and whether it failed ``LATE``. It also writes the last: an address that may not
               be touched, 0 if it knows none. The third is how many rounds of loops may pass until it calls the fourth,
               the address of a ``void ask(int64 *rounds)``, which writes how many may pass until the next call. If that
               writes nothing, or 0, the function stops where it is. It then gives `STOPPED` for the guard, and in the
               second place the index of the operation that is the loop.

It returns ``end`` if all programs ran. Otherwise it returns the number of a program that a guard stopped. The programs
before it have run, and it has not changed any memory, so NumPy may run it from its start; then the function can be
called again for those after it. The program has changed memory only if it was `STOPPED`, or if ``fault[1]`` is `LATE`.
`LATE` means that other code changed the kernel's memory while it ran, so its result is unknown.

**A transaction** (``Generated.transaction``) is a launch whose programs may wait for one another, or whose guards
depend on what they have written: a guard that fails, fails for the launch. The programs before it have run, and its own
may have changed memory, too. Before a byte is first changed, its old value is saved at the same place of a second
region, and 255 is written there in a third one, which is 0 before. So the caller can restore the memory and have NumPy
run the launch from its start. Only one thread at a time may run its programs, in ascending order.

The function has no state of its own: several threads may run it at once, each with its own scratch and fault.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from triton_lab.native.unsupported import Unsupported

__all__ = ["EARLY", "LATE", "STOPPED", "Generated", "Guard", "RegionSlot", "Signature", "Unsupported"]

EARLY, LATE = 0, 1
STOPPED = -1


@dataclass(frozen=True, slots=True)
class Signature:
    """What a function is specialised on, besides the plan (which has the arguments' types).

    ``groups`` has numbers for the regions that each access may touch, by the operation's index: accesses without a
    common number never touch the same memory. Every access of the plan must be in it. An access without numbers may
    touch any memory, except that of accesses with numbers if one of the two writes. ``vector`` is the width of the
    processor's vectors in bytes: 16, 32 or 64. ``registers`` is how many there are. ``fused``: it multiplies and adds
    in one instruction. ``halves``: it converts float16.
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
    """Memory that a function needs: the region of one access.

    ``writes``: it must be writable. ``keeps``: in a transaction, the place for the old contents of what the access
    changes.
    """

    op: int
    writes: bool
    keeps: bool = False


@dataclass(frozen=True, slots=True)
class Guard:
    """A place where a program may be handed to NumPy: the operation, and which condition failed.

    ``what`` is "bounds" (an access leaves its region or is not aligned), "wraps" (integers of an address left their
    type), "within" (a remainder that would have changed its operand, or a corner before a tensor's start), "step" (of a
    loop that does not count up), "strides" (of a descriptor, which are not as required), "asserts", or "waits" (a round
    of a loop has achieved nothing).
    """

    op: int
    what: str


@dataclass(frozen=True, slots=True)
class Generated:
    """A function as LLVM IR text, and what it needs from its caller. Plain data: it can be stored in a file."""

    text: str
    symbol: str
    scratch: int
    regions: tuple[RegionSlot, ...]
    guards: tuple[Guard, ...] = field(repr=False)
    transaction: bool = False
