"""The walk over a kernel: each operation gets a form, and operations with effects are written.

An `Emitter` holds what is known at the place where code is written. The code of an operation is in its subject's file:
a function registered with `emits`, or for lazy operations in `elementwise` and `shapes`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from triton_lab.ir import Op, traits
from triton_lab.native.analysis.effect_order import EffectOrder
from triton_lab.native.analysis.value_uses import Analysis
from triton_lab.native.blocks import int_expr
from triton_lab.native.blocks.int_expr import Term
from triton_lab.native.blocks.value_repr import AffineValue, BlockAccess, BoxMask, Form, Index, ScratchBlock
from triton_lab.native.function_contract import RegionSlot, Signature
from triton_lab.native.llvm import builder as text
from triton_lab.native.llvm.builder import FunctionBuilder, Reg, bytes_of
from triton_lab.native.llvm.counted_loop import counted
from triton_lab.native.llvm.element_types import kind_of
from triton_lab.native.lowering.guards import Guards

Element = Callable[["Emitter", Op, tuple[Index, ...]], Reg]
Emit = Callable[["Emitter", Op], None]
# One round of a loop: the counter and the carried values -> the next carried values.
Round = Callable[[Reg, list[Reg]], Sequence[Reg]]
EMITS: dict[str, Emit] = {}
ELEMENTS: dict[str, Element] = {}
# The most operations that the search for an integer's bounds goes back.
_FURTHEST = 100
# The bits of a sum, a difference and a product, from those of the operands.
_GROWS: dict[str, Callable[[int, int], int]] = {
    "+": lambda a, b: max(a, b) + 1,
    "-": lambda a, b: max(a, b) + 1,
    "*": lambda a, b: a + b,
}


def elements_of(*names: str) -> Callable[[Element], Element]:
    """Register a function that computes elements, at an index, of the results of the operations called ``names``."""

    def register(function: Element) -> Element:
        for name in names:
            assert name not in ELEMENTS, name
            ELEMENTS[name] = function
        return function

    return register


def emits(*names: str) -> Callable[[Emit], Emit]:
    """Register a function that writes the operations called ``names``, and gives their results a form."""

    def register(function: Emit) -> Emit:
        for name in names:
            assert name not in EMITS, name
            EMITS[name] = function
        return function

    return register


class Scratch:
    """A program's scratch memory. It is given out piece by piece, and never twice."""

    def __init__(self, code: FunctionBuilder, start: Reg) -> None:
        self.code, self.start, self.size = code, start, 64

    def take(self, shape: Sequence[int], kind: str, *, widened: bool = False) -> ScratchBlock:
        """A buffer in row-major order. An element of ``kind`` i1 takes a byte."""
        kind = "i8" if kind == "i1" else kind
        strides: list[int] = []
        count = 1
        for extent in reversed(shape):
            strides.insert(0, count)
            count *= extent
        pointer = self.code.offset(self.start, self.code.constant("i64", self.size), "i8")
        # One cache line between buffers: otherwise blocks whose sizes are powers of two would share the same cache
        # sets.
        self.size += (count * bytes_of(kind) + 127) // 64 * 64
        return ScratchBlock(pointer, tuple(shape), tuple(strides), kind, widened)


@dataclass(slots=True)
class FunctionSetting:
    """The values that a whole function shares: the program's ids, the grid's extents (i32), regions and scratch."""

    ids: tuple[Reg, ...]
    grid: tuple[Reg, ...]
    regions: Reg
    scratch: Scratch
    slots: list[RegionSlot] = field(default_factory=list)


class Retry(Exception):
    """A loop carries a block, its ``argument``, that is not affine: the code must be written again with that known."""

    def __init__(self, argument: int) -> None:
        super().__init__(argument)
        self.argument = argument


class Emitter:
    """Writes the code for one run of a kernel's body."""

    def __init__(
        self,
        code: FunctionBuilder,
        analysis: Analysis,
        order: EffectOrder,
        signature: Signature,
        guards: Guards,
        setting: FunctionSetting,
        *,
        rehearsal: bool,
        within: bool = True,
        crooked: frozenset[int] = frozenset(),
    ) -> None:
        self.code, self.analysis, self.order, self.signature = code, analysis, order, signature
        self.guards, self.setting, self.rehearsal = guards, setting, rehearsal
        # Whether remainders are assumed to change nothing; a guard checks it.
        self.within = within
        # Loop-carried values that are not affine blocks.
        self.crooked = crooked
        self.types = analysis.types
        self.forms: dict[int, Form] = {}
        self.costs: dict[int, int] = {}
        # The accesses of lazy loads, whose elements are read on demand.
        self.accesses: dict[Op, BlockAccess] = {}
        # The buffers in which loops need their bodies' results.
        self.wanted: dict[int, ScratchBlock] = {}
        # The places where loops that may wait record that memory has changed.
        self.changed: dict[Op, Reg] = {}
        # Operations that were written together with an earlier one.
        self.done: set[Op] = set()
        self._outer: list[text.BasicBlock] = []
        self._bits: dict[int, int] = {}
        self._memo: list[dict[object, Reg]] = [{}]

    # Values.

    def cost_of(self, value: int) -> int:
        """The cost of an element of ``value`` computed on demand."""
        return self.costs.get(self.analysis.one(value), 1 if self.types[value].shape else 0)

    def form(self, value: int) -> Form:
        return self.forms[self.analysis.one(value)]

    def affine(self, value: int) -> AffineValue | None:
        form = self.forms.get(self.analysis.one(value))
        return form if isinstance(form, AffineValue) else None

    def box(self, value: int) -> BoxMask | None:
        form = self.forms.get(self.analysis.one(value))
        return form if isinstance(form, BoxMask) else None

    def scalar(self, value: int) -> Reg:
        form = self.form(value)
        assert isinstance(form, Reg), value
        return form

    def bits_of(self, value: int) -> int:
        """The power of two that bounds the integer scalar ``value``: 64 if nothing is known."""
        return self._bits_of(self.analysis.one(value), _FURTHEST)

    def _bits_of(self, value: int, far: int) -> int:
        """The same, looking back at most ``far`` operations."""
        if value in self._bits:
            return self._bits[value]
        maker = self.analysis.maker.get(value)
        bits = self.types[value].bits - (1 if self.types[value].bits < 64 else 0)
        if maker is None or not far:
            return bits
        operands = map(self.analysis.one, maker.operands)
        if maker.name == "arith.extsi":
            bits = min(bits, *(self._bits_of(operand, far - 1) for operand in operands))
        elif (symbol := traits.of(maker.name).symbol) in _GROWS:
            a, b = (self._bits_of(operand, far - 1) for operand in operands)
            bits = min(bits, _GROWS[symbol](a, b))
        elif maker.name == "arith.constant" and isinstance(maker.attributes["value"], int):
            bits = min(bits, maker.attributes["value"].bit_length())
        self._bits[value] = bits
        return bits

    def element(self, value: int) -> str:
        """The MLIR element type of ``value``."""
        return self.types[value].element

    def kind(self, value: int) -> str:
        return kind_of(self.types[value].element)

    # Loops, and what is computed in them.

    @property
    def depth(self) -> int:
        """The number of loops around the code that is being written."""
        return len(self._outer)

    @contextmanager
    def at_level(self, level: int) -> Iterator[FunctionBuilder]:
        """Write outside the loops that are deeper than ``level``."""
        if level == self.depth:
            yield self.code
        else:
            with self.code.at(self._outer[level]):
                yield self.code

    def remembered(self, key: object, level: int, make: Callable[[], Reg]) -> Reg:
        """The result of ``make``, written once at ``level``."""
        memo = self._memo[level]
        if key not in memo:
            with self.at_level(level):
                memo[key] = make()
        return memo[key]

    def counted(self, first: Reg, end: Reg, step: int, body: Round, carried: Sequence[Reg] = ()) -> list[Reg]:
        """A loop (see `counted_loop.counted`). What does not depend on its counter is computed before it."""

        def inside(i: Reg, now: list[Reg]) -> Sequence[Reg]:
            self._memo.append({})
            self._outer.append(before)
            following = body(i, now)
            self._outer.pop()
            self._memo.pop()
            return following

        before = self.code.block
        # Axes without lanes are walked one by one.
        return counted(self.code, first, end, max(1, step), inside, carried)

    def afresh(self) -> None:
        """Forget the elements computed outside loops: memory may have changed, or paths have merged."""
        assert not self._outer
        self._memo = [{}]

    # Scratch.

    def take(self, value: int, *, widened: bool = False) -> ScratchBlock:
        """A buffer for ``value``: the one that a loop needs it in, or a new one."""
        wanted = self.wanted.pop(value, None)
        if wanted is not None:
            return wanted
        kind = "float" if widened else self.kind(value)
        return self.setting.scratch.take(self.types[value].shape, kind, widened=widened)

    def keep(self, value: int, buffer: ScratchBlock) -> None:
        """From here on, ``buffer`` is the form of ``value``."""
        self.forms[value] = buffer
        self.costs[value] = 1

    def has_one_region(self, op: Op) -> bool:
        """Whether an access may touch only one region, in any launch."""
        return len(self.order.group[op.index]) == 1

    def region(self, op: Op, *, writes: bool) -> tuple[Reg, Reg]:
        """The start and stop (i64) of an access's memory, if that is one region."""
        first, second = self._table_entry(self._slot(op, writes))
        return first, second

    def each_region(
        self,
        op: Op,
        body: Callable[[tuple[Reg, Reg], list[Reg]], Sequence[Reg]],
        carried: Sequence[Reg],
        *,
        writes: bool,
    ) -> list[Reg]:
        """``carried = body((start, stop), carried)`` for all regions that an access may touch; returns the
        last values.
        """
        first, count = self._table_entry(self._slot(op, writes))
        code = self.code

        def inside(k: Reg, now: list[Reg]) -> Sequence[Reg]:
            return body(self._table_entry(int_expr.add(code, first, int_expr.multiply(code, k, 2))), now)

        return counted(code, code.constant("i64", 0), count, 1, inside, carried)

    def kept(self, op: Op) -> tuple[Reg, Reg]:
        """The distances (i64, bytes) from the memory of a write to its saved contents, and to the flags of what is
        saved.
        """
        first, second = self._table_entry(self._slot(op, True, keeps=True))
        return first, second

    def _slot(self, op: Op, writes: bool, *, keeps: bool = False) -> int:
        slot = RegionSlot(op.index, writes, keeps)
        if slot not in self.setting.slots:
            self.setting.slots.append(slot)
        return 2 * self.setting.slots.index(slot)

    def _table_entry(self, at: Term) -> tuple[Reg, Reg]:
        """Two numbers of the table of regions, starting with number ``at``."""
        code, table = self.code, self.setting.regions
        numbers = (int_expr.register(code, int_expr.add(code, at, k)) for k in (0, 1))
        first, second = (code.load("i64", code.offset(table, number, "i64"), constant=True) for number in numbers)
        return first, second
