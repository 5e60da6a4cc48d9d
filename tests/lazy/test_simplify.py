"""Simplification: which operations go away, and which must not."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from triton_lab import lazy


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
