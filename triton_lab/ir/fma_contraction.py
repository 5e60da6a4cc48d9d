"""Fuses products with the additions after them, as a GPU's compiler does.

Products of numbers are fused unless the kernel's options say otherwise, products of tiles always.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from triton_lab.ir import traits
from triton_lab.ir.plan import Block, Dense, Function, Op, Plan, Region
from triton_lab.ir.types import Type

_ADDS = frozenset({"arith.addf", "arith.subf"})


def contracted(plan: Plan) -> Plan:
    """``plan`` with ``a * b + c`` as ``math.fma``. Returns ``plan`` itself if nothing is fused.

    The product stays in the plan, since other operations may use it. If two products are added, the one with fewer uses
    is fused; of two with as many, the one whose operands are known first, as LLVM orders them.
    Operations keep their indices; the negation that ``a * b - c`` needs gets a new one.
    """
    last = max((op.index for op in plan.walk()), default=0)
    functions = {}
    changed = False
    for name, function in plan.functions.items():
        rewriter = _Rewriter(function, last)
        body = rewriter.region(function.body)
        last = rewriter.last
        changed = changed or rewriter.changed
        types = (*function.types, *rewriter.types)
        names = (*function.names, *("" for _ in rewriter.types))
        functions[name] = replace(function, body=body, types=types, names=names)
    return Plan(functions, plan.text) if changed else plan


class _Rewriter:
    def __init__(self, function: Function, last: int) -> None:
        self.products = {op.results[0]: op for op in function.walk() if op.name == "arith.mulf"}
        self.uses = Counter(number for op in function.walk() for number in op.operands)
        self.ranks = _Ranks(function)
        self.function = function
        self.last = last
        self.types: list[Type] = []
        self.changed = False

    def region(self, region: Region) -> Region:
        return Region(tuple(Block(block.arguments, self._ops(block.ops)) for block in region.blocks))

    def _ops(self, ops: tuple[Op, ...]) -> tuple[Op, ...]:
        found: list[Op] = []
        for op in ops:
            if op.name in _ADDS and any(number in self.products for number in op.operands):
                found += self._fused(op)
                self.changed = True
            elif op.regions:
                found.append(replace(op, regions=tuple(map(self.region, op.regions))))
            else:
                found.append(op)
        return tuple(found)

    def _fused(self, op: Op) -> list[Op]:
        left, right = op.operands
        position = 0 if left in self.products else 1
        if left in self.products and right in self.products:
            uses = self.uses[right] - self.uses[left]
            later = op.name == "arith.addf" and self.ranks.of(right) < self.ranks.of(left)
            position = int(uses < 0 or (uses == 0 and later))
        product = self.products[op.operands[position]]
        a, b = product.operands
        if op.name == "arith.addf":
            return [replace(op, name="math.fma", operands=(a, b, right if position == 0 else left))]
        # a * b - c is a * b + (-c), and c - a * b is (-a) * b + c.
        turned = right if position == 0 else a
        negated = self._new(self.function.types[turned])
        self.last += 1
        negation = replace(op, name="arith.negf", operands=(turned,), results=(negated,), index=self.last)
        operands = (a, b, negated) if position == 0 else (negated, b, left)
        return [negation, replace(op, name="math.fma", operands=operands)]

    def _new(self, type: Type) -> int:
        self.types.append(type)
        return len(self.function.types) + len(self.types) - 1


class _Ranks:
    """The order in which LLVM writes the operands of an addition (its pass Reassociate): by their ranks.

    What memory, other threads or a branch give has a rank by its place in the program; what is computed from other
    values has one more than the greatest of theirs, but a negation as much as its operand; constants have none.
    """

    def __init__(self, function: Function) -> None:
        self._found: dict[int, int] = {number: 2 + k for k, number in enumerate(function.arguments)}
        block = 1
        first: dict[object, int] = {}  # of equal computations, LLVM keeps the first
        same: dict[int, int] = {}
        for place, op in enumerate(function.walk()):
            block += 1 if op.regions or _branches(op) else 0
            arguments = [number for region in op.regions for one in region.blocks for number in one.arguments]
            fixed = bool(op.regions) or _branches(op) or not traits.of(op.name).is_lane_by_lane
            above = max((self._found.get(number, 0) for number in op.operands), default=0)
            computed = above + (op.name != "arith.negf")
            moved = traits.of(op.name).kind in (traits.Kind.MOVES, traits.Kind.CREATES)
            key = op.name, tuple(same.get(number, number) for number in op.operands), str(op.attributes)
            for number in op.results:
                self._found[number] = above if moved else (block << 16) + place if fixed else computed
                if traits.of(op.name).is_lane_by_lane and len(op.results) == 1:
                    same[number] = first.setdefault(key, number)
                    self._found[number] = self._found[same[number]]
            for number in arguments:
                self._found[number] = (block << 16) + place

    def of(self, number: int) -> int:
        return self._found.get(number, 0)


def _branches(op: Op) -> bool:
    """Whether a GPU's compiler makes blocks of it, as it does of most functions of CUDA's library."""
    return op.name in ("tt.extern_elementwise", "math.sin", "math.cos", "math.erf", "math.log", "math.log2")


def accumulated(plan: Plan) -> Plan:
    """``plan`` with ``dot(a, b, 0) + c`` as ``dot(a, b, c)``, where no other operation uses the product of
    the tiles.
    """
    functions = {name: _with_sums(function) for name, function in plan.functions.items()}
    changed = any(function is not plan.functions[name] for name, function in functions.items())
    return Plan(functions, plan.text) if changed else plan


def _with_sums(function: Function) -> Function:
    ops = list(function.walk())
    uses = Counter(number for op in ops for number in op.operands)
    uses.update(number for op in ops for successor in op.successors for number in successor.operands)
    zeros = {op.results[0] for op in ops if op.name == "arith.constant" and _is_zero(op.attributes["value"])}
    products = {op.results[0]: op for op in ops if op.name == "tt.dot" and op.operands[2] in zeros}
    products = {number: op for number, op in products.items() if uses[number] == 1}
    sums: dict[int, Op] = {}
    for op in ops:
        at = next((k for k, number in enumerate(op.operands) if number in products), None)
        if op.name == "arith.addf" and at is not None:
            product = products.pop(op.operands[at])
            operands = (*product.operands[:2], op.operands[1 - at])
            sums[op.index] = replace(product, operands=operands, results=op.results, index=op.index)
            sums[product.index] = product  # the product, which `_put` leaves out
    return replace(function, body=_put(function.body, sums)) if sums else function


def _put(region: Region, sums: dict[int, Op]) -> Region:
    blocks = []
    for block in region.blocks:
        kept = [op for op in block.ops if sums.get(op.index) is not op]
        made = [sums.get(op.index) or replace(op, regions=tuple(_put(one, sums) for one in op.regions)) for op in kept]
        blocks.append(Block(block.arguments, tuple(made)))
    return Region(tuple(blocks))


def _is_zero(value: object) -> bool:
    return isinstance(value, Dense) and len(value.values) == 1 and value.values[0] == 0.0
