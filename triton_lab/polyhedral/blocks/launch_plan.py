"""Which loops of a schedule run on the host, which become a kernel's grid and lanes, and which stay inside it.

A kernel may run a loop in parallel if no dependence connects two of its iterations within one iteration of the host's
loops. Such loops move outside all others of their kernel, so that every program (and every lane) runs the rest in the
schedule's order. A loop that carries a dependence runs on the host, which launches kernels one after the other; but
if nothing inside it is parallel either, one program runs it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import islpy as isl

from triton_lab.localization import _
from triton_lab.polyhedral.blocks.triton_kernel import NotABlockProgram
from triton_lab.polyhedral.core.affine_expr import AffineExpr, isl_name
from triton_lab.polyhedral.core.isl_effort import effort
from triton_lab.polyhedral.core.loop_tree import (
    Leaf,
    Loop,
    Sequence,
    Tree,
    every_loop,
    replace_loop,
    sequence,
    statements,
)

if TYPE_CHECKING:
    from triton_lab.polyhedral.schedule import Schedule

# A grid has three axes.
_MOST_GRID = 3


@dataclass(frozen=True)
class KernelPlan:
    """One kernel: the ``host``'s loops around it, its parallel ``lanes``, and ``tree``, the rest."""

    name: str
    host: tuple[Loop, ...]
    lanes: tuple[Loop, ...]
    tree: Tree

    @property
    def statements(self) -> tuple[str, ...]:
        return statements(self.tree)


@dataclass(frozen=True)
class LaunchPlan:
    """The host's program ``tree``, whose statements are the ``kernels``."""

    tree: Tree
    kernels: tuple[KernelPlan, ...] = field(default=())


def launch_plan(schedule: Schedule) -> LaunchPlan:
    """The plan for ``schedule``. Raises `NotABlockProgram` where nothing can run in parallel."""
    if not schedule.is_legal:
        raise NotABlockProgram(_("the schedule is {legality}").format(legality=schedule.legality))
    planner = _Planner(schedule)
    tree = planner.host(schedule.tree, ())
    runs = {s.name for s in schedule.scop.statements if not s.domain.set.is_empty()}
    planner.kernels = [kernel for kernel in planner.kernels if runs & set(kernel.statements)]
    if not planner.kernels:
        raise NotABlockProgram(_("no statement ever runs"))
    if len(planner.kernels) == 1:
        planner.kernels = [replace(planner.kernels[0], name="kernel")]
        tree = _renamed(tree)
    if not any(kernel.lanes for kernel in planner.kernels):
        raise NotABlockProgram(
            _(
                "every loop carries a dependence, but the programs of a grid and the lanes of a block do "
                "not wait for each other"
            )
        )
    return LaunchPlan(tree, tuple(planner.kernels))


def is_within_tile(loop: Loop) -> bool:
    """Whether ``loop`` runs within a tile (``i mod 4``), as `Schedule.split` makes it."""
    return any(
        expression.coefficients[q] != 1 for expression in loop.expressions.values() for q in expression.quotients
    )


def _renamed(tree: Tree) -> Tree:
    """The host's tree around one kernel, whose name needs no number."""
    match tree:
        case Loop():
            (expression,) = set(tree.expressions.values())
            return replace(tree, expressions={"kernel": expression}, body=_renamed(tree.body))
    return Leaf(("kernel",))


class _Planner:
    def __init__(self, schedule: Schedule) -> None:
        self.schedule = schedule
        self.kernels: list[KernelPlan] = []

    def host(self, tree: Tree, around: tuple[Loop, ...]) -> Tree:
        """``tree`` as the host's program, inside the loops ``around``."""
        match tree:
            case Sequence():
                return sequence(tuple(self.host(child, around) for child in tree.children))
            case Loop():
                lanes = self._lanes(tree, around)
                if not lanes and any(self._lanes(loop, self._outside(tree, loop, around)) for loop in every_loop(tree)):
                    body = self.host(tree.body, (*around, tree))
                    return Loop(tree.name, dict.fromkeys(statements(body), AffineExpr.of(host_name(len(around)))), body)
                return self._kernel(tree, around, lanes)
        return self._kernel(tree, around, ())

    def _outside(self, tree: Loop, loop: Loop, around: tuple[Loop, ...]) -> tuple[Loop, ...]:
        """The loops around ``loop`` inside ``tree``."""
        between = (
            other for other in every_loop(tree) if other is not loop and any(o is loop for o in every_loop(other))
        )
        return (*around, *between)

    def _kernel(self, tree: Tree, around: tuple[Loop, ...], lanes: tuple[Loop, ...]) -> Tree:
        for loop in lanes:
            tree = replace_loop(tree, loop, loop.body)
        name = f"kernel_{len(self.kernels)}"
        self.kernels.append(KernelPlan(name, around, lanes, tree))
        return Leaf((name,))

    def _lanes(self, tree: Loop, around: tuple[Loop, ...]) -> tuple[Loop, ...]:
        """The directly nested parallel loops from ``tree`` on, as many as fit."""
        chosen: list[Loop] = []
        node: Tree = tree
        while isinstance(node, Loop):
            in_grid = sum(not is_within_tile(loop) for loop in chosen)
            fits = is_within_tile(node) or in_grid < _MOST_GRID
            if fits and self._independent(statements(tree), around, (*chosen, node)):
                chosen.append(node)
            node = node.body
        # Tiles that do not run in parallel have nothing to distribute among lanes.
        return tuple(chosen)

    def _independent(self, names: tuple[str, ...], around: tuple[Loop, ...], lanes: tuple[Loop, ...]) -> bool:
        """Whether instances that agree in ``around`` but differ in ``lanes`` never depend on each other."""
        for dependence in self.schedule.scop.dependences:
            if dependence.source not in names or dependence.target not in names:
                continue
            pair = dependence.source, dependence.target
            with effort(_("whether {names} can run at once").format(names=", ".join(loop.name for loop in lanes))):
                together = dependence.relation.intersect(self._equal(pair, around))
                if not together.is_subset(self._equal(pair, lanes)):
                    return False
        return True

    def _equal(self, pair: tuple[str, str], loops: tuple[Loop, ...]) -> isl.Map:
        """The pairs of instances that share an iteration of each of ``loops``."""
        one, other = (self._iterations(name, loops) for name in pair)
        return one.apply_range(other.reverse())

    def _iterations(self, statement: str, loops: tuple[Loop, ...]) -> isl.Map:
        scop = self.schedule.scop
        return iteration_map(scop.parameters, statement, scop[statement].iterators, loops)


def host_name(number: int) -> str:
    """The name, in sets, of the iteration of a kernel's host loop ``number``."""
    return f"host{number}__"


def iteration_map(
    parameters: tuple[str, ...],
    statement: str,
    iterators: tuple[str, ...],
    loops: tuple[Loop, ...],
    target: str = "",
    given: Mapping[str, AffineExpr] | None = None,
) -> isl.Map:
    """The map from instances of ``statement`` to their iterations of ``loops``.

    It holds under ``given``: names of further parameters and the expressions that they equal.
    """
    equal = given or {}
    head = f"[{', '.join([*map(isl_name, parameters), *equal])}] -> "
    source = f"{statement}[{', '.join(map(isl_name, iterators))}]"
    times = ", ".join(loop.expressions[statement].isl for loop in loops)
    condition = " and ".join(f"{name} = {value.isl}" for name, value in equal.items()) or "0 = 0"
    return isl.Map(f"{head}{{ {source} -> {target}[{times}] : {condition} }}")
