"""The kernel as data: functions, regions, blocks and operations of a TTIR module.

Executors run a `Plan`, analyses read it. It needs neither NumPy nor Triton: it can be made from text on a machine that
has neither.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from triton_lab.ir.types import Type


@dataclass(frozen=True, slots=True)
class Location:
    """A place in the user's source, as the compiler reports it.

    ``column`` counts as the compiler does: from 0 in Triton 3.6, from 1 in later versions; the column of a function's
    ``def`` shows which. ``caller`` is the call of the function that holds this place, if the compiler inlined it.
    ``name`` is the variable that the front end gave for it, if any.
    """

    file: str
    line: int
    column: int
    name: str | None = None
    caller: Location | None = None

    def frames(self) -> Iterator[Location]:
        """This place, then its caller, and so on out to the kernel."""
        place: Location | None = self
        while place is not None:
            yield place
            place = place.caller


@dataclass(frozen=True, slots=True)
class Dense:
    """A constant block: ``values`` in row-major order, or a single value for a splat.

    Floats that have no decimal form (NaN, infinities) are `Bits`.
    """

    values: tuple[Any, ...] | bytes
    type: Type


@dataclass(frozen=True, slots=True)
class Bits:
    """A float given by its bit pattern."""

    pattern: int


@dataclass(frozen=True, slots=True)
class Successor:
    """Where a branch goes, and the values that it passes to the block's arguments."""

    block: int
    operands: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Op:
    """One operation. Operands and results are value numbers of the enclosing function.

    ``index`` is unique in the plan and counts operations in the order of the text.
    """

    name: str
    operands: tuple[int, ...]
    results: tuple[int, ...]
    attributes: Mapping[str, Any]
    regions: tuple[Region, ...]
    successors: tuple[Successor, ...]
    location: Location | None
    index: int

    def walk(self) -> Iterator[Op]:
        """This operation and all inside it, outer before inner."""
        yield self
        for region in self.regions:
            for block in region.blocks:
                for op in block.ops:
                    yield from op.walk()


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """A straight run of operations; the last one ends it (yield, return, branch)."""

    arguments: tuple[int, ...]
    ops: tuple[Op, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Region:
    """The body of an operation: one block, or several joined by forward branches."""

    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Function:
    """A kernel or a helper that the front end was told not to inline.

    ``types[v]`` and ``names[v]`` are the type and the name hint of value ``v``.
    """

    name: str
    body: Region
    types: tuple[Type, ...]
    names: tuple[str, ...]
    location: Location | None
    public: bool

    @property
    def arguments(self) -> tuple[int, ...]:
        return self.body.blocks[0].arguments

    def walk(self) -> Iterator[Op]:
        """All operations, outer before inner."""
        for block in self.body.blocks:
            for op in block.ops:
                yield from op.walk()


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Plan:
    """A module: the kernel (its only public function) and what it calls."""

    functions: Mapping[str, Function]
    text: str = field(repr=False, default="")

    @property
    def kernel(self) -> Function:
        return next(function for function in self.functions.values() if function.public)

    @property
    def warps(self) -> int:
        """The warps of a program, as TTGIR notes them; 4, Triton's default, where it does not."""
        return self._noted("num-warps", 4)

    @property
    def ctas(self) -> int:
        """The programs of a cluster, as TTGIR notes them; 1 where it does not."""
        return self._noted("num-ctas", 1)

    @property
    def registers(self) -> int:
        """The most registers of a thread, as TTGIR notes them (``maxnreg``); 0 where it does not."""
        return self._noted("maxnreg", 0)

    def _noted(self, name: str, default: int) -> int:
        found = re.search(rf'"ttg\.{name}" = (\d+)', self.text)
        return default if found is None else int(found[1])

    def walk(self) -> Iterator[Op]:
        """All operations of all functions."""
        for function in self.functions.values():
            yield from function.walk()
