"""Writes a tiled sum of products as the text of one kernel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import islpy as isl

from triton_lab.localization import _
from triton_lab.polyhedral.blocks.contraction import SMALLEST_DOT, Contraction
from triton_lab.polyhedral.blocks.fresh_names import FreshNames
from triton_lab.polyhedral.blocks.generated_text import GeneratedText, signature, wrapped
from triton_lab.polyhedral.blocks.kernel_shape import BlockAxis
from triton_lab.polyhedral.blocks.lane_values import HELPERS, IndexPrinter
from triton_lab.polyhedral.blocks.triton_kernel import KernelLaunch, NotABlockProgram
from triton_lab.polyhedral.core.access_function import Access
from triton_lab.polyhedral.core.affine_expr import AffineExpr, Symbol, isl_name
from triton_lab.polyhedral.core.isl_codegen import condition_of, expression_of
from triton_lab.polyhedral.core.loop_nest import Expr, Name, rebuild
from triton_lab.polyhedral.core.nest_printer import PythonPrinter, shifted

if TYPE_CHECKING:
    from triton_lab.polyhedral.instances import Instances


def write_contraction(scop: Instances, c: Contraction, axes: tuple[BlockAxis, ...]) -> GeneratedText:
    """The text of the kernel. Raises `NotABlockProgram` for a name that Triton reserves.

    Kernels with lanes rename their variables instead.
    """
    return _Writer(scop, c, axes).written()


class _Writer:
    def __init__(self, scop: Instances, c: Contraction, axes: tuple[BlockAxis, ...]) -> None:
        self.scop = scop
        self.c = c
        self.axes = axes
        self.names = FreshNames()
        self.arguments = {a.name: self.names(a.name) for a in scop.arrays}
        for name in (*scop.parameters, *c.update.iterators):
            if self.names(name) != name:
                raise NotABlockProgram(_("{name} would have two meanings").format(name=name))
        self.strides = {(a.name, k): self.names(f"stride_{a.name}_{k}") for a in scop.arrays for k in range(a.ndim)}
        self.sizes = {a.iterator: self.names(a.size) for a in axes if a.block > 1}
        self.kernel = self.names("kernel")
        self.summed = next(a for a in axes if a.iterator == c.iterator)
        self.kept = [a for a in axes if a.block > 1 and a is not self.summed]
        self.printer = IndexPrinter(scop.language)

    def written(self) -> GeneratedText:
        scop = self.scop
        grid = [a for a in self.axes if a.in_grid]
        lines = [f"{a.iterator} = {self._position(a, f'tl.program_id({k})')}" for k, a in enumerate(grid)]
        lines += self._body()
        strides = [self.strides[a.name, k] for a in scop.arrays for k in range(a.ndim)]
        arrays = [self.arguments[a.name] for a in scop.arrays]
        constants = [f"{name}: tl.constexpr" for name in self.sizes.values()]
        head = signature(self.kernel, [*arrays, *scop.parameters, *strides, *constants], scop.parameters)
        kernel = "\n".join([*head, *(f"    {line}" for line in lines)]) + "\n"
        launch = KernelLaunch(self.kernel, (), tuple(self._count(a) for a in grid))
        text = "\n\n".join([*(t for n, t in HELPERS.items() if f"{n}(" in kernel), kernel, self._driver(launch)])
        return GeneratedText(text, (launch,), {self.sizes[a.iterator]: a.block for a in self.axes if a.block > 1})

    def _driver(self, launch: KernelLaunch) -> str:
        scop = self.scop
        arrays = [self.arguments[a.name] for a in scop.arrays]
        strides = [f"{self.arguments[a.name]}.stride({k})" for a in scop.arrays for k in range(a.ndim)]
        constants = [f"{self.sizes[a.iterator]}={a.block}" for a in self.axes if a.block > 1]
        passed = [f"{name}={name}" for name in self.sizes.values()]
        lines = [
            *signature("run", [*arrays, *scop.parameters, *constants]),
            f"    {launch.name}[({', '.join(launch.grid)},)](",
            *(f"    {line}" for line in wrapped([*arrays, *scop.parameters, *strides, *passed])),
            "    )",
        ]
        return "\n".join(lines) + "\n"

    def _bounds(self, iterator: str) -> tuple[Expr, Expr]:
        """The least value of ``iterator``, and the first value past its greatest, in any instance."""
        if iterator == self.c.iterator:
            domain, order = self.c.update.domain.set, self.c.update.iterators
        else:
            domain = self.c.elements
            order = tuple(i for i in self.c.update.iterators if i != self.c.iterator)
        at = order.index(iterator)
        context = domain.params()
        low, high = (expression_of(value, context) for value in (domain.dim_min(at), domain.dim_max(at)))
        return low, shifted(high, 1)

    def _count(self, axis: BlockAxis) -> str:
        """The number of programs along ``axis``; blocks start at 0."""
        count = PythonPrinter().text(self._bounds(axis.iterator)[1])
        return f"triton.cdiv({count}, {self.sizes[axis.iterator]})" if axis.block > 1 else count

    def _position(self, axis: BlockAxis, start: str) -> str:
        """The values of ``axis`` in one program: a number, or a block of numbers."""
        size = self.sizes.get(axis.iterator)
        return f"{start} * {size} + tl.arange(0, {size})" if size else start

    def _body(self) -> list[str]:
        c, names = self.c, self.names
        order = tuple(i for i in c.update.iterators if i != c.iterator)
        view = IteratorPlaces(tuple(a.iterator for a in self.kept))
        target = view.pointer(c.target, self.arguments[c.target.array], self.strides)
        lines, mask = self._masked("c_mask", c.elements, order, view)
        total = names("acc")
        lines.append(f"{total} = {self._first(target, mask)}")
        start = names(f"{c.iterator}0")
        low, high = (self.printer.text(e) for e in self._bounds(c.iterator))
        size = self.sizes.get(c.iterator)
        lines.append(f"for {start} in range({low}, {high}{f', {size}' if size else ''}):")
        lines.append(f"    {c.iterator} = {start}{f' + tl.arange(0, {size})' if size else ''}")
        lines += [f"    {line}" for line in self._products(total)]
        return [*lines, f"tl.store({target}, {total}{f', mask={mask}' if mask else ''})"]

    def _masked(
        self, wanted: str, domain: isl.Set, iterators: tuple[str, ...], view: IteratorPlaces
    ) -> tuple[list[str], str]:
        """The line that computes the mask of ``domain`` over ``iterators``, and the mask's name; "" if always true."""
        for k, name in enumerate(iterators):
            domain = domain.set_dim_name(isl.dim_type.set, k, isl_name(name))
        positive = isl.Set.universe(domain.get_space())
        for k in range(len(iterators)):
            positive = positive.lower_bound_val(isl.dim_type.set, k, isl.Val(0))
        found = condition_of(domain.gist(positive), domain.params())
        if found is None:
            return [], ""
        shown = rebuild(found, lambda e: Name(view(e.id)) if isinstance(e, Name) and e.id in iterators else e)
        name = self.names(wanted)
        return [f"{name} = {self.printer.text(shown)}"], name

    def _shape(self) -> str:
        sizes = [self.sizes[a.iterator] for a in self.kept]
        return f"({', '.join(sizes)}{',' if len(sizes) == 1 else ''})"

    def _first(self, target: str, mask: str) -> str:
        if self.c.first is None:
            guard = f", mask={mask}, other=0" if mask else ""
            return f"tl.load({target}{guard})"
        return f"tl.full({self._shape() if self.kept else '()'}, {self.c.first!r}, dtype={self._element()})"

    def _element(self) -> str:
        return f"{self.arguments[self.c.target.array]}.dtype.element_ty"

    def _products(self, total: str) -> list[str]:
        c = self.c
        used = [set(c.factor_iterators(f)) for f in (c.left, c.right)]
        rows = [a for a in self.kept if a.iterator in used[0] - used[1]]
        columns = [a for a in self.kept if a.iterator in used[1] - used[0]]
        blocks = [a.block for a in (*rows, *columns, self.summed)]
        exact = c.masks_say_all
        is_matrix = len(rows) == len(columns) == 1 and len(self.kept) == 2 and exact
        if is_matrix and min(blocks) >= SMALLEST_DOT:
            return self._dot(rows[0], columns[0], total)
        block = tuple(a.iterator for a in (*self.kept, *([self.summed] if self.summed.block > 1 else [])))
        view = IteratorPlaces(block)
        lines, shown = [], []
        for wanted, factor in (("a", c.left), ("b", c.right)):
            more, name = self._factor(wanted, factor, view)
            lines += more
            shown.append(name)
        product = f"{shown[0]} * {shown[1]}"
        if not exact:
            more, mask = self._masked("mask", c.update.domain.set.reset_tuple_id(), c.update.iterators, view)
            lines += more
            product = f"tl.where({mask}, {product}, 0)" if mask else product
        if self.summed.block > 1:
            product = f"tl.sum({product}, axis={len(self.kept)})"
        return [*lines, f"{total} = tl.cast({total} + {product}, {total}.dtype)"]

    def _factor(self, wanted: str, factor: Access, view: IteratorPlaces) -> tuple[list[str], str]:
        order = self.c.factor_iterators(factor)
        lines, mask = self._masked(f"{wanted}_mask", self.c.factor_domain(factor), order, view)
        name = self.names(wanted)
        pointer = view.pointer(factor, self.arguments[factor.array], self.strides)
        guard = f", mask={mask}, other=0" if mask else ""
        return [*lines, f"{name} = tl.load({pointer}{guard})"], name

    def _dot(self, row: BlockAxis, column: BlockAxis, total: str) -> list[str]:
        k = self.c.iterator
        lines, a = self._factor("a", self.c.left, IteratorPlaces((row.iterator, k)))
        more, b = self._factor("b", self.c.right, IteratorPlaces((k, column.iterator)))
        straight = self.kept[0] is row
        # Not in tf32, the default of a GPU's dot of float32.
        dot = f'tl.dot({a}, {b}, {{}}input_precision="ieee", out_dtype={total}.dtype)'
        one = f"{total} = {dot.format(f'{total}, ')}" if straight else f"{total} += tl.trans({dot.format('')})"
        both = f"{a}[:, :, None] * {b}[None, :, :]"
        each = f"tl.sum({both}, axis=1)" if straight else f"tl.trans(tl.sum({both}, axis=1))"
        one_type = f"{a}.dtype == {b}.dtype and {total}.dtype == {a}.dtype"
        floats = f"{one_type} and {a}.dtype.is_floating() and {a}.dtype.primitive_bitwidth >= 32"
        return [
            *lines, *more,
            f"if {floats}:",
            f"    {one}",
            "else:  # a dot has no products of integers, nor of two types; of halves it has wider sums",
            f"    {total} = tl.cast({total} + {each}, {total}.dtype)",
        ]  # fmt: skip


@dataclass(frozen=True)
class IteratorPlaces:
    """Iterators as text in a block with the dimensions ``block``: ``y[:, None]`` and ``x[None, :]``."""

    block: tuple[str, ...]

    def __call__(self, symbol: Symbol) -> str:
        if isinstance(symbol, str) and symbol in self.block and len(self.block) > 1:
            index = ", ".join(":" if name == symbol else "None" for name in self.block)
            return f"{symbol}[{index}]"
        return str(symbol)

    def affine(self, expression: AffineExpr) -> str:
        return expression.written(self, " * ")

    def pointer(self, access: Access, argument: str, strides: Mapping[tuple[str, int], str]) -> str:
        """``A + y[:, None] * stride_A_0 + ...``."""
        parts = [argument]
        for k, subscript in enumerate(access.expressions):
            if subscript != AffineExpr():
                text = self.affine(subscript)
                parts.append(f"{f'({text})' if subscript.is_sum else text} * {strides[access.array, k]}")
        return " + ".join(parts)
