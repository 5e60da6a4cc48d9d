"""Lazy tensors among other objects: copies, pickles, torch's tensors and functions, NumPy's arrays."""

from __future__ import annotations

import copy
import io
import pickle

import numpy as np
import pytest
import torch

from triton_lab import lazy


def pair() -> tuple[lazy.Tensor, lazy.Tensor]:
    base = lazy.tensor([1.0, 2.0, 3.0], name="base") + 1
    return base, base[1:]


@pytest.mark.parametrize("way", [copy.deepcopy, lambda each: pickle.loads(pickle.dumps(each))], ids=["copied", "sent"])
@pytest.mark.parametrize("pending", [True, False])
def test_a_deep_copy_shares_nothing_and_keeps_what_was_shared(way: object, pending: bool) -> None:
    assert callable(way)
    base, tail = pair()
    if not pending:
        lazy.mark_step()
    other, its_tail, again = way((base, tail, base))
    other.add_(10)
    base.mul_(0)
    assert again is other
    assert (other.tolist(), its_tail.tolist()) == ([12, 13, 14], [13, 14])
    assert (base.tolist(), tail.tolist()) == ([0, 0, 0], [0, 0])
    its_tail.zero_()
    assert other.tolist() == [12, 0, 0] and other.dtype == base.dtype and other.stride() == base.stride()


def test_a_shallow_copy_shares_the_storage() -> None:
    base, _ = pair()
    other = copy.copy(base)
    other.add_(1)
    assert base.tolist() == other.tolist() == [3, 4, 5]


def test_every_dtype_and_stride_can_be_sent_and_saved() -> None:
    for dtype in (torch.bool, torch.int8, torch.bfloat16, torch.float64):
        source = torch.arange(6).reshape(2, 3).to(dtype).t()
        there = pickle.loads(pickle.dumps(lazy.tensor(source)))
        assert torch.equal(there.torch().cpu(), source) and there.stride() == source.stride()
    file = io.BytesIO()
    torch.save({"x": lazy.tensor([1.0])}, file)
    file.seek(0)
    assert torch.load(file, weights_only=False)["x"].tolist() == [1.0]


def test_gradients_are_refused_and_not_dropped() -> None:
    wants = torch.ones(2, requires_grad=True)
    for call in (
        lambda: lazy.tensor(wants), lambda: lazy.ones(2) + wants, lambda: lazy.ones(2).copy_(wants),
        lambda: wants * lazy.ones(2), lambda: lazy.ones(2).requires_grad_(), lambda: lazy.cat([lazy.ones(2), wants]),
    ):  # fmt: skip
        with pytest.raises(RuntimeError, match="have no gradients"):
            call()
    with torch.no_grad():
        assert (lazy.ones(2) + wants).tolist() == [2, 2]
    assert not lazy.tensor(wants.detach()).requires_grad
    with pytest.raises(TypeError, match="requires_grad"):
        lazy.tensor([1.0], requires_grad=True)  # type: ignore[call-arg]


def test_writing_a_lazy_tensor_into_a_torch_tensor_writes_it_there() -> None:
    target = torch.ones(3)
    alias = target
    target += lazy.tensor([1.0, 2.0, 3.0])
    target.mul_(lazy.tensor(2.0))
    target[0] = lazy.tensor(9.0)
    target[1:].copy_(lazy.tensor([7.0, 8.0]))
    assert target is alias and alias.tolist() == [9, 7, 8]
    torch.add(target, lazy.ones(3), out=target)
    assert alias.tolist() == [10, 8, 9]
    with pytest.raises(TypeError, match="out="):
        torch.add(target, target, out=lazy.ones(3))


def test_writing_a_lazy_tensor_into_an_array_writes_it_there() -> None:
    target = np.ones(3, dtype=np.float32)
    alias = target
    target += lazy.tensor([1.0, 2.0, 3.0])
    target[0] = lazy.tensor(9.0)
    np.multiply(target, lazy.tensor(2.0), out=target)
    assert target is alias and alias.tolist() == [18, 6, 8]


def test_in_place_operators_write_in_place() -> None:
    """`x &= y` must not rebind x to a new tensor while its views keep the old values."""
    for dtype in (torch.int32, torch.float32):
        mine, theirs = lazy.arange(1, 5, dtype=dtype), torch.arange(1, 5, dtype=dtype)
        views = mine[1:], theirs[1:]
        for x in (mine, theirs):
            y = x
            x += 3
            x -= 1
            x *= 2
            x //= 3
            x %= 4
            x **= 2
            if dtype == torch.int32:
                x |= 5
                x &= 7
                x ^= 1
            assert x is y
        assert views[0].tolist() == views[1].tolist() and mine.tolist() == theirs.tolist()


def test_torchs_functions_take_lazy_tensors() -> None:
    a, b = torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([[0.5, -1.0], [2.0, 1.0]])
    x = lazy.tensor(a)
    for call in (
        lambda t: torch.exp(t), lambda t: torch.cat([t, b], 1), lambda t: torch.stack([b, t]), lambda t: b + t,
        lambda t: b - t, lambda t: b // t, lambda t: b % t, lambda t: b @ t, lambda t: b < t, lambda t: b == t,
        lambda t: torch.where(b > 0, t, b), lambda t: torch.softmax(t, 1), lambda t: torch.std(t), torch.argmax,
        lambda t: torch.nn.functional.softmax(t, dim=0), lambda t: torch.nn.functional.relu(t),
        lambda t: torch.maximum(b, t), lambda t: torch.matmul(b, t), lambda t: torch.split(t, 1)[1],
        lambda t: torch.add(t, b, alpha=2), lambda t: torch.gather(t, 1, torch.tensor([[1], [0]])),
        lambda t: torch.clamp(t, min=2), lambda t: torch.sum(t, dim=1), lambda t: torch.bitwise_not(t > 2),
        lambda t: torch.cumsum(t, 0), lambda t: torch.pow(t, 2), lambda t: torch.true_divide(t, b),
    ):  # fmt: skip
        mine = call(x)
        assert isinstance(mine, lazy.Tensor)
        torch.testing.assert_close(mine.torch().cpu(), call(a))
    assert torch.allclose(x, a) and torch.equal(a, x) and not torch.equal(x, b)


def test_what_is_not_known_is_an_error_that_says_what_to_do() -> None:
    x = lazy.tensor([1.0])
    with pytest.raises(TypeError, match=r"torch\.gelu.*x\.torch\(\)"):
        torch.nn.functional.gelu(x)
    with pytest.raises(AttributeError, match=r"no 'median'\. x\.torch\(\).median"):
        x.median()
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        x.nonsense()
    with pytest.raises(TypeError):
        np.add.reduce(x)


def test_numpys_functions_take_lazy_tensors() -> None:
    array, x = np.array([1.0, 2.0]), lazy.tensor([3.0, 4.0], dtype=torch.float64)
    for mine, theirs in ((array + x, [4, 6]), (np.maximum(x, array), [3, 4]), (array < x, [True, True])):
        assert isinstance(mine, lazy.Tensor) and mine.tolist() == theirs
    assert np.allclose(np.exp(x).numpy(), np.exp([3.0, 4.0]))
