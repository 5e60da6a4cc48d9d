"""A step that fails leaves every tensor as it was."""

from __future__ import annotations

import dataclasses
import inspect
from typing import Any

import pytest
import torch

from tests.wordings import Wording
from triton_lab import lazy
from triton_lab.lazy import elementwise_table, executable


class Failing:
    """A kernel that runs, or runs halfway, and then fails."""

    def __init__(self, function: Any, grid: tuple[int, ...] | None):
        self.function, self.grid, self.fn = function, grid, function.fn

    def __getitem__(self, grid: tuple[int, ...]) -> Any:
        def launch(*arguments: Any, **options: Any) -> None:
            self.function[self.grid or grid](*arguments, **options)
            raise RuntimeError("the machine is on fire")

        return launch

    def warmup(self, *arguments: Any, **options: Any) -> None:
        return None


def break_kernels(monkeypatch: pytest.MonkeyPatch, position: int, grid: tuple[int, ...] | None = None) -> None:
    """Let the kernel at `position` of every graph that is compiled from now on fail after it has written."""
    real = executable.define
    count = iter(range(1000))
    monkeypatch.setattr(executable, "define", lambda k: Failing(real(k), grid) if next(count) == position else real(k))


@pytest.mark.parametrize("position", [0, 1, 2])
def test_whichever_kernel_fails_the_tensors_keep_their_values(monkeypatch: pytest.MonkeyPatch, position: int) -> None:
    a, b = lazy.tensor(torch.arange(4.0)), lazy.tensor(torch.ones(3))
    view = a[1:3]
    a.add_(1)
    view.mul_(10)
    b.sub_(5)
    with monkeypatch.context() as patch:
        break_kernels(patch, position)
        with pytest.raises(RuntimeError, match="on fire"):
            lazy.mark_step()
    assert a.storage.buffer is None, "what was pending is pending still"
    assert not lazy.history
    # Run without the fault, the step does what it would have done.
    lazy.cache.clear()
    lazy.mark_step()
    assert a.tolist() == [1, 20, 30, 4] and view.tolist() == [20, 30] and b.tolist() == [-4, -4, -4]


def test_a_kernel_that_failed_halfway_is_undone(monkeypatch: pytest.MonkeyPatch) -> None:
    t = lazy.tensor(torch.arange(4096.0))
    old = torch.arange(4096.0)
    t.mul_(-1)
    with monkeypatch.context() as patch:
        break_kernels(patch, 0, grid=(2,))  # two of four blocks
        with pytest.raises(RuntimeError, match="on fire"):
            lazy.mark_step()
    lazy.cache.clear()
    assert torch.equal(t.torch().cpu(), -old)


def test_a_buffer_too_large_to_copy_is_declared_lost_and_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executable, "UNDO_LIMIT", 16)
    t, other = lazy.tensor(torch.arange(64.0), name="t"), lazy.tensor([1.0])
    t.mul_(-1)
    other.add_(1)
    with monkeypatch.context() as patch:
        break_kernels(patch, 0)
        with pytest.raises(lazy.Lost, match="overwrote in0"):
            lazy.mark_step()
    lazy.cache.clear()
    with pytest.raises(RuntimeError):
        t.tolist()
    del t
    assert other.tolist() == [2.0]


def test_memory_that_cannot_be_had_is_missed_before_anything_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = lazy.tensor([1.0, 2.0]), lazy.tensor([3.0])
    a.add_(1)
    c = b + 1

    def none_left(*_: object) -> torch.Tensor:
        raise MemoryError("no memory left")

    with monkeypatch.context() as patch:
        patch.setattr(executable, "allocate", none_left)
        with pytest.raises(MemoryError):
            lazy.mark_step()
    assert (a.tolist(), b.tolist(), c.tolist()) == ([2.0, 3.0], [3.0], [4.0])


def test_an_interrupt_is_a_failure_like_any_other(monkeypatch: pytest.MonkeyPatch) -> None:
    t = lazy.tensor([1.0, 2.0])
    t.add_(1)
    real = executable.define

    class Interrupted(Failing):
        def __getitem__(self, grid: tuple[int, ...]) -> Any:
            def launch(*arguments: Any, **options: Any) -> None:
                self.function[grid](*arguments, **options)
                raise KeyboardInterrupt

            return launch

    with monkeypatch.context() as patch:
        patch.setattr(executable, "define", lambda kernel: Interrupted(real(kernel), None))
        with pytest.raises(KeyboardInterrupt):
            lazy.mark_step()
    lazy.cache.clear()
    assert t.tolist() == [2.0, 3.0]


def test_an_operation_that_torch_refuses_leaves_the_tensor_alone(wording: Wording) -> None:
    t = lazy.tensor([1, 2, 3])
    with wording.raises(RuntimeError):
        t.add_(0.5)
    with pytest.raises(RuntimeError, match="add of int64"):
        t.add_(lazy.tensor([1, 2]))
    assert t.tolist() == [1, 2, 3]


@pytest.fixture
def broken_sine(monkeypatch: pytest.MonkeyPatch) -> None:
    """An operation that torch knows and the compiler does not."""
    sine = dataclasses.replace(elementwise_table.ELEMENTWISE["sin"], triton="tl.nonsense({0})")
    monkeypatch.setitem(elementwise_table.ELEMENTWISE, "sin", sine)


@pytest.mark.usefixtures("broken_sine")
def test_a_step_that_cannot_compile_names_the_operation_and_its_line() -> None:
    x = lazy.tensor([1.0, 2.0])
    frame = inspect.currentframe()
    assert frame is not None
    line, y = frame.f_lineno, (x + 1).sin() * 2
    with pytest.raises(lazy.StepFailed) as failure:
        lazy.mark_step()
    said = str(failure.value)
    assert "sin(%2): float32 (2,)" in said and "nonsense" in said
    assert f"test_failure.py:{line}: line, y = frame.f_lineno, (x + 1).sin() * 2" in said
    assert y.shape == (2,)


@pytest.mark.usefixtures("broken_sine")
def test_a_step_that_cannot_compile_leaves_the_other_tensors_readable() -> None:
    x = lazy.tensor([1.0, 2.0], name="x")
    wrong, right = (x + 1).sin(), (x + 1) * 2  # in one kernel
    needs_it = wrong + right
    x.add_(5)  # what `wrong` is computed from must not be overwritten
    assert right.tolist() == [4.0, 6.0] and x.tolist() == [6.0, 7.0]
    apart = lazy.tensor([3]) * 2
    for _ in range(2):
        x.add_(1)
        assert lazy.mark_step() is not None
    assert apart.tolist() == [6]
    with pytest.raises(lazy.StepFailed, match="sin"):
        needs_it.tolist()
    with pytest.raises(lazy.StepFailed, match="sin"):
        wrong.tolist()
    wrong.zero_()  # written anew, it needs the operation no more
    assert wrong.tolist() == [0.0, 0.0] and x.tolist() == [8.0, 9.0]


def test_what_failed_is_computed_from_its_old_inputs_once_it_can_be(monkeypatch: pytest.MonkeyPatch) -> None:
    x = lazy.tensor([1.0, 2.0])
    with monkeypatch.context() as patch:
        sine = dataclasses.replace(elementwise_table.ELEMENTWISE["sin"], triton="tl.nonsense({0})")
        patch.setitem(elementwise_table.ELEMENTWISE, "sin", sine)
        y = x.sin()
        with pytest.raises(lazy.StepFailed):
            lazy.mark_step()
        x.mul_(100)
        lazy.mark_step()
    assert torch.allclose(y.torch().cpu(), torch.tensor([1.0, 2.0]).sin()) and x.tolist() == [100.0, 200.0]


def test_a_kernel_that_fails_for_its_values_spares_the_others() -> None:
    table, index = lazy.tensor([1.0, 2.0]), lazy.tensor([1, 7])
    found, other = table.gather(0, index) + 1, table * 2
    with pytest.raises(lazy.StepFailed, match=r"gather.*test_failure.py:"):
        lazy.mark_step()
    assert other.tolist() == [2.0, 4.0]
    index.fill_(0)
    assert table.gather(0, index).tolist() == [1.0, 1.0]
    with pytest.raises(lazy.StepFailed, match="gather"):
        found.tolist()


def test_a_lost_buffer_does_not_block_other_tensors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executable, "UNDO_LIMIT", 16)
    t, other = lazy.tensor(torch.arange(64.0), name="t"), lazy.tensor([1.0])
    t.mul_(-1)
    with monkeypatch.context() as patch:
        break_kernels(patch, 0)
        with pytest.raises(lazy.Lost):
            lazy.mark_step()
    lazy.cache.clear()
    other.add_(1)
    assert other.tolist() == [2.0]
    with pytest.raises(RuntimeError, match=r"memory of buffer \d+ \(t\) is gone"):
        t.tolist()
