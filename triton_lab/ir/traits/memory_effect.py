"""What an operation does to memory: the role of each operand, whether it reads or writes, what it orders."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

AccessKind = Literal["load", "store", "atomic"]
# "held": what memory held before the operation. "answer": whether memory held the expected value. "token": what stands
# for a copy that is under way.
AccessResult = Literal["held", "answer", "token"]


@dataclass(frozen=True, slots=True)
class Effect:
    """What one kind of operation does to memory.

    ``operands`` names the operands in order: ``mask?`` may be left out, ``coordinate*`` stands for any number of them.
    ``buffer`` is a part of shared memory, which a copy fills or reads. With coordinates the address is a tensor's
    descriptor, without them a pointer. ``orders``: the operation has a ``sem``. ``waits``: its program goes on only
    once memory holds what is expected.
    """

    kind: AccessKind
    operands: str
    reads: bool = False
    writes: bool = False
    result: AccessResult | None = None
    orders: bool = False
    waits: bool = False

    @property
    def roles(self) -> tuple[str, ...]:
        """The names in ``operands``, one by one."""
        return tuple(self.operands.split())

    @property
    def brings_in(self) -> bool:
        """Whether it only reads, and its result is what memory held."""
        return self.result == "held" and not self.writes

    @property
    def takes_in(self) -> bool:
        """Whether it only writes, and memory then holds an operand."""
        return not self.reads and "value" in self.roles

    @property
    def described(self) -> bool:
        """Whether the address is a descriptor."""
        return "coordinate" in self.operands

    @property
    def of_pointers(self) -> bool:
        """Whether each lane has an address of its own: no descriptor, no shared memory."""
        return not self.described and "buffer" not in self.operands

    @property
    def plain(self) -> bool:
        """Whether it is a load or a store by pointers and no more: not atomic."""
        return self.kind != "atomic" and self.of_pointers


LOAD = Effect("load", "address mask? other?", reads=True, result="held")
STORE = Effect("store", "address value mask?", writes=True)
UPDATE = Effect("atomic", "address value mask?", reads=True, writes=True, orders=True, result="held")

__all__ = ["LOAD", "STORE", "UPDATE", "AccessKind", "AccessResult", "Effect"]
