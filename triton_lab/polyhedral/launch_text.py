"""A launch plan as text: Triton kernels, and `run`, the Python that launches them in order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .block_shape import NotABlockProgram
from .effort import effort
from .fresh_names import FreshNames
from .lane_blocks import Block, blocks_of
from .lane_values import HELPERS
from .lane_writer import KernelWriter
from .launch_nodes import KernelNodes, host_nodes, kernel_nodes
from .launch_plan import KernelPlan, LaunchPlan, iteration_map
from .nest import Node, Number, Visit
from .printer import PythonPrinter, shifted
from .triton_kernel import Launch
from .written import Written, signature, wrapped

if TYPE_CHECKING:
    from .schedule import Schedule
    from .scop import Scop


def write(schedule: Schedule, plan: LaunchPlan) -> Written:
    """Raises `NotABlockProgram` for what has no words in Triton."""
    scop = schedule.scop
    names = FreshNames()
    arguments = {a.name: names(a.name) for a in scop.arrays}
    renamed = {p for p in scop.parameters if names(p) != p}
    if renamed:
        raise NotABlockProgram(f"a parameter called {', '.join(sorted(renamed))}: that name means something in Python")
    strides = {(a.name, k): names(f"stride_{a.name}_{k}") for a in scop.arrays for k in range(a.dimensions)}
    for kernel in plan.kernels:
        names(kernel.name)
    constants: dict[str, int] = {}
    texts: list[str] = []
    launches: dict[str, Launch] = {}
    heads = (arguments, strides)
    for kernel in plan.kernels:
        own = names.copy()
        found = kernel_nodes(scop, kernel, own)
        blocks = blocks_of(found, names, constants)
        text, used = _kernel(schedule, kernel, found, blocks, own, *heads)
        texts.append(text)
        launches[kernel.name] = _launch(scop, found, blocks, used, arguments)
    driver = _driver(scop, plan, names, launches, constants, arguments)
    body = "\n\n".join([*texts, driver])
    helpers = [text for name, text in HELPERS.items() if f"{name}(" in body]
    return Written("\n\n".join([*helpers, body]), tuple(launches.values()), constants)


def _kernel(
    schedule: Schedule,
    plan: KernelPlan,
    found: KernelNodes,
    blocks: tuple[Block, ...],
    names: FreshNames,
    arguments: dict[str, str],
    strides: dict[tuple[str, int], str],
) -> tuple[str, tuple[str, ...]]:
    """The kernel's text, and which arrays it takes."""
    scop = schedule.scop
    for block in blocks:
        names(block.constant)
    used = tuple(dict.fromkeys(a.array for name in plan.statements for a in scop[name].accesses))
    body = KernelWriter(scop, blocks, arguments, strides, names, _waits(scop, plan)).write(found.nodes)
    numbers = [*scop.parameters, *found.host]
    taken = [arguments[a] for a in used] + numbers
    taken += [strides[a.name, k] for a in scop.arrays if a.name in used for k in range(a.dimensions)]
    taken += [f"{b.constant}: tl.constexpr" for b in blocks if b.constant]
    head = signature(plan.name, taken, numbers)
    return "\n".join([*head, *(f"    {line}" for line in body)]) + "\n", used


def _waits(scop: Scop, plan: KernelPlan) -> set[tuple[str, str]]:
    """The pairs of statements between which a dependence lies within one launch."""
    found: set[tuple[str, str]] = set()
    for dependence in scop.dependences:
        pair = dependence.source, dependence.target
        if not set(pair) <= set(plan.statements) or pair in found:
            continue
        one, other = (iteration_map(scop.parameters, n, scop[n].iterators, plan.host) for n in pair)
        with effort(f"what {pair[0]} and {pair[1]} share in one launch"):
            if not dependence.relation.intersect(one.apply_range(other.reverse())).is_empty():
                found.add(pair)
    return found


def _launch(
    scop: Scop, found: KernelNodes, blocks: tuple[Block, ...], used: tuple[str, ...], arguments: dict[str, str]
) -> Launch:
    printer = _HostPrinter({})
    grid = []
    for block in blocks:
        if block.grid is None:
            continue
        low, high = block.lane.low, shifted(block.lane.high, 1)
        less = "" if low == Number(0) else f" - {printer.text(low, 6)}"
        count = f"{printer.text(high, 5)}{less}"
        grid.append(f"triton.cdiv({count}, {block.constant})" if block.constant else count)
    strides = [f"{arguments[a.name]}.stride({k})" for a in scop.arrays if a.name in used for k in range(a.dimensions)]
    taken = [*(arguments[a] for a in used), *scop.parameters, "{}", *strides]
    taken += [f"{b.constant}={b.constant}" for b in blocks if b.constant]
    return Launch(found.plan.name, found.host, tuple(grid or ["1"]), tuple(taken))


class _HostPrinter(PythonPrinter):
    """The host's loops; visits are launches."""

    def __init__(self, launches: dict[str, Launch]) -> None:
        self.launches = launches

    def lines(self, node: Node, indent: int) -> list[str]:
        if not isinstance(node, Visit):
            return super().lines(node, indent)
        launch = self.launches[node.statement]
        space = "    " * indent
        numbers = [self.text(a) for a in node.arguments]
        # The grid's text speaks of the kernel's names for the host's iterations.
        named = [f"{space}{n} = {value}" for n, value in zip(launch.host, numbers, strict=True) if n != value]
        taken = [part for a in launch.arguments for part in (launch.host if a == "{}" else (a,))]
        head = f"{space}{launch.name}[({', '.join(launch.grid)},)]("
        if len(head) + sum(len(a) + 2 for a in taken) < 110:
            return [*named, f"{head}{', '.join(taken)})"]
        return [*named, head, *(f"{space}{line}" for line in wrapped(taken)), f"{space})"]


def _driver(
    scop: Scop,
    plan: LaunchPlan,
    names: FreshNames,
    launches: dict[str, Launch],
    constants: dict[str, int],
    arguments: dict[str, str],
) -> str:
    nodes = host_nodes(scop, plan, names)
    taken = [*(arguments[a.name] for a in scop.arrays), *scop.parameters]
    taken += [f"{name}={size}" for name, size in constants.items()]
    lines = _HostPrinter(launches).statement_lines(nodes, 1)
    return "\n".join([*signature("run", taken), *lines]) + "\n"
