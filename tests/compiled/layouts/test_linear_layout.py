"""The algebra: each operation is what it is element by element."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.wordings import Wording
from triton_lab.compiled.layouts import LayoutError, Linear, gf2


@st.composite
def maps(draw: st.DrawFn, bits: int | None = None) -> Linear:
    """A map of registers and lanes onto a small matrix; any bases, so not of full rank as a rule."""
    shape = (1 << draw(st.integers(0, 3)), 1 << draw(st.integers(0, 3)))
    basis = st.tuples(*(st.integers(0, size - 1) for size in shape))
    size = draw(st.integers(0, 4)) if bits is None else bits
    return Linear.of(
        {name: draw(st.lists(basis, min_size=size, max_size=size)) for name in ("register", "lane")}, shape
    )


def places(linear: Linear) -> list[dict[str, int]]:
    return [
        {"register": register, "lane": lane}
        for lane in range(linear.size("lane"))
        for register in range(linear.size("register"))
    ]


@settings(max_examples=25, deadline=None)
@given(maps())
def test_a_place_leads_to_the_sum_of_its_bits_bases(linear: Linear) -> None:
    for place in places(linear):
        row = column = 0
        for name, number in place.items():
            for bit, basis in enumerate(linear.bases(name)):
                if number >> bit & 1:
                    row, column = row ^ basis[0], column ^ basis[1]
        assert linear.at(**place) == (row, column)


@settings(max_examples=25, deadline=None)
@given(maps())
def test_the_places_of_an_element_are_all_that_lead_to_it(linear: Linear) -> None:
    for row, column in np.ndindex(*linear.shape):
        wanted = [place for place in places(linear) if linear.at(**place) == (row, column)]
        assert sorted(map(str, linear.places((row, column)))) == sorted(map(str, wanted))
    reached = {linear.at(**place) for place in places(linear)}
    assert linear.surjective == (len(reached) == np.prod(linear.shape))
    assert linear.injective == (len(reached) == len(places(linear)))


@settings(max_examples=25, deadline=None)
@given(maps())
def test_the_table_and_the_matrix_tell_the_same(linear: Linear) -> None:
    wanted = [linear.at(**place) for place in places(linear)]
    assert [linear.unpack(int(number)) for number in linear.table()] == wanted
    for column, place in enumerate([1 << bit for bit in range(len(linear.columns))]):
        coordinate = linear.at(**linear.place(place))
        bits = [coordinate[axis] >> bit & 1 for axis in (0, 1) for bit in range(linear.shape[axis].bit_length() - 1)]
        assert linear.matrix[:, column].tolist() == bits


@settings(max_examples=25, deadline=None)
@given(maps())
def test_the_inverse_leads_back(linear: Linear) -> None:
    if not linear.surjective:
        with pytest.raises(LayoutError, match="no inverse"):
            linear.inverse()
        return
    back = linear.inverse()
    for row, column in np.ndindex(*linear.shape):
        place = dict(zip(("register", "lane"), back.at(dim0=row, dim1=column), strict=True))
        assert linear.at(**place) == (row, column)
    assert not linear.injective or back.then(linear) == back.then(back.inverse())
    found = back.table_of("lane").reshape(linear.shape)
    assert all(found[at] == back.at(dim0=at[0], dim1=at[1])[1] for at in np.ndindex(*linear.shape))


@settings(max_examples=25, deadline=None)
@given(maps(bits=3), maps(bits=3))
def test_maps_compose(first: Linear, second: Linear) -> None:
    after = Linear.of({"dim0": second.bases("register"), "dim1": second.bases("lane")}, second.shape)
    before = Linear.of({name: [(0, 0)] * 2 + [(1, 1)] for name in ("register", "lane")}, (8, 8))
    both = before.then(after)
    for place in places(before):
        row, column = before.at(**place)
        assert both.at(**place) == after.at(dim0=row, dim1=column)
    if first.shape != (8, 8):
        with pytest.raises(LayoutError, match="do not compose"):
            first.then(after)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(0, 255), max_size=10), st.integers(0, 255))
def test_a_solution_adds_up_and_the_kernel_to_nothing(columns: list[int], vector: int) -> None:
    form = gf2.echelon(columns)
    sums = {gf2.combine(columns, inputs) for inputs in range(1 << len(columns))}
    assert (found := form.solve(vector)) is None or gf2.combine(columns, found) == vector
    assert (found is not None) == form.spans(vector) == (vector in sums)
    assert len(sums) == 1 << form.rank
    assert form.rank + len(form.kernel) == len(columns)
    assert all(gf2.combine(columns, inputs) == 0 for inputs in form.kernel)


def test_a_basis_outside_of_the_tensor_is_refused(wording: Wording) -> None:
    with wording.raises(LayoutError, register=2):
        Linear.of({"register": [[1, 0], [4, 0]]}, (4, 4))
    with wording.raises(LayoutError, number=1, dimensions=2):
        Linear.of({"register": [[1]]}, (4, 4))
    with pytest.raises(LayoutError, match="dim0 has size 3"):
        Linear.of({"register": [[1]]}, (3,))
