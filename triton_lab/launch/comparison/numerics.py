"""`Switch`: changes of the interpreter that may make two runs of a kernel round differently; each is tried by a run."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from triton_lab import messages
from triton_lab.interpreter.bound_plan import Executable
from triton_lab.interpreter.variants import arithmetic_variants
from triton_lab.interpreter.variants.arithmetic_variants import Table
from triton_lab.interpreter.variants.thread_reductions import Shares, fused_in_order_of, in_order_of
from triton_lab.interpreter.variants.thread_scans import Turns, scans_in_order_of
from triton_lab.ir import Op, Plan, Type, traits
from triton_lab.ir.fma_contraction import accumulated, contracted
from triton_lab.ir.plan_edits import Edit, edited
from triton_lab.launch.comparison.interpreter_changes import Layers, table_of
from triton_lab.launch.recording.replay_error import CannotReplay
from triton_lab.localization import N_, _, translated
from triton_lab.providers import provided

if TYPE_CHECKING:
    from triton_lab.compiled.layouts.linear_layout import Linear
    from triton_lab.launch.argument import Argument
    from triton_lab.launch.comparison.sources.edited_source import EditedSource
    from triton_lab.launch.launch import Launch


@dataclass(frozen=True, eq=False)
class Switch:
    """One change of a run: ``name`` for tables, and ``cause`` for a sentence if the switch removes the difference.

    ``table`` has the functions that the interpreter runs instead. ``fuses`` says whether products are first fused with
    additions, and ``accumulates`` whether dots are fused with theirs. ``layers`` wrap the table (see
    `interpreter_changes`), and ``redirects``, which move loads and stores, wrap those. ``ops`` are the operations that
    it changes, by index. ``grid`` is another grid, ``zeroed`` an argument that is filled with zeros before the launch,
    and ``exchanged`` are two arguments to exchange. ``place`` has the lines, if the name does not. ``edits``
    replace operations, by index, in the plan; ``source`` is the kernel's text with one place written otherwise.
    ``unusual``: what it makes of the kernel is written less often than what stands there, such as ``<= n``. ``whole``:
    what it does shows only if all programs run. ``copied``: copies of some programs have shown that it fits. ``cost``
    is how much is written anew: 1 for one name, number or operator in place of another.
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
    edits: tuple[tuple[int, Edit], ...] = ()
    source: EditedSource | None = None
    unusual: bool = False
    whole: bool = False
    copied: bool = False
    cost: float = 1

    def executable(self, launch: Launch) -> Executable:
        """The plan to run with this switch on.

        Raises what compiling another text of the kernel raises, and CannotReplay if two edits do not go together.
        """
        if self.source is not None:
            return self.source.executable(launch)
        plan = launch.executable.plan
        try:
            plan = edited(plan, self.edits) if self.edits else plan
        except Exception as error:  # an edit finds another operation there, made by the one before it
            raise CannotReplay(_("the changes do not go together")) from error
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
            _("{cause}, and {other}").format(cause=self.cause, other=other.cause),
            {**self.table, **other.table},
            self.fuses or other.fuses,
            self.accumulates or other.accumulates,
            (*self.layers, *other.layers),
            (*self.redirects, *other.redirects),
            self.ops | other.ops,
            self.grid or other.grid,
            self.zeroed or other.zeroed,
            self.exchanged or other.exchanged,
            edits=(*self.edits, *other.edits),
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


_SUMS = {
    "one after the other": N_("sums one after the other"),
    "last to first": N_("sums last to first"),
    "in halves": N_("sums in halves"),
}


def roundings(plan: Plan) -> Iterator[Switch]:
    """The switches that affect this kernel and are no GPU's ways: other inputs of dots, orders of sums, more bits."""
    if any(op.name == "tt.dot" and in_tf32(plan, op) for op in plan.walk()):
        yield Switch("tf32", _("tf32 inputs of tl.dot"), arithmetic_variants.tf32(nearest=True))
        yield Switch(
            _("tf32, cut"), _("tf32 inputs of tl.dot, cut and not rounded"), arithmetic_variants.tf32(nearest=False)
        )
    sums = [op for op in plan.walk() if op.name in traits.FOLDS | {"tt.dot"} and of_floats(plan, op)]
    if sums:
        for name, table in arithmetic_variants.ORDERS.items():
            yield Switch(translated(_SUMS[name]), _("the order of summation"), table)
        yield Switch(_("sums in float64"), _("the rounding of sums"), arithmetic_variants.WIDE_SUMS)
    names = {op.name for op in plan.walk()}
    if not names & arithmetic_variants.NARROW_ONLY and any(
        type.is_float for one in plan.functions.values() for type in one.types
    ):
        yield Switch(_("all in float64"), _("rounding"), arithmetic_variants.THROUGHOUT)


def in_threads(launch: Launch) -> list[Switch]:
    """Switches for the orders in which a GPU's threads may reduce and scan.

    They follow from the layouts that Triton chooses for sm_90. There are none if the kernel does neither with floats,
    or if only its plan is known. Raises RuntimeError if Triton refuses the kernel for sm_90, or has changed the number
    of sums.
    """
    plan = launch.executable.plan
    shares = _shares(launch, "tt.reduce", provided("Launch.reduced_layouts"), "reduction")
    every = [op for op in plan.walk() if op.index in shares]
    sums = any(len(op.operands) == 1 and of_floats(plan, op) for op in every)
    scanned = _shares(launch, "tt.scan", provided("Launch.scanned_layouts"), "scan")
    found = {index: Turns.of(one) for index, one in scanned.items()}
    turns = {index: one for index, one in found.items() if one is not None}
    done = [(_("sum"), _("sums")) if sums else (_("reduce"), _("reductions"))] * bool(shares)
    done += [(_("scan"), _("scans"))] * bool(turns)
    if not done:
        return []
    cause = _("the order in which the threads of a GPU {names}").format(
        names=_(" and ").join(one for one, _unused in done)
    )
    orders = [(False, _("{names} as threads of a GPU do").format(names=_(" and ").join(one for _unused, one in done)))]
    if any(len(one.registers) > 1 for one in shares.values()):  # two registers have only one order
        orders.append((True, _("{order}, in pairs").format(order=orders[0][1])))
    scans = scans_in_order_of(turns)
    tried = [Switch(name, cause, {**in_order_of(shares, pairs), **scans}) for pairs, name in orders]
    if any(len(op.operands) > 1 for op in every):  # argmax and the like, which are not symmetric beside a NaN
        table = {**in_order_of(shares, False, middle=True), **scans}
        name = _("{order}, seen by a thread in the middle").format(order=orders[0][1])
        tried.append(Switch(name, cause, table))
    if shares and (products := _summed_products(plan)):
        fused = _("{cause}, and that it fuses products with their sum").format(cause=cause)
        tables = [(name, {**fused_in_order_of(shares, pairs, products), **scans}) for pairs, name in orders]
        tried += [Switch(_("{order}, fused").format(order=name), fused, table) for name, table in tables]
    return tried


def _shares(launch: Launch, name: str, layouts_of: Callable[..., list[Linear | None]], noun: str) -> dict[int, Shares]:
    """The elements that each thread holds along the axis of each operation of that name, by index, if known."""
    plan, shares = launch.executable.plan, {}
    every = [op for op in plan.walk() if op.name == name]
    if launch.compiled[0] is None or not any(of_floats(plan, op) for op in every):
        return {}
    layouts = layouts_of(*launch.compiled)
    if len(layouts) != len(every):
        raise RuntimeError(
            _("of {count} Triton's compiler for sm_90 makes {number}").format(
                count=messages.count(len(every), noun), number=len(layouts)
            )
        )
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


PLAIN_DIVISION, FUSED_DIVISION = "division of the GPU", "fused division of the GPU"


def together(known: Sequence[Switch], threads: Sequence[Switch] = ()) -> Iterator[list[Switch]]:
    """All that a GPU does differently at once, also with each of the orders; at least two changes.

    Where quotients may be fused with a sum, once with each of the two divisions.
    """
    both = {PLAIN_DIVISION, FUSED_DIVISION} <= {one.name for one in known}
    for left_out in (FUSED_DIVISION, PLAIN_DIVISION) if both else ("",):
        for order in [[], *([one] for one in threads)]:
            every = [*(one for one in known if one.name != left_out), *order]
            if len(every) > 1:
                yield every


def combined(parts: Sequence[Switch]) -> Switch:
    """One switch with all changes."""
    return functools.reduce(Switch.with_, parts)


def exact(known: Sequence[Switch], threads: Sequence[Switch]) -> Iterator[Switch]:
    """All that a GPU does differently and is known to the bit, at once, with each of the orders; first no change."""
    yield Switch("", "", {})
    for order in [[], *([one] for one in threads)]:
        if known or order:
            yield combined([*known, *order])


def of_floats(plan: Plan, op: Op) -> bool:
    return any(type.is_float for type in types_of(plan, op, lambda one: one.results))


_PRECISIONS = ("tf32", "tf32x3", "ieee", "bf16x3", "bf16x6")  # by Triton's numbers


def precision_of(plan: Plan, op: Op) -> str:
    """The precision of a float32 dot's inputs; "" for other types."""
    first = types_of(plan, op, lambda one: one.operands)[0]
    number = int(op.attributes.get("inputPrecision", 0))
    return _PRECISIONS[number] if first.element == "f32" and number < len(_PRECISIONS) else ""


def precisions(plan: Plan) -> set[str]:
    """The precisions of the inputs of a kernel's float32 dots, by Triton's names."""
    return {precision_of(plan, op) for op in plan.walk() if op.name == "tt.dot"} - {""}


def in_tf32(plan: Plan, op: Op) -> bool:
    return op.name == "tt.dot" and precision_of(plan, op) == "tf32"


def types_of(plan: Plan, op: Op, which: Callable[[Op], tuple[int, ...]]) -> list[Type]:
    """The types of the values of ``op`` that ``which`` selects."""
    function = next(one for one in plan.functions.values() if any(op is inner for inner in one.walk()))
    return [function.types[number] for number in which(op)]
