"""Copies of programs with other numbers in place of a value: what fits is found, also in loops, masks and indices."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import re
from collections.abc import Mapping

import pytest
import torch
import triton
import triton.language as tl

import triton_lab as lab
from tests.launch.comparison.kernels import recorded
from tests.launch.comparison.slips import randn
from triton_lab.launch.comparison import time_budget
from triton_lab.launch.comparison.experiment_results import Causes
from triton_lab.launch.comparison.mutations.kernel_scope import KernelScope
from triton_lab.launch.comparison.probe import Probe
from triton_lab.launch.comparison.replicas.grammar import Grammar
from triton_lab.launch.comparison.replicas.replaced_values import places
from triton_lab.launch.comparison.replicas.replica_run import Replicas
from triton_lab.launch.comparison.rerun import Side
from triton_lab.launch.launch import Launch
from triton_lab.launch.replay.replay_run import replay


@triton.jit
def strided_sums(x_ptr, y_ptr, n, step, offset, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros((BLOCK,), tl.float32)
    for k in range(0, 3):
        at = tl.arange(0, BLOCK)
        place = at
        seen = place * step + k < n
        total += tl.load(x_ptr + row * n + place * step + k, mask=seen, other=0.0)
    ratio = (tl.sum(total, axis=0) + offset) / (n + offset)
    tl.store(y_ptr + row * BLOCK + tl.arange(0, BLOCK), total * ratio)


def launched() -> Launch:
    return recorded(lambda: strided_sums[(5,)](randn(5, 40), torch.zeros(5, 8), 40, 5, 1.0, BLOCK=8))


def expected(x: torch.Tensor, turned: bool = False, twice: bool = False) -> Mapping[str, torch.Tensor]:
    """What the kernel stores, or what it would with a change."""
    at = torch.arange(8)
    place = 7 - at if turned else at
    total = torch.zeros(5, 8)
    for k in range(3):
        total += x[:, place * 5 + k]
    ratio = ((2 if twice else 1) * total.sum(1) + 1) / 41
    return {"y_ptr": total * ratio[:, None]}


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """No end of time: which of two causes is told must not depend on how fast this machine is."""
    monkeypatch.setattr(time_budget.Budget, "spent", False)


def causes(**changes: bool) -> Causes:
    return lab.compare(launched(), expected(randn(5, 40), **changes)).causes()


def lines(cause: str, kernel=strided_sums) -> set[int]:
    first = kernel.starting_line_number - 1
    return {int(n) - first for part in re.findall(r"lines? ([\d and]+)", cause) for n in re.findall(r"\d+", part)}


@pytest.mark.parametrize(
    ("change", "said", "line"),
    [("turned", "BLOCK - 1 - ", 6), ("twice", "2 * tl.sum(total)", 9)],
    ids=["an index that counts down", "a factor inside a quotient"],
)
def test_what_one_value_should_have_been_is_named_with_its_line(change: str, said: str, line: int) -> None:
    cause = causes(**{change: True}).cause
    assert said in cause
    assert {line, line + 1} & lines(cause)


def replicas(launch: Launch, wanted: Mapping[str, torch.Tensor]) -> tuple[KernelScope, Replicas]:
    side = Side("", launch, {name: value.numpy() for name, value in wanted.items()})
    plain = side.held(replay(launch))
    scope = KernelScope(launch, list(wanted))
    found = Replicas.of(scope, Probe.of(side, plain))
    assert found is not None
    return scope, found


def test_a_copy_that_leaves_memory_does_not_stop_the_others() -> None:
    scope, copies = replicas(launched(), expected(randn(5, 40), turned=True))
    every = [(place, Grammar(scope, place)) for place in places(scope)]
    found = copies.fitting([(place, list(grammar.simple())) for place, grammar in every])
    fitting = {one.name for fitting in found for one in fitting}
    assert any(name.startswith("BLOCK - 1 - ") for name in fitting)
    # An index beyond the argument is tried with the others.
    assert any("at * n" in one.name for _place, grammar in every for one in grammar.simple())


def test_copies_of_the_kernel_as_it_is_explain_nothing() -> None:
    scope, copies = replicas(launched(), expected(randn(5, 40), turned=True))
    tried = [(place, [Grammar(scope, place).own]) for place in list(places(scope))[:5]]
    assert copies.fitting(tried) == [[]] * 5


@triton.jit
def counts(x_ptr, y_ptr, scale, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at)
    tl.atomic_add(y_ptr + at % 4, x)


@triton.jit
def running(x_ptr, y_ptr, n):
    row = tl.program_id(0)
    for k in range(1, n):
        before = tl.load(y_ptr + row * n + k - 1)
        tl.store(y_ptr + row * n + k, before * 0.5 + tl.load(x_ptr + row * n + k))


def test_each_copy_adds_to_results_of_its_own() -> None:
    x = randn(24)
    launch = recorded(lambda: counts[(3,)](x, torch.zeros(4), 0.37, BLOCK=8))
    scope, copies = replicas(launch, {"y_ptr": 0.37 * x.reshape(-1, 4).sum(0)})
    assert copies.private is not None
    found = copies.fitting([(place, list(Grammar(scope, place).simple())) for place in places(scope)])
    fitting = {one.name for fitting in found for one in fitting}
    assert fitting & {"x * scale", "scale * x"}


def test_each_copy_loads_what_it_has_stored_itself() -> None:
    x = randn(3, 6)
    right = torch.zeros(3, 6)
    for k in range(1, 6):
        right[:, k] = (right[:, k - 1] * 0.5 + x[:, k]) + 1
    launch = recorded(lambda: running[(3,)](x, torch.zeros(3, 6), 6))
    scope, copies = replicas(launch, {"y_ptr": right})
    assert copies.private is not None
    found = copies.fitting([(place, list(Grammar(scope, place).simple())) for place in places(scope)])
    fitting = {one.name for fitting in found for one in fitting}
    assert any(" + 1" in name or "1 + " in name for name in fitting)


@triton.jit
def row_spread(x_ptr, y_ptr, share_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + at, mask=at < n, other=0.0)
    mean = tl.sum(x, axis=0) / n
    least = tl.min(tl.where(at < n, x, float("inf")), axis=0)
    base = mean
    spread = tl.max(x * x, axis=0)
    tl.store(y_ptr + row, spread)
    tl.store(share_ptr + row * 2, mean / base)
    tl.store(share_ptr + row * 2 + 1, least / base)


def _spread(x: torch.Tensor, squared: bool) -> Mapping[str, torch.Tensor]:
    mean, least = x.mean(1), x.amin(1)
    base = mean if squared else mean + least
    spread = (x * x).amax(1) - (mean * mean if squared else 0)
    return {"y_ptr": spread, "share_ptr": torch.stack([mean / base, least / base], 1)}


@pytest.mark.parametrize(("squared", "line"), [(False, 8), (True, 9)], ids=["under a further name", "a square"])
def test_what_is_missing_is_named_where_it_belongs(squared: bool, line: int) -> None:
    """The uses of a value under a second name are changed apart from the others; a square is one more value."""
    x = randn(9, 13) + 0.5
    launch = recorded(lambda: row_spread[(9,)](x, torch.zeros(9), torch.zeros(9, 2), 13, BLOCK=16))
    cause = lab.compare(launch, _spread(x, squared)).causes().cause
    assert line in lines(cause, row_spread), cause
