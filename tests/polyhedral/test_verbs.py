"""Shift, cut and collapse: what they print, refuse, and compute, on random nests too."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.polyhedral.random_nests import RandomNest, random_nests
from tests.polyhedral.terms import run_terms
from tests.wordings import Wording
from triton_lab.polyhedral import Schedule, TooHard, schedule, scop
from triton_lab.polyhedral.core.loop_tree import path
from triton_lab.polyhedral.visit_times import timing

AHEAD = "for (int i = 0; i < n; i++)\n  A[i] = i;\nfor (int i = 0; i < n; i++)\n  B[i] = A[i] + A[i + 1];"
LINE = "for (int i = 0; i < n; i++)\n  A[i] = 0;"
ROWS = "for (int i = 0; i < n; i++)\n  for (int j = 0; j < 4; j++)\n    A[i][j] = 0;"


def _visits(order: Schedule) -> list[tuple[str, tuple[int, ...]]]:
    """Statements of the source and their instances, in the order of ``order``."""
    whole = {s.name: (s.whole, len(s.iterators)) for s in order.scop.statements}
    return [(whole[name][0], point[: whole[name][1]]) for name, point in order.order().pairs]


def test_a_shift_lets_a_loop_be_fused_that_reads_ahead() -> None:
    start = schedule(AHEAD, n=5)
    fused = start.fuse("S0", "S1")
    assert not fused.is_legal
    shifted = fused.shift("i", 1, statement="S1")
    assert shifted.is_legal
    assert [name for name, _ in _visits(shifted)] == ["S0", *["S0", "S1"] * 4, "S1"]
    arrays = {"A": np.arange(10.0, 16.0), "B": np.zeros(6)}
    assert np.array_equal(shifted.run(arrays)["B"], start.run(arrays)["B"])


def test_a_shift_by_a_parameter_is_a_loop_after_the_other() -> None:
    shifted = schedule(AHEAD, n=4).fuse("S0", "S1").shift("i", "n", statement="S1")
    assert shifted.is_legal
    assert _visits(shifted) == _visits(schedule(AHEAD, n=4))


def test_a_cut_prints_two_loops_one_after_the_other() -> None:
    assert schedule(LINE).cut("i", 4).program() == (
        "for (int i = 0; i <= min(3, n - 1); i++)\n  A[i] = 0;\nfor (int i = 4; i < n; i++)\n  A[i] = 0;"
    )
    assert [s.name for s in schedule(LINE).cut("i", "n - 1").scop.statements] == ["S0a", "S0b"]


def test_the_halves_of_a_cut_are_scheduled_apart() -> None:
    halves = schedule(LINE, n=6).cut("i", 2).reverse("i", statement="S0b").vectorize("i", statement="S0a")
    assert [point for _, point in _visits(halves)] == [(0,), (1,), (5,), (4,), (3,), (2,)]
    assert halves.is_legal
    reads_back = schedule("for (int i = 1; i < n; i++) A[i] = A[i - 1];").cut("i", 3)
    assert reads_back.is_legal
    assert not reads_back.reverse("i", statement="S0b").is_legal


def test_the_first_iteration_is_peeled_off() -> None:
    """All others wait for what the first one writes; without it, they run at once."""
    start = schedule("for (int i = 0; i < n; i++) B[i] = A[i] + B[0];", n=5)
    assert not start.parallel("i").is_legal
    peeled = start.cut("i", 1)
    assert peeled.parallel("i", statement="S0b").is_legal


def test_collapsed_loops_are_one_and_keep_the_order() -> None:
    one = schedule(ROWS, n=3).collapse("i", "j")
    assert one.program() == "for (int ij = 0; ij < 4 * n; ij++)\n  A[floord(ij, 4)][ij % 4] = 0;"
    assert _visits(one) == _visits(schedule(ROWS, n=3))
    assert one.parallel("ij").is_legal


def test_tiles_collapse_to_what_they_were_split_from() -> None:
    tiled = schedule(ROWS, n=9).split("i", 4)
    assert tiled.collapse("io", "ii", "i").program() == schedule(ROWS).program()


@pytest.mark.parametrize(
    ("step", "label", "facts"),
    [
        (lambda s: s.cut("i", "m"), "cut", {"given": "'m'", "parameters": "(n)"}),
        (lambda s: s.cut("i", "n * n"), "product", {"given": "'n * n'"}),
        (lambda s: s.cut("i", "n +"), "syntax", {"given": "'n +'"}),
        (lambda s: s.cut("k", 1), "loop", {"loop": "k", "loops": "i, j"}),
        (lambda s: s.interchange("i", "j").collapse("j", "i"), "range", {"range": "i", "loops": "j and i"}),
        (lambda s: s.collapse("j", "i"), "inside", {"loop": "i", "outer": "j"}),
        (lambda s: s.parallel("i").collapse("i", "j"), "parallel", {"loop": "i", "collapsed": "ij"}),
        (lambda s: s.split("i", 2).collapse("io", "ii", "j"), "name", {"loop": "j"}),
        (lambda s: s.shift("i", "k"), "cut", {"given": "'k'", "parameters": "(n)"}),
    ],
)
def test_steps_that_make_no_sense_say_why(step, label: str, facts: dict[str, object], wording: Wording) -> None:  # type: ignore[no-untyped-def]
    with wording.raises(ValueError, label, **facts):
        step(schedule(ROWS))


@pytest.mark.parametrize(
    ("name", "text", "step"),
    [
        ("shift", AHEAD, lambda s: s.fuse("S0", "S1").shift("i", 1, statement="S1")),
        ("cut", LINE, lambda s: s.cut("i", 4)),
        ("collapse", ROWS, lambda s: s.collapse("i", "j")),
    ],
)
def test_the_docstring_shows_what_is_printed(name: str, text: str, step) -> None:  # type: ignore[no-untyped-def]
    doc = getattr(Schedule, name).__doc__ or ""
    printed = step(schedule(text)).program().splitlines()
    for line in [*text.splitlines(), *(printed[1:] if name == "shift" else printed)]:  # without the guard for n = 0
        assert line.strip() in doc


@settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))
@given(random_nests(), st.integers(0, 4), st.data())
def test_a_legal_order_computes_the_same(nest: RandomNest, n: int, data: st.DataObject) -> None:
    found = scop(nest.text)
    found = found.bind(**dict.fromkeys(found.parameters, n))
    order = _random_schedule(found.schedule, data)
    try:
        legal = order.is_legal
    except TooHard:
        return
    assert sorted(_visits(order)) == sorted(_visits(found.schedule))
    if legal:
        assert run_terms(order) == run_terms(found.schedule)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(random_nests(), st.integers(0, 4), st.data())
def test_an_order_that_changes_no_read_is_called_legal(nest: RandomNest, n: int, data: st.DataObject) -> None:
    """Cut and collapse never move an instance past another."""
    found = scop(nest.text)
    order = found.bind(**dict.fromkeys(found.parameters, n)).schedule
    for _ in range(2):
        order = _step(order, data, data.draw(st.sampled_from(["cut", "collapse"])))
    assert _visits(order) == _visits(found.bind(**dict.fromkeys(found.parameters, n)).schedule)
    assert order.is_legal


def _random_schedule(order: Schedule, data: st.DataObject) -> Schedule:
    for _ in range(data.draw(st.integers(1, 4))):
        verbs = ["shift", "cut", "collapse", "fuse", "reverse", "interchange", "split"]
        order = _step(order, data, data.draw(st.sampled_from(verbs)))
    return order


def _step(order: Schedule, data: st.DataObject, verb: str) -> Schedule:
    """One random step, or none where it does not fit."""
    statement = data.draw(st.sampled_from([s.name for s in order.scop.statements]))
    names = [step.loop.name for step in path(order.tree, statement) if step.loop]
    if not names:
        return order
    name, other = data.draw(st.sampled_from(names)), data.draw(st.sampled_from(names))
    amount: int | str = data.draw(st.integers(-2, 4))
    if "n" in order.scop.parameters and data.draw(st.booleans()):
        amount = f"n - {amount}"
    try:
        match verb:
            case "shift":
                return order.shift(name, amount, statement=statement)
            case "cut":
                return order.cut(name, amount, statement=statement)
            case "collapse":
                return order.collapse(name, other, statement=statement)
            case "fuse":
                return order.fuse(order.scop.statements[0].name, statement)
            case "reverse":
                return order.reverse(name, statement=statement)
            case "interchange":
                return order.interchange(name, other, statement=statement)
        return order.split(name, data.draw(st.integers(1, 3)), statement=statement)
    except ValueError:
        return order


def test_loops_that_run_at_once_are_no_part_of_the_time() -> None:
    start = schedule(ROWS, n=3)
    assert timing(start).instants.max() == 11
    assert timing(start.parallel("j")).instants.max() == 2
    assert timing(start.parallel("i")).instants.max() == 3
