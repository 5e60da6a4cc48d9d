"""Units in the last place, held against all patterns of narrow floats, NumPy's nextafter and Python's integers."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st

from triton_lab.launch.comparison import number_formats

NARROW = ["bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float16"]
floats32 = st.floats(width=32, allow_nan=False, allow_infinity=False)


def patterns(name: str) -> Any:
    """Every finite number of a narrow float, ascending, zero once."""
    dtype = np.dtype(getattr(ml_dtypes, name, name))
    every = np.arange(1 << (8 * dtype.itemsize), dtype=np.uint32).astype(f"u{dtype.itemsize}").view(dtype)
    wide = number_formats.wide(every)
    return np.unique(wide[np.isfinite(wide)]).astype(dtype)


@pytest.mark.parametrize("name", NARROW)
def test_steps_count_the_numbers_between(name: str) -> None:
    numbers = patterns(name)
    rng = np.random.default_rng(1)
    i, j = rng.integers(0, len(numbers), (2, 3000))
    assert number_formats.steps(numbers[i], numbers[j]).tolist() == np.abs(i - j).tolist()


@pytest.mark.parametrize("name", NARROW)
def test_an_ulp_is_the_distance_to_the_next_number(name: str) -> None:
    numbers = patterns(name)
    positive = numbers[numbers.astype(np.float64) >= 0]
    gaps = np.diff(positive.astype(np.float64))
    assert number_formats.ulp(positive[:-1], positive.dtype).tolist() == gaps.tolist()
    assert number_formats.smallest(positive.dtype) == gaps[0]


@given(floats32, floats32)
@example(float(np.finfo(np.float32).max), 0.0)
def test_ulps_of_float32_are_spacings_of_numpy(a: float, b: float) -> None:
    x, y = np.float32([a]), np.float32([b])
    if abs(a) < 3e38:
        assert number_formats.ulp(x, x.dtype)[0] == abs(np.spacing(x))[0]
    with np.errstate(over="ignore"):  # the largest number's neighbour is infinite
        up = np.nextafter(x, np.float32(np.inf))
    assert number_formats.steps(x, up)[0] == (0 if a == 0 and up[0] == 0 else 1)
    assert number_formats.steps(x, y)[0] == number_formats.steps(y, x)[0]


def test_steps_of_float64_do_not_overflow() -> None:
    most = np.finfo(np.float64).max
    steps = number_formats.steps(np.array([-most]), np.array([most]))
    assert int(steps[0]) == 2 * int(np.array([most]).view(np.uint64)[0])


@given(st.sampled_from(["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]), st.data())
def test_integers_are_apart_exactly(kind: str, data: Any) -> None:
    info = np.iinfo(kind)
    a, b = (data.draw(st.integers(int(info.min), int(info.max))) for _ in range(2))
    assert int(number_formats.steps(np.array([a], kind), np.array([b], kind))[0]) == abs(a - b)


@pytest.mark.parametrize(
    "dtype",
    [torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2, torch.float16, torch.float32, torch.float64, torch.int8,
     torch.int64, torch.uint8, torch.bool],
)  # fmt: skip
def test_tensors_keep_their_dtype_and_bits(dtype: torch.dtype) -> None:
    tensor = torch.tensor([[0, 1], [1, 0], [1, 1]], dtype=torch.float32).to(dtype).t()
    found = number_formats.as_array(tensor)
    assert found.dtype == number_formats.numpy_type(str(dtype).removeprefix("torch."))
    assert found.astype(np.float64).tolist() == tensor.to(torch.float64).tolist()


def test_the_coarser_of_two_dtypes_has_the_wider_rounding() -> None:
    half, single, whole = np.dtype(np.float16), np.dtype(np.float32), np.dtype(np.int64)
    brain = np.dtype(ml_dtypes.bfloat16)
    assert number_formats.coarser(half, single) == half
    assert number_formats.coarser(brain, half) == brain
    assert number_formats.coarser(whole, single) == single


@pytest.mark.parametrize("name", ["float32", "bfloat16", "float8_e5m2"])
def test_one_element_that_was_expanded_is_an_array_like_any(name: str) -> None:
    for shape in ((), (1,), (1, 1), (3,), (2, 3)):
        found = number_formats.as_array(torch.tensor(3.0, dtype=getattr(torch, name)).expand(shape))
        assert (
            found.shape == shape and found.dtype == number_formats.numpy_type(name) and (found.astype(float) == 3).all()
        )
