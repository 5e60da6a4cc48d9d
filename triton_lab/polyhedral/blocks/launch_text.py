"""Writes a launch plan as text: Triton kernels, and `run`, the Python that launches them in order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from triton_lab.localization import _
from triton_lab.polyhedral.blocks.fresh_names import FreshNames
from triton_lab.polyhedral.blocks.generated_text import GeneratedText, signature, wrapped
from triton_lab.polyhedral.blocks.lane_blocks import LaneBlock, blocks_of, is_one_nest
from triton_lab.polyhedral.blocks.lane_values import HELPERS
from triton_lab.polyhedral.blocks.lane_writer import KernelWriter
from triton_lab.polyhedral.blocks.launch_nodes import KernelNodes, host_nodes, kernel_nodes
from triton_lab.polyhedral.blocks.launch_plan import KernelPlan, LaunchPlan, iteration_map
from triton_lab.polyhedral.blocks.triton_kernel import KernelLaunch, NotABlockProgram
from triton_lab.polyhedral.core.isl_effort import effort
from triton_lab.polyhedral.core.loop_nest import Expr, Node, Number, Visit, substitute
from triton_lab.polyhedral.core.nest_printer import PythonPrinter, shifted

if TYPE_CHECKING:
    from triton_lab.polyhedral.instances import Instances
    from triton_lab.polyhedral.schedule import Schedule


def write(schedule: Schedule, plan: LaunchPlan) -> GeneratedText:
    """The text of ``plan``. Raises `NotABlockProgram` for what Triton cannot express."""
    scop = schedule.scop
    names = FreshNames()
    arguments = {a.name: names(a.name) for a in scop.arrays}
    renamed = {p for p in scop.parameters if names(p) != p}
    if renamed:
        raise NotABlockProgram(
            _("a parameter called {renamed}: that name means something in Python").format(
                renamed=", ".join(sorted(renamed))
            )
        )
    strides = {(a.name, k): names(f"stride_{a.name}_{k}") for a in scop.arrays for k in range(a.ndim)}
    for kernel in plan.kernels:
        names(kernel.name)
    constants: dict[str, int] = {}
    texts: list[str] = []
    calls: dict[str, _Call] = {}
    for kernel in plan.kernels:
        own = names.copy()
        found = kernel_nodes(scop, kernel, own)
        blocks = blocks_of(found, names, constants)
        texts.append(_kernel(scop, found, blocks, own, arguments, strides))
        calls[kernel.name] = _call(scop, found, blocks, arguments)
    launches = tuple(KernelLaunch(name, call.found.host, call.grid({})) for name, call in calls.items())
    driver = _driver(scop, plan, names, calls, constants, arguments)
    body = "\n\n".join([*texts, driver])
    helpers = [text for name, text in HELPERS.items() if f"{name}(" in body]
    return GeneratedText("\n\n".join([*helpers, body]), launches, constants)


def _used(scop: Instances, plan: KernelPlan) -> tuple[str, ...]:
    """The arrays that a kernel uses."""
    return tuple(dict.fromkeys(a.array for name in plan.statements for a in scop[name].accesses))


def _kernel(
    scop: Instances,
    found: KernelNodes,
    blocks: tuple[LaneBlock, ...],
    names: FreshNames,
    arguments: dict[str, str],
    strides: dict[tuple[str, int], str],
) -> str:
    plan = found.plan
    for block in blocks:
        names(block.constant)
    used = _used(scop, plan)
    shared = () if is_one_nest(found) else plan.lanes
    body = KernelWriter(scop, blocks, arguments, strides, names, _waits(scop, plan), shared).write(found.nodes)
    numbers = [*scop.parameters, *found.host]
    taken = [arguments[a] for a in used] + numbers
    taken += [strides[a.name, k] for a in scop.arrays if a.name in used for k in range(a.ndim)]
    taken += [f"{b.constant}: tl.constexpr" for b in blocks if b.constant]
    return "\n".join([*signature(plan.name, taken, numbers), *(f"    {line}" for line in body)]) + "\n"


def _waits(scop: Instances, plan: KernelPlan) -> set[tuple[str, str]]:
    """The pairs of statements with a dependence within one launch."""
    found: set[tuple[str, str]] = set()
    for dependence in scop.dependences:
        pair = dependence.source, dependence.target
        if not set(pair) <= set(plan.statements) or pair in found:
            continue
        one, other = (iteration_map(scop.parameters, n, scop[n].iterators, plan.host) for n in pair)
        with effort(
            _("the memory that {first} and {second} share in one launch").format(first=pair[0], second=pair[1])
        ):
            if not dependence.relation.intersect(one.apply_range(other.reverse())).is_empty():
                found.add(pair)
    return found


@dataclass(frozen=True)
class _Call:
    """The driver's launch of a kernel."""

    found: KernelNodes
    blocks: tuple[LaneBlock, ...]
    arrays: tuple[str, ...]
    more: tuple[str, ...]

    def grid(self, at: Mapping[str, Expr]) -> tuple[str, ...]:
        """The sizes of the grid, with expressions ``at`` for the kernel's host iterations."""
        printer, sizes = PythonPrinter(), []
        for block in self.blocks:
            if block.grid is None:
                continue
            low, high = substitute(block.lane.low, at), shifted(substitute(block.lane.high, at), 1)
            less = "" if low == Number(0) else f" - {printer.text(low, 6)}"
            count = f"{printer.text(high, 5)}{less}"
            sizes.append(f"triton.cdiv({count}, {block.constant})" if block.constant else count)
        return tuple(sizes or ["1"])


def _call(scop: Instances, found: KernelNodes, blocks: tuple[LaneBlock, ...], arguments: dict[str, str]) -> _Call:
    used = _used(scop, found.plan)
    strides = [f"{arguments[a.name]}.stride({k})" for a in scop.arrays if a.name in used for k in range(a.ndim)]
    constants = [f"{b.constant}={b.constant}" for b in blocks if b.constant]
    return _Call(found, blocks, (*(arguments[a] for a in used), *scop.parameters), (*strides, *constants))


class _HostPrinter(PythonPrinter):
    """Prints the host's loops; visits are launches."""

    def __init__(self, calls: dict[str, _Call]) -> None:
        self.calls = calls

    def lines(self, node: Node, indent: int) -> list[str]:
        if not isinstance(node, Visit):
            return super().lines(node, indent)
        call = self.calls[node.statement]
        space = "    " * indent
        grid = call.grid(dict(zip(call.found.host, node.arguments, strict=True)))
        taken = [*call.arrays, *(self.text(a) for a in node.arguments), *call.more]
        head = f"{space}{node.statement}[({', '.join(grid)},)]("
        if len(head) + sum(len(a) + 2 for a in taken) < 110:
            return [f"{head}{', '.join(taken)})"]
        return [head, *(f"{space}{line}" for line in wrapped(taken)), f"{space})"]


def _driver(
    scop: Instances,
    plan: LaunchPlan,
    names: FreshNames,
    calls: dict[str, _Call],
    constants: dict[str, int],
    arguments: dict[str, str],
) -> str:
    nodes = host_nodes(scop, plan, names)
    taken = [*(arguments[a.name] for a in scop.arrays), *scop.parameters]
    taken += [f"{name}={size}" for name, size in constants.items()]
    lines = _HostPrinter(calls).statement_lines(nodes, 1)
    return "\n".join([*signature("run", taken), *lines]) + "\n"
