"""Hits, misses, and that every ingredient of the hash tells graphs apart."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
import torch
import triton

from triton_lab import lazy
from triton_lab.lazy import known_traces


def done() -> lazy.Step:
    step = lazy.mark_step()
    assert step is not None
    return step


@contextmanager
def compilations() -> Iterator[list[str]]:
    """The names of the kernels that Triton compiles or loads from its disk cache inside."""
    seen: list[str] = []
    before = triton.knobs.compilation.listener
    triton.knobs.compilation.listener = lambda src, **_: seen.append(src.name)
    try:
        yield seen
    finally:
        triton.knobs.compilation.listener = before


def test_a_second_step_with_the_same_graph_compiles_nothing() -> None:
    a, b = lazy.tensor([1.0, 2.0]), lazy.tensor([3.0, 4.0])
    with compilations() as first:
        a.add_(b)
        assert not done().hit
    assert len(first) == 1
    with compilations() as second:
        for _ in range(5):
            a.add_(b)
            step = done()
            assert step.hit and step.nearest is None
    assert second == []
    assert (lazy.cache.misses, lazy.cache.hits, len(lazy.cache)) == (1, 5, 1)
    assert a.tolist() == [19.0, 26.0]


def test_other_values_and_other_tensors_of_the_same_kind_hit() -> None:
    a = lazy.tensor([1.0, 2.0])
    b = a * a
    assert not done().hit
    c = lazy.tensor([5.0, 6.0])
    d = c * c
    assert done().hit
    assert (b.tolist(), d.tolist()) == ([1.0, 4.0], [25.0, 36.0])


def floats(*shape: int) -> lazy.Tensor:
    return lazy.tensor(torch.ones(shape))


PAIRS: dict[str, tuple[Callable[[], object], Callable[[], object]]] = {
    "ops": (lambda: floats(4) + floats(4), lambda: floats(4) * floats(4)),
    "shapes": (lambda: floats(4) + floats(4), lambda: floats(5) + floats(5)),
    "dtypes": (lambda: lazy.tensor([1]) + lazy.tensor([1]), lambda: lazy.tensor([1.0]) + lazy.tensor([1.0])),
    "strides": (lambda: floats(3, 3)[:2, :2].clone(), lambda: floats(3, 3)[1:, 1:].clone()),
    "constants": (lambda: floats(4) + 1, lambda: floats(4) + 2),
}


@pytest.mark.parametrize("ingredient", PAIRS)
def test_graphs_that_differ_in_one_ingredient_do_not_share_an_executable(ingredient: str) -> None:
    first, second = PAIRS[ingredient]
    kept = first()
    one = done()
    also_kept = second()
    two = done()
    assert kept is not also_kept
    assert one.key != two.key and not two.hit and two.executable is not one.executable
    assert two.nearest is not None
    assert ingredient in [name for name, _, _ in two.nearest.differences]


def test_a_transposed_operand_is_another_graph() -> None:
    square = torch.arange(4.0).reshape(2, 2)
    a, b = lazy.tensor(square), lazy.tensor(square)
    plain = a + b
    one = done()
    turned = a + b.t()
    two = done()
    assert one.ingredients.strides != two.ingredients.strides and not two.hit
    assert torch.equal(turned.torch().cpu(), square + square.t()) and torch.equal(plain.torch().cpu(), square + square)


def test_which_operand_is_used_twice_is_part_of_the_graph() -> None:
    a, b = lazy.tensor([2.0]), lazy.tensor([3.0])
    x = (a + b) + a
    one = done()
    y = (a + b) + b
    assert not done().hit and one.ingredients.ops
    assert (x.item(), y.item()) == (7.0, 8.0)


def test_which_values_are_outputs_is_part_of_the_graph() -> None:
    a = lazy.tensor([2.0, 3.0])
    x = (a + 1) * 2
    done()
    inner = a + 1
    y = inner * 2
    assert not done().hit
    assert (inner.tolist(), x.tolist(), y.tolist()) == ([3.0, 4.0], [6.0, 8.0], [6.0, 8.0])


def test_the_target_is_part_of_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    from triton_lab.lazy import storage

    a = lazy.tensor([1.0])
    a.add_(1)
    one = done()
    monkeypatch.setattr(storage, "target", lambda: "another machine")
    a.add_(1)
    two = done()
    assert not two.hit and one.ingredients.differing(two.ingredients) == ("target",)


@pytest.mark.parametrize(
    ("first", "second"), [(1, 1.0), (0.0, -0.0), (True, 1), (2, 3)], ids=["int-float", "zeros", "bool-int", "numbers"]
)
def test_constants_that_python_calls_equal_are_told_apart(first: float, second: float) -> None:
    for dtype in (torch.float64, torch.int64, torch.bool):
        results = []
        for number in (first, second):
            t = lazy.tensor([1, 0], dtype=dtype)
            results.append((t * number).torch().cpu())
            eager = torch.tensor([1, 0], dtype=dtype) * number
            assert torch.equal(results[-1], eager) and results[-1].dtype == eager.dtype
            assert torch.equal(torch.signbit(results[-1]), torch.signbit(eager))


def test_the_cache_forgets_the_executable_not_used_for_longest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("triton_lab.lazy.compile_cache.LARGEST", 2)
    t = lazy.tensor([1.0])
    for number in (1, 2, 1, 3):
        t.add_(number)
        done()
    assert len(lazy.cache) == 2
    t.add_(1)
    assert done().hit
    t.add_(2)
    assert not done().hit


def test_a_failed_compilation_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(kernel: object) -> object:
        raise ValueError("no kernels today")

    t = lazy.tensor([1.0])
    t.add_(1)
    with monkeypatch.context() as patch:
        patch.setattr("triton_lab.lazy.executable.define", broken)
        with pytest.raises(ValueError, match="no kernels today"):
            lazy.mark_step()
    assert len(lazy.cache) == 0
    assert t.tolist() == [2.0]


TORCH_COMPARES_IN_THE_DEFAULT = not bool((torch.tensor([1, 2]) < 1.0000000001)[0])


def test_torchs_default_dtype_is_part_of_what_is_remembered_of_an_operation() -> None:
    """Whole numbers that meet a float become torch's default dtype, which a program may change."""
    whole, before = lazy.tensor([1, 2]), torch.get_default_dtype()
    try:
        for dtype in (torch.float32, torch.float64, torch.float32):
            torch.set_default_dtype(dtype)
            assert [(whole / 2).dtype, (whole + 0.5).dtype, whole.exp().dtype] == [dtype] * 3
            # Before 2.13 torch compares with a Python number in float64, whatever the default.
            if TORCH_COMPARES_IN_THE_DEFAULT:
                assert (whole < 1.0000000001).tolist() == (torch.tensor([1, 2]) < 1.0000000001).tolist()
    finally:
        torch.set_default_dtype(before)


def test_a_known_trace_has_the_lines_of_whoever_takes_the_step() -> None:
    a = floats(4)
    b = a * 3.0 + 1.0
    first = done()
    c = a * 3.0 + 1.0
    second = done()
    assert second.hit and first.graph == second.graph and first.trace.form == second.trace.form
    lines = [{op.origin.line for op in step.graph.ops if op.origin is not None} for step in (first, second)]
    assert len(lines[0]) == len(lines[1]) == 1 and max(lines[1]) == max(lines[0]) + 2
    assert b.tolist() == c.tolist() == [4.0] * 4


def test_only_so_many_traces_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_traces, "LARGEST", 2)
    a = floats(4)
    for factor in (2.0, 3.0, 4.0, 2.0):
        b = a * factor
        step = done()
        assert len(lazy.cache.traces._entries) <= 2 and b.tolist() == [factor] * 4
    assert step.hit  # the executable is found by its key even so


def test_constants_that_are_equal_in_python_make_different_traces() -> None:
    a = floats(2)
    for number, found in ((0.0, 1.0), (-0.0, -1.0)):
        b = (a * number).torch()
        assert torch.copysign(torch.ones(2), b).tolist() == [found] * 2


def test_dead_tensors_on_a_storage_are_dropped() -> None:
    a = floats(4)
    views = [a[:2] for _ in range(5)]
    for _ in range(1000):
        a.detach()
    assert a.storage.tensors == [a, *views] and len(a.storage._tensors._references) < 40
