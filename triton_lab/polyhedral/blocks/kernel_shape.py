"""Which parts of a schedule become a Triton kernel's grid, loops and blocks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from triton_lab.localization import _
from triton_lab.polyhedral.blocks.triton_kernel import NotABlockProgram
from triton_lab.polyhedral.core.affine_expr import AffineExpr, Quotient
from triton_lab.polyhedral.core.loop_tree import Leaf, Loop, Tree, path
from triton_lab.polyhedral.instances import Instances
from triton_lab.polyhedral.legality import legality

if TYPE_CHECKING:
    from triton_lab.polyhedral.schedule import Schedule


@dataclass(frozen=True)
class BlockAxis:
    """One iterator of the kernel, in blocks of ``block`` values: the tiles of a loop over tiles."""

    iterator: str
    block: int
    in_grid: bool

    @property
    def size(self) -> str:
        """The name of the kernel's constant for ``block``."""
        return f"BLOCK_{self.iterator.upper()}"


def axes(schedule: Schedule, statement: str) -> tuple[BlockAxis, ...]:
    """The axes of ``statement`` in the order of the schedule's loops over tiles. Raises `NotABlockProgram`."""
    if not schedule.is_legal:
        _refuse(_("the schedule is {legality}").format(legality=schedule.legality))
    tiles: dict[str, int] = {}
    outer: list[tuple[str, Loop]] = []
    inner: list[str] = []
    for step in path(schedule.tree, statement):
        if step.loop is None:
            continue
        iterator, block, within = _role(step.expression, step.loop.name)
        if within:
            tiles[iterator] = block
            inner.append(iterator)
            continue
        if inner:
            _refuse(
                _("{name} counts tiles but runs inside one: reorder the loops over tiles outside").format(
                    name=step.loop.name
                )
            )
        outer.append((iterator, step.loop))
        tiles.setdefault(iterator, block)
    found = []
    for iterator, loop in outer:
        block = tiles[iterator] if iterator in inner else 1
        if block & (block - 1):
            _refuse(
                _("a block of {block} along {iterator}: Triton's blocks are powers of two").format(
                    block=block, iterator=iterator
                )
            )
        found.append((iterator, block, loop))
    grid = _parallel_loops(schedule, statement, [each[-1] for each in found])
    return tuple(BlockAxis(iterator, block, loop.name in grid) for iterator, block, loop in found)


def _role(expression: AffineExpr, loop: str) -> tuple[str, int, bool]:
    """(iterator, tile, whether the loop runs within a tile) of ``i``, ``floor(i / T)`` or ``i mod T``."""
    match expression:
        case AffineExpr(terms=((str() as name, 1),), constant=0):
            return name, 1, False
        case AffineExpr(
            terms=((Quotient(numerator=AffineExpr(terms=((str() as name, 1),), constant=0), divisor=tile), 1),),
            constant=0,
        ):
            return name, tile, False
    for quotient in expression.quotients:
        if len(quotient.numerator.names) == 1:
            (name,) = quotient.numerator.names
            if expression == AffineExpr.of(name) % quotient.divisor:
                return name, quotient.divisor, True
    _refuse(
        _("the loop {loop} runs over {expression}; blocks come only from split, tile, reorder and interchange").format(
            loop=loop, expression=expression
        )
    )


def _parallel_loops(schedule: Schedule, statement: str, loops: list[Loop]) -> frozenset[str]:
    """Up to three loops that can run in parallel outside all others."""
    chosen: list[Loop] = []
    for loop in loops:
        if len(chosen) < 3 and _may_be_outermost(schedule, statement, [*chosen, loop]):
            chosen.append(loop)
    return frozenset(loop.name for loop in chosen)


def _may_be_outermost(schedule: Schedule, statement: str, loops: list[Loop]) -> bool:
    """Whether instances of ``statement`` in different iterations of ``loops`` never depend on each other."""
    scop = schedule.scop
    tree: Tree = Leaf((statement,))
    for loop in reversed(loops):
        tree = Loop(loop.name, {statement: loop.expressions[statement]}, tree, "parallel")
    alone = Instances((scop[statement],), scop.parameters, scop.arrays, _own_tree(scop.tree, statement), scop.source)
    return all(v.kind == "tied" for v in legality(alone, alone.dependences, tree).violations)


def _own_tree(tree: Tree, statement: str) -> Tree:
    result: Tree = Leaf((statement,))
    for step in reversed(path(tree, statement)):
        if step.loop is not None:
            result = Loop(step.loop.name, {statement: step.expression}, result)
    return result


def _refuse(reason: str) -> NoReturn:
    raise NotABlockProgram(reason)
