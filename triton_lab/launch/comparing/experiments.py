"""What may make two runs of a kernel round otherwise, as switches of the interpreter: each is tried, not guessed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from triton_lab.interpreter import variants
from triton_lab.interpreter.executable import Executable
from triton_lab.interpreter.variants import Table
from triton_lab.ir import Op, Plan, Type
from triton_lab.ir.contract import contracted


@dataclass(frozen=True)
class Switch:
    """``name`` as a table has it, and ``cause`` as a sentence has it: what is the reason if the switch removes it.

    ``table`` is what the interpreter runs instead, ``fuses`` whether products are fused with additions first.
    """

    name: str
    cause: str
    table: Table
    fuses: bool = False

    def executable(self, plan: Plan) -> Executable:
        """The plan with this switch on."""
        return Executable.of(contracted(plan) if self.fuses else plan, self.table)

    def with_(self, other: Switch) -> Switch:
        """Both at once."""
        names = f"{self.name}, {other.name}"
        table = {**self.table, **other.table}
        return Switch(names, f"{self.cause}, and {other.cause}", table, self.fuses or other.fuses)


def switches(plan: Plan) -> Iterator[Switch]:
    """Those that mean something to this kernel: first what a GPU does otherwise, then orders, then more bits."""
    yield from emulations(plan)
    sums = [op for op in plan.walk() if op.name in ("tt.reduce", "tt.scan", "tt.dot") and _of_floats(plan, op)]
    if sums:
        for name, table in variants.ORDERS.items():
            yield Switch(f"sums {name}", "the order of summation", table)
        yield Switch("sums in float64", "the rounding of sums", variants.WIDE_SUMS)
    names = {op.name for op in plan.walk()}
    if not names & variants.NARROW_ONLY and any(type.is_float for one in plan.functions.values() for type in one.types):
        yield Switch("all in float64", "rounding", variants.THROUGHOUT)


def emulations(plan: Plan) -> Iterator[Switch]:
    """What a GPU does otherwise."""
    names = {op.name for op in plan.walk()}
    if any(op.name == "tt.dot" and _in_tf32(plan, op) for op in plan.walk()):
        yield Switch("tf32", "tf32 inputs of tl.dot", variants.tf32(nearest=True))
        yield Switch("tf32, cut", "tf32 inputs of tl.dot, cut and not rounded", variants.tf32(nearest=False))
    if contracted(plan) is not plan:
        yield Switch("fused multiply-add", "fused multiply-add", {}, fuses=True)
    tables: list[tuple[str, str, Table]] = [
        ("approximate exp", "the GPU's approximate exp2", variants.APPROXIMATE_EXP),
        ("approximate log", "the GPU's approximate log2", variants.APPROXIMATE_LOG),
        ("approximate division", "the GPU's approximate division", variants.APPROXIMATE_DIVISION),
    ]
    for name, cause, table in tables:
        if names & set(table):
            yield Switch(name, cause, table)


def together(plan: Plan) -> Switch | None:
    """All that a GPU does otherwise at once; None where that is one thing or nothing."""
    found = [switch for switch in emulations(plan) if switch.name != "tf32, cut"]
    if len(found) < 2:
        return None
    result = found[0]
    for switch in found[1:]:
        result = result.with_(switch)
    return result


def _of_floats(plan: Plan, op: Op) -> bool:
    return any(type.is_float for type in _types(plan, op, lambda one: one.results))


def _in_tf32(plan: Plan, op: Op) -> bool:
    first = _types(plan, op, lambda one: one.operands)[0]
    return first.element == "f32" and op.attributes.get("inputPrecision", 0) == 0


def _types(plan: Plan, op: Op, which: Callable[[Op], tuple[int, ...]]) -> list[Type]:
    function = next(one for one in plan.functions.values() if any(op is inner for inner in one.walk()))
    return [function.types[number] for number in which(op)]
