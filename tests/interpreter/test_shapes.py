"""Operations that move elements: every one against NumPy's."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
import triton.language as tl
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.interpreter.support import bf16, same
from tests.interpreter.test_floats import patterns
from tests.interpreter.test_reductions import block, over_block
from triton_lab.interpreter.kernel_errors import KernelError

I32 = np.dtype(np.int32)


@pytest.mark.parametrize(
    ("statement", "function"),
    {
        "z = x[None, :, :]": lambda x: x[None],
        "z = x[:, None, :]": lambda x: x[:, None],
        "z = x[:, :, None]": lambda x: x[:, :, None],
        "z = tl.expand_dims(x, (0, -1))": lambda x: x[None, :, :, None],
        "z = x.T": lambda x: x.T,
        "z = tl.trans(x)": lambda x: x.T,
        "z = tl.permute(x, (1, 0))": lambda x: x.T,
        "z = tl.reshape(x, (16, 2))": lambda x: x.reshape(16, 2),
        "z = x.reshape(2, 4, 4)": lambda x: x.reshape(2, 4, 4),
        "z = tl.ravel(x)": np.ravel,
        "z = tl.broadcast_to(x[None], (3 + 1, 4, 8))": lambda x: np.broadcast_to(x, (4, 4, 8)),
        "z = tl.join(x, -x)": lambda x: np.stack([x, -x], axis=-1),
        "z = tl.interleave(x, -x)": lambda x: np.stack([x, -x], axis=-1).reshape(4, 16),
        "z, _ = tl.split(tl.reshape(x, (4, 4, 2)))": lambda x: x[:, ::2],
        "_, z = tl.split(tl.reshape(x, (4, 4, 2)))": lambda x: x[:, 1::2],
        "z = tl.flip(x, 0)": lambda x: x[::-1],
        "z = tl.zeros_like(x)": np.zeros_like,
        "z = tl.full((4, 8), 7, tl.int32)": lambda x: np.full((4, 8), 7, np.int32),
        "z = tl.where(x > 0, x, 0)": lambda x: np.where(x > 0, x, 0),
    }.items(),
)
def test_moves(statement, function):
    x = block(4, 8, dtype=I32)
    expected = np.ascontiguousarray(function(x))
    same(over_block(statement, x, expected.shape, I32), expected)


def test_scalars_join_and_split():
    x = np.array([5, 7], np.int32)
    same(over_block("a, b = tl.split(x); z = a * 10 + b", x, (), I32), np.array(57, np.int32))
    same(over_block("z = tl.join(tl.max(x, 0), tl.min(x, 0))", x, (2,), I32), np.array([7, 5], np.int32))
    same(over_block("z = tl.sum(x, 0)[None, None]", x, (1, 1), I32), np.array([[12]], np.int32))


@pytest.mark.filterwarnings("ignore:.*deprecated")
def test_what_may_be_reordered_keeps_its_order():
    x, y = block(16, dtype=I32), block(16, dtype=I32, seed=1)
    same(over_block("z = tl.cat(x, y, can_reorder=True)", x, (32,), I32, y), np.concatenate([x, y]))
    same(over_block("z = x.view(8, 2)", x, (8, 2), I32), x.reshape(8, 2))


@pytest.mark.skipif("dim" not in inspect.signature(tl.cat).parameters, reason="this Triton joins along axis 0 alone")
def test_cat_along_each_axis():
    x, y = block(4, 8, dtype=I32), block(4, 8, dtype=I32, seed=1)
    for axis in (0, 1):
        expected = np.concatenate([x, y], axis=axis)
        same(over_block(f"z = tl.cat(x, y, dim={axis})", x, expected.shape, I32, y), expected)


@pytest.mark.parametrize("axis", [0, 1])
def test_gather_picks_along_an_axis(axis):
    x = block(8, 16)
    index = np.random.default_rng(0).integers(0, x.shape[axis], (8, 16)).astype(np.int32)
    same(over_block(f"z = tl.gather(x, y, {axis})", x, x.shape, np.float32, index), np.take_along_axis(x, index, axis))


@pytest.mark.parametrize("wrong", [-1, 8])
def test_gathering_beyond_an_axis_is_an_error(wrong):
    x, index = block(8, dtype=I32), np.array([0, 1, 2, wrong, 4, 5, 6, 7], np.int32)
    with pytest.raises(KernelError, match=rf"element {wrong} .* 8\b"):
        over_block("z = tl.gather(x, y, 0)", x, (8,), I32, index)


@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_any_permutation_and_reshape(data):
    sizes = data.draw(st.lists(st.sampled_from([1, 2, 4, 8]), min_size=2, max_size=4))
    order = data.draw(st.permutations(range(len(sizes))))
    x = np.arange(np.prod(sizes), dtype=np.int32).reshape(sizes)
    moved = np.ascontiguousarray(x.transpose(order))
    same(over_block(f"z = tl.permute(x, {tuple(order)})", x, moved.shape, I32), moved)
    flat = f"z = tl.reshape(tl.permute(x, {tuple(order)}), ({x.size},))"
    same(over_block(flat, x, (x.size,), I32), moved.reshape(-1))


@pytest.mark.parametrize(
    "dtype", [np.dtype(np.int8), np.dtype(np.uint16), np.dtype(np.float16), bf16, np.dtype(np.float64)]
)
def test_moving_leaves_every_bit(dtype):
    x = patterns(dtype, 64).reshape(8, 8)
    result = over_block("z = tl.trans(tl.reshape(x, (8, 8)))", x, x.shape, dtype)
    assert (result.view(f"u{dtype.itemsize}") == x.T.view(f"u{dtype.itemsize}")).all()


def test_swizzle2d_visits_columns_of_groups():
    x = np.zeros(1, np.int32)
    statement = (
        "i = tl.arange(0, 4)[:, None]; j = tl.arange(0, 4)[None, :]; p, q = tl.swizzle2d(i, j, 4, 4, 2); z = p * 4 + q"
    )
    expected = np.array([[0, 4, 1, 5], [2, 6, 3, 7], [8, 12, 9, 13], [10, 14, 11, 15]], np.int32)
    same(over_block(statement, x, (4, 4), I32), expected)
