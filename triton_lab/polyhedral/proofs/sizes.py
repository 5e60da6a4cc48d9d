"""The sizes of a kernel's launches as symbols: scalars, extents, strides and grid, under assumptions."""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from triton_lab.launch.assumption import Arithmetic, Condition, is_quantity, parsed, quantities
from triton_lab.localization import _
from triton_lab.polyhedral.core.affine_conditions import Constraint
from triton_lab.polyhedral.core.affine_expr import AffineExpr
from triton_lab.polyhedral.kernels.symbolic.nonlinear_terms import Interval, exact_quotient, product, quotient
from triton_lab.polyhedral.proofs.proof import Assumption

if TYPE_CHECKING:
    from triton_lab.launch.launch import Launch


@dataclass(frozen=True)
class Extents:
    """The elements of a tensor: along each axis an extent and a stride, in elements."""

    shape: tuple[AffineExpr, ...]
    strides: tuple[AffineExpr, ...]

    @property
    def last(self) -> AffineExpr:
        """The number of the last element, if no extent is 0."""
        total = AffineExpr()
        for extent, stride in zip(self.shape, self.strides, strict=True):
            total += product(extent - 1, stride)
        return total


@dataclass
class Sizes:
    """Every size as an affine expression, perhaps of products, over free symbols.

    ``constants`` are numbers by name. ``sized``: whether shapes are known at all. ``defined`` has quantities by their
    text, ``free`` the text of each free symbol, ``context`` what holds of the symbols, and ``contents`` the bounds of
    what tensors hold.
    """

    launch: Launch
    constants: Mapping[str, int]
    sized: bool
    defined: dict[str, AffineExpr] = field(default_factory=dict)
    free: dict[str, str] = field(default_factory=dict)
    context: list[Constraint] = field(default_factory=list)
    contents: dict[str, tuple[AffineExpr, AffineExpr]] = field(default_factory=dict)
    assumptions: list[Assumption] = field(default_factory=list)

    def assume(self, assumption: Assumption) -> None:
        """Take a condition for granted. Raises ValueError, which names what the kernel does not have."""
        condition = parsed(assumption.text)
        arithmetic = Arithmetic(lambda number: AffineExpr((), number), self.of, _applied)
        if condition.relation == "in":
            low, high = (arithmetic.of(side) for side in condition.right)
            self.contents[self._tensor_name(condition)] = (low, high)
            self.assumptions.append(assumption)
            return
        subject = condition.subject
        right = arithmetic.of(condition.right[0])
        defines = condition.relation == "==" and is_quantity(condition.left) and self._is_open(subject)
        if condition.relation == "!=":
            raise ValueError(_("{text}: an assumption with != is not used; give a bound").format(text=assumption.text))
        if defines and symbol_of(subject) not in right.names:
            self._check(subject)
            self.defined[subject] = right
            self.assumptions.append(assumption)
            return
        left = arithmetic.of(condition.left)
        self.assumptions.append(assumption)
        difference = {">=": left - right, ">": left - right - 1, "<=": right - left, "<": right - left - 1}
        if condition.relation == "==":
            self.context.append(Constraint(left - right, equality=True))
        else:
            self.context.append(Constraint(difference[condition.relation]))

    def _is_open(self, subject: str) -> bool:
        return subject not in self.defined and subject not in self.constants and symbol_of(subject) not in self.free

    def _tensor_name(self, condition: Condition) -> str:
        names = [a.name for a in self.launch.arguments if a.kind in ("tensor", "descriptor")]
        if condition.subject not in names:
            raise ValueError(
                _("{kernel} has no tensor {name}; it has {names}").format(
                    kernel=self.launch.kernel, name=repr(condition.subject), names=", ".join(names) or "none"
                )
            )
        return condition.subject

    def of(self, quantity: str) -> AffineExpr:
        """A quantity by its text. Raises ValueError where the kernel has none of this name."""
        if quantity in self.constants:
            return AffineExpr((), self.constants[quantity])
        if quantity in self.defined:
            return self.defined[quantity]
        self._check(quantity)
        total = self._elements(quantity)
        if total is not None:
            return total
        symbol = symbol_of(quantity)
        self.free[symbol] = quantity
        return AffineExpr.of(symbol)

    def _elements(self, quantity: str) -> AffineExpr | None:
        """The number of elements of a tensor whose extents are defined, or its only extent where the number is."""
        name, _unused, what = quantity.rpartition(".")
        if what == "shape[0]" and f"{name}.numel()" in self.defined and len(self.launch.argument(name).shape) == 1:
            return self.defined[f"{name}.numel()"]
        if what != "numel()" or f"{name}.shape[0]" not in self.defined:
            return None
        total = AffineExpr((), 1)
        for axis in range(len(self.launch.argument(name).shape)):
            total = product(total, self.of(f"{name}.shape[{axis}]"))
        return total

    def _check(self, quantity: str) -> None:
        name = re.split(r"\.(?:shape|stride|numel)\b", quantity)[0]
        whole = name != quantity
        for argument in self.launch.arguments:
            if argument.name == name and whole == (argument.kind in ("tensor", "descriptor")):
                return
        if re.fullmatch(r"grid\[[012]\]", quantity):
            return
        raise ValueError(
            _("{kernel} has no size {name}; it has {names}").format(
                kernel=self.launch.kernel,
                name=repr(quantity),
                names=", ".join(a.name for a in self.launch.arguments),
            )
        )

    def extents(self, tensor: str) -> Extents | None:
        """The tensor's extents and strides; None if nothing is known of them."""
        total = f"{tensor}.numel()"
        if total in self.defined or symbol_of(total) in self.free:
            return Extents((self.of(total),), (AffineExpr((), 1),))
        rank = len(self.launch.argument(tensor).shape)
        known = any(one.startswith(f"{tensor}.") for one in (*self.defined, *self.free.values()))
        if not self.sized and not known:
            return None
        shape = tuple(self.of(f"{tensor}.shape[{axis}]") for axis in range(rank))
        return Extents(shape, tuple(self.of(f"{tensor}.stride({axis})") for axis in range(rank)))

    @property
    def here(self) -> dict[str, Interval]:
        """The values of the free symbols in the launch; without shapes, small ones."""
        if not self.sized:
            return dict.fromkeys(self.free, (0, 1 << 10))
        known = quantities(self.launch.arguments, self.launch.grid)
        return {symbol: (known[text], known[text]) for symbol, text in self.free.items() if text in known}

    @property
    def ranges(self) -> dict[str, Interval]:
        """What the types of the free symbols hold; extents and strides are not negative."""
        found: dict[str, Interval] = {}
        scalars = {a.name for a in self.launch.arguments if a.kind == "scalar"}
        for symbol, text in self.free.items():
            found[symbol] = (-math.inf, math.inf) if text in scalars else (0, math.inf)
            if text.startswith("grid["):
                found[symbol] = (1, math.inf)
        for constraint in self.context:  # n >= 1
            (term, *others) = constraint.expression.terms or ((None, 0),)
            if not others and term[1] == 1 and term[0] in found and not constraint.equality:
                low, high = found[term[0]]
                found[term[0]] = max(low, -constraint.expression.constant), high
        return found


def symbol_of(quantity: str) -> str:
    """The symbol for a quantity: ``x.shape[0]`` becomes ``x_shape_0``. Symbols of programs begin with an underscore."""
    name = re.sub(r"\W+", "_", quantity).strip("_")
    return f"{name}_" if quantity.endswith("_") else name


def _applied(name: str, a: AffineExpr, b: AffineExpr) -> AffineExpr:
    if name == "+":
        return a + b
    if name == "-":
        return a - b
    if name == "*":
        return product(a, b)
    if name in ("//", "%", "cdiv") and b.is_constant and b.constant >= 1:
        whole = quotient(a + (b.constant - 1 if name == "cdiv" else 0), b)
        return a - whole * b.constant if name == "%" else whole
    exact = exact_quotient(a, b)
    if exact is not None and name in ("//", "cdiv"):  # who divides by 0 launches nothing
        return exact
    raise ValueError(_("an assumption divides by numbers only, and has no min or max"))


def sizes_of(launch: Launch, given: Sequence[str], suggestions: Sequence[Assumption], sized: bool) -> Sizes:
    """The sizes under the assumptions ``given`` by the user and those suggested.

    Raises ValueError for a text that is no assumption.
    """
    constants = {a.name: int(a.value) for a in launch.arguments if a.kind == "constexpr" and isinstance(a.value, int)}
    found = Sizes(launch, constants, sized)
    texts = [parsed(text) for text in given]
    replaced = {one.subject for one in texts if one.relation in ("==", "in")}
    for one in texts:
        found.assume(Assumption(one.text, "user"))
    for suggestion in suggestions:
        condition = parsed(suggestion.text)
        twice = condition.relation in ("==", "in") and condition.subject in replaced
        if not twice and condition.text not in {one.text for one in texts}:
            if suggestion.origin == "compiler":
                found.assumptions.append(suggestion)
            else:
                with contextlib.suppress(ValueError):  # of a division by a size: it is left open then
                    found.assume(suggestion)
    return found
