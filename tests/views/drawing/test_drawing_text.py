"""Numbers, times and sizes in words, on both sides of every unit."""

from __future__ import annotations

import pytest

from tests.wordings import Wording
from triton_lab.launch.argument import Argument
from triton_lab.messages import seconds_text
from triton_lab.views.drawing.drawing_text import (
    bytes_text,
    nobody,
    number_text,
    panel_names,
    shape_text,
    some_of,
    step_names,
)

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30


@pytest.mark.parametrize(
    ("count", "told"),
    [
        (0, "0 bytes"), (1, "1 byte"), (1023, "1,023 bytes"), (KIB, "1 KiB"), (1536, "1.5 KiB"), (999 * KIB, "999 KiB"),
        (1000 * KIB, "1,000 KiB"), (MIB - KIB, "1,023 KiB"), (MIB, "1 MiB"), (MIB * 5 // 4, "1.25 MiB"),
        (100 * MIB, "100 MiB"), (GIB, "1 GiB"), (GIB * 5 // 2, "2.5 GiB"), (GIB << 11, "2,048 GiB"),
    ],
)  # fmt: skip
def test_bytes_have_the_largest_unit_that_they_fill(count: int, told: str) -> None:
    assert bytes_text(count) == told


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        (1.0, "1 s"), (12.345, "12.3 s"), (999.4, "999 s"), (1234.5, "1,234 s"), (0.9996, "1 s"), (0.9994, "999 ms"),
        (1e-3, "1 ms"), (1.234e-3, "1.23 ms"), (9.996e-4, "1 ms"), (9.994e-4, "999 µs"),
        (1e-6, "1 µs"), (9.994e-7, "999 ns"), (2.5e-7, "250 ns"), (5.89e-9, "5.89 ns"), (0.0, "0 µs"),
    ],
)  # fmt: skip
def test_times_have_three_digits_and_a_unit(seconds: float, told: str) -> None:
    assert seconds_text(seconds) == told


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (0, "0"), (-3.0, "-3"), (999_999, "999999"), (-999_999.0, "-999999"), (1_000_000, "1e+06"), (-1e6, "-1e+06"),
        (1.5, "1.5"), (3.14159, "3.142"), (1e-9, "1e-09"), (123456.7, "1.235e+05"), (True, "1"),
    ],
)  # fmt: skip
def test_whole_numbers_are_told_in_full_up_to_a_million(value: float, told: str) -> None:
    assert number_text(value) == told


def test_shapes_and_slices(wording: Wording) -> None:
    assert (shape_text(()), shape_text((7,)), shape_text((2, 3, 4))) == ("scalar", "7", "2×3×4")
    assert panel_names((3, 4), (0, 0), 1) == [] and panel_names((1, 3, 4), (0, 0, 0), 1) == []
    assert panel_names((2, 3, 4), (0, 0, 0), 2) == ["[0, :, :]", "[1, :, :]"]
    assert panel_names((2, 2, 3, 4), (1, 0, 5, 5), 4) == [
        "[-1, 0, :, :]",
        "[-1, 1, :, :]",
        "[0, 0, :, :]",
        "[0, 1, :, :]",
    ]
    assert (some_of(None, 9), some_of(105, 1221)) == ("", ", 105 of 1,221 programs shown")
    assert some_of(0, 1) == ", 0 of 1 program shown"
    assert nobody(None) == "not accessed"
    wording(nobody(0))


@pytest.mark.parametrize(
    ("shape", "told"),
    [
        ((4, 6), ("→ +1", "↓ +6")),
        ((1, 6), ("→ +1", "")),
        ((4, 1), ("", "↓ +6")),
        ((1, 1), ("", "")),
        ((0, 6), ("→ +1", "")),
    ],
)
def test_a_step_is_named_where_there_is_somewhere_to_go(shape: tuple[int, int], told: tuple[str, str]) -> None:
    tensor = Argument("x", "tensor", shape=shape, strides=(6, 1))
    assert step_names(tensor, wrapped=False) == told
    assert step_names(tensor, wrapped=True) == (told[0], "")
