"""Maps the symbols of a kernel's model to the names that the user sees."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from triton_lab.polyhedral.core.affine_conditions import Constraint, Formula
from triton_lab.polyhedral.core.affine_expr import AffineExpr
from triton_lab.polyhedral.kernels.access_domain import path_of, start_of
from triton_lab.polyhedral.kernels.launch_model import Model
from triton_lab.polyhedral.kernels.symbolic.symbol_facts import lane, program
from triton_lab.polyhedral.kernels.symbolic.symbolic_access import SymbolicAccess


@dataclass(frozen=True)
class Names:
    """The user's names for symbols: each symbol as an expression of these names."""

    iterators: tuple[str, ...]
    values: Mapping[str, AffineExpr]
    # A counter of iterations -> the loop's variable minus its start, and the variable's step.
    steps: Mapping[str, tuple[AffineExpr, int]]

    def expression(self, expression: AffineExpr) -> AffineExpr:
        total = AffineExpr((), expression.constant)
        for symbol, coefficient in expression.terms:
            if not isinstance(symbol, str):
                total += (self.expression(symbol.numerator) // symbol.divisor) * coefficient
            elif symbol in self.steps:
                distance, step = self.steps[symbol]
                whole = coefficient % step == 0
                total += distance * (coefficient // step) if whole else (distance // step) * coefficient
            else:
                total += self.values.get(symbol, AffineExpr.of(symbol)) * coefficient
        return total

    def formula(self, formula: Formula) -> Formula:
        """``formula`` in these names; a loop with a step above 1 skips the values between."""
        whole = tuple(Constraint(distance % step, equality=True) for distance, step in self.steps.values() if step > 1)
        return tuple((*(self._constraint(c) for c in case), *whole) for case in formula)

    def _constraint(self, constraint: Constraint) -> Constraint:
        """A bound of the iteration counter alone becomes a bound of the variable."""
        match constraint.expression.terms:
            case ((str() as symbol, 1 | -1 as sign),) if symbol in self.steps:
                distance, step = self.steps[symbol]
                return Constraint(distance * sign + constraint.expression.constant * step, constraint.equality)
        return Constraint(self.expression(constraint.expression), constraint.equality)


class Naming:
    """The names of a model's programs (by their symbols) and loops (by the symbols of their iterations)."""

    def __init__(self, model: Model) -> None:
        self.parameters = tuple(model.parameters)
        taken = {*self.parameters}
        axes = model.axes
        self.programs = {program(k): _free("pid" if axes == (0,) else f"pid_{k}", taken) for k in axes}
        self.loops: dict[str, str] = {}
        for touch in model.touches:
            for round_ in path_of(touch).rounds:
                if round_.symbol not in self.loops:
                    self.loops[round_.symbol] = _free(round_.name, taken | set(self.programs.values()))

    def of(self, touch: SymbolicAccess) -> Names:
        """The names around one access: programs, loops, and the lanes of its block."""
        values = {symbol: AffineExpr.of(name) for symbol, name in self.programs.items()}
        iterators = [*self.programs.values()]
        steps: dict[str, tuple[AffineExpr, int]] = {}
        for round_ in path_of(touch).rounds:
            name = self.loops[round_.symbol]
            iterators.append(name)
            start = start_of(round_)
            if start is None:
                values[round_.symbol] = AffineExpr.of(name)
            else:
                names = Names((), values, steps)
                steps[round_.symbol] = (AffineExpr.of(name) - names.expression(start), round_.step)
        rank = len(touch.shape)
        taken = {*iterators, *self.parameters}
        own = ("lane",) if rank == 1 else ("i", "j", "k")[:rank] if rank <= 3 else tuple(f"l{k}" for k in range(rank))
        for axis, name in enumerate(own):
            free = _free(name, taken)
            values[lane(axis)] = AffineExpr.of(free)
            iterators.append(free)
        return Names(tuple(iterators), values, steps)


def _free(name: str, taken: set[str]) -> str:
    """``name``, with underscores appended until it is not taken."""
    while name in taken:
        name += "_"
    return name
