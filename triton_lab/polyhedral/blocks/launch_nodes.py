"""The programs of a launch plan, as isl writes them: the host's loops around launches, and each kernel's own loops."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING

import islpy as isl

from triton_lab.polyhedral.blocks.fresh_names import FreshNames
from triton_lab.polyhedral.blocks.launch_plan import KernelPlan, LaunchPlan, host_name, is_within_tile, iteration_map
from triton_lab.polyhedral.blocks.triton_kernel import NotABlockProgram
from triton_lab.polyhedral.blocks.visited_points import visited
from triton_lab.polyhedral.core.affine_expr import AffineExpr, isl_name
from triton_lab.polyhedral.core.isl_codegen import expression_of, loops
from triton_lab.polyhedral.core.isl_effort import effort
from triton_lab.polyhedral.core.loop_nest import Expr, For, Name, Node, substitute
from triton_lab.polyhedral.core.loop_tree import Loop, path, time_text
from triton_lab.polyhedral.core.nest_maps import map_expressions

if TYPE_CHECKING:
    from triton_lab.polyhedral.instances import Instances

LANE = "lane"
"""The mark of loops whose iterations run at once; the depth follows: "lane0"."""


@dataclass(frozen=True)
class Lane:
    """One loop whose iterations run at once: ``low`` to ``high`` by parameters and host iterations, ends included.

    ``whole``: the loop runs within a tile, so that one block holds all of it, ``extent`` iterations.
    """

    name: str
    low: Expr
    high: Expr
    whole: bool
    extent: int


@dataclass(frozen=True)
class KernelNodes:
    """The program of one kernel; ``host`` are its arguments that count the host's iterations."""

    plan: KernelPlan
    host: tuple[str, ...]
    lanes: tuple[Lane, ...]
    nodes: tuple[Node, ...]


def host_nodes(scop: Instances, plan: LaunchPlan, names: FreshNames) -> tuple[Node, ...]:
    """The loops of the host, with a visit for each kernel: ``kernel_0(t)``."""
    launched = {kernel.name: _launches(scop, kernel) for kernel in plan.kernels}
    depth = max(len(path(plan.tree, kernel.name)) for kernel in plan.kernels)
    total = isl.UnionMap("{ }")
    for kernel in plan.kernels:
        hosts = tuple(host_name(k) for k in range(len(kernel.host)))
        times = isl.Map(time_text(plan.tree, kernel.name, hosts, scop.parameters))
        total = total.union(isl.UnionMap.from_map(times.intersect_domain(launched[kernel.name])))
    paths = {kernel.name: path(plan.tree, kernel.name) for kernel in plan.kernels}

    def describe(at: int, inside: frozenset[str], _: frozenset[str]) -> tuple[str, str]:
        if at >= depth:  # where launches tie
            return names(f"t{at}"), ""
        step = next(paths[name][at] for name in sorted(inside) if at < len(paths[name]))
        return names(step.loop.name if step.loop else f"t{at}"), ""

    nodes = loops(total, depth, describe)
    found = visited(nodes, scop.parameters)
    for kernel in plan.kernels:
        with effort("whether the host launches what it should"):
            if not found[kernel.name].is_equal(launched[kernel.name]):
                raise NotABlockProgram(f"the host's loops around {kernel.name} are none that can be written")
    return nodes


def _launches(scop: Instances, kernel: KernelPlan) -> isl.Set:
    """The iterations of the host's loops in which ``kernel`` has something to do."""
    parts = [
        iteration_map(scop.parameters, name, scop[name].iterators, kernel.host, kernel.name)
        .intersect_domain(scop[name].domain.set)
        .range()
        for name in kernel.statements
    ]
    return reduce(isl.Set.union, parts).coalesce()


def kernel_nodes(scop: Instances, plan: KernelPlan, names: FreshNames) -> KernelNodes:
    """The loops of ``plan``, lanes outermost, as isl writes them. Raises `NotABlockProgram` if isl's program, read
    back, does not visit exactly the instances that it should."""
    # In sets the host's iterations must not be taken for iterators of statements, which may have their names.
    host = tuple(host_name(k) for k in range(len(plan.host)))
    called: dict[str, Expr] = {name: Name(names(loop.name)) for name, loop in zip(host, plan.host, strict=True)}
    count = len(plan.lanes)
    paths = {name: path(plan.tree, name) for name in plan.statements}
    depth = count + max(map(len, paths.values()))
    total, union = isl.UnionMap("{ }"), None
    for name in plan.statements:
        own = _times(scop, plan, name, host, depth)
        total = total.union(isl.UnionMap.from_map(own))
        union = own.range() if union is None else union.union(own.range())
    assert union is not None
    lanes = tuple(_lane(union, k, names(loop.name), loop) for k, loop in enumerate(plan.lanes))

    def describe(at: int, inside: frozenset[str], _: frozenset[str]) -> tuple[str, str]:
        if at < count:
            return lanes[at].name, f"{LANE}{at}"
        if at >= depth:  # where instances tie
            tied = (scop[name].iterators for name in sorted(inside))
            return names(next((own[at - depth] for own in tied if at - depth < len(own)), f"t{at}")), ""
        step = next(paths[name][at - count] for name in sorted(inside) if at - count < len(paths[name]))
        return names(step.loop.name if step.loop else f"t{at}"), ""

    dimensions = ", ".join(f"t{k}" for k in range(depth))
    options = "; ".join(f"[{dimensions}] -> atomic[{k}]" for k in range(count))
    known = union.params()  # it is launched nowhere else
    nodes = loops(total, depth, describe, known, isl.UnionMap(f"{{ {options} }}") if options else None)
    domains = _domains(scop, plan, host)
    found = visited(nodes, (*scop.parameters, *host))
    for name, domain in domains.items():
        with effort(f"whether {plan.name} runs all of {name}"):
            if not found.get(name, domain.subtract(domain)).intersect_params(known).is_equal(domain):
                raise NotABlockProgram(f"the loops around {name} are none that can be written")
    arguments = tuple(e.id for e in called.values() if isinstance(e, Name))
    lanes = tuple(replace(lane, low=substitute(lane.low, called), high=substitute(lane.high, called)) for lane in lanes)
    return KernelNodes(plan, arguments, lanes, map_expressions(nodes, lambda e: substitute(e, called)))


def _given(plan: KernelPlan, statement: str, host: tuple[str, ...]) -> dict[str, AffineExpr]:
    return {isl_name(name): loop.expressions[statement] for name, loop in zip(host, plan.host, strict=True)}


def _domains(scop: Instances, plan: KernelPlan, host: tuple[str, ...]) -> dict[str, isl.Set]:
    """What one launch should run of each statement."""
    return {
        name: iteration_map(scop.parameters, name, scop[name].iterators, (), "", _given(plan, name, host))
        .intersect_domain(scop[name].domain.set)
        .domain()
        for name in plan.statements
    }


def _times(scop: Instances, plan: KernelPlan, statement: str, host: tuple[str, ...], depth: int) -> isl.Map:
    """When each instance runs within one launch: lanes first, then what is left of the schedule."""
    rest = [step.expression for step in path(plan.tree, statement)]
    times = [*(loop.expressions[statement] for loop in plan.lanes), *rest]
    times += [AffineExpr()] * (depth - len(times))
    steps = tuple(Loop(str(k), {statement: time}, plan.tree) for k, time in enumerate(times))
    given = _given(plan, statement, host)
    made = iteration_map(scop.parameters, statement, scop[statement].iterators, steps, "", given)
    return made.intersect_domain(scop[statement].domain.set)


def _lane(times: isl.Set, at: int, name: str, loop: Loop) -> Lane:
    with effort(f"the range of {loop.name}"):
        if not times.dim_has_lower_bound(isl.dim_type.set, at) or not times.dim_has_upper_bound(isl.dim_type.set, at):
            raise NotABlockProgram(f"the loop {loop.name} has no end")
        low, high = times.dim_min(at), times.dim_max(at)
    context = times.params()
    extent = 0
    if is_within_tile(loop):
        least, most = low.min_val(), high.max_val()
        extent = (most.sub(least).to_python() + 1) if most.is_int() and least.is_int() else 0
    found = expression_of(low, context), expression_of(high, context)
    return Lane(name, *found, extent > 0, int(extent))


def depth_of(node: For) -> int | None:
    """Which lane the loop ``node`` is; None for a loop inside."""
    return int(node.mark.removeprefix(LANE)) if node.mark.startswith(LANE) else None
