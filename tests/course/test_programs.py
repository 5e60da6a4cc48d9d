"""Checkers that no mutation of a kernel tries, those of chapters 30 and 29: right and wrong answers written by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import triton_lab as lab
from tests.course.test_checkers import TRIED
from triton_lab.course import exercise
from triton_lab.course.exercise_kinds import Choice, Program
from triton_lab.course.exercise_registry import exercises
from triton_lab.course.lazy_steps import stepped

step = lab.lazy.mark_step


# --- trap ---------------------------------------------------------------------------------------------------


def trap_by_slices(a: Any, b: Any) -> Any:
    """The view, and not a name of its own, keeps the old buffer in the second step."""
    b -= a
    step()
    tail = b[1:]
    b = b - a
    step()
    return tail


def trap_by_numbers(a: Any, b: Any) -> Any:
    a.sub_(3.0)
    step()
    c = a - 3.0
    step()
    return [a, c]


def trap_by_one_step(a: Any, b: Any) -> Any:
    b.add_(a)
    c = b + a
    step()
    return b, c


def trap_without_in_place(a: Any, b: Any) -> Any:
    c = b + a
    step()
    d = b + a
    step()
    return b, c, d


def trap_of_other_operations(a: Any, b: Any) -> Any:
    b.add_(a)
    step()
    c = b * a
    step()
    return b, c


def trap_of_other_constants(a: Any, b: Any) -> Any:
    b.mul_(2.0)
    step()
    c = b * 3.0
    step()
    return b, c


def trap_of_other_shapes(a: Any, b: Any) -> Any:
    b.add_(a)
    step()
    c = b[:2] + a[:2]
    step()
    return b, c


def trap_that_returns_the_right_one(a: Any, b: Any) -> Any:
    b.add_(a)
    step()
    c = b + a
    step()
    return c


def trap_of_no_steps(a: Any, b: Any) -> Any:
    b.add_(a)
    return b


def trap_the_other_way_round(a: Any, b: Any) -> Any:
    """The kernel that was compiled first overwrites nothing: it is right for both."""
    c = b + a
    step()
    b.add_(a)
    step()
    return b, c


def trap_by_chance(a: Any, b: Any) -> Any:
    b.add_(a)
    step()
    c = b + a
    step()
    return b + lab.lazy.rand_like(b), c


# --- descend ------------------------------------------------------------------------------------------------


def descend_by_full(weights: Any, gradient: Any, rates: Any) -> None:
    given = lab.lazy.tensor(rates)
    for k in range(len(rates)):
        rate = lab.lazy.tensor(given[k].item())
        weights += -rate * gradient
        step()


def descend_by_copying(weights: Any, gradient: Any, rates: Any) -> None:
    for rate in map(lab.lazy.tensor, rates):
        weights.copy_(weights - rate * gradient)
        step()


def descend_by_numbers(weights: Any, gradient: Any, rates: Any) -> None:
    for rate in rates:
        weights.sub_(gradient * rate)
        step()


def descend_in_one_step(weights: Any, gradient: Any, rates: Any) -> None:
    for rate in rates:
        weights.sub_(gradient * lab.lazy.tensor(rate))
    step()


def descend_without_steps(weights: Any, gradient: Any, rates: Any) -> None:
    for rate in rates:
        weights.sub_(gradient * lab.lazy.tensor(rate))


def descend_elsewhere(weights: Any, gradient: Any, rates: Any) -> None:
    for rate in rates:
        weights = weights - gradient * lab.lazy.tensor(rate)
        step()


def descend_with_the_old_one_kept(weights: Any, gradient: Any, rates: Any) -> None:
    for rate in rates:
        old = weights.clone()
        weights.sub_(gradient * lab.lazy.tensor(rate))
        step()
        del old


def descend_upwards(weights: Any, gradient: Any, rates: Any) -> None:
    for rate in rates:
        weights.add_(gradient * lab.lazy.tensor(rate))
        step()


def descend_by_the_first_rate(weights: Any, gradient: Any, rates: Any) -> None:
    for _ in rates:
        weights.sub_(gradient * rates[0])
        step()


def descend_and_scale_the_gradient(weights: Any, gradient: Any, rates: Any) -> None:
    for rate in rates:
        gradient.mul_(lab.lazy.tensor(rate))
        weights.sub_(gradient)
        step()


def descend_with_a_last_look(weights: Any, gradient: Any, rates: Any) -> None:
    descend_by_copying(weights, gradient, rates)
    weights.add_(0.5).sub_(0.5)


# --- centre -------------------------------------------------------------------------------------------------


def centre_by_sums(x: Any) -> Any:
    mean = x.sum(1, keepdim=True) * (1.0 / x.shape[1])
    x += -mean
    step()
    return (mean,)


def centre_by_copying(x: Any) -> Any:
    mean = x.mean(1, keepdim=True)
    x.copy_(x - mean)
    step()
    return mean


def centre_elsewhere(x: Any) -> Any:
    mean = x.mean(1, keepdim=True)
    x = x - mean
    step()
    return mean


def centre_in_two_steps(x: Any) -> Any:
    mean = x.mean(1, keepdim=True)
    step()
    x.sub_(mean)
    step()
    return mean


def centre_with_a_step_too_late(x: Any) -> Any:
    mean = x.mean(1, keepdim=True)
    x.sub_(mean)
    return mean


def centre_with_the_old_one_kept(x: Any) -> Any:
    old = x.clone()
    mean = x.mean(1, keepdim=True)
    x.sub_(mean)
    step()
    del old
    return mean


def centre_with_squares_kept(x: Any) -> Any:
    mean = x.mean(1, keepdim=True)
    x.sub_(mean)
    squares = x * x
    step()
    del squares
    return mean


def centre_of_columns(x: Any) -> Any:
    mean = x.mean(0, keepdim=True)
    x.sub_(mean)
    step()
    return mean


def centre_that_returns_a_vector(x: Any) -> Any:
    mean = x.mean(1, keepdim=True)
    x.sub_(mean)
    step()
    return mean[:, 0]


def centre_that_returns_nothing(x: Any) -> None:
    x.sub_(x.mean(1, keepdim=True))
    step()


def centre_of_the_centred(x: Any) -> Any:
    x.sub_(x.mean(1, keepdim=True))
    mean = x.mean(1, keepdim=True)
    step()
    return mean


def centre_by_numbers(x: Any) -> Any:
    return [row.mean().item() for row in x]


RIGHT: dict[str, tuple[Callable[..., Any], ...]] = {
    "trap": (trap_by_slices, trap_by_numbers),
    "descend": (descend_by_full, descend_by_copying),
    "centre": (centre_by_sums, centre_by_copying),
}
# With part of what is said of each.
WRONG: dict[str, tuple[tuple[Callable[..., Any], str], ...]] = {
    "trap": (
        (trap_by_one_step, "1 step,"),
        (trap_without_in_place, "2 steps,"),
        (trap_of_other_operations, "2 steps,"),
        (trap_of_other_constants, "2 steps,"),
        (trap_of_other_shapes, "2 steps,"),
        (trap_that_returns_the_right_one, "Which tensor is wrong now?"),
        (trap_of_no_steps, "No error occurs"),
        (trap_the_other_way_round, "Which tensor"),
        (trap_by_chance, "random numbers"),
    ),
    "descend": (
        (descend_by_numbers, "4 of 4 steps were compiled. Their graphs differ in: constants"),
        (descend_in_one_step, "runs 1 step"),
        (descend_without_steps, "leaves operations pending"),
        (descend_elsewhere, "weights is "),
        (descend_with_the_old_one_kept, "still in use"),
        (descend_upwards, "weights is "),
        (descend_by_the_first_rate, "weights is "),
        (descend_and_scale_the_gradient, "weights is "),
        (descend_with_a_last_look, "leaves operations pending"),
    ),
    "centre": (
        (centre_elsewhere, "x is "),
        (centre_in_two_steps, "runs 2 steps"),
        (centre_with_a_step_too_late, "leaves operations pending"),
        (centre_with_the_old_one_kept, "still in use"),
        (centre_with_squares_kept, "a second buffer as large as x"),
        (centre_of_columns, "x is "),
        (centre_that_returns_a_vector, "(8,) float32, but must be (8, 1) float32"),
        (centre_that_returns_nothing, "must return one: the means"),
        (centre_of_the_centred, "What it returns is "),
        (centre_by_numbers, "It raised TypeError: it returns float"),
    ),
}
CHOSEN: dict[str, tuple[tuple[Any, str], ...]] = {
    "three_orders": (
        ((1.0, 2.0, 3.0), "all three must differ"),
        ((1e8, 1.0, -1e8), "all three must differ"),
        ((3e38, 3e38, -3e38), "must be finite"),
        ((float("nan"), 1, 2), "must be finite"),
        ((1.0, 2.0), "Give three numbers"),
        (("1", "2", "3"), "Give three numbers"),
        ((0.0, 0.0, 0.0), "all three must differ"),
        ((2.0**24, 1.0, -(2.0**24)), "all three must differ"),
    ),
    "bit_for_bit": (
        (("softmax", "matmul_float16"), "softmax is not bit-equal"),
        (("vector_add", "attention"), "another one differs"),
        (("vector_add", "vector_add"), "does not differ at all"),
        (("matmul_float16", "vector_add"), "is not bit-equal"),
        (("vector_add", "matmul"), "There is no recording 'matmul'"),
        (("attention", "matmul_float16"), "attention is not bit-equal"),
        (("layer_norm", "matmul_float16"), "layer_norm is not bit-equal"),
        (("vector_add", "softmax"), "another one differs"),
    ),
    "choices": (
        ({"stride": 99, "columns": 100}, "in program 1"),
        ({"stride": 100, "columns": 99}, "Give a wrong one"),
        ({"stride": 98, "columns": 100}, "in program 1"),
        ({"stride": 1000, "columns": 99}, "The launch stopped"),
        ({"stride": 99}, "does not fit"),
        ({"stride": 101, "columns": 100}, "The launch stopped"),
        ({"stride": 100, "columns": 100}, "Give a wrong one"),
        ({"stride": 99, "columns": 128}, "The launch stopped"),
    ),
    "windows_by_strides": (
        (((6, 3), (3, 1)), "leaves the eight numbers"),
        (((8, 3), (1, 1)), "leaves the eight numbers"),
        (((6, 3), (1, 2)), "leaves the eight numbers"),
        (((6, 3), (-1, 1)), "leaves the eight numbers"),
        (((3, 6), (1, 1)), "The view has shape (3, 6)"),
        (((5, 3), (1, 1)), "The view has shape (5, 3)"),
        (((6, 3), (1, 0)), "Window 0 is [0.0, 0.0, 0.0]"),
        (((6, 3), (0, 1)), "Window 1 is [0.0, 1.0, 2.0]"),
        (((6, 3), 1), "does not fit"),
    ),
    "one_shape": (
        ((4, 32), "size of its block"),
        ((64, 2), "size of its block"),
        ((3, 50), "64 columns"),
        ((2, 63), "64 columns"),
        ((50, 3), "64 columns"),
        ((1, 100), "first row"),
        ((1, 65), "first row"),
        ((9, 65), "150 are enough"),
        ((0, 65), "no shape"),
        ((2.0, 65), "no shape"),
        ((2, 65, 1), "does not fit"),
    ),
}
OTHERS: dict[str, Any] = {
    "one_shape": [2, 70],
    "three_orders": (-(2.0**25), 2.0**25 + 4.0, -2),
    "bit_for_bit": ["vector_add", "matmul_float16"],
    "choices": {"columns": 60, "stride": 98},
}


def named(table: dict[str, Any]) -> list[Any]:
    return [pytest.param(name, one, id=f"{name}-{number}") for name in table for number, one in enumerate(table[name])]


@pytest.mark.parametrize(("name", "answer"), named(RIGHT))
def test_another_right_program_is_right(name: str, answer: Any) -> None:
    assert str(exercise(name).judge(answer) or "right") == "right"


@pytest.mark.parametrize(("name", "wrong"), [*named(WRONG), *named(CHOSEN)])
def test_a_wrong_answer_is_told_what_is_wrong(name: str, wrong: tuple[Any, str]) -> None:
    answer, told = wrong
    assert told in str(exercise(name).judge(answer))


def test_there_are_enough_of_them() -> None:
    """For each exercise that no mutation tries; layouts are in `test_machine_code`, and two elsewhere."""
    tables = {**WRONG, **CHOSEN}
    elsewhere = {"accused": "misunderstandings", "whole_rows": "test_gluon_chapters"}
    written = {one.name for one in exercises() if isinstance(one, (Choice, Program)) and one.chapter != "18"}
    assert set(tables) | set(elsewhere) == written
    assert min(map(len, tables.values())) >= TRIED


@pytest.mark.parametrize("name", OTHERS)
def test_another_right_choice_is_right(name: str) -> None:
    assert str(exercise(name).judge(OTHERS[name]) or "right") == "right"


def test_a_check_leaves_the_learners_cache_history_and_switch_alone() -> None:
    mine = lab.lazy.tensor([1.0, 2.0], name="mine") * 3
    latest = step()
    held, before = len(lab.lazy.cache), lab.lazy.cache.totals()
    with lab.lazy.hash_includes_donors(False):
        assert exercise("descend").judge(descend_by_copying) is None
        assert exercise("trap").judge(trap_by_slices) is None
        assert exercise("descend").judge(descend_by_copying) is None
        assert (len(lab.lazy.cache), lab.lazy.cache.totals()) == (held, before)
        after = mine + 1
        made = step()
        assert made is not None and not made.donors_hashed
    assert after.tolist() == [4.0, 7.0]
    assert lab.lazy.history[-2] is latest


def test_what_was_pending_before_is_no_step_of_the_answer() -> None:
    pending = lab.lazy.tensor([1.0]) + 1
    run = stepped(lambda: lab.lazy.tensor([2.0]) * 2, {})
    assert run.steps == () and run.pending and run.results[0].tolist() == [4.0]
    assert pending.tolist() == [2.0]
