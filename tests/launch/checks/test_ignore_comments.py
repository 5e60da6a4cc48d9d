"""A comment beside a line ignores findings of the kinds that it names, there and nowhere else."""

from __future__ import annotations

import contextlib

import pytest
import torch
import triton
import triton.language as tl

import triton_lab as lab
from triton_lab.interpreter.kernel_errors import KernelError
from triton_lab.launch.launch import Launch


@triton.jit
def total_kernel(x_ptr, out_ptr):
    x = tl.load(x_ptr + tl.program_id(0))
    tl.store(out_ptr, x)  # triton-lab: ignore[race]


@triton.jit
def totals_kernel(x_ptr, out_ptr):
    x = tl.load(x_ptr + tl.program_id(0))
    tl.store(out_ptr, x)  # a flag  # triton-lab: ignore[race]
    tl.store(out_ptr + 1, x)


@triton.jit
def put(out_ptr, x):
    tl.store(out_ptr, x)  # triton-lab: ignore[same-value, race]


@triton.jit
def helped_kernel(x_ptr, out_ptr):
    put(out_ptr, tl.load(x_ptr + tl.program_id(0)))


@triton.jit
def rase_kernel(x_ptr, out_ptr):
    x = tl.load(x_ptr + tl.program_id(0))  # triton-lab: ignore
    tl.store(out_ptr + tl.program_id(0), x)  # triton-lab: ignore[rase]


@triton.jit
def beyond_kernel(x_ptr, out_ptr):
    tl.store(out_ptr, tl.load(x_ptr + 9))  # triton-lab: ignore[out-of-bounds]


def launched(kernel: object, parts: int = 1) -> Launch:
    with lab.record(parts=parts) as launches, contextlib.suppress(KernelError):
        kernel[(4,)](torch.arange(4.0), torch.zeros(4))  # type: ignore[index]
    return launches[0]


def found(launch: Launch) -> list[tuple[str, int]]:
    first = launch.first_line
    return [(each.kind, each.line - first) for each in launch.findings if each.line is not None]


@pytest.mark.parametrize("parts", [1, 4])
def test_what_a_comment_names_is_left_out_on_its_line(parts: int) -> None:
    assert found(launched(total_kernel, parts)) == []
    assert found(launched(totals_kernel, parts)) == [("race", 4)]


def test_a_comment_in_a_helper_counts_and_the_kind_it_does_not_need_is_a_note() -> None:
    (note,) = launched(helped_kernel).findings
    assert (note.kind, note.severity) == ("unused-ignore", "note")
    assert "same-value" in note.message
    assert note.line == put.starting_line_number + 2
    assert note.excerpt[0][note.column + 4 :].startswith("# triton-lab") and note.excerpt[1].strip().strip("^") == ""


def test_a_kind_that_does_not_exist_is_an_error_that_lists_all() -> None:
    bare, unknown = launched(rase_kernel).findings
    assert {each.kind for each in (bare, unknown)} == {"unknown-ignore"} and bare.severity == "error"
    assert "rase" in unknown.message and all(kind in unknown.hint for kind in ("race", "alias", "unused-ignore"))


def test_what_stops_a_launch_is_not_ignored() -> None:
    launch = launched(beyond_kernel)
    assert [each.kind for each in launch.findings] == ["out-of-bounds"] and launch.error is not None
