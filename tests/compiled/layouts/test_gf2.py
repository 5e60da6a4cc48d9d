"""Linear algebra over GF(2): all small matrices against all sums of their columns."""

from __future__ import annotations

import itertools

import pytest

from triton_lab.compiled.layouts.gf2 import combine, echelon, span


@pytest.mark.parametrize("first", range(8))
def test_an_echelon_form_knows_what_the_columns_of_any_small_matrix_lead_to(first: int) -> None:
    for rest in itertools.product(range(8), repeat=3):
        columns = (first, *rest)
        sums = [combine(columns, inputs) for inputs in range(16)]
        assert sums == span(columns)
        form = echelon(columns)
        assert 2**form.rank == len(set(sums)) and form.rank + len(form.kernel) == 4
        assert {sums[inputs] for inputs in form.kernel} <= {0} and len(set(span(form.kernel))) == 2 ** len(form.kernel)
        for lead, vector, inputs in form.pivots:
            assert sums[inputs] == vector and vector.bit_length() - 1 == lead
            assert sum(other >> lead & 1 for _, other, _ in form.pivots) == 1, "a leading bit is one vector's alone"
        for vector in range(8):
            solution = form.solve(vector)
            assert form.spans(vector) == (vector in sums) == (solution is not None)
            assert solution is None or sums[solution] == vector
