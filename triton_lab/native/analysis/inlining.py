"""Merges a kernel and the functions that it calls into one function."""

from __future__ import annotations

from dataclasses import replace

from triton_lab.ir import Op, Plan
from triton_lab.ir.plan import Block, Function, Region
from triton_lab.ir.types import Type
from triton_lab.localization import _
from triton_lab.native.unsupported import Unsupported


def flattened(plan: Plan) -> Function:
    """The kernel's function with each call replaced by the called body.

    Raises Unsupported for functions that return before their end, or that call themselves.
    """
    if len(plan.functions) == 1:
        return plan.kernel
    return _Flattening(plan).kernel()


class _Flattening:
    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.types: list[Type] = list(plan.kernel.types)
        self.names: list[str] = list(plan.kernel.names)

    def kernel(self) -> Function:
        kernel = self.plan.kernel
        same = {value: value for value in range(len(kernel.types))}
        blocks = tuple(self._block(block, kernel, same, ()) for block in kernel.body.blocks)
        return replace(kernel, body=Region(blocks), types=tuple(self.types), names=tuple(self.names))

    def _block(self, block: Block, function: Function, values: dict[int, int], callers: tuple[str, ...]) -> Block:
        for argument in block.arguments:
            self._number(argument, function, values)
        ops: list[Op] = []
        for op in block.ops:
            if op.name == "tt.call":
                ops += self._called(op, values, callers)
                continue
            regions = tuple(
                Region(tuple(self._block(inner, function, values, callers) for inner in region.blocks))
                for region in op.regions
            )
            operands = tuple(values[value] for value in op.operands)
            results = tuple(self._number(value, function, values) for value in op.results)
            ops.append(replace(op, operands=operands, results=results, regions=regions))
        return Block(tuple(values[value] for value in block.arguments), tuple(ops))

    def _number(self, value: int, function: Function, values: dict[int, int]) -> int:
        """A new number for the value that ``function`` calls ``value`` and that is computed now."""
        if value not in values:
            values[value] = len(self.types)
            self.types.append(function.types[value])
            self.names.append(function.names[value])
        return values[value]

    def _called(self, op: Op, values: dict[int, int], callers: tuple[str, ...]) -> list[Op]:
        name = op.attributes["callee"]
        callee = self.plan.functions[name]
        if name in callers:
            raise Unsupported(_("a function that calls itself"))
        body = _only(callee.body)
        inner = dict(zip(body.arguments, (values[value] for value in op.operands), strict=True))
        block = self._block(body, callee, inner, (*callers, name))
        values.update(zip(op.results, block.ops[-1].operands, strict=True))
        return list(block.ops[:-1])


def _only(region: Region) -> Block:
    if len(region.blocks) != 1:
        raise Unsupported(_("a function that returns before its end"))
    return region.blocks[0]
