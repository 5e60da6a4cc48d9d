"""The forms that a block of values can have while code is written.

A scalar is a register. A block is an `AffineValue` or a `BoxMask` if it has such a form, and a `ScratchBlock` if it
lies in scratch memory. Otherwise it is `Lazy`: only its operation, which computes elements on demand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from triton_lab.ir import Op
from triton_lab.native.blocks.int_expr import Term
from triton_lab.native.llvm.builder import Reg


@dataclass(frozen=True, slots=True)
class AffineValue:
    """Integers or addresses ``base + sum(i[k] * strides[k])``, exact, in 64-bit registers.

    ``base_bits`` and ``reach_bits`` bound the base and the sum of the strides, as powers of two; 64 means no bound. For
    addresses, ``grain`` is a power of two that divides every stride.
    """

    base: Term
    strides: tuple[Term, ...]
    shape: tuple[int, ...]
    base_bits: int
    reach_bits: int
    grain: int = 1

    @property
    def is_constant(self) -> bool:
        """Whether all elements of the block are equal."""
        return all(stride == 0 or extent == 1 for stride, extent in zip(self.strides, self.shape, strict=True))


@dataclass(frozen=True, slots=True, eq=False)
class Range:
    """Positions ``low <= i < high`` within an axis."""

    low: Term
    high: Term


@dataclass(frozen=True, slots=True)
class BoxMask:
    """A mask that is true where all ranges hold; None is a whole axis."""

    ranges: tuple[Range | None, ...]


@dataclass(frozen=True, slots=True)
class ScratchBlock:
    """A block in scratch; ``strides`` count elements. ``kind`` is what memory holds: a byte for an ``i1``.

    ``widened``: floats of fewer than 32 bits are stored as ``float``.
    """

    pointer: Reg
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    kind: str
    widened: bool = False


@dataclass(frozen=True, slots=True)
class Lazy:
    """The result of an operation without effects, computed wherever an element is needed."""

    op: Op


@dataclass(frozen=True, slots=True)
class DescriptorValue:
    """A tensor descriptor: the address of its first element, extents and strides (i64, elements), and its padding (i1).

    With padding, elements outside read as NaN.
    """

    base: Reg
    padding: Reg
    extents: tuple[Reg, ...]
    strides: tuple[Reg, ...]

    @property
    def registers(self) -> tuple[Reg, ...]:
        """All of its numbers."""
        return (self.base, self.padding, *self.extents, *self.strides)

    @classmethod
    def of(cls, registers: Sequence[Reg]) -> DescriptorValue:
        """The descriptor with these ``registers``."""
        base, padding, *numbers = registers
        rank = len(numbers) // 2
        return cls(base, padding, tuple(numbers[:rank]), tuple(numbers[rank:]))


Form = Reg | AffineValue | BoxMask | ScratchBlock | Lazy | DescriptorValue


@dataclass(frozen=True, slots=True, eq=False)
class Index:
    """A position along one axis: a scalar register, or ``lanes`` consecutive positions from there on.

    ``level`` counts the loops around it. ``facts`` says which positions are in a range: all, none, or the given lanes.
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
    blocks ``roots``. ``form`` are the addresses if they are affine, ``box`` is the mask if it is a box; without a
    ``form`` the box may hold more lanes than count. ``masked``: some lanes may not count. ``in_rows``: the addresses
    are not affine, but consecutive along the last axis unless they wrap. ``padding`` is what lanes that do not count
    read, if that is not zero or an operand. ``checked``: a guard has checked that all lanes that count may be touched.
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
