"""Whatever is written, a layout is refused with a reason, or it is Triton's own: nothing else comes out."""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import triton_lab as lab
from tests.compiled.layouts.oracle import Oracle, oracle
from tests.compiled.layouts.random_layouts import register_layouts, shared_layouts
from tests.compiled.layouts.test_against_triton import NO_ORACLE, collected, mine
from tests.compiled.layouts.triton_version import BEFORE_3_7
from triton_lab.compiled.layouts import Layout
from triton_lab.compiled.layouts.layout_kind import Distributed
from triton_lab.compiled.layouts.layout_parser import KINDS, types_of
from triton_lab.compiled.layouts.module_layouts import width

NUMBERS = st.sampled_from([-1, 0, 1, 2, 3, 4, 7, 8, 16, 24, 32, 64, 128, 256, 1 << 20, 1 << 40])
PARAMETERS = sorted({
    name for text, _ in collected() for name in re.findall(r"(\w+) =", text)
} - {"shape"} | {"size_per_thread", "pairs", "alignment", "rank", "CTASplitM"})  # fmt: skip
WILD = st.recursive(
    st.one_of(NUMBERS, st.booleans(), st.none(), st.floats(), st.text(max_size=4), st.just(lab.LayoutError)),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=3), inner, max_size=2)),
    max_leaves=6,
)
LISTS = st.lists(st.one_of(NUMBERS, st.lists(NUMBERS, max_size=3)), max_size=4)
VALUES = WILD | LISTS
NAMES = [kind.mnemonic.split(".")[1] for kind in KINDS]
TYPES = [text for text, _ in collected()]


@pytest.fixture(scope="module")
def triton_says() -> Iterator[Oracle]:
    with oracle() as found:
        yield found


def is_a_layout_or_refused(*spelled: Any, **parameters: Any) -> None:
    """Any other error than LayoutError goes through."""
    try:
        found = lab.layout(*spelled, **parameters)
    except lab.LayoutError:
        return
    assert found.owner(*(0,) * len(found.shape)) and found.linear.surjective


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from(NAMES), st.lists(NUMBERS, max_size=3), st.dictionaries(st.sampled_from(PARAMETERS), WILD | LISTS)
)
def test_any_parameters_make_a_layout_or_a_reason(kind: str, shape: list[int], parameters: dict[str, Any]) -> None:
    is_a_layout_or_refused(kind, shape, **parameters)


@settings(max_examples=150, deadline=None)
@given(WILD, WILD, WILD)
def test_anything_at_all_is_refused_with_a_reason(spelled: Any, shape: Any, bits: Any) -> None:
    is_a_layout_or_refused(spelled, shape, bits=bits)


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(TYPES), st.integers(0, 300), st.integers(0, 30), st.text(string.printable, max_size=6))
def test_any_text_makes_a_layout_or_a_reason(told: str, start: int, length: int, instead: str) -> None:
    spelled = told[told.index("#") :].removesuffix(">")
    is_a_layout_or_refused(spelled[:start] + instead + spelled[start + length :], (64, 32))


@st.composite
def altered(draw: Any) -> str:
    """A type that Triton takes, with some other numbers in it."""
    known = st.one_of(register_layouts(), shared_layouts()).map(lambda asked: asked.type)
    told = draw(st.one_of(st.sampled_from(TYPES), known))
    for _ in range(draw(st.integers(1, 3))):
        places = list(re.finditer(r"(?<![A-Za-z\d])-?\d+", told))
        found = draw(st.sampled_from(places))
        number = draw(NUMBERS.filter(lambda number: number < 1 << 30))  # larger ones Triton's parser cuts
        told = f"{told[: found.start()]}{number}{told[found.end() :]}"
    return told


@settings(max_examples=250, deadline=None)
@given(altered())
def test_what_is_not_refused_is_where_triton_says(triton_says: Oracle, told: str) -> None:
    try:
        every = list(types_of(told))
        assume(len(every) == 1)
        (each,) = every
        layout = Layout(each.kind, each.shape, width(each.element))
        linear = layout.linear
    except lab.LayoutError:
        return
    distributed = isinstance(each.kind, Distributed)
    assume(not any(name in told for name in NO_ORACLE) and (distributed or not BEFORE_3_7))
    assume(linear.columns)  # Triton's own Python has no layout of one element in memory
    sizes = {"lane": linear.size("lane"), "warp": linear.size("warp")} if distributed else {}
    answer = triton_says.ask(told, block=linear.size("block"), **sizes)
    assert answer == mine(linear), told
