"""Writes the elementwise part of a kernel: loads, then one line per operation, named after its number."""

from __future__ import annotations

import math
from collections.abc import Mapping

import torch

from triton_lab.lazy.codegen.generated_kernel import TRITON_DTYPES
from triton_lab.lazy.elementwise_table import HALVES, widens, written
from triton_lab.lazy.fusion import FusedRegion, kind_of, read_through
from triton_lab.lazy.graph import Constant, Graph, GraphOp, JoinedAxis
from triton_lab.lazy.index_maps import Map
from triton_lab.lazy.simplification import is_reshape

# tl.maximum converts a Python number to float32 first; our own functions take numbers as constexprs.
NEEDS_TENSOR = ("maximum", "minimum", "floordiv", "remainder")


class KernelBody:
    """Writes the lines that compute values at position `index` (a name), under the mask `inside`.

    `pointers` names the kernel's argument for each value in memory; `block` is the text of the tile's shape.
    """

    def __init__(self, graph: Graph, region: FusedRegion, pointers: Mapping[int, str], index: str, block: str):
        self.graph = graph
        self.pointers = pointers
        self.index = index
        self.block = block
        self._loads: dict[int, str] = {}
        self._computed: list[str] = []
        self._members = set(region.members)
        self._names: dict[int, str] = {}
        self.checks = False  # whether it writes an assertion
        for number in region.members:  # operands come first, so that a long chain does not recurse deeply
            if kind_of(graph.ops[number]) == "elementwise" and graph.ops[number].name != "view":
                self.value(number)

    @property
    def lines(self) -> list[str]:
        """All loads, then the computations."""
        return [self._loads[number] for number in sorted(self._loads)] + self._computed

    def value(self, number: int) -> str:
        """The name of a value (for a constant, the number); writes the lines that it needs."""
        if number not in self._names:
            self._names[number] = self._make(number)
        return self._names[number]

    def tensor(self, number: int) -> str:
        """Like `value`, but a constant becomes a block."""
        op = self.graph.ops[number]
        if op.name != "constant" or _is_negative_zero(op):
            return self.value(number)
        return f"tl.full({self.block}, {self.value(number)}, {TRITON_DTYPES[op.dtype]})"

    def _make(self, number: int) -> str:
        op = self.graph.ops[number]
        if op.name == "constant":
            if _is_negative_zero(op):  # as a literal, Triton 3.6 reads it as 0.0
                return f"(tl.full({self.block}, 0.0, {TRITON_DTYPES[op.dtype]}) * -1.0)"
            return literal(op)
        if number not in self._members:
            return self._load(number, number, self.index)
        if op.name == "view":
            if is_reshape(self.graph.ops, op):
                return self.value(op.operands[0])
            assert isinstance(op.attribute, Map)
            return self._load(number, op.operands[0], op.attribute.address(self.index))
        if op.name == "index":
            self._computed.append(f"v{number} = {self.index}.to(tl.int64)")
            return f"v{number}"
        if op.name == "cat":
            return self._cat(number, op)
        if op.name == "gather":
            return self._gather(number, op)
        return self._compute(number, op)

    def _cat(self, number: int, op: GraphOp) -> str:
        """Write each lane's element from its part.

        `at` is the position within the joined dimension and those after it.
        """
        assert isinstance(op.attribute, JoinedAxis)
        inner = math.prod(op.shape[op.attribute.dim + 1 :])
        period = inner * op.shape[op.attribute.dim]
        outer = math.prod(op.shape[: op.attribute.dim])
        at = self.index
        if outer > 1:
            at = f"at{number}"
            self._computed.append(f"{at} = {self.index} % {period}")
        start, text = 0, ""
        for operand in op.operands:
            length = inner * self.graph.ops[operand].shape[op.attribute.dim]
            here = f"({at} >= {start}) & ({at} < {start + length})"
            if self.graph.ops[operand].name == "constant":
                part = self.tensor(operand)
            else:
                node, view = read_through(self.graph, operand)
                within = f"part{number}_{start}"
                position = at if start == 0 else f"{at} - {start}"
                if outer > 1:
                    position += f" + {self.index} // {period} * {length}"
                self._computed.append(f"{within} = {position}")
                part = f"tl.load({self.pointers[node]} + {view.address(within)}, mask=inside & {here})"
            text = f"v{number} = {part}" if start == 0 else f"v{number} = tl.where({here}, {part}, v{number})"
            self._computed.append(text)
            start += length
        return f"v{number}"

    def _gather(self, number: int, op: GraphOp) -> str:
        """Write the element whose coordinate along `dim` is in another tensor."""
        assert isinstance(op.attribute, JoinedAxis)
        self.checks = True
        node, view = read_through(self.graph, op.operands[0])
        dim, index = op.attribute.dim, self.tensor(op.operands[1])
        fixed = tuple(0 if d == dim else stride for d, stride in enumerate(view.strides))
        around = Map(op.shape, fixed, view.offset).address(self.index)
        size = self.graph.ops[op.operands[0]].shape[dim]
        self._computed += [
            f"index{number} = {index}.to(tl.int64)",
            f"found{number} = (index{number} >= 0) & (index{number} < {size})",
            f'tl.device_assert(found{number} | ~inside, "gather: an index is outside of 0 to {size - 1}")',
            f"v{number} = tl.load({self.pointers[node]} + {around} + index{number} * {view.strides[dim]}, "
            f"mask=inside & found{number})",
        ]
        return f"v{number}"

    def _load(self, number: int, node: int, address: str) -> str:
        self._loads[number] = f"v{number} = tl.load({self.pointers[node]} + {address}, mask=inside)"
        return f"v{number}"

    def _compute(self, number: int, op: GraphOp) -> str:
        name = f"v{number}"
        if op.name == "cast":
            self._computed.append(f"{name} = {self._cast(op)}")
            return name
        dtype = self.graph.ops[op.operands[-1]].dtype  # the operands' common dtype ("where": that of its choices)
        operands = [self.value(operand) for operand in op.operands]
        constants = [self.graph.ops[operand].name == "constant" for operand in op.operands]
        wide = widens(op.name, dtype)
        for position, operand in enumerate(op.operands):
            filled = op.name in NEEDS_TENSOR or all(constants) or (op.name == "where" and position == 0)
            if constants[position] and filled:
                operands[position] = self.tensor(operand)
            if wide and (filled or not constants[position]):
                operands[position] += ".to(tl.float32)"
        if op.name == "where" and all(constants[1:]):
            operands[2] = self.tensor(op.operands[2])
        text = written(op.name, dtype, operands)
        if wide or (op.name in NEEDS_TENSOR and dtype in HALVES):
            text = f"({text}).to({TRITON_DTYPES[op.dtype]})"
        self._computed.append(f"{name} = {text}")
        return name

    def _cast(self, op: GraphOp) -> str:
        operand = self.tensor(op.operands[0])
        return f"{operand} != 0" if op.dtype == torch.bool else f"{operand}.to({TRITON_DTYPES[op.dtype]})"


def literal(op: GraphOp) -> str:
    """A constant as Python text that is valid in a kernel."""
    assert isinstance(op.attribute, Constant)
    text = op.attribute.text
    return f'float("{text}")' if text in ("inf", "-inf", "nan") else text


def _is_negative_zero(op: GraphOp) -> bool:
    return isinstance(op.attribute, Constant) and op.attribute.text == "-0.0"
