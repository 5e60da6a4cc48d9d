"""Names of rounds and variables: a constraint of the rounds holds where the one of the variable does."""

from __future__ import annotations

import itertools

import pytest

from triton_lab.polyhedral.core.affine import Affine
from triton_lab.polyhedral.core.conditions import Constraint
from triton_lab.polyhedral.kernels.names import Names


@pytest.mark.parametrize(("start", "step"), [(0, 1), (3, 1), (0, 4), (-5, 3), (7, 2)])
def test_a_bound_of_the_rounds_is_one_of_the_variable(start: int, step: int) -> None:
    names = Names(("i",), {}, {"_r": (Affine.of("i") - start, step)})
    for sign, constant, equality in itertools.product((1, -1), range(-6, 7), (False, True)):
        rounds = Constraint(Affine.of("_r") * sign + constant, equality)
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
