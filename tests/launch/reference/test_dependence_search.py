"""What is told of the inputs that decide about a wrong element holds: the kernel and the function show it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
import triton
import triton.language as tl

import triton_lab as lab
from tests.launch.comparison.judgement import compiled
from tests.launch.comparison.kernels import recorded
from tests.launch.comparison.reported.applications.serving import SERVING
from tests.launch.comparison.reported.arrays import ARRAYS
from tests.launch.comparison.reported.geometry import GEOMETRY
from tests.launch.comparison.reported_slips import Reported, reported
from triton_lab.launch.reference import dependence_search
from triton_lab.launch.reference.wrong_dependence import InputElement, WrongDependence, WrongFactor

OF_FUNCTIONS = [one for one in reported((*ARRAYS, *GEOMETRY, *SERVING)) if one.subject.right is not None]


@triton.jit
def taken(x_ptr, y_ptr, n, STEP: tl.constexpr, AWAY: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    at = (i * STEP + AWAY) % n
    tl.store(y_ptr + i, tl.load(x_ptr + at, mask=i < n), mask=i < n)


@triton.jit
def by_row(x_ptr, bias_ptr, y_ptr, N: tl.constexpr):
    i = tl.arange(0, 8)[:, None]
    j = tl.arange(0, N)[None, :]
    tl.store(y_ptr + i * N + j, tl.load(x_ptr + i * N + j) + tl.load(bias_ptr + i))


@triton.jit
def weighted(x_ptr, w_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    tl.store(y_ptr, tl.sum(x * tl.load(w_ptr + i, mask=i < n, other=0.0)))


@triton.jit
def added(x_ptr, y_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.atomic_add(y_ptr + i, 2 * tl.load(x_ptr + i))


def numbers(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize(("step", "away"), [(1, 1), (3, 0), (1, 99), (7, 5)])
def test_another_element_is_told_with_the_line_of_its_load(step: int, away: int) -> None:
    x, y = numbers(100), torch.zeros(100)
    launch = recorded(lambda: taken[(4,)](x, y, 100, STEP=step, AWAY=away, BLOCK=32))
    found = lab.compare(launch, lambda x_ptr, **_: x_ptr.clone()).dependence
    assert isinstance(found, WrongDependence) and found.extra is not None and found.missing is not None
    (at,) = found.index
    assert found.extra.index == ((at * step + away) % 100,) and found.missing.index == (at,)
    assert found.extra.line == taken.fn.__code__.co_firstlineno + 4


def test_an_input_along_the_other_axis() -> None:
    x, bias, y = numbers(8, 8), numbers(8, seed=1), torch.zeros(8, 8)
    launch = recorded(lambda: by_row[(1,)](x, bias, y, N=8))
    found = lab.compare(launch, lambda x_ptr, bias_ptr, **_: x_ptr + bias_ptr).dependence
    assert isinstance(found, WrongDependence) and found.extra is not None and found.missing is not None
    row, column = found.index
    assert (found.extra.name, found.extra.index) == ("bias_ptr", (row,))
    assert (found.missing.name, found.missing.index) == ("bias_ptr", (column,))


def test_a_term_that_is_zero_by_chance_is_not_told() -> None:
    x, w, y = numbers(20), numbers(20, seed=1), torch.zeros(1)
    w[3:9] = 0
    launch = recorded(lambda: weighted[(1,)](x, w, y, 20, BLOCK=32))
    assert lab.compare(launch, lambda x_ptr, w_ptr, **_: 2 * (x_ptr * w_ptr).sum().reshape(1)).dependence is None


@triton.jit
def chosen(x_ptr, at_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    at = tl.load(at_ptr + i, mask=i < n, other=0)
    tl.store(y_ptr + i, tl.load(x_ptr + at + 1, mask=i < n), mask=i < n)


def test_an_index_is_never_changed_for_the_function() -> None:
    """Functions of torch may trust indices, and end the process with others."""
    x, y, at = numbers(21), torch.zeros(20), torch.arange(19, -1, -1, dtype=torch.int32)
    launch = recorded(lambda: chosen[(1,)](x, at, y, 20, BLOCK=32))
    seen = []

    def right(x_ptr: torch.Tensor, at_ptr: torch.Tensor, **_: Any) -> torch.Tensor:
        seen.append(torch.equal(at_ptr, at))
        return x_ptr[at_ptr.long()]

    found = lab.compare(launch, right).dependence
    assert len(seen) > 3 and all(seen)
    assert isinstance(found, WrongDependence) and found.extra is not None and found.missing is not None
    assert found.extra.index == (20 - found.index[0],) and found.missing.index == (19 - found.index[0],)


def test_large_tensors_are_not_changed_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = numbers(100), torch.zeros(100)
    launch = recorded(lambda: taken[(4,)](x, y, 100, STEP=1, AWAY=1, BLOCK=32))
    calls = []

    def right(x_ptr: torch.Tensor, **_: Any) -> torch.Tensor:
        calls.append(x_ptr)
        return x_ptr.clone()

    comparison = lab.compare(launch, right)
    monkeypatch.setattr(dependence_search, "_MOST", 199)
    assert comparison.dependence is None and len(calls) == 1


def test_the_kernel_is_not_run_where_the_function_stays_as_it_is() -> None:
    def stored(changed: Any) -> float:
        raise AssertionError("the kernel was run")

    still = SimpleNamespace(
        inputs=(), result=SimpleNamespace(a=np.zeros(1, np.float32)), expected=lambda changed: 1.0, stored=stored
    )
    search = dependence_search._Search(still)  # type: ignore[arg-type]
    assert not search._only_reference({}, seed=0)


def test_too_short_a_sum_lacks_an_element() -> None:
    x, w, y = numbers(50), numbers(50, seed=1), torch.zeros(1)
    launch = recorded(lambda: weighted[(1,)](x, w, y, 32, BLOCK=32))
    found = lab.compare(launch, lambda x_ptr, w_ptr, **_: (x_ptr * w_ptr).sum().reshape(1)).dependence
    assert isinstance(found, WrongDependence) and found.extra is None and found.missing is not None
    assert found.missing.index >= (32,)


def test_what_an_atomic_adds_to_is_no_input() -> None:
    x, y = numbers(16), torch.zeros(16)
    launch = recorded(lambda: added[(1,)](x, y, BLOCK=16))
    assert lab.compare(launch, lambda x_ptr, **_: {"y_ptr": 3 * x_ptr}).dependence is None


def test_a_result_that_is_right_or_compared_with_numbers_has_none() -> None:
    x, y = numbers(100), torch.zeros(100)
    launch = recorded(lambda: taken[(4,)](x, y, 100, STEP=1, AWAY=0, BLOCK=32))
    assert lab.compare(launch, lambda x_ptr, **_: x_ptr.clone()).dependence is None
    assert lab.compare(launch, {"y_ptr": x.flip(0)}).dependence is None


@triton.jit
def smoothed(x_ptr, w_ptr, y_ptr, n, TAPS: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK], tl.float32)
    for k in range(TAPS):
        w = tl.load(w_ptr + TAPS - 1 - k)
        total += w * tl.load(x_ptr + i + k, mask=i < n, other=0.0)
    tl.store(y_ptr + i, total, mask=i < n)


@pytest.mark.parametrize("turned", [False, True])
def test_products_of_the_wrong_elements_are_told(turned: bool) -> None:
    x, w, y = numbers(42), numbers(3, seed=1), torch.zeros(40)
    launch = recorded(lambda: smoothed[(3,)](x, w, y, 40, TAPS=3, BLOCK=16))

    def right(x_ptr: torch.Tensor, w_ptr: torch.Tensor, **_: Any) -> torch.Tensor:
        kernel = w_ptr.flip(0) if turned else w_ptr
        return torch.nn.functional.conv1d(x_ptr[None, None], kernel[None, None])[0, 0]

    found = lab.compare(launch, right).dependence
    if turned:
        assert found is None
        return
    assert isinstance(found, WrongFactor) and found.input.name == "x_ptr"
    (at,), (element,) = found.index, found.input.index
    assert isinstance(found.found, InputElement) and found.found.index == (2 - (element - at),)
    assert isinstance(found.wanted, InputElement) and found.wanted.index == (element - at,)
    assert found.found.line == smoothed.fn.__code__.co_firstlineno + 5


def test_a_weight_that_must_not_count_is_told() -> None:
    x, w, y = numbers(20), torch.ones(20), torch.zeros(1)
    w[7] = 2.0
    launch = recorded(lambda: weighted[(1,)](x, w, y, 20, BLOCK=32))
    found = lab.compare(launch, lambda x_ptr, **_: {"y_ptr": x_ptr.sum().reshape(1)}).dependence
    assert isinstance(found, WrongDependence) and found.extra is not None and found.extra.name == "w_ptr"


class _Passed:
    """A kernel that keeps the arguments of its launch, as they were before it."""

    def __init__(self, kernel: Any) -> None:
        self.kernel = kernel

    def __getitem__(self, grid: Any) -> Any:
        def launch(*arguments: Any, **keywords: Any) -> None:
            self.grid, self.constants = grid, keywords
            self.given = [one.clone() if isinstance(one, torch.Tensor) else one for one in arguments]
            self.kernel[grid](*arguments, **keywords)

        return launch

    def named(self) -> dict[str, Any]:
        return {**dict(zip(self.kernel.arg_names, self.given, strict=False)), **self.constants}

    def result(self, name: str, changed: dict[str, torch.Tensor]) -> torch.Tensor:
        given = {**self.named(), **changed}
        given = {key: one.clone() if isinstance(one, torch.Tensor) else one for key, one in given.items()}
        own = [given.pop(one) for one in self.kernel.arg_names[: len(self.given)]]
        self.kernel[self.grid](*own, **given)
        return own[list(self.kernel.arg_names).index(name)]


def _moved(before: torch.Tensor, after: torch.Tensor, index: tuple[int, ...]) -> bool:
    return not torch.allclose(before[index].double(), after[index].double(), rtol=1e-6, atol=0, equal_nan=True)


@pytest.mark.parametrize("one", OF_FUNCTIONS[::8], ids=lambda one: one.name[:60])
def test_what_is_told_of_slips_holds_when_they_run_again(one: Reported) -> None:
    spy = _Passed(compiled(one.subject.kernel, one.text))
    launch = recorded(lambda: one.subject.run(spy))
    comparison = lab.compare(launch, one.subject.right)
    found = comparison.dependence
    if not isinstance(found, WrongDependence):
        return
    for element, stays in ((found.missing, "kernel"), (found.extra, "function")):
        if element is None:
            continue
        value = spy.named()[element.name].clone()
        others = value.flatten()[[0, value.numel() // 3, -1]].tolist()
        for other in [*others, *([7.5] if value.dtype.is_floating_point else [])]:
            value[element.index] = other
            changed = {element.name: value}
            if stays == "kernel":
                before, after = (spy.result(found.argument, each) for each in ({}, changed))
            else:
                try:
                    before, after = (_expected(one, spy, found.argument, each) for each in ({}, changed))
                except Exception:  # the function may refuse these numbers
                    continue
            assert not _moved(before, after, found.index)


def _expected(one: Reported, spy: _Passed, argument: str, changed: dict[str, torch.Tensor]) -> torch.Tensor:
    given = {**spy.named(), **changed}
    given = {key: one.clone() if isinstance(one, torch.Tensor) else one for key, one in given.items()}
    assert one.subject.right is not None
    found = one.subject.right(**given)
    result = found[argument] if isinstance(found, dict) else found
    return result.reshape(spy.named()[argument].shape)
