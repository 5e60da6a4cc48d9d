"""What a finding says of numbers that a store has changed, held against what torch has in memory."""

from __future__ import annotations

import pytest
import torch
import triton
import triton.language as tl

import triton_lab
from tests.wordings import Wording
from triton_lab.launch.diagnosis.finding import Finding


@triton.jit
def copy_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < n), mask=offsets < n)


@triton.jit
def add_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    tl.atomic_add(out_ptr + lane, tl.load(x_ptr + lane))


def copied(x: torch.Tensor, type: torch.dtype) -> tuple[list[Finding], torch.Tensor]:
    out = torch.zeros(len(x), dtype=type)
    with triton_lab.record() as launches:
        copy_kernel[(triton.cdiv(len(x), 32),)](x, out, len(x), BLOCK=32)
    return [one for one in launches[0].findings if one.severity != "note"], out


@pytest.mark.parametrize(
    ("x", "type", "given", "kept", "how"),
    [
        ([0.0, 0.7], torch.int32, 0.7, 0, "cut"),
        ([0.0, -2.5], torch.int64, -2.5, -2, "cut"),
        ([3e9], torch.int32, 3000000000, 2147483647, "too large"),
    ],
)
def test_floats_in_integers(
    wording: Wording, x: list[float], type: torch.dtype, given: float, kept: int, how: str
) -> None:
    (found,), out = copied(torch.tensor(x), type)
    held = str(type).removeprefix("torch.")
    element = f"out_ptr[{len(x) - 1}]"
    wording(found.message, program="program (0, 0, 0)", given=given, element=element, kept=kept, type=held)
    wording(found.hint, how, types=f"float32 to {held}", cast=f"tl.{held}")
    assert found.severity == "warning"
    assert kept == int(out[-1])
    assert found.values.tolist() == [int(out[-1])]


def test_an_integer_that_is_cut(wording: Wording) -> None:
    x = torch.arange(250, 262, dtype=torch.int32)
    (found,), out = copied(x, torch.uint8)
    who = "program (0, 0, 0)"
    wording(found.message, program=who, given=256, element="out_ptr[6]", kept=0, type="uint8", lanes="6 lanes")
    wording(found.hint, "hint", types="int32 to uint8", cast="tl.uint8")
    assert found.elements.tolist() == [k for k in range(12) if int(x[k]) != int(out[k])]
    (signed,), out = copied(x - 120, torch.int8)
    kept = int(out[0])
    wording(signed.message, program=who, given=130, element="out_ptr[0]", kept=kept, type="int8", lanes="12 lanes")


def test_a_fraction_in_a_tensor_of_bool_is_told_where_it_is_lost() -> None:
    """Triton 3.6 stores 0.5 as an int8, which is 0 and false; later versions ask whether it is zero."""
    found, out = copied(torch.tensor([0.5, 2.5, 0.0]), torch.bool)
    assert bool(out[1])
    assert bool(found) == (not out[0])
    assert [one.values.tolist() for one in found] == ([] if out[0] else [[0]])


def test_all_elements_are_in_its_extent() -> None:
    x = torch.zeros(4000)
    x[10:] = 0.5
    (found,), _ = copied(x, torch.int32)
    assert found.count == 3990
    assert found.extent.tolist() == [[10, 4000]]


def test_what_does_not_fit_a_byte_has_one_finding() -> None:
    """That is overflow, with an advice of its own; beside it stands what lost its fraction alone."""
    (found,), _ = copied(torch.tensor([300.5, 7.0]), torch.int8)
    assert found.kind == "overflow"
    both, _ = copied(torch.tensor([300.5, 7.25]), torch.int8)
    assert {(one.kind, one.count) for one in both} == {("overflow", 1), ("lossy-store", 1)}


def test_nothing_that_was_loaded_as_nan_is_told_of() -> None:
    found, _ = copied(torch.tensor([float("nan"), float("inf"), 1.0]), torch.int32)
    assert not found


def test_an_atomic_brings_a_number(wording: Wording) -> None:
    with triton_lab.record() as launches:
        add_kernel[(1,)](torch.full((16,), 1.5), torch.zeros(16, dtype=torch.int32), BLOCK=16)
    (found,) = [one for one in launches[0].findings if one.kind == "lossy-store"]
    who = "program (0, 0, 0)"
    wording(found.message, program=who, given=1.5, element="out_ptr[0]", kept=1, type="int32", lanes="16 lanes")


def test_an_infinity_by_conversion_says_what_the_type_holds(wording: Wording) -> None:
    (found,), out = copied(torch.tensor([1.0, 70000.0]), torch.float16)
    assert bool(out[1].isinf())
    assert found.kind == "non-finite"
    wording(found.hint, wide="float32", narrow="float16", most="65,504")
    (found,), _ = copied(torch.tensor([1, 70000]), torch.float16)
    wording(found.hint, wide="int64", narrow="float16", most="65,504")
