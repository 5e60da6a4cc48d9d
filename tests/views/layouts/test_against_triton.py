"""What is drawn is where Triton says, element by element: of all layouts that the examples have, and of random ones."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.compiled.layouts.oracle import Oracle, oracle
from tests.compiled.layouts.random_layouts import Asked, register_layouts, shared_layouts
from tests.compiled.layouts.test_against_triton import NO_ORACLE, collected
from tests.compiled.layouts.triton_version import BEFORE_3_7
from triton_lab.compiled.layouts import Layout, LayoutError
from triton_lab.compiled.layouts.layout_parser import types_of
from triton_lab.compiled.layouts.module_layouts import width
from triton_lab.views.drawing import style
from triton_lab.views.layouts.layout_positions import in_a_line
from triton_lab.views.layouts.layout_view import LayoutView


@pytest.fixture(scope="module")
def triton_says() -> Iterator[Oracle]:
    with oracle() as found:
        yield found


def elements_at(
    bases: Mapping[str, Sequence[Sequence[int]]], names: Sequence[str], shape: Sequence[int]
) -> npt.NDArray[np.int64]:
    """The row-major element at each place, the last of ``names`` the fastest, from Triton's bases alone."""
    sizes = [1 << len(bases[name]) for name in names]
    place = np.indices(sizes).reshape(len(sizes), -1)
    coordinates = np.zeros((len(shape), place.shape[1]), np.int64)
    for number, name in zip(place, names, strict=True):
        for bit, basis in enumerate(bases[name]):
            moved = (number >> bit & 1)[None, :] * np.array(basis)[:, None]
            coordinates ^= moved
    return np.ravel_multi_index(tuple(coordinates), tuple(shape))


def drawn_as(told: str, triton_says: Oracle) -> bool:
    """Hold the picture of a type to what Triton says of it; False where it says nothing."""
    (each,) = types_of(told)
    layout = Layout(each.kind, each.shape, width(each.element))
    sizes = layout.linear.sizes
    asked = {name: sizes[name] for name in ("lane", "warp", "block") if name in sizes}
    bases = triton_says.ask(told, **asked)
    if isinstance(bases, str):
        return False
    view = LayoutView(layout)
    drawn = view.places.held
    if layout.where == "registers":
        held = elements_at(bases, ("block", "warp", "lane", "register"), each.shape)
        assert drawn.tolist() == held.tolist(), told
        _hues_are_of_warps(view, held)
    elif layout.where == "shared memory":
        held = elements_at(bases, ("block", "offset"), each.shape).reshape(sizes["block"], -1)
        wide = min(in_a_line(layout), held.shape[1])
        assert view.places.shape[-1] == wide and drawn.tolist() == held.reshape(-1).tolist(), told
    else:  # Triton tells of one block; a zero vector in row 32 or 64 means copies, elsewhere that nothing is kept
        held = elements_at(bases, ("row", "column"), each.shape).reshape(sizes["row"], sizes["column"])
        first = drawn.reshape(sizes["block"], *held.shape)[0]
        assert (first[first >= 0] == held[first >= 0]).all(), told
        kept = [[bit for bit, basis in enumerate(bases[name]) if any(basis)] for name in ("row", "column")]
        copies = [bit for bit in (5, 6) if bit < len(bases["row"]) and bit not in kept[0]]
        assert (first >= 0).sum() == 1 << len(kept[0]) + len(kept[1]) + len(copies), told
    return True


def _hues_are_of_warps(view: LayoutView, held: npt.NDArray[np.int64]) -> None:
    """The first colour of each element is that of the first warp that holds it."""
    first = np.full(held.max() + 1, -1)
    first[held[::-1]] = np.arange(len(held))[::-1]
    warps = first // (view.places.size("lane") * view.places.size("register"))
    colours = view.tensor.styles[1:, 0].astype(int)
    hues = (colours - style.TENSOR) // style.TENSOR_LEVELS
    least = view.places.holders[:, 0]
    assert (least <= warps).all() and (hues == least % len(style.TENSOR_COLOURS)).all()


def test_pictures_of_what_the_examples_have_are_where_triton_says(triton_says: Oracle) -> None:
    drawn = set()
    for told, targets in collected():
        memory = not told.startswith("tensor")
        if any(name in told for name in NO_ORACLE) or (BEFORE_3_7 and memory) or re.search(r"<1x[a-z]", told):
            continue
        assert drawn_as(told, triton_says), told
        drawn.update(targets)
    assert drawn == {"sm_80", "sm_90", "sm_100", "sm_120", "gfx942", "gfx950", "gfx1200"}


@settings(max_examples=40, deadline=None)
@given(st.one_of(register_layouts(), register_layouts() if BEFORE_3_7 else shared_layouts()))
def test_pictures_of_random_layouts_are_where_triton_says(triton_says: Oracle, asked: Asked) -> None:
    try:
        assume(drawn_as(asked.type, triton_says))
    except LayoutError:
        assume(False)
