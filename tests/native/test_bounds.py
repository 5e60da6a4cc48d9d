"""Integers that leave their type within a block, or near its end: masks of them are what PyTorch computes."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch
import triton
import triton.language as tl

import triton_lab as lab
from tests.interpreter.support import kernel_from
from tests.native.launches import on_both

SOURCE = """
@triton.jit
def kernel(x, few, out, B: tl.constexpr):
    i, z = tl.arange(0, B), tl.arange(0, 1)
    r, q = tl.load(few), tl.load(few + 1)
    s, t = r.to(tl.int32), q.to(tl.int32)
    tl.store(out + i, tl.load(x + i, mask={condition}, other=-1))
"""
# A condition, what s and t are (r and q in 16 bits), the length of the block, and whether something comes round in it.
WRAPPING = {
    "a product of numbers of 18 and 16 bits": ("(z + (s + s + 4)) * (z + t) + i < 0", (32767, 32767), 16, True),
    "a product of stride and number": ("(i + (s + s)) * t < 0", (32767, 32767), 16, True),
    "a sum of five parts": (
        "i * 52435 + i * 52435 + i * 52435 + i * 52435 + i * 52436"
        " < i * 52435 + i * 52435 + i * 52435 + i * 52435 + i * 52437",
        (0, 0),
        8192,
        True,
    ),
    "a sum of three numbers": ("i + s * t + s * t + s * t < 0", (32767, 32767), 16, True),
    "downwards below the least": ("s * t - i * 4 * s < 0", (32767, -32768), 16384, True),
    "upwards beyond the greatest": ("s * t + i * 4 * s < 0", (32767, 32767), 16384, True),
    "up to the greatest": ("i + (s * t * 2 + 131066) < 0", (32767, 32767), 4, False),
    "one beyond the greatest": ("i + (s * t * 2 + 131067) < 0", (32767, 32767), 4, True),
    "down to the least": ("(s * t * 2 - 65533) - i < 0", (32767, -32768), 4, False),
    "one below the least": ("(s * t * 2 - 65534) - i < 0", (32767, -32768), 4, True),
    "from a start of 30 bits": ("tl.arange(1073741000, 1073741000 + B) + s * t < 0", (32767, 32767), 131072, True),
    "once of 16 bits": ("(z.to(tl.int16) + r).to(tl.int32) * (t + t) < 0", (-32768, -32768), 16, True),
    "from a start to a constant": ("tl.arange(1073741000, 1073741000 + B) + 1073741823 < 0", (0, 0), 2048, True),
    "a sum of nine numbers": (f"i + ({'s * 8192 + ' * 8}65530) < 0", (32767, 0), 16, True),
    "from two starts": (
        "tl.arange(1073741000, 1073741000 + B) + tl.arange(1073742000, 1073742000 + B) - i < 0",
        (0, 0),
        1024,
        True,
    ),
    "every second one": ("i * 2 < s", (15, 0), 16, False),
    "in 16 bits": ("i.to(tl.int16) + r < 0", (32760, 0), 16, True),
    "cut to 16 bits": ("(i + s).to(tl.int16) < 0", (32760, 0), 16, True),
    "shifted": ("((z + s) << 16) + i < 0", (32767, 0), 131072, True),
}


@pytest.mark.parametrize("how", WRAPPING)
def test_integers_come_round_where_pytorchs_do(how: str) -> None:
    condition, numbers, length, comes_round = WRAPPING[how]
    x, out = torch.arange(length, dtype=torch.int32), torch.zeros(length, dtype=torch.int32)
    few = torch.tensor(numbers, dtype=torch.int16)
    kernel = kernel_from(SOURCE.format(condition=condition))
    held = _held(condition, few, length, torch.int16, torch.int32)
    assert bool((held != _held(condition, few, length, torch.int64, torch.int64)).any()) == comes_round
    error, _ = on_both(lambda: kernel[(1,)](x, few, out, B=length), out)
    with lab.limits(engine="native"):
        kernel[(1,)](x, few, out, B=length)
    assert not error and torch.equal(out, torch.where(held, x, -1))


def _held(condition: str, few: torch.Tensor, length: int, short: torch.dtype, long: torch.dtype) -> torch.Tensor:
    """What a condition is in integers of these types."""
    language = SimpleNamespace(arange=lambda a, b: torch.arange(a, b, dtype=long), int16=short, int32=long)
    (r, q), (s, t) = few.to(short), few.to(long)
    i, z = torch.arange(length, dtype=long), torch.zeros(1, dtype=long)
    return eval(condition, {"i": i, "z": z, "r": r, "q": q, "s": s, "t": t, "B": length, "tl": language})


WIDE = """
@triton.jit
def kernel(x, out, n, m, B: tl.constexpr):
    i = tl.arange(0, B).to(tl.int64)
    tl.store(out + i, tl.load(x + i, mask={condition}, other=-1))
"""
# A condition, and what n and m are.
NEAR_THE_END = {
    "a sum that comes round": ("i + n < m", 2**63 - 4, 0),
    "a difference that comes round": ("n - i >= m", -(2**63) + 4, 0),
    "on the other side": ("m < i + n", 2**63 - 4, 0),
    "strides of 59 bits": ("i * 576460752303423486 + n < i * 576460752303423487 + n", 2**59 + 22, 0),
}


@pytest.mark.parametrize("how", NEAR_THE_END)
def test_masks_near_the_end_of_64_bits_are_pytorchs(how: str) -> None:
    condition, n, m = NEAR_THE_END[how]
    x, out = torch.arange(16, dtype=torch.int32), torch.zeros(16, dtype=torch.int32)
    kernel = kernel_from(WIDE.format(condition=condition))
    held = eval(condition, {"i": torch.arange(16), "n": n, "m": m})
    assert held.any() and not held.all()
    error, _ = on_both(lambda: kernel[(1,)](x, out, n, m, B=16), out)
    with lab.limits(engine="native"):
        kernel[(1,)](x, out, n, m, B=16)
    assert not error and torch.equal(out, torch.where(held, x, -1))


@triton.jit
def wrapped_round(x, out, n, m, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(out + i, tl.load(x + (i.to(tl.int64) + n) % m))


def test_a_remainder_near_the_end_of_64_bits_is_pytorchs() -> None:
    """Four times the number itself comes round to an address near by, which is another one."""
    whole, out = torch.arange(64, dtype=torch.int32), torch.zeros(16, dtype=torch.int32)
    n, m = 2**63 - 4, 16
    error, _ = on_both(lambda: wrapped_round[(1,)](whole[16:], out, n, m, B=16), out)
    with lab.limits(engine="native"):
        wrapped_round[(1,)](whole[16:], out, n, m, B=16)
    assert not error and torch.equal(out, whole[16 + torch.fmod(torch.arange(16) + n, m)])


@triton.jit
def remainder_of(x, out, n, m, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(out + i, tl.load(x + (i + n) % m))


@pytest.mark.parametrize(("n", "m"), [(0, 16), (0, 15), (-1, 16), (3, 19), (3, 18), (-16, 16), (5, 1)])
def test_a_remainder_of_what_reaches_the_divisor_or_is_negative_is_pytorchs(n: int, m: int) -> None:
    whole, out = torch.arange(64, dtype=torch.int32), torch.zeros(16, dtype=torch.int32)
    error, ran = on_both(lambda: remainder_of[(1,)](whole[16:], out, n, m, B=16), out)
    with lab.limits(engine="native"):
        remainder_of[(1,)](whole[16:], out, n, m, B=16)
    assert not error and ran.engine == "native" and not ran.handed
    assert torch.equal(out, whole[16 + torch.fmod(torch.arange(16) + n, m)])


@triton.jit
def cut_to_32_bits(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(out + i, tl.load(x + (i.to(tl.int64) * n).to(tl.int32)))


def test_offsets_that_are_cut_are_told_where_they_go_astray_between_two_that_do_not() -> None:
    """Three steps come round to one; cut to 32 bits, the first one leads nowhere."""
    x, out = torch.arange(16, dtype=torch.int32), torch.zeros(4, dtype=torch.int32)
    step = pow(3, -1, 2**64) - 2**64
    error, _ = on_both(lambda: cut_to_32_bits[(1,)](x, out, step, B=4), out)
    assert "out of bounds" in error


@triton.jit
def without_sign(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(out + i, tl.load(x + (i + n).to(tl.uint32).to(tl.int64), mask=(i + n).to(tl.uint32) < B, other=-1))


@pytest.mark.parametrize("n", [0, 3, -1, -5, 1 << 31])
def test_what_is_negative_is_large_without_its_sign(n: int) -> None:
    x, out = torch.arange(16, dtype=torch.int32), torch.zeros(16, dtype=torch.int32)
    error, _ = on_both(lambda: without_sign[(1,)](x, out, n, B=16), out)
    with lab.limits(engine="native"):
        without_sign[(1,)](x, out, n, B=16)
    at = (torch.arange(16) + n) % 2**32
    assert not error and torch.equal(out, torch.where(at < 16, x[at.clamp(max=15)], -1))


@triton.jit
def of_bytes(x, out, B: tl.constexpr):
    """Elements of four bytes from each byte on, and those after them."""
    i, j = tl.arange(0, B), tl.arange(0, B)
    at = (x + i).to(tl.pointer_type(tl.int32))[:, None] + j[None, :]
    tl.store(out + i[:, None] * B + j[None, :], tl.load(at))


def test_elements_that_begin_at_any_byte_are_told_in_the_same_words() -> None:
    x, out = torch.zeros(64, dtype=torch.int8), torch.zeros(16, dtype=torch.int32)
    error, _ = on_both(lambda: of_bytes[(1,)](x, out, B=4), out)
    assert "aligned" in error


@triton.jit
def all_rows_or_none(x, out, n, B: tl.constexpr):
    """A mask of one row, which is the same everywhere in it."""
    i, j = tl.arange(0, B)[:, None], tl.arange(0, B)[None, :]
    tl.store(out + i * B + j, tl.load(x + i * B + j, mask=j < j + n, other=-1))


@pytest.mark.parametrize("n", [1, 0, -1])
def test_a_mask_of_one_row_holds_for_all_rows_or_for_none(n: int) -> None:
    x, out = torch.arange(64, dtype=torch.int32), torch.zeros(64, dtype=torch.int32)
    error, _ = on_both(lambda: all_rows_or_none[(1,)](x, out, n, B=8), out)
    with lab.limits(engine="native"):
        all_rows_or_none[(1,)](x, out, n, B=8)
    assert not error and torch.equal(out, x if n > 0 else torch.full_like(x, -1))


@triton.jit
def moved_axes(x, out, a, b, c):
    i, j, k = tl.arange(0, 2)[:, None, None], tl.arange(0, 4)[None, :, None], tl.arange(0, 8)[None, None, :]
    at = tl.trans(i * 32 + j * 8 + k, 1, 2, 0)
    held = tl.trans((i < a) & (j < b) & (k < c), 1, 2, 0)
    j, k, i = tl.arange(0, 4)[:, None, None], tl.arange(0, 8)[None, :, None], tl.arange(0, 2)[None, None, :]
    tl.store(out + j * 16 + k * 2 + i, tl.load(x + at, mask=held, other=-1))


@pytest.mark.parametrize("ends", [(2, 4, 8), (1, 3, 7), (2, 1, 5)])
def test_axes_of_addresses_and_masks_move_as_pytorchs_do(ends: tuple[int, int, int]) -> None:
    x, out = torch.arange(64, dtype=torch.int32), torch.zeros(64, dtype=torch.int32)
    error, ran = on_both(lambda: moved_axes[(1,)](x, out, *ends), out)
    with lab.limits(engine="native"):
        moved_axes[(1,)](x, out, *ends)
    a, b, c = ends
    expected = torch.full((2, 4, 8), -1, dtype=torch.int32)
    expected[:a, :b, :c] = x.view(2, 4, 8)[:a, :b, :c]
    assert not error and ran.engine == "native" and not ran.handed
    assert torch.equal(out, expected.permute(1, 2, 0).reshape(-1))


@triton.jit
def masked_without_sign(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(out + i, tl.load(x + i, mask=(i + n).to(tl.uint32) < 8, other=-1))


@pytest.mark.parametrize("n", [0, 3, -1, -5, -16])
def test_in_a_mask_what_is_negative_is_large_without_its_sign(n: int) -> None:
    x, out = torch.arange(16, dtype=torch.int32), torch.zeros(16, dtype=torch.int32)
    error, _ = on_both(lambda: masked_without_sign[(1,)](x, out, n, B=16), out)
    with lab.limits(engine="native"):
        masked_without_sign[(1,)](x, out, n, B=16)
    assert not error and torch.equal(out, torch.where((x.long() + n).remainder(2**32) < 8, x, -1))


@triton.jit
def squares(x, out, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(out + i, tl.load(x + i * i))


def test_addresses_may_be_squares() -> None:
    x, out = torch.arange(256, dtype=torch.int32), torch.zeros(16, dtype=torch.int32)
    error, ran = on_both(lambda: squares[(1,)](x, out, B=16), out)
    assert not error and ran.engine == "native" and not ran.handed


@triton.jit
def on_one_side(x, out, n, B: tl.constexpr):
    i, j = tl.arange(0, B)[:, None], tl.arange(0, B)[None, :]
    tl.store(out + i * B + j, tl.load(x + i * B + j, mask=i + j < n, other=-1))


@pytest.mark.parametrize("n", [0, 1, 5, 8, 11, 15])
def test_a_mask_may_end_along_a_diagonal(n: int) -> None:
    x, out = torch.arange(64, dtype=torch.int32), torch.zeros(64, dtype=torch.int32)
    with lab.limits(engine="native"):
        on_one_side[(1,)](x, out, n, B=8)
    i, j = torch.arange(8)[:, None], torch.arange(8)[None, :]
    assert torch.equal(out, torch.where((i + j < n).reshape(-1), x, -1))


@triton.jit
def stepped(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    off = i
    for _ in range(0, n):
        off += 1 << 28
        tl.store(out + i, tl.load(x + i, mask=off < 0, other=-1))


@pytest.mark.parametrize("n", [7, 8, 9, 16])
def test_offsets_that_a_loop_adds_up_come_round_where_pytorchs_do(n: int) -> None:
    x, out = torch.arange(16, dtype=torch.int32), torch.zeros(16, dtype=torch.int32)
    with lab.limits(engine="native"):
        stepped[(1,)](x, out, n, B=16)
    off = (torch.arange(16) + n * 2**28).to(torch.int32)
    assert torch.equal(out, torch.where(off < 0, x, -1))
