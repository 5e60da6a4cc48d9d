"""LLVM IR as text that is being written: registers, operations, blocks.

Everything is explicit: vectors have a fixed number of lanes, and nothing is left to LLVM's vectorizers. No LLVM is
needed to write it. Pure operations are written once in a block (`Code` keeps what it has), and those whose operands
are literals of 64 bits are computed here.

Kinds are LLVM's scalar types as text: ``i1``, ``i8``, ``i16``, ``i32``, ``i64``, ``half``, ``float``, ``double``,
``ptr``. How Triton's types are kept in them is said in `kinds`.
"""

from __future__ import annotations

import math
import operator
import re
import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

_BYTES = {"i1": 1, "i8": 1, "i16": 2, "half": 2, "i32": 4, "float": 4, "i64": 8, "double": 8, "ptr": 8, "i128": 16}
_MANGLED = {"half": "f16", "float": "f32", "double": "f64", "ptr": "p0"}


def bytes_of(kind: str) -> int:
    """Bytes that an element of ``kind`` takes in memory."""
    return _BYTES[kind]


def bits_of(kind: str) -> int:
    """Bits of an element of ``kind``."""
    return 1 if kind == "i1" else 8 * _BYTES[kind]


@dataclass(frozen=True, slots=True)
class Reg:
    """A value in the text: a register or a literal. ``lanes`` is 0 for a scalar."""

    name: str
    kind: str
    lanes: int = 0

    @property
    def type(self) -> str:
        """LLVM's type: ``float``, ``<16 x float>``."""
        return f"<{self.lanes} x {self.kind}>" if self.lanes else self.kind

    @property
    def is_float(self) -> bool:
        return self.kind in ("half", "float", "double")

    @property
    def literal(self) -> int | None:
        """The value of a scalar integer that is written in the text; of ``i1``, 0 or 1."""
        if self.lanes or self.name[0] == "%" or self.is_float or self.kind == "ptr":
            return None
        return {"true": 1, "false": 0}[self.name] if self.kind == "i1" else int(self.name)

    def __str__(self) -> str:
        return f"{self.type} {self.name}"


@dataclass(slots=True, eq=False)
class Block:
    """A straight run of lines that ends with a jump. ``known`` has the pure operations in it by their text."""

    label: str
    phis: list[list[str]] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    known: dict[str, Reg] = field(default_factory=dict)
    ended: bool = False


@dataclass(slots=True)
class Phi:
    """A register that holds what the block was entered with; `come` tells what each way brings."""

    reg: Reg
    _ways: list[str]

    def come(self, value: Reg, block: Block) -> None:
        assert value.type == self.reg.type, (value, self.reg)
        self._ways.append(f"[ {value.name}, %{block.label} ]")


class Code:
    """One function being written. Operations go to the end of ``block``."""

    def __init__(self, name: str, arguments: Sequence[Reg], result: str) -> None:
        self.name, self.arguments, self.result = name, tuple(arguments), result
        self.blocks: list[Block] = []
        self._declared: dict[str, str] = {}
        self._count = 0
        self.entry = self.block = self.new_block("entry")

    # Blocks.

    def new_block(self, hint: str) -> Block:
        """A block that nothing leads to yet; `at` or ``code.block = ...`` goes there."""
        block = Block(f"{hint}{len(self.blocks)}")
        self.blocks.append(block)
        return block

    @contextmanager
    def at(self, block: Block) -> Iterator[None]:
        """Write at the end of ``block``, which must not have ended, for a while."""
        before, self.block = self.block, block
        try:
            yield
        finally:
            self.block = before

    def _end(self, line: str) -> None:
        assert not self.block.ended, self.block.label
        self.block.lines.append(line)
        self.block.ended = True

    def jump(self, to: Block) -> None:
        self._end(f"br label %{to.label}")

    def branch(self, condition: Reg, yes: Block, no: Block, *, likely: bool = False) -> None:
        """``likely`` says that the condition nearly always holds."""
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
        """The result of the instruction ``text``. A pure one is written once in a block."""
        if pure and (known := self.block.known.get(text)) is not None and known.kind == kind and known.lanes == lanes:
            return known
        reg = self._new(kind, lanes)
        self.block.lines.append(f"{reg.name} = {text}")
        if pure:
            self.block.known[text] = reg
        return reg

    def do(self, text: str) -> None:
        """An instruction without a result."""
        self.block.lines.append(text)

    def op(self, name: str, a: Reg, *rest: Reg) -> Reg:
        """An arithmetic instruction on operands of one kind: ``op("fadd", x, y)``, ``op("fneg", x)``.

        Scalars among vectors are spread.
        """
        a, *others = self.alike(a, *rest)
        return self.let(f"{name} {a}{''.join(f', {b.name}' for b in others)}", a.kind, a.lanes)

    def compare(self, predicate: str, a: Reg, b: Reg) -> Reg:
        """``slt``, ``ult``, ``eq`` of integers and pointers; ``olt``, ``une``, ``uno`` of floats: i1."""
        a, b = self.alike(a, b)
        if a.literal is not None and b.literal is not None:
            return self.constant("i1", _compared(predicate, a.literal, b.literal, bits_of(a.kind)))
        name = "fcmp" if a.is_float else "icmp"
        return self.let(f"{name} {predicate} {a}, {b.name}", "i1", a.lanes)

    def select(self, condition: Reg, a: Reg, b: Reg) -> Reg:
        """``a`` where the condition holds, else ``b``."""
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
        """``llvm.fma`` and the like: mangled by the operands' type; ``kind`` is the result's if another one.

        ``scalar`` is for reductions: vector in, scalar out.
        """
        operands = tuple(self.alike(*operands))
        first = operands[0]
        lanes = 0 if scalar else first.lanes
        result = Reg("", kind or first.kind, lanes)
        suffix = _mangled(first) if kind is None else f"{_mangled(result)}.{_mangled(first)}"
        return self.call(f"{name}.{suffix}", result.kind, lanes, *operands)

    def call(self, name: str, kind: str, lanes: int, *operands: Reg, pure: bool = True) -> Reg:
        """Call a declared function of this very name; it is declared if need be."""
        result = Reg("", kind, lanes).type
        self.declare(f"{result} @{name}({', '.join(x.type for x in operands)})", name)
        return self.let(f"call {result} @{name}({', '.join(map(str, operands))})", kind, lanes, pure=pure)

    def declare(self, signature: str, name: str) -> None:
        assert self._declared.setdefault(name, signature) == signature, (signature, self._declared[name])

    # Literals.

    def constant(self, kind: str, value: float, lanes: int = 0) -> Reg:
        """A literal; integers are taken modulo their width, floats rounded to their kind."""
        name = _literal(kind, value)
        if not lanes:
            return Reg(name, kind)
        return Reg(f"splat ({kind} {name})", kind, lanes)

    def pattern(self, kind: str, bits: int, lanes: int = 0) -> Reg:
        """A float literal given by its bits."""
        name = _float_text(kind, bits)
        return Reg(f"splat ({kind} {name})" if lanes else name, kind, lanes)

    def literals(self, kind: str, values: Sequence[float]) -> Reg:
        """A vector of literals, lane by lane."""
        inner = ", ".join(f"{kind} {_literal(kind, value)}" for value in values)
        return Reg(f"<{inner}>", kind, len(values))

    def like(self, x: Reg, value: float) -> Reg:
        """A literal of the type of ``x``."""
        return self.constant(x.kind, value, x.lanes)

    def count_up(self, kind: str, lanes: int, step: int = 1) -> Reg:
        """``0, step, 2 * step, ...``"""
        return self.literals(kind, [lane * step for lane in range(lanes)])

    def literal_of(self, x: Reg) -> int | None:
        """The integer that is written in the text for ``x``, the same in all lanes."""
        found = re.fullmatch(r"splat \(i\d+ (-?\d+)\)", x.name) if x.lanes else None
        return int(found[1]) if found else x.literal

    # Vectors.

    def alike(self, *operands: Reg) -> list[Reg]:
        """The same operands; if one is a vector, all."""
        lanes = max(x.lanes for x in operands)
        return [self.splat(x, lanes) for x in operands] if lanes else list(operands)

    def splat(self, x: Reg, lanes: int) -> Reg:
        """A scalar in all lanes; a vector, and a scalar for ``lanes`` 0, as it is."""
        if x.lanes or not lanes:
            assert x.lanes in (0, lanes), (x, lanes)
            return x
        if x.name[0] != "%":
            return Reg(f"splat ({x})", x.kind, lanes)
        one = self.let(f"insertelement {Reg('', x.kind, lanes).type} poison, {x}, i64 0", x.kind, lanes)
        return self.shuffle(one, one, [0] * lanes)

    def shuffle(self, a: Reg, b: Reg, order: Sequence[int]) -> Reg:
        """Lanes of ``a`` and ``b``, numbered one after the other."""
        mask = ", ".join(f"i32 {lane}" for lane in order)
        return self.let(f"shufflevector {a}, {b}, <{len(order)} x i32> <{mask}>", a.kind, len(order))

    def lane(self, x: Reg, lane: int) -> Reg:
        """One lane, as a scalar."""
        return self.let(f"extractelement {x}, i64 {lane}", x.kind) if x.lanes else x

    def insert(self, x: Reg, value: Reg, lane: int) -> Reg:
        """``x`` with another value in one lane."""
        return self.let(f"insertelement {x}, {value}, i64 {lane}", x.kind, x.lanes)

    def undefined(self, kind: str, lanes: int) -> Reg:
        """A vector that is filled lane by lane."""
        return Reg("poison", kind, lanes)

    # Memory.

    def offset(self, pointer: Reg, index: Reg, kind: str) -> Reg:
        """The address of element ``index`` of an array of ``kind``."""
        if index.literal == 0:
            return pointer
        return self.let(f"getelementptr {kind}, {pointer}, {index}", "ptr")

    def load(self, kind: str, pointer: Reg, lanes: int = 0, align: int = 0, *, constant: bool = False) -> Reg:
        """``constant``: nothing ever changes it while the function runs."""
        type = Reg("", kind, lanes).type
        fixed = ", !invariant.load !1" if constant else ""
        return self.let(f"load {type}, {pointer}, align {align or bytes_of(kind)}{fixed}", kind, lanes, pure=constant)

    def store(self, value: Reg, pointer: Reg, align: int = 0) -> None:
        self.do(f"store {value}, {pointer}, align {align or bytes_of(value.kind)}")

    def masked_load(self, kind: str, pointer: Reg, mask: Reg, other: Reg, align: int = 0) -> Reg:
        """Lanes in a row where ``mask`` holds, else those of ``other``; a pointer per lane gathers."""
        name = "gather" if pointer.lanes else "load"
        result = Reg("", kind, mask.lanes)
        suffix = f"{_mangled(result)}.{_mangled(pointer)}"
        where = Reg(str(align or bytes_of(kind)), "i32")
        operands = (pointer, where, mask, self.splat(other, mask.lanes))
        return self.call(f"llvm.masked.{name}.{suffix}", kind, mask.lanes, *operands, pure=False)

    def masked_store(self, value: Reg, pointer: Reg, mask: Reg, align: int = 0) -> None:
        """Lanes in a row where ``mask`` holds; a pointer per lane scatters, in the lanes' order."""
        name = "scatter" if pointer.lanes else "store"
        if not pointer.lanes and value.kind in ("i8", "i16", "i32"):
            # For AVX-512, LLVM 22.1 takes truncation and store together; then, if it knows that the mask holds in one
            # lane alone, it stores that lane as wide as it was before. So it may not know.
            mask = self.op("and", mask, self._always())
        where = Reg(str(align or bytes_of(value.kind)), "i32")
        function = f"llvm.masked.{name}.{_mangled(value)}.{_mangled(pointer)}"
        operands = (value, pointer, where, mask)
        self.declare(f"void @{function}({', '.join(x.type for x in operands)})", function)
        self.do(f"call void @{function}({', '.join(map(str, operands))})")

    def _always(self) -> Reg:
        """What holds, and LLVM cannot tell: that the first number which the function is given is not negative."""
        always = Reg("%always", "i1")
        number = next(each for each in self.arguments if each.kind == "i64")
        line = f"{always.name} = icmp sge {number}, 0"
        if line not in self.entry.lines[:1]:
            self.entry.lines.insert(0, line)
        return always

    # Loops.

    def counted(
        self,
        first: Reg,
        end: Reg,
        step: int,
        body: Callable[[Reg, list[Reg]], Sequence[Reg]],
        carried: Sequence[Reg] = (),
    ) -> list[Reg]:
        """``for i in range(first, end, step): carried = body(i, carried)`` on i64; what was carried last.

        While ``body`` writes, the block before the loop is still open: what does not change in the loop can be
        written there (`at`).
        """
        head, leave = self.new_block("loop"), self.new_block("done")
        before, self.block = self.block, head
        i = self.phi("i64")
        i.come(first, before)
        phis = [self.phi(x.kind, x.lanes) for x in carried]
        for phi, x in zip(phis, carried, strict=True):
            phi.come(x, before)
        found = list(body(i.reg, [phi.reg for phi in phis]))
        following = self.op("add", i.reg, self.constant("i64", step))
        for phi, x in zip([i, *phis], [following, *found], strict=True):
            phi.come(x, self.block)
        last = self.block
        self.branch(self.compare("slt", following, end), head, leave)
        self.block = before
        if first.literal is not None and end.literal is not None and first.literal < end.literal:
            self.jump(head)
            self.block = leave
            return found
        self.branch(self.compare("slt", first, end), head, leave)
        self.block = leave
        results = [self.phi(x.kind, x.lanes) for x in carried]
        for result, at_first, at_last in zip(results, carried, found, strict=True):
            result.come(at_first, before)
            result.come(at_last, last)
        return [result.reg for result in results]

    # The text.

    def text(self) -> str:
        """The whole module: this function and what it calls."""
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


def _mangled(x: Reg) -> str:
    return (f"v{x.lanes}" if x.lanes else "") + _MANGLED.get(x.kind, x.kind)


def _literal(kind: str, value: float) -> str:
    if kind == "ptr":
        return "null"
    if kind == "i1":
        return "true" if value else "false"
    if kind[0] == "i":
        bits = bits_of(kind)
        return str((int(value) + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1))
    return _float_text(kind, _bits_of_float(kind, value))


_PREDICATES = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}


def _compared(predicate: str, a: int, b: int, bits: int) -> bool:
    if predicate[0] == "u":
        a, b = a % (1 << bits), b % (1 << bits)
    return bool(_PREDICATES[predicate[-2:]](a, b))


_FORMATS = {"half": ("<e", "<H"), "float": ("<f", "<I"), "double": ("<d", "<Q")}


def _bits_of_float(kind: str, value: float) -> int:
    to, of = _FORMATS[kind]
    try:
        packed = struct.pack(to, value)
    except OverflowError:
        packed = struct.pack(to, math.copysign(math.inf, value))
    return int(struct.unpack(of, packed)[0])


def _float_text(kind: str, bits: int) -> str:
    """LLVM writes a float's literal as the bits of the same number in a double, and a half's as its own."""
    if kind == "half":
        return f"0xH{bits:04X}"
    if kind == "double":
        return f"0x{bits:016X}"
    sign, exponent, fraction = bits >> 31, bits >> 23 & 0xFF, bits & 0x7FFFFF
    if exponent == 0xFF:
        return f"0x{sign << 63 | 0x7FF << 52 | fraction << 29:016X}"
    number = struct.unpack("<f", struct.pack("<I", bits))[0]
    return f"0x{struct.unpack('<Q', struct.pack('<d', number))[0]:016X}"
