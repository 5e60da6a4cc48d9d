"""`Switch`: changes of the interpreter that may make two runs of a kernel round differently; each is tried by a run."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from triton_lab import messages
from triton_lab.interpreter.bound_plan import Executable
from triton_lab.interpreter.variants import arithmetic_variants, tensor_cores
from triton_lab.interpreter.variants.arithmetic_variants import Table
from triton_lab.interpreter.variants.thread_reductions import Shares, fused_in_order_of, in_order_of
from triton_lab.interpreter.variants.thread_scans import Turns, scans_in_order_of
from triton_lab.ir import Op, Plan, Type, traits
from triton_lab.ir.fma_contraction import accumulated, contracted
from triton_lab.launch.comparison.interpreter_changes import Layers, table_of
from triton_lab.launch.comparison.rounding_rules import APPROXIMATE
from triton_lab.providers import provided

if TYPE_CHECKING:
    from triton_lab.compiled.layouts.linear_layout import Linear
    from triton_lab.launch.argument import Argument
    from triton_lab.launch.launch import Launch


@dataclass(frozen=True, eq=False)
class Switch:
    """One change of a run: ``name`` for tables, and ``cause`` for a sentence if the switch removes the difference.

    ``table`` has the functions that the interpreter runs instead. ``fuses`` says whether products are first fused with
    additions, and ``accumulates`` whether dots are fused with theirs. ``layers`` wrap the table (see
    `interpreter_changes`), and ``redirects``, which move loads and stores, wrap those. ``ops`` are the operations that
    it changes, by index. ``grid`` is another grid, ``zeroed`` an argument that is filled with zeros before the launch,
    and ``exchanged`` are two arguments to exchange. ``place`` has the lines, if the name does not.
    """

    name: str
    cause: str
    table: Table = field(default_factory=dict)
    fuses: bool = False
    accumulates: bool = False
    layers: tuple[Layers, ...] = ()
    redirects: tuple[Layers, ...] = ()
    ops: frozenset[int] = frozenset()
    grid: tuple[int, int, int] | None = None
    zeroed: str = ""
    exchanged: tuple[str, ...] = ()
    place: str = ""

    def executable(self, plan: Plan) -> Executable:
        """The plan to run with this switch on."""
        plan = accumulated(plan) if self.accumulates else plan
        table = table_of(self.table, (*self.layers, *self.redirects))
        return Executable.of(contracted(plan) if self.fuses else plan, table)

    def launch(self, launch: Launch) -> Launch:
        """The launch with this switch on: another grid or other memory, but the same plan."""
        if self.grid is not None:
            launch = replace(launch, grid=self.grid)
        if self.zeroed and launch.snapshot is not None:
            launch = replace(launch, snapshot=launch.snapshot.zeroed(*_extent(launch.argument(self.zeroed))))
        if self.exchanged and launch.snapshot is not None:
            kernel = launch.executable.plan.kernel
            one, two = ([kernel.names[k] for k in kernel.arguments].index(name) for name in self.exchanged)
            launch = replace(launch, snapshot=launch.snapshot.exchanged(one, two))
        return launch

    def with_(self, other: Switch) -> Switch:
        """A switch with both changes."""
        return Switch(
            f"{self.name}, {other.name}",
            f"{self.cause}, and {other.cause}",
            {**self.table, **other.table},
            self.fuses or other.fuses,
            self.accumulates or other.accumulates,
            (*self.layers, *other.layers),
            (*self.redirects, *other.redirects),
            self.ops | other.ops,
            self.grid or other.grid,
            self.zeroed or other.zeroed,
            self.exchanged or other.exchanged,
        )

    def goes_with(self, other: Switch) -> bool:
        """Whether both can be combined: not two of one kind in one place, nor two grids."""
        apart = self.cause != other.cause or not self.ops & other.ops
        return apart and not any(
            a and b
            for a, b in ((self.grid, other.grid), (self.zeroed, other.zeroed), (self.exchanged, other.exchanged))
        )


def _extent(argument: Argument) -> tuple[int, int]:
    """The bounds of the addresses of an argument's elements."""
    reach = sum(stride * (extent - 1) for stride, extent in zip(argument.strides, argument.shape, strict=True))
    return argument.address, argument.address + (reach + 1) * argument.itemsize


def switches(plan: Plan, threads: Sequence[Switch] = ()) -> Iterator[Switch]:
    """The switches that affect this kernel: first what a GPU does differently, then orders, then more bits.

    ``threads`` are the orders in which a GPU's threads may sum.
    """
    yield from emulations(plan)
    yield from threads
    sums = [op for op in plan.walk() if op.name in traits.FOLDS | {"tt.dot"} and _of_floats(plan, op)]
    if sums:
        for name, table in arithmetic_variants.ORDERS.items():
            yield Switch(f"sums {name}", "the order of summation", table)
        yield Switch("sums in float64", "the rounding of sums", arithmetic_variants.WIDE_SUMS)
    names = {op.name for op in plan.walk()}
    if not names & arithmetic_variants.NARROW_ONLY and any(
        type.is_float for one in plan.functions.values() for type in one.types
    ):
        yield Switch("all in float64", "rounding", arithmetic_variants.THROUGHOUT)


def emulations(plan: Plan) -> Iterator[Switch]:
    """Switches for what a GPU does differently."""
    names = {op.name for op in plan.walk()}
    if any(op.name == "tt.dot" and _in_tf32(plan, op) for op in plan.walk()):
        yield Switch("tf32", "tf32 inputs of tl.dot", arithmetic_variants.tf32(nearest=True))
        yield Switch("tf32, cut", "tf32 inputs of tl.dot, cut and not rounded", arithmetic_variants.tf32(nearest=False))
    cause = _of_dots(plan)
    if cause:
        yield Switch("dots of the GPU", cause, tensor_cores.DOTS, accumulates=True)
    if contracted(plan) is not plan:
        yield Switch("fused multiply-add", "fused multiply-add", {}, fuses=True)
    tables: list[tuple[str, str, Table]] = [
        ("approximate exp", "the GPU's approximate exp2", arithmetic_variants.APPROXIMATE_EXP),
        ("log of the GPU", "the GPU's logarithm", arithmetic_variants.APPROXIMATE_LOG),
        ("approximate division", "the GPU's approximate division", arithmetic_variants.APPROXIMATE_DIVISION),
        ("remainder of the GPU", "the GPU's remainder, which is x - trunc(x / y) * y", arithmetic_variants.REMAINDER),
    ]
    for name, cause, table in tables:
        if names & set(table):
            yield Switch(name, cause, table)


def in_threads(launch: Launch) -> list[Switch]:
    """Switches for the orders in which a GPU's threads may reduce and scan.

    They follow from the layouts that Triton chooses for sm_90. There are none if the kernel does neither with floats,
    or if only its plan is known. Raises RuntimeError if Triton refuses the kernel for sm_90, or has changed the number
    of sums.
    """
    plan = launch.executable.plan
    shares = _shares(launch, "tt.reduce", provided("Launch.reduced_layouts"), "reduction")
    every = [op for op in plan.walk() if op.index in shares]
    sums = any(len(op.operands) == 1 and _of_floats(plan, op) for op in every)
    scanned = _shares(launch, "tt.scan", provided("Launch.scanned_layouts"), "scan")
    found = {index: Turns.of(one) for index, one in scanned.items()}
    turns = {index: one for index, one in found.items() if one is not None}
    done = [("sum" if sums else "reduce", "sums" if sums else "reductions")] * bool(shares)
    done += [("scan", "scans")] * bool(turns)
    if not done:
        return []
    cause = f"the order in which the threads of a GPU {' and '.join(one for one, _ in done)}"
    orders = [(False, f"{' and '.join(one for _, one in done)} as threads of a GPU do")]
    if any(len(one.registers) > 1 for one in shares.values()):  # two registers have only one order
        orders.append((True, f"{orders[0][1]}, in pairs"))
    scans = scans_in_order_of(turns)
    tried = [Switch(name, cause, {**in_order_of(shares, pairs), **scans}) for pairs, name in orders]
    if shares and (products := _summed_products(plan)):
        fused = f"{cause}, and that it fuses products with their sum"
        tables = [(name, {**fused_in_order_of(shares, pairs, products), **scans}) for pairs, name in orders]
        tried += [Switch(f"{name}, fused", fused, table) for name, table in tables]
    return tried


def _shares(launch: Launch, name: str, layouts_of: Callable[..., list[Linear | None]], noun: str) -> dict[int, Shares]:
    """The elements that each thread holds along the axis of each operation of that name, by index, if known."""
    plan, shares = launch.executable.plan, {}
    every = [op for op in plan.walk() if op.name == name]
    if launch.compiled[0] is None or not any(_of_floats(plan, op) for op in every):
        return {}
    layouts = layouts_of(*launch.compiled)
    if len(layouts) != len(every):
        raise RuntimeError(f"of {messages.count(len(every), noun)} Triton's compiler for sm_90 makes {len(layouts)}")
    for op, layout in zip(every, layouts, strict=True):
        type = types_of(plan, op, lambda one: one.operands)[0]
        if layout is not None and layout.shape == type.shape:
            bases = [layout.bases(part) for part in ("register", "lane", "warp")]
            found = Shares.along(op.attributes["axis"], layout.shape, *bases)
            if found is not None:
                shares[op.index] = found
    return shares


def _summed_products(plan: Plan) -> frozenset[int]:
    """The float32 products that are reduced."""
    products = {op.results[0] for op in plan.walk() if op.name == "arith.mulf"}
    sums = [op for op in plan.walk() if op.name == "tt.reduce" and len(op.operands) == 1]
    reduced = {op.operands[0] for op in sums if types_of(plan, op, lambda one: one.operands)[0].element == "f32"}
    return frozenset(products & reduced)


# Less exact switches, which are not combined with others: another switch changes the same operations.
_LESS = ("tf32", "tf32, cut")


def together(plan: Plan, threads: Sequence[Switch] = ()) -> Iterator[Switch]:
    """All that a GPU does differently at once, also with each of the orders; at least two changes."""
    found = [switch for switch in emulations(plan) if switch.name not in _LESS]
    for order in [[], *([one] for one in threads)]:
        every = [*found, *order]
        if len(every) > 1:
            yield functools.reduce(Switch.with_, every)


@dataclass(frozen=True)
class Documented:
    """A function that a GPU approximates, with a documented error but undocumented bits; ``ops`` are its operations.

    The error is in `rounding_rules`; ``told`` is its text.
    """

    name: str
    ops: frozenset[str]
    told: str


_DOCUMENTED = {
    "division": ("arith.divf", "tt.approx_divf"),
    "exp2": ("math.exp", "math.exp2"),
    "square root": ("math.sqrt", "math.rsqrt"),
    "sine": ("math.sin", "math.cos"),
    "erf": ("math.erf",),
}


def documented(plan: Plan) -> list[Documented]:
    """The documented functions that the kernel calls, each alone and then all at once."""
    used = {op.name for op in plan.walk()}
    found = []
    for name, ops in _DOCUMENTED.items():
        there = used & set(ops)
        if there:
            ulps = max(APPROXIMATE[op] for op in there)
            found.append(Documented(name, frozenset(there), f"{messages.significant(ulps)} ulp"))
    if len(found) > 1:
        names = " and ".join(one.name for one in found)
        told = ", ".join(dict.fromkeys(one.told for one in found))
        found.append(Documented(names, frozenset().union(*(one.ops for one in found)), told))
    return found


def exact(plan: Plan, threads: Sequence[Switch]) -> Iterator[Switch]:
    """All that a GPU does differently and is known to the bit, at once, with each of the orders; first no change."""
    yield Switch("", "", {})
    known = [one for one in emulations(plan) if not one.name.startswith("approximate") and one.name not in _LESS]
    for order in [[], *([one] for one in threads)]:
        if known or order:
            yield functools.reduce(Switch.with_, [*known, *order])


def _of_floats(plan: Plan, op: Op) -> bool:
    return any(type.is_float for type in types_of(plan, op, lambda one: one.results))


def _of_dots(plan: Plan) -> str:
    """What a GPU does differently in a kernel's dots, in words; "" without float dots."""
    dots = [op for op in plan.walk() if op.name == "tt.dot" and _of_floats(plan, op)]
    if any(_in_tf32(plan, op) for op in dots):
        return "tf32 inputs of tl.dot, cut and added up as tensor cores do"
    if any(types_of(plan, op, lambda one: one.operands)[0].element != "f32" for op in dots):
        return "how tensor cores add up the products of tl.dot"
    return "the products of tl.dot, which a GPU fuses with their sum one after the other" if dots else ""


def _in_tf32(plan: Plan, op: Op) -> bool:
    first = types_of(plan, op, lambda one: one.operands)[0]
    return first.element == "f32" and op.attributes.get("inputPrecision", 0) == 0


def types_of(plan: Plan, op: Op, which: Callable[[Op], tuple[int, ...]]) -> list[Type]:
    """The types of the values of ``op`` that ``which`` selects."""
    function = next(one for one in plan.functions.values() if any(op is inner for inner in one.walk()))
    return [function.types[number] for number in which(op)]
