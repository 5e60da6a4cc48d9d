"""Simplification: which operations go away, and which must not."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from triton_lab import lazy
from triton_lab.lazy.graph import Constant, Graph, GraphOp
from triton_lab.lazy.simplification import Book, simplify


def names(step: lazy.Step | None) -> list[str]:
    """The operations that are left; none if there was nothing to do."""
    if step is None:
        return []
    return [op.name for op in step.graph.ops if op.name not in ("input", "constant")]


@pytest.mark.parametrize(
    ("program", "left"),
    [
        (lambda t: t * 1, []),
        (lambda t: t / 1, []),
        (lambda t: t - 0, []),
        (lambda t: -(0 + -t), ["neg", "add", "neg"]),
        (lambda t: t.__neg__().__neg__(), []),
        (lambda t: t.to(torch.float32), []),
        (lambda t: t.t().t().clone(), []),
        (lambda t: t.view(6).view(2, 3) + 1, ["add"]),
        (lambda t: (t + 1) * (t + 1), ["add", "mul"]),
        (lambda t: t[1:][:, 1:][0].clone(), ["view"]),
        (lambda t: t + 0, ["add"]),  # -0.0 + 0.0 is 0.0
        (lambda t: t * 0, ["mul"]),  # nan * 0 is nan
        (lambda t: t - t, ["sub"]),
    ],
)
def test_values(program: Callable[[lazy.Tensor], lazy.Tensor], left: list[str]) -> None:
    t = lazy.tensor(torch.arange(6.0).reshape(2, 3))
    result = program(t)
    step = lazy.mark_step()
    assert names(step) == left
    eager = torch.arange(6.0).reshape(2, 3)
    assert torch.equal(result.torch().cpu(), program(eager))  # type: ignore[arg-type]


def write_twice(t: lazy.Tensor) -> None:
    t[0] = 5.0
    t[0] = 6.0


def write_rows(t: lazy.Tensor) -> None:
    t[0] += 1
    t[1] += t[0]


def write_all(t: lazy.Tensor) -> None:
    t[0] = 3.0
    t.fill_(2.0)


def write_back(t: lazy.Tensor) -> None:
    t[0] = t[0]


@pytest.mark.parametrize(
    ("program", "left"),
    [
        (write_twice, ["update"]),
        (write_all, []),
        (write_back, []),
        (write_rows, ["view", "add", "update", "view", "add", "update"]),
    ],
)
def test_writes(program: Callable[[lazy.Tensor], None], left: list[str]) -> None:
    t = lazy.tensor(torch.arange(6.0).reshape(2, 3))
    program(t)
    step = lazy.mark_step()
    eager = torch.arange(6.0).reshape(2, 3)
    program(eager)  # type: ignore[arg-type]
    assert torch.equal(t.torch().cpu(), eager)
    assert names(step) == left


def test_what_no_tensor_sees_is_not_computed() -> None:
    t = lazy.tensor([1.0])
    kept = t + 1
    dropped = t * 5
    del dropped
    assert names(lazy.mark_step()) == ["add"] and kept.item() == 2


def test_nothing_pending_is_no_step() -> None:
    t = lazy.tensor([1.0])
    assert lazy.mark_step() is None
    t.view(1)
    assert lazy.mark_step() is None and not lazy.history


NEUTRAL = {
    "add": (("0", "-0.0"), True),
    "sub": (("0", "0.0"), False),
    "mul": (("1", "1.0"), True),
    "div": (("1.0",), False),
}
NUMBERS = ("0", "-0.0", "0.0", "1", "1.0", "-1.0", "2")


@pytest.mark.parametrize("name", NEUTRAL)
@pytest.mark.parametrize("text", NUMBERS)
@pytest.mark.parametrize("left", [False, True])
def test_a_neutral_number_goes_away_where_the_other_operand_is_the_result(name: str, text: str, left: bool) -> None:
    """On the sides where it is neutral, and only if neither shape nor dtype of the result is another."""
    neutral, either = NEUTRAL[name]
    for shape, dtype in ((s, d) for s in ((2, 3), (1, 3)) for d in (torch.float32, torch.int64)):
        book = Book()
        given = book.add(GraphOp("input", (), shape, dtype))
        constant = book.add(GraphOp("constant", (), (), torch.float32, Constant(text)))
        operands = (constant, given) if left else (given, constant)
        found = book.add(GraphOp(name, operands, (2, 3), torch.float32))
        stands = (shape, dtype) == ((2, 3), torch.float32)
        assert (found == given) == (stands and text in neutral and (either or not left))


@pytest.mark.parametrize("condition", ["True", "False", None])
def test_a_choice_that_is_settled_is_what_was_chosen(condition: str | None) -> None:
    for shape, dtype in (((2,), torch.float32), ((1,), torch.float32), ((2,), torch.float64)):
        book = Book()
        which = book.add(
            GraphOp("input", (), (2,), torch.bool)
            if condition is None
            else GraphOp("constant", (), (), torch.bool, Constant(condition))
        )
        yes, no = (book.add(GraphOp("input", (), shape, dtype)) for _ in range(2))
        stands = (shape, dtype) == ((2,), torch.float32)
        chosen = {"True": yes, "False": no, None: None}[condition] if stands else None
        found = book.add(GraphOp("where", (which, yes, no), (2,), torch.float32))
        assert (found if found in (yes, no) else None) == chosen
        same = book.add(GraphOp("where", (which, yes, yes), (2,), torch.float32))
        assert (same == yes) == stands


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_cast_goes_away_where_it_changes_nothing(dtype: torch.dtype) -> None:
    book = Book()
    given = book.add(GraphOp("input", (), (2,), torch.float32))
    assert (book.add(GraphOp("cast", (given,), (2,), dtype)) == given) == (dtype == torch.float32)
    negated = book.add(GraphOp("neg", (given,), (2,), torch.float32))
    assert negated != given and book.add(GraphOp("neg", (negated,), (2,), torch.float32)) == given


def test_inputs_are_never_one_and_other_equal_operations_always() -> None:
    book = Book()
    one, other = (book.add(GraphOp("input", (), (2,), torch.float32)) for _ in range(2))
    assert one != other
    sums = [
        book.add(GraphOp("add", operands, (2,), torch.float32))
        for operands in ((one, other), (one, other), (other, one))
    ]
    assert sums[0] == sums[1] != sums[2]


def test_what_is_kept_keeps_its_order_and_what_no_output_needs_is_left_out() -> None:
    ops = [GraphOp("input", (), (2,), torch.float32) for _ in range(4)]
    ops += [GraphOp("add", (3, 1), (2,), torch.float32), GraphOp("mul", (0, 2), (2,), torch.float32)]
    ops += [GraphOp("sub", (4, 3), (2,), torch.float32)]
    graph, inputs = simplify(Graph(tuple(ops), (6, 4)))
    assert inputs == (1, 3)
    assert [(op.name, op.operands) for op in graph.ops] == [
        ("input", ()), ("input", ()), ("add", (1, 0)), ("sub", (2, 1)),
    ]  # fmt: skip
    assert graph.outputs == (3, 2)
