"""Changes of an order that a reader makes by hand: the order of its outer loops, skews, and the sizes of tiles."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from triton_lab.polyhedral.core.loop_tree import Loop, Tree, replace_loop
from triton_lab.polyhedral.schedule import Schedule

MOST_LOOPS = 4
MOST_FACTOR, MOST_SIZE = 8, 1 << 12

_TILE = re.compile(r"tile\((?P<sizes>\w+: \d+(?:, \w+: \d+)*)\)")


@dataclass(frozen=True)
class LoopMove:
    """One such change.

    ``order``: the loops, as numbers, from the outermost on; ``skews``: (loop, by, factor) for each, at most one of each
    loop, the first first; ``sizes``: of each loop's tiles in iterations, 0 where it is not tiled. Loops over tiles are
    outside all others.
    """

    order: tuple[int, ...]
    skews: tuple[tuple[int, int, int], ...]
    sizes: tuple[int, ...]

    @staticmethod
    def parse(text: str) -> LoopMove:
        """The change that the browser asks for: ``"1.0/1.0.2/0.4"``; commas stand between skews.

        Raises ValueError for anything else.
        """
        order, told, sizes = _parts(text)
        numbers = [int(one) for one in re.findall(r"-?\d+", told)]
        skews = tuple(zip(*[iter(numbers)] * 3, strict=True))
        if sorted(order) != list(range(len(sizes))) or not all(0 <= size <= MOST_SIZE for size in sizes):
            raise ValueError(text)
        if len({loop for loop, _by, _factor in skews}) < len(skews):
            raise ValueError(text)
        for loop, by, factor in skews:
            if loop == by or not {loop, by} <= set(order) or abs(factor) > MOST_FACTOR:
                raise ValueError(text)
        return LoopMove(order, skews, sizes)


def _parts(text: str) -> tuple[tuple[int, ...], str, tuple[int, ...]]:
    skew = r"\d+\.\d+\.-?\d+"
    found = re.fullmatch(rf"(\d+(?:\.\d+){{0,3}})/((?:{skew}(?:,{skew}){{0,3}})?)/(\d+(?:\.\d+){{0,3}})", text)
    if found is None or len(text) > 80:
        raise ValueError(text)
    order, sizes = (tuple(map(int, found[k].split("."))) for k in (1, 3))
    return order, found[2], sizes


@dataclass(frozen=True)
class MovableLoops:
    """The loops around all statements of ``base``, outermost first, and the change of ``base`` that is shown."""

    base: Schedule
    loops: tuple[Loop, ...]
    shown: LoopMove

    def moved(self, change: LoopMove) -> Schedule:
        """``base`` with this change. Raises ValueError for numbers of loops that it does not have."""
        names = [loop.name for loop in self.loops]
        if len(change.order) != len(names):
            raise ValueError(change)
        found = self.base
        for loop, by, factor in change.skews:
            found = found.skew(names[loop], names[by], factor) if factor else found
        order = [names[k] for k in change.order]
        if list(change.order) != sorted(change.order):
            found = found.reorder(*order)
        sizes = {names[k]: change.sizes[k] for k in change.order if change.sizes[k]}
        if not sizes:
            return found
        found = found.tile(sizes)
        if len(sizes) == len(names):
            return found
        return found.reorder(
            *(f"{name}o" for name in sizes), *(f"{name}i" if name in sizes else name for name in order)
        )


def movable(schedule: Schedule) -> MovableLoops | None:
    """The loops of ``schedule`` that a reader may move; None if no loop is around all statements.

    A schedule that ends in `Schedule.tile` is the schedule before it, with the sizes of these tiles.
    """
    base, sizes = _untiled(schedule)
    loops: list[Loop] = []
    node: Tree = base.tree
    while isinstance(node, Loop) and len(loops) < MOST_LOOPS:
        loops.append(node)
        node = node.body
    names = [loop.name for loop in loops]
    if not loops or len(set(names)) < len(names) or any(_tiles(loop) for loop in loops):
        return None
    shown = LoopMove(tuple(range(len(loops))), (), tuple(sizes.get(name, 0) for name in names))
    found = MovableLoops(base, tuple(loops), shown)
    return found if found.moved(shown).tree == schedule.tree else None


def _tiles(loop: Loop) -> bool:
    """Whether the loop counts tiles, or runs within one: its borders are not lines of the domain."""
    return any(expression.quotients for expression in loop.expressions.values())


def _untiled(schedule: Schedule) -> tuple[Schedule, Mapping[str, int]]:
    """The schedule before its last step, if that made tiles, and their sizes by loop."""
    step = _TILE.fullmatch(schedule.steps[-1]) if schedule.steps else None
    if step is None:
        return schedule, {}
    sizes = {name: int(size) for name, size in (part.split(": ") for part in step["sizes"].split(", "))}
    tree = schedule.tree
    for name, size in sizes.items():
        over, within = _called(tree, f"{name}o"), _called(tree, f"{name}i")
        if over is None or within is None:
            return schedule, {}
        whole = {s: within.expressions[s] + over.expressions[s] * size for s in within.expressions}
        tree = replace_loop(tree, within, Loop(name, whole, within.body))
        outer = _called(tree, f"{name}o")
        assert outer is not None
        tree = replace_loop(tree, outer, outer.body)
    return replace(schedule, tree=tree, steps=schedule.steps[:-1]), sizes


def _called(tree: Tree, name: str) -> Loop | None:
    """The loop of this name among those around all statements."""
    node = tree
    while isinstance(node, Loop):
        if node.name == name:
            return node
        node = node.body
    return None
