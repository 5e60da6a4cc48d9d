"""Writes LLVM IR as text: blocks, and operations on registers.

Everything is explicit: vectors have a fixed number of lanes, and nothing is left to LLVM's vectorizers. Writing needs
no LLVM. A pure operation is written once per block (`FunctionBuilder` finds the earlier one). Operations on 64-bit
literals are computed here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from triton_lab.native.llvm.registers import Reg, bits_of, bytes_of, compared, mangled, text_of, text_of_bits

__all__ = ["BasicBlock", "FunctionBuilder", "Phi", "Reg", "bits_of", "bytes_of"]


@dataclass(slots=True, eq=False)
class BasicBlock:
    """A straight run of lines that ends with a jump. ``known`` has its pure operations by their text."""

    label: str
    phis: list[list[str]] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    known: dict[str, Reg] = field(default_factory=dict)
    ended: bool = False


@dataclass(slots=True)
class Phi:
    """A register whose value depends on where the block was entered from; `come` adds the value of one entry."""

    reg: Reg
    _ways: list[str]

    def come(self, value: Reg, block: BasicBlock) -> None:
        assert value.type == self.reg.type, (value, self.reg)
        self._ways.append(f"[ {value.name}, %{block.label} ]")


class FunctionBuilder:
    """One function that is being written. Operations go to the end of ``block``.

    ``halves``: the processor converts ``half``; without that no such register is written.
    """

    def __init__(self, name: str, arguments: Sequence[Reg], result: str, halves: bool = True) -> None:
        self.name, self.arguments, self.result, self.halves = name, tuple(arguments), result, halves
        self.blocks: list[BasicBlock] = []
        self._declared: dict[str, str] = {}
        self._count = 0
        self.entry = self.block = self.new_block("entry")

    # Blocks.

    def new_block(self, hint: str) -> BasicBlock:
        """A block that nothing jumps to yet; `at` or ``code.block = ...`` goes there."""
        block = BasicBlock(f"{hint}{len(self.blocks)}")
        self.blocks.append(block)
        return block

    @contextmanager
    def at(self, block: BasicBlock) -> Iterator[None]:
        """For a while, write at the end of ``block``, which must not have ended."""
        before, self.block = self.block, block
        try:
            yield
        finally:
            self.block = before

    def _end(self, line: str) -> None:
        assert not self.block.ended, self.block.label
        self.block.lines.append(line)
        self.block.ended = True

    def jump(self, to: BasicBlock) -> None:
        self._end(f"br label %{to.label}")

    def branch(self, condition: Reg, yes: BasicBlock, no: BasicBlock, *, likely: bool = False) -> None:
        """Branch on ``condition``. ``likely``: it is nearly always true."""
        self._end(f"br {condition}, label %{yes.label}, label %{no.label}{', !prof !0' if likely else ''}")

    def leave(self, value: Reg) -> None:
        """Return from the function."""
        self._end(f"ret {value}")

    def phi(self, kind: str, lanes: int = 0) -> Phi:
        """A phi of the current block."""
        reg = self._new(kind, lanes)
        ways: list[str] = [f"{reg.name} = phi {reg.type}"]
        self.block.phis.append(ways)
        return Phi(reg, ways)

    # Operations.

    def _new(self, kind: str, lanes: int) -> Reg:
        self._count += 1
        return Reg(f"%v{self._count}", kind, lanes)

    def let(self, text: str, kind: str, lanes: int = 0, *, pure: bool = True) -> Reg:
        """The result of the instruction ``text``. A pure one is written once per block."""
        if pure and (known := self.block.known.get(text)) is not None and known.kind == kind and known.lanes == lanes:
            return known
        reg = self._new(kind, lanes)
        self.block.lines.append(f"{reg.name} = {text}")
        if pure:
            self.block.known[text] = reg
        return reg

    def do(self, text: str) -> None:
        """Write an instruction without a result."""
        self.block.lines.append(text)

    def op(self, name: str, a: Reg, *rest: Reg) -> Reg:
        """An arithmetic instruction on operands of one kind: ``op("fadd", x, y)``, ``op("fneg", x)``.

        Scalars among vectors are splatted.
        """
        a, *others = self.alike(a, *rest)
        return self.let(f"{name} {a}{''.join(f', {b.name}' for b in others)}", a.kind, a.lanes)

    def compare(self, predicate: str, a: Reg, b: Reg) -> Reg:
        """``slt``, ``ult``, ``eq`` of integers and pointers; ``olt``, ``une``, ``uno`` of floats: i1."""
        a, b = self.alike(a, b)
        if a.literal is not None and b.literal is not None:
            return self.constant("i1", compared(predicate, a.literal, b.literal, bits_of(a.kind)))
        name = "fcmp" if a.is_float else "icmp"
        return self.let(f"{name} {predicate} {a}, {b.name}", "i1", a.lanes)

    def select(self, condition: Reg, a: Reg, b: Reg) -> Reg:
        """``a`` where the condition is true, else ``b``."""
        if condition.literal is not None:
            return self.alike(a, b)[0 if condition.literal else 1]
        a, b = self.alike(a, b)
        if condition.lanes and not a.lanes:
            a, b = self.splat(a, condition.lanes), self.splat(b, condition.lanes)
        return a if a == b else self.let(f"select {condition}, {a}, {b}", a.kind, a.lanes)

    def cast(self, name: str, x: Reg, kind: str) -> Reg:
        """``sext``, ``zext``, ``trunc``, ``sitofp``, ``fpext``, ``bitcast``, ...: lane by lane."""
        return x if x.kind == kind else self.let(f"{name} {x} to {Reg('', kind, x.lanes).type}", kind, x.lanes)

    def intrinsic(self, name: str, *operands: Reg, kind: str | None = None, scalar: bool = False) -> Reg:
        """``llvm.fma`` and the like, named by the operands' type; ``kind`` is the result's kind if it differs.

        ``scalar`` is for reductions: vector in, scalar out.
        """
        operands = tuple(self.alike(*operands))
        first = operands[0]
        lanes = 0 if scalar else first.lanes
        result = Reg("", kind or first.kind, lanes)
        suffix = mangled(first) if kind is None else f"{mangled(result)}.{mangled(first)}"
        return self.call(f"{name}.{suffix}", result.kind, lanes, *operands)

    def call(self, name: str, kind: str, lanes: int, *operands: Reg, pure: bool = True) -> Reg:
        """Call an external function of exactly this name, and declare it if needed."""
        result = Reg("", kind, lanes).type
        self.declare(f"{result} @{name}({', '.join(x.type for x in operands)})", name)
        return self.let(f"call {result} @{name}({', '.join(map(str, operands))})", kind, lanes, pure=pure)

    def declare(self, signature: str, name: str) -> None:
        assert self._declared.setdefault(name, signature) == signature, (signature, self._declared[name])

    # Literals.

    def constant(self, kind: str, value: float, lanes: int = 0) -> Reg:
        """A literal; integers are taken modulo their width, floats rounded to their kind."""
        name = text_of(kind, value)
        if not lanes:
            return Reg(name, kind)
        return Reg(f"splat ({kind} {name})", kind, lanes)

    def pattern(self, kind: str, bits: int, lanes: int = 0) -> Reg:
        """A float literal from its bits."""
        name = text_of_bits(kind, bits)
        return Reg(f"splat ({kind} {name})" if lanes else name, kind, lanes)

    def literals(self, kind: str, values: Sequence[float]) -> Reg:
        """A vector of literals, one per lane."""
        inner = ", ".join(f"{kind} {text_of(kind, value)}" for value in values)
        return Reg(f"<{inner}>", kind, len(values))

    def like(self, x: Reg, value: float) -> Reg:
        """A literal of the type of ``x``."""
        return self.constant(x.kind, value, x.lanes)

    def count_up(self, kind: str, lanes: int, step: int = 1) -> Reg:
        """``0, step, 2 * step, ...``"""
        return self.literals(kind, [lane * step for lane in range(lanes)])

    def literal_of(self, x: Reg) -> int | None:
        """The integer literal of ``x``, equal in all lanes; None if there is none."""
        found = re.fullmatch(r"splat \(i\d+ (-?\d+)\)", x.name) if x.lanes else None
        return int(found[1]) if found else x.literal

    # Vectors.

    def alike(self, *operands: Reg) -> list[Reg]:
        """The operands, all as vectors if one of them is a vector."""
        lanes = max(x.lanes for x in operands)
        return [self.splat(x, lanes) for x in operands] if lanes else list(operands)

    def splat(self, x: Reg, lanes: int) -> Reg:
        """A scalar in all lanes. A vector, or a scalar for ``lanes`` 0, is returned unchanged."""
        if x.lanes or not lanes:
            assert x.lanes in (0, lanes), (x, lanes)
            return x
        if x.name[0] != "%":
            return Reg(f"splat ({x})", x.kind, lanes)
        one = self.let(f"insertelement {Reg('', x.kind, lanes).type} poison, {x}, i64 0", x.kind, lanes)
        return self.shuffle(one, one, [0] * lanes)

    def shuffle(self, a: Reg, b: Reg, order: Sequence[int]) -> Reg:
        """Lanes of ``a`` and ``b``, numbered through both."""
        mask = ", ".join(f"i32 {lane}" for lane in order)
        return self.let(f"shufflevector {a}, {b}, <{len(order)} x i32> <{mask}>", a.kind, len(order))

    def lane(self, x: Reg, lane: int) -> Reg:
        """One lane, as a scalar."""
        return self.let(f"extractelement {x}, i64 {lane}", x.kind) if x.lanes else x

    def insert(self, x: Reg, value: Reg, lane: int) -> Reg:
        """``x`` with another value in one lane."""
        return self.let(f"insertelement {x}, {value}, i64 {lane}", x.kind, x.lanes)

    def undefined(self, kind: str, lanes: int) -> Reg:
        """An undefined vector, to be filled lane by lane."""
        return Reg("poison", kind, lanes)

    # Memory.

    def offset(self, pointer: Reg, index: Reg, kind: str) -> Reg:
        """The address of element ``index`` of an array of ``kind``."""
        if index.literal == 0:
            return pointer
        return self.let(f"getelementptr {kind}, {pointer}, {index}", "ptr")

    def load(self, kind: str, pointer: Reg, lanes: int = 0, align: int = 0, *, constant: bool = False) -> Reg:
        """Load elements. ``constant``: the memory does not change while the function runs."""
        type = Reg("", kind, lanes).type
        fixed = ", !invariant.load !1" if constant else ""
        return self.let(f"load {type}, {pointer}, align {align or bytes_of(kind)}{fixed}", kind, lanes, pure=constant)

    def store(self, value: Reg, pointer: Reg, align: int = 0) -> None:
        self.do(f"store {value}, {pointer}, align {align or bytes_of(value.kind)}")

    def masked_load(self, kind: str, pointer: Reg, mask: Reg, other: Reg, align: int = 0) -> Reg:
        """Consecutive lanes where ``mask`` is true, else those of ``other``; with a pointer per lane, a gather."""
        name = "gather" if pointer.lanes else "load"
        result = Reg("", kind, mask.lanes)
        suffix = f"{mangled(result)}.{mangled(pointer)}"
        where = Reg(str(align or bytes_of(kind)), "i32")
        operands = (pointer, where, mask, self.splat(other, mask.lanes))
        return self.call(f"llvm.masked.{name}.{suffix}", kind, mask.lanes, *operands, pure=False)

    def masked_store(self, value: Reg, pointer: Reg, mask: Reg, align: int = 0) -> None:
        """Consecutive lanes where ``mask`` is true; with a pointer per lane, a scatter, in the lanes' order."""
        name = "scatter" if pointer.lanes else "store"
        if not pointer.lanes and value.kind in ("i8", "i16", "i32"):
            # For AVX-512, LLVM 22.1 fuses truncation and store. Then, if it knows that the mask is true in one lane
            # only, it stores that lane with the width from before the truncation. So it must not know that.
            mask = self.op("and", mask, self._always())
        where = Reg(str(align or bytes_of(value.kind)), "i32")
        function = f"llvm.masked.{name}.{mangled(value)}.{mangled(pointer)}"
        operands = (value, pointer, where, mask)
        self.declare(f"void @{function}({', '.join(x.type for x in operands)})", function)
        self.do(f"call void @{function}({', '.join(map(str, operands))})")

    def _always(self) -> Reg:
        """A condition that is always true, which LLVM cannot know: the function's first number is not negative."""
        always = Reg("%always", "i1")
        number = next(each for each in self.arguments if each.kind == "i64")
        line = f"{always.name} = icmp sge {number}, 0"
        if line not in self.entry.lines[:1]:
            self.entry.lines.insert(0, line)
        return always

    # The text.

    def text(self) -> str:
        """The whole module: this function, and declarations of what it calls."""
        out = [f"declare {signature}" for signature in self._declared.values()]
        out.append(f"define {self.result} @{self.name}({', '.join(map(_argument, self.arguments))}) {{")
        for block in self.blocks:
            out.append(f"{block.label}:")
            out += [f"{first} {', '.join(ways)}" for first, *ways in block.phis]
            out += block.lines
            if not block.ended:
                out.append("unreachable")
        out += ["}", '!0 = !{!"branch_weights", i32 2000, i32 1}', "!1 = !{}"]
        return "\n".join(out) + "\n"


def _argument(argument: Reg) -> str:
    return f"ptr noalias {argument.name}" if argument.kind == "ptr" else str(argument)
