"""Which arguments a pointer can come from, found in the plan alone.

An access whose pointer comes from ``x_ptr`` may touch x's storage and no other, wherever other
storages happen to lie; an access through a pointer that was itself loaded may go anywhere.
"""

from __future__ import annotations

from collections.abc import Mapping

from triton_lab.ir.plan import Block, Function, Op, Plan, Region

# The arguments of the kernel (by position) that a value can come from; None: it cannot be known.
Roots = frozenset[int] | None
_NOTHING: Roots = frozenset()

_PASS_ON = frozenset(
    {
        "tt.addptr",
        "tt.splat",
        "tt.unsplat",
        "tt.broadcast",
        "tt.expand_dims",
        "tt.reshape",
        "tt.trans",
        "tt.bitcast",
        "tt.join",
        "tt.cat",
        "tt.make_tensor_descriptor",
        "tt.gather",
        "ttg.convert_layout",
    }
)
# The operand that holds the address.
ACCESSES: Mapping[str, int] = {
    "tt.load": 0,
    "tt.store": 0,
    "tt.atomic_rmw": 0,
    "tt.atomic_cas": 0,
    "tt.descriptor_load": 0,
    "tt.descriptor_store": 0,
    "tt.descriptor_gather": 0,
    "tt.descriptor_scatter": 0,
    "tt.descriptor_reduce": 0,
    "tt.atomic_load": 0,
    "tt.atomic_store": 0,
    "tt.atomic_poll": 0,
}
# Atomics that write nothing, and those that read nothing.
ONLY_READ = frozenset({"tt.atomic_load", "tt.atomic_poll"})
ONLY_WRITE = frozenset({"tt.atomic_store"})


def pointer_roots(plan: Plan) -> dict[int, Roots]:
    """For each access, by operation index: the kernel's arguments its pointer can come from."""
    analysis = _Analysis(plan)
    analysis.settle()
    return analysis.accesses


class _Analysis:
    """A fixed point over all values: sets only grow, and None is the top."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.roots: dict[tuple[str, int], Roots] = {}
        self.accesses: dict[int, Roots] = {}
        self.changed = False
        # For each branch, by operation index: the blocks of its region.
        self.beside: dict[int, tuple[Block, ...]] = {}
        for function in plan.functions.values():
            self.note(function.body)
        kernel = plan.kernel
        for position, number in enumerate(kernel.arguments):
            if kernel.types[number].is_pointer or kernel.types[number].is_descriptor:
                self.roots[kernel.name, number] = frozenset([position])

    def note(self, region: Region) -> None:
        for block in region.blocks:
            for op in block.ops:
                if op.successors:
                    self.beside[op.index] = region.blocks
                for inner in op.regions:
                    self.note(inner)

    def settle(self) -> None:
        self.changed = True
        while self.changed:
            self.changed = False
            for function in self.plan.functions.values():
                for op in function.walk():
                    self.visit(function, op)

    def of(self, function: Function, number: int) -> Roots:
        return self.roots.get((function.name, number), _NOTHING)

    def flow(self, function: Function, number: int, roots: Roots) -> None:
        """``number`` may also come from ``roots``."""
        type = function.types[number]
        if not (type.is_pointer or type.is_descriptor):
            return
        old = self.of(function, number)
        new = None if old is None or roots is None else old | roots
        if new != old:
            self.roots[function.name, number] = new
            self.changed = True

    def visit(self, function: Function, op: Op) -> None:
        if op.name in ACCESSES:
            self.accesses[op.index] = self.of(function, op.operands[ACCESSES[op.name]])
        for successor in op.successors:
            block = self.beside[op.index][successor.block]
            self.pairs(function, successor.operands, block.arguments)
        if op.name == "tt.call":
            self.call(function, op)
        elif op.name == "scf.for":
            body = op.regions[0].blocks[0]
            self.pairs(function, op.operands[3:], body.arguments[1:])
            self.pairs(function, body.ops[-1].operands, body.arguments[1:])
            self.pairs(function, body.ops[-1].operands, op.results)
            self.pairs(function, op.operands[3:], op.results)
        elif op.name == "scf.while":
            before, after = (region.blocks[0] for region in op.regions)
            self.pairs(function, op.operands, before.arguments)
            self.pairs(function, before.ops[-1].operands[1:], after.arguments)
            self.pairs(function, before.ops[-1].operands[1:], op.results)
            self.pairs(function, after.ops[-1].operands, before.arguments)
        elif op.name == "scf.if":
            for region in op.regions:
                for block in region.blocks:
                    self.pairs(function, block.ops[-1].operands, op.results)
        elif op.name == "arith.select":
            for number in op.operands[1:]:
                self.flow(function, op.results[0], self.of(function, number))
        elif op.name in _PASS_ON:
            for number in op.operands:
                for result in op.results:
                    self.flow(function, result, self.of(function, number))
        else:
            for result in op.results:
                self.flow(function, result, None)

    def pairs(self, function: Function, sources: tuple[int, ...], targets: tuple[int, ...]) -> None:
        for source, target in zip(sources, targets, strict=True):
            self.flow(function, target, self.of(function, source))

    def call(self, function: Function, op: Op) -> None:
        callee = self.plan.functions[op.attributes["callee"]]
        for source, target in zip(op.operands, callee.arguments, strict=True):
            self.flow(callee, target, self.of(function, source))
        for block in callee.body.blocks:
            if block.ops[-1].name == "tt.return":
                for source, target in zip(block.ops[-1].operands, op.results, strict=True):
                    self.flow(function, target, self.of(callee, source))
