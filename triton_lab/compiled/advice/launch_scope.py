"""`LaunchScope`: what edits need to know of a launch: its kernel's text, blocks, and how the grid follows from them."""

from __future__ import annotations

import ast
import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any

from triton_lab.backend.source.access_source import called_name, first_line
from triton_lab.ir import traits
from triton_lab.launch.comparison.launch_results import tensors
from triton_lab.launch.replay.execution_counts import depths

if TYPE_CHECKING:
    from triton_lab.launch.launch import Launch


@dataclass(frozen=True)
class GridRule:
    """An axis of the grid: the product of ``cdiv(size, block)`` over its ``terms``, of a size and a block's name."""

    terms: tuple[tuple[int, str], ...]

    def extent(self, blocks: Mapping[str, int]) -> int:
        """The programs along the axis for other blocks."""
        return math.prod(-(-size // blocks[name]) for size, name in self.terms)


@dataclass(frozen=True, eq=False)
class LaunchScope:
    """The kernel of ``launch`` as ``text``, for one state of it; the constants and options are those of the launch."""

    launch: Launch
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @property
    def kernel(self) -> Any:
        """Triton's function of the kernel."""
        return self.launch.compiled[0].fn

    def line_of(self, node: ast.stmt | ast.expr) -> int:
        """The line of the kernel's file on which a node of the unedited text begins."""
        return node.lineno + first_line(self.kernel) - 1

    @cached_property
    def constants(self) -> Mapping[str, int]:
        """The integers among the constexprs."""
        given = {one.name: one.value for one in self.launch.arguments if one.kind == "constexpr"}
        return {name: value for name, value in given.items() if isinstance(value, int) and type(value) is not bool}

    @cached_property
    def options(self) -> Mapping[str, int]:
        """``num_warps`` and ``num_stages`` of the launch."""
        metadata = self.launch.compiled[1]
        return {name: int(getattr(metadata, name)) for name in ("num_warps", "num_stages")}

    @cached_property
    def blocks(self) -> tuple[str, ...]:
        """The constexprs that are sizes of blocks, powers of two, and that may change: a loop or the grid follows."""
        ranged = {
            name
            for node in ast.walk(self.tree)
            if isinstance(node, ast.Call) and called_name(node) == "arange"
            for name in _names(node.args[-1])
        }
        follow = {name for several in self.axis_blocks.values() for name in several} | self.stepped
        return tuple(
            name for name, value in self.constants.items()
            if name in ranged and name in follow and value > 0 and value & (value - 1) == 0
        )  # fmt: skip

    @cached_property
    def stepped(self) -> set[str]:
        """The constexprs in the bounds and steps of loops."""
        loops = [node for node in ast.walk(self.tree) if isinstance(node, ast.For)]
        used = {name for loop in loops for name in _names(loop.iter)}
        assigned = [node for node in ast.walk(self.tree) if isinstance(node, ast.Assign)]
        used |= {name for node in assigned if _targets(node) & used for name in _names(node.value)}
        return used & set(self.constants)

    @cached_property
    def axis_blocks(self) -> Mapping[int, tuple[str, ...]]:
        """For each axis of the grid the constexprs with which its program ids are multiplied."""
        found: dict[int, tuple[str, ...]] = {}
        for axis in range(3):
            if not any(is_program_id(node, axis) for node in ast.walk(self.tree)):
                continue
            multiplied = [
                other.id
                for node in ast.walk(self.tree)
                if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult)
                for one, other in ((node.left, node.right), (node.right, node.left))
                if isinstance(other, ast.Name) and other.id in self.constants and self.depends(one, axis)
            ]
            found[axis] = tuple(dict.fromkeys(multiplied))
        return found

    def depends(self, node: ast.AST, axis: int) -> bool:
        """Whether an expression depends on the program id of an axis."""
        return _depends(node, axis, self._dependent[axis])

    @cached_property
    def _dependent(self) -> tuple[set[str], set[str], set[str]]:
        """For each axis the variables that depend on its program id."""
        found: tuple[set[str], set[str], set[str]] = (set(), set(), set())
        for axis, names in enumerate(found):
            for node in ast.walk(self.tree):
                if isinstance(node, (ast.Assign, ast.AugAssign)) and _depends(node.value, axis, names):
                    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                    names |= {name for target in targets for name in _names(target)}
        return found

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """The sizes that a grid may follow from: integers passed, then extents and element counts of tensors."""
        scalars = [one.value for one in self.launch.arguments if one.kind == "scalar" and type(one.value) is int]
        shapes = [one.shape for one in tensors(self.launch)]
        extents = [extent for shape in shapes for extent in shape]
        found = (*scalars, *extents, *map(math.prod, shapes))
        return tuple(dict.fromkeys(size for size in found if size > 0))

    @cached_property
    def grid_rules(self) -> Mapping[int, GridRule | None]:
        """A rule for each axis whose programs have blocks; None where none gives the launch's grid."""
        found: dict[int, GridRule | None] = {}
        for axis, names in self.axis_blocks.items():
            if names and not self.strides_over_grid:
                found[axis] = next(self._rules(self.launch.grid[axis], names), None)
        return found

    def _rules(self, extent: int, names: tuple[str, ...]) -> Iterator[GridRule]:
        for sizes in product(self.sizes, repeat=len(names)) if len(names) <= 2 else ():
            rule = GridRule(tuple(zip(sizes, names, strict=True)))
            if rule.extent(self.constants) == extent:
                yield rule

    @cached_property
    def strides_over_grid(self) -> bool:
        """Whether a program goes on behind the last one: the kernel reads the size of its grid."""
        return any(isinstance(node, ast.Call) and called_name(node) == "num_programs" for node in ast.walk(self.tree))

    def grid(
        self, constants: Mapping[str, int], now: tuple[int, int, int] | None = None
    ) -> tuple[int, int, int] | None:
        """The grid for other constants, where it is ``now`` along axes without blocks; None if it is the launch's.

        Raises LookupError where how it follows is not known.
        """
        blocks = {**self.constants, **constants}
        grid = list(self.launch.grid)
        for axis in range(3):
            names = self.axis_blocks.get(axis, ())
            if not names and now is not None:
                grid[axis] = now[axis]
            if not set(names) & set(constants) or self.strides_over_grid:
                continue
            rule = self.grid_rules[axis]
            if rule is None:
                raise LookupError(f"axis {axis}")
            grid[axis] = rule.extent(blocks)
        return None if tuple(grid) == self.launch.grid else (grid[0], grid[1], grid[2])

    @cached_property
    def pointers(self) -> frozenset[str]:
        """The names of the arguments that are tensors."""
        return frozenset(one.name for one in tensors(self.launch))

    @cached_property
    def pipelined(self) -> bool:
        """Whether a loop has a product of tiles, whose loads the compiler issues ahead."""
        plan = self.launch.executable.plan
        depth = depths(plan)
        return any(op.name in traits.DOTS and depth.get(op.index, 0) > 0 for op in plan.walk())


def _depends(node: ast.AST, axis: int, names: Collection[str]) -> bool:
    inner = list(ast.walk(node))
    return any(is_program_id(one, axis) or (isinstance(one, ast.Name) and one.id in names) for one in inner)


def is_program_id(node: ast.AST, axis: int | None = None) -> bool:
    """Whether a node is a call of ``tl.program_id``, of that axis."""
    if not isinstance(node, ast.Call) or called_name(node) != "program_id":
        return False
    given = [*node.args, *(one.value for one in node.keywords)]
    number = given[0].value if given and isinstance(given[0], ast.Constant) else 0
    return axis is None or number == axis


def _names(node: ast.AST) -> set[str]:
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}


def _targets(node: ast.Assign) -> set[str]:
    return {name for target in node.targets for name in _names(target)}
