"""The forms in which a block of values can be known while code is made.

A scalar is a register. A block is an `AffineValue` or a `BoxMask` where it has such a form, a `ScratchBlock` where it
lies in scratch memory, and else `Lazy`: only its operation, which computes elements where they are asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from triton_lab.ir import Op
from triton_lab.native.blocks.int_expr import Term
from triton_lab.native.llvm.builder import Reg


@dataclass(frozen=True, slots=True)
class AffineValue:
    """Integers or addresses ``base + sum(i[k] * strides[k])``, exactly: in registers of 64 bits.

    ``base_bits`` and ``reach_bits`` bound the base and what the strides add, as powers of two: 64 says nothing.
    Of addresses, ``grain`` divides every stride, a power of two.
    """

    base: Term
    strides: tuple[Term, ...]
    shape: tuple[int, ...]
    base_bits: int
    reach_bits: int
    grain: int = 1

    @property
    def is_constant(self) -> bool:
        """Whether it is the same everywhere in the block."""
        return all(stride == 0 or extent == 1 for stride, extent in zip(self.strides, self.shape, strict=True))


@dataclass(frozen=True, slots=True, eq=False)
class Range:
    """Positions ``low <= i < high`` of an axis, within it."""

    low: Term
    high: Term


@dataclass(frozen=True, slots=True)
class BoxMask:
    """A mask that holds where all ranges do; None is a whole axis."""

    ranges: tuple[Range | None, ...]


@dataclass(frozen=True, slots=True)
class ScratchBlock:
    """A block in scratch; ``strides`` count elements. ``kind`` is what memory holds: a byte for an ``i1``.

    ``widened``: floats of fewer than 32 bits that are kept as the ``float`` they are.
    """

    pointer: Reg
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    kind: str
    widened: bool = False


@dataclass(frozen=True, slots=True)
class Lazy:
    """What an operation without effects computes, wherever it is asked."""

    op: Op


@dataclass(frozen=True, slots=True)
class DescriptorValue:
    """A tensor descriptor: the address of its first element, extents and strides (i64, elements), and whether it reads
    as NaN what lies outside (i1)."""

    base: Reg
    padding: Reg
    extents: tuple[Reg, ...]
    strides: tuple[Reg, ...]

    @property
    def registers(self) -> tuple[Reg, ...]:
        """All that it is, number by number."""
        return (self.base, self.padding, *self.extents, *self.strides)

    @classmethod
    def of(cls, registers: Sequence[Reg]) -> DescriptorValue:
        """What has these ``registers``."""
        base, padding, *numbers = registers
        rank = len(numbers) // 2
        return cls(base, padding, tuple(numbers[:rank]), tuple(numbers[rank:]))


Form = Reg | AffineValue | BoxMask | ScratchBlock | Lazy | DescriptorValue


@dataclass(frozen=True, slots=True, eq=False)
class Index:
    """A position along one axis: a scalar register, or ``lanes`` positions in a row from there on.

    ``level`` counts the loops around it. ``facts`` has what is known of ranges here: all, nothing, or which lanes.
    """

    value: Reg
    level: int = 0
    lanes: int = 0
    facts: dict[Range, bool | Reg] = field(default_factory=dict)


ORIGIN = Index(Reg("0", "i64"))


@dataclass(frozen=True, slots=True)
class BlockAccess:
    """What one operation touches: a block of ``shape`` of elements of ``element`` in memory.

    ``places`` has the addresses of its lanes (i64), and ``holds`` says which lanes count; both are computed from the
    blocks ``roots``. ``form`` are the addresses where they are affine, ``box`` is the mask where it is one; without a
    ``form`` it may hold for more lanes than count. ``masked``: not all lanes count, as far as is known now.
    ``in_rows``: where they are not affine, they follow each other along the last axis, if none comes round.
    ``padding`` is read where they do not, if that is not zero or an operand. ``checked``: a guard has seen that all
    lanes that count may be touched.
    """

    op: Op
    shape: tuple[int, ...]
    element: str
    places: Callable[[tuple[Index, ...]], Reg]
    holds: Callable[[tuple[Index, ...]], bool | Reg]
    roots: tuple[int, ...]
    form: AffineValue | None
    box: BoxMask | None
    masked: bool
    in_rows: bool = False
    padding: Reg | None = None
    checked: bool = False
