"""A lane or a row that may not be touched, among others that may: told in NumPy's words, and nothing is written."""

from __future__ import annotations

import pytest
import torch
import triton
import triton.language as tl

import triton_lab as lab
from tests.native.launches import on_both


@triton.jit
def lanes(x, at, out, HOW: tl.constexpr, B: tl.constexpr):
    """``at`` counts bytes."""
    i = tl.arange(0, B)
    place = (x + tl.load(at + i)).to(tl.pointer_type(tl.int32))
    if HOW == 0:
        tl.store(out + i, tl.load(place))
    elif HOW == 1:
        tl.store(place, i)
    else:
        tl.atomic_add(place, i + 1)


@triton.jit
def rows(x, at, out, n, HOW: tl.constexpr, B: tl.constexpr):
    """``at`` counts elements."""
    k, i = tl.arange(0, 4)[:, None], tl.arange(0, B)[None, :]
    place = x + tl.load(at + k) + i
    if HOW == 0:
        tl.store(out + k * B + i, tl.load(place, mask=i < n, other=-1))
    else:
        tl.store(place, k * B + i, mask=i < n)


def sized(count: int) -> torch.Tensor:
    """Numbers of 32 bits in so many bytes: what is left behind the last one belongs to none."""
    storage = torch.zeros(count, dtype=torch.int8).untyped_storage()
    return torch.empty(0, dtype=torch.int32).set_(storage, 0, (count // 4,))


@pytest.mark.parametrize("how", range(3))
@pytest.mark.parametrize(("bytes_", "stray"), [(70, -4), (70, 80), (70, 68), (70, 6), (2, 0), (70, None)])
@pytest.mark.parametrize("where", [0, 5, 31])
def test_one_lane_that_is_astray_is_told_in_the_same_words(
    how: int, bytes_: int, stray: int | None, where: int
) -> None:
    x, at, out = torch.zeros(bytes_, dtype=torch.int8), torch.zeros(32, dtype=torch.int32), torch.zeros(32)
    if stray is not None:
        at[where] = stray
    error, ran = on_both(lambda: lanes[(1,)](x, at, out, HOW=how, B=32), x, out)
    assert bool(error) == (stray is not None or bytes_ == 2) and ran.engine == "native"


@pytest.mark.parametrize("how", range(2))
@pytest.mark.parametrize(("stray", "n", "told"), [(-1, 16, True), (-16, 16, True), (2, 16, True), (2, 15, False)])
@pytest.mark.parametrize("where", [0, 2, 3])
def test_one_row_that_is_astray_is_told_in_the_same_words(how: int, stray: int, n: int, told: bool, where: int) -> None:
    x, at, out = sized(70), torch.ones(4, dtype=torch.int32), torch.zeros(64, dtype=torch.int32)
    at[where] = stray
    error, ran = on_both(lambda: rows[(1,)](x, at, out, n, HOW=how, B=16), x, out)
    assert bool(error) == told and ran.engine == "native"


def test_rows_between_elements_are_told_in_the_same_words() -> None:
    class Odd:
        """A pointer two bytes behind an element."""

        def __init__(self, base: torch.Tensor) -> None:
            self.base, self.dtype = base, base.dtype

        def data_ptr(self) -> int:
            return self.base.data_ptr() + 2

    x, at, out = (
        torch.zeros(40, dtype=torch.int32),
        torch.ones(4, dtype=torch.int32),
        torch.zeros(64, dtype=torch.int32),
    )
    for how in (0, 1):
        error, _ = on_both(lambda: rows[(1,)](Odd(x), at, out, 16, HOW=how, B=16), x, out)  # noqa: B023
        assert "aligned" in error


@triton.jit
def in_a_row(x, out, far, HOW: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    if HOW == 0:
        tl.store(out + i, tl.load(x + (i + far)))
    else:
        tl.store(x + (i + far), i)


@pytest.mark.parametrize("how", range(2))
@pytest.mark.parametrize("far", [-1, -16, 0, 1, 2, 17, 1000])
def test_a_block_that_is_astray_at_either_end_is_told_in_the_same_words(how: int, far: int) -> None:
    x, out = sized(70), torch.zeros(16, dtype=torch.int32)
    error, ran = on_both(lambda: in_a_row[(1,)](x, out, far, HOW=how, B=16), x, out)
    assert bool(error) == (far not in (0, 1)) and ran.engine == "native"


@pytest.mark.parametrize("how", range(2))
def test_a_row_that_comes_round_the_end_of_memory_is_told_in_the_same_words(how: int) -> None:
    x, at, out = sized(400), torch.ones(4, dtype=torch.int64), torch.zeros(64, dtype=torch.int32)
    at[2] = -(x.data_ptr() // 4) - 8
    error, _ = on_both(lambda: rows[(1,)](x, at, out, 16, HOW=how, B=16), x, out)
    assert error


@triton.jit
def rows_of_bytes(x, at, out, B: tl.constexpr):
    k, i = tl.arange(0, 4)[:, None], tl.arange(0, B)[None, :]
    tl.store(out + k * B + i, tl.load(x + (tl.load(at + k) + i.to(tl.int8))))


def test_a_row_that_comes_round_in_eight_bits_is_pytorchs() -> None:
    whole, out = torch.arange(400, dtype=torch.int32), torch.zeros(64, dtype=torch.int32)
    at = torch.tensor([0, 120, -128, 112], dtype=torch.int8)
    error, _ = on_both(lambda: rows_of_bytes[(1,)](whole[200:], at, out, B=16), out)
    with lab.limits(engine="native"):
        rows_of_bytes[(1,)](whole[200:], at, out, B=16)
    places = at[:, None] + torch.arange(16, dtype=torch.int8)
    assert not error and torch.equal(out.view(4, 16), whole[200 + places.long()])


@triton.jit
def one_number(out, n):
    p = tl.program_id(0)
    tl.store(out + p, p + 7, mask=p % n != 1)


def test_one_number_is_stored_where_its_mask_holds_and_nowhere_else() -> None:
    out = torch.zeros(7, dtype=torch.int32)
    with lab.limits(engine="native"):
        one_number[(7,)](out, 3)
    p = torch.arange(7, dtype=torch.int32)
    assert torch.equal(out, torch.where(p % 3 != 1, p + 7, 0))
    error, ran = on_both(lambda: one_number[(8,)](out, 6), out)  # the last one is masked out, and lies beyond
    assert not error and ran.engine == "native"


@triton.jit
def one_number_read(x, out, far, n):
    tl.store(out, tl.load(x + far, mask=n > 0, other=5))


def test_one_number_that_is_masked_out_is_not_read() -> None:
    x, out = torch.zeros(4, dtype=torch.int32), torch.zeros(1, dtype=torch.int32)
    with lab.limits(engine="native"):
        one_number_read[(1,)](x, out, 1 << 44, 0)
    assert out.item() == 5


@triton.jit
def chosen_rows(x, at, chosen, out, B: tl.constexpr):
    k, i = tl.arange(0, 4)[:, None], tl.arange(0, B)[None, :]
    held = tl.load(chosen + k) > 0
    tl.store(out + k * B + i, tl.load(x + tl.load(at + k) + i, mask=held, other=-1))


def test_rows_that_are_masked_out_are_what_is_given_for_them() -> None:
    x, out = torch.arange(64, dtype=torch.int32), torch.zeros(64, dtype=torch.int32)
    at, chosen = torch.tensor([48, 1 << 20, 16, -5], dtype=torch.int32), torch.tensor([1, 0, 1, 0], dtype=torch.int32)
    with lab.limits(engine="native"):
        chosen_rows[(1,)](x, at, chosen, out, B=16)
    assert torch.equal(
        out.view(4, 16), torch.stack([x[48:], -torch.ones_like(x[:16]), x[16:32], -torch.ones_like(x[:16])])
    )
