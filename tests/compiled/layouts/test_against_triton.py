"""Layouts are Triton's own, basis by basis: those that the examples have on seven GPUs, and random ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import assume, given, settings

from tests.compiled.layouts.oracle import Oracle, oracle
from tests.compiled.layouts.random_layouts import Asked, register_layouts, shared_layouts
from tests.compiled.layouts.triton_version import BEFORE_3_7
from triton_lab.compiled.layouts import LayoutError, Linear
from triton_lab.compiled.layouts.layout_kind import Distributed
from triton_lab.compiled.layouts.layout_parser import parse, types_of

HERE = Path(__file__).parent
NO_ORACLE = ("padded_shared", "rotating_shared")


@pytest.fixture(scope="module")
def triton_says() -> Iterator[Oracle]:
    with oracle() as found:
        yield found


def mine(linear: Linear) -> dict[str, list[list[int]]]:
    found = {name: [list(basis) for basis in each] for name, each in linear.ins}
    if "row" in found:
        del found["block"]  # Triton tells tensor memory of one block
    return found


def collected() -> list[tuple[str, list[str]]]:
    """The types with a layout of the examples, with the GPUs that have them, as this Triton (or the nearest) gave."""
    version = "3.6" if BEFORE_3_7 else "3.9"
    lines = (HERE / f"types-{version}.txt").read_text(encoding="utf-8").splitlines()
    return [(line.split(" ", 1)[1], line.split(" ", 1)[0].split(",")) for line in lines]


def test_what_the_examples_have_on_seven_gpus_is_where_triton_says(triton_says: Oracle) -> None:
    agreed, asked = Counter[str](), 0
    for told, targets in collected():
        (each,) = types_of(told)
        linear = each.kind.linear(each.shape)
        distributed = isinstance(each.kind, Distributed)
        if any(name in told for name in NO_ORACLE) or (BEFORE_3_7 and not distributed) or each.shape == (1,):
            continue
        sizes = {"lane": linear.size("lane"), "warp": linear.size("warp")} if distributed else {}
        assert triton_says.ask(told, **sizes) == mine(linear), told
        asked += 1
        agreed.update(targets)
    assert asked > 400
    assert set(agreed) == {"sm_80", "sm_90", "sm_100", "sm_120", "gfx942", "gfx950", "gfx1200"}


@settings(max_examples=80, deadline=None)
@given(register_layouts())
def test_random_layouts_in_registers_are_where_triton_says(triton_says: Oracle, asked: Asked) -> None:
    linear = parse(asked.spelled).linear(asked.shape)
    assert triton_says.ask(asked.type, lane=asked.lane, block=asked.block) == mine(linear), asked.type


@pytest.mark.skipif(BEFORE_3_7, reason="Triton 3.6 tells the linear layouts of registers alone")
@settings(max_examples=60, deadline=None)
@given(shared_layouts())
def test_random_layouts_in_memory_are_where_triton_says(triton_says: Oracle, asked: Asked) -> None:
    try:
        linear = parse(asked.spelled).linear(asked.shape)
    except LayoutError:
        answer = triton_says.ask(asked.type, block=asked.block)
        assert isinstance(answer, str), asked.type  # what we refuse it does not take either
        return
    answer = triton_says.ask(asked.type, block=asked.block)
    assume(not isinstance(answer, str))  # it refuses what no instruction could use
    assert answer == mine(linear), asked.type


def test_padded_layouts_are_as_gluons_manual_shows() -> None:
    """The two examples of the docstring of Gluon's PaddedSharedLayout."""
    from triton_lab.compiled.layouts import layout

    one = layout("#ttg.padded_shared<[2:+2] {offset = [[2], [1]], block = []}>")
    assert [one.owner(element)[0].offset for element in (0, 2, 1, 3)] == [0, 1, 4, 5]
    two = layout("#ttg.padded_shared<[8:+1] {offset = [[0, 1], [0, 2], [2, 0], [4, 0], [1, 0]], block = []}>")
    rows = [0, 2, 4, 6, 1, 3, 5, 7]
    found = [two.owner(row, column)[0].offset for row in rows for column in range(4)]
    assert found == [place for place in range(35) if place % 9 != 8]


def test_rotating_layouts_turn_once_more_after_each_round() -> None:
    """No Triton tells their linear layout; the rule is that of its documentation, element by element."""
    from triton_lab.compiled.layouts import layout

    vec, per_phase, max_phase, columns = 4, 2, 8, 64
    found = layout("amd_rotating_shared", (64, columns), vec=vec, perPhase=per_phase, maxPhase=max_phase, order=[1, 0])
    for row in range(64):
        for column in range(columns):
            phase = row // per_phase % max_phase ^ row // per_phase // max_phase % max_phase
            group = column // vec ^ phase
            assert found.owner(row, column)[0].offset == row * columns + group * vec + column % vec
