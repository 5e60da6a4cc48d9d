"""Names of rounds and variables: a constraint of the rounds holds where the one of the variable does."""

from __future__ import annotations

import itertools

import pytest

from triton_lab.polyhedral.core.affine_conditions import Constraint
from triton_lab.polyhedral.core.affine_expr import AffineExpr
from triton_lab.polyhedral.kernels.reader_names import Names


@pytest.mark.parametrize(("start", "step"), [(0, 1), (3, 1), (0, 4), (-5, 3), (7, 2)])
def test_a_bound_of_the_rounds_is_one_of_the_variable(start: int, step: int) -> None:
    names = Names(("i",), {}, {"_r": (AffineExpr.of("i") - start, step)})
    for sign, constant, equality in itertools.product((1, -1), range(-6, 7), (False, True)):
        rounds = Constraint(AffineExpr.of("_r") * sign + constant, equality)
        ((told, *whole),) = names.formula(((rounds,),))
        assert bool(whole) == (step > 1)
        for i in range(start - 8 * step, start + 8 * step + 1):
            values = {"i": i}
            on_the_way = (i - start) % step == 0
            assert all((int(each.expression.evaluate(values)) == 0) == on_the_way for each in whole)
            if not on_the_way:
                continue
            left = sign * ((i - start) // step) + constant
            right = int(told.expression.evaluate(values))
            assert (right == 0 if equality else right >= 0) == (left == 0 if equality else left >= 0)


@pytest.mark.parametrize(("start", "step"), [(0, 1), (3, 1), (0, 4), (-5, 3), (7, 2), (2, 6)])
def test_an_expression_of_the_rounds_is_the_same_one_of_the_variable(start: int, step: int) -> None:
    names = Names(("i",), {"_p0": AffineExpr.of("pid") * 2 - 1}, {"_r": (AffineExpr.of("i") - start, step)})
    rounds, program, own = AffineExpr.of("_r"), AffineExpr.of("_p0"), AffineExpr.of("n")
    for coefficient, constant in itertools.product(range(-13, 14), (-5, 0, 2)):
        expression = rounds * coefficient + program * 3 + own + constant
        quotient = (rounds * coefficient + program + constant) // 3 * 2 - rounds
        for round_, pid, n in itertools.product(range(5), (0, 3), (-1, 4)):
            inside = {"_r": round_, "_p0": 2 * pid - 1, "n": n}
            outside = {"i": start + round_ * step, "pid": pid, "n": n}
            for each in (expression, quotient):
                assert int(names.expression(each).evaluate(outside)) == int(each.evaluate(inside))
        if coefficient % step == 0:
            assert not names.expression(expression).quotients, "no quotient where none is needed"
