"""What is not the same in two launches is said first, and given as data."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

from typing import Any

import pytest
import torch
import triton
import triton.language as tl

import triton_lab as lab
from tests.interpreter.support import kernel_from
from tests.launch.comparison.kernels import recorded
from tests.wordings import Wording
from triton_lab.launch.launch import Launch


@triton.jit
def scaled(x_ptr, out_ptr, s, n, stride, ACC: tl.constexpr, BLOCK: tl.constexpr):
    k = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + k * stride, mask=k < n).to(ACC)
    tl.store(out_ptr + k, (x * s).to(tl.float32), mask=k < n)


@triton.jit
def dropped(x_ptr, out_ptr, seed, p, n, BLOCK: tl.constexpr):
    k = tl.arange(0, BLOCK)
    keep = tl.rand(seed, k) > p
    tl.store(out_ptr + k, tl.where(keep, tl.load(x_ptr + k, mask=k < n), 0.0), mask=k < n)


def run(**other: Any) -> Launch:
    given: dict[str, Any] = {
        "x": torch.arange(64.0), "s": 0.5, "n": 64, "stride": 1, "ACC": tl.float32, "BLOCK": 16, "grid": 4,
        "num_warps": 4,
    }  # fmt: skip
    given |= other
    return recorded(
        lambda: scaled[(given["grid"],)](
            given["x"], torch.zeros(64), given["s"], given["n"], given["stride"], ACC=given["ACC"],
            BLOCK=given["BLOCK"], num_warps=given["num_warps"],
        )
    )  # fmt: skip


X = torch.arange(64.0)
# What is passed, and the kind, the name and both values of the difference.
PASSED = {
    "scalar": ({"s": 0.25}, ("scalar", "s", 0.5, 0.25)),
    "constexpr": ({"ACC": tl.bfloat16}, ("constexpr", "ACC", tl.float32, tl.bfloat16)),
    "option": ({"num_warps": 8}, ("option", "num_warps", 4, 8)),
    "grid": ({"grid": 3}, ("grid", "", (4, 1, 1), (3, 1, 1))),
    "dtype": ({"x": X.double()}, ("dtype", "x_ptr", "float32", "float64")),
    "shape": ({"x": torch.arange(80.0)}, ("shape", "x_ptr", (64,), (80,))),
    "strides": ({"x": torch.arange(64.0)[:, None].expand(64, 2)[:, 0]}, None),
    "contents": ({"x": X + 1}, ("contents", "x_ptr", None, None)),
    "nothing": ({}, None),
}


@pytest.mark.parametrize("name", PASSED)
def test_each_kind_of_difference_is_given_as_data(name: str) -> None:
    other, expected = PASSED[name]
    found = run().diff(run(**other))
    if expected is None:
        assert not found
        return
    (one,) = found
    assert (one.kind, one.a, one.b) == (expected[0], *expected[2:])
    assert one.kind == "grid" or one.name == expected[1]
    assert one.decides == (name != "option")


def test_strides_of_one_shape_are_compared() -> None:
    wide = torch.arange(128.0)
    (one, two) = run(x=wide[::2], stride=2).diff(run(x=wide[::2].contiguous()))
    assert (one.kind, one.name, one.a, one.b) == ("strides", "x_ptr", (2,), (1,))
    assert (two.kind, two.name, two.a, two.b) == ("scalar", "stride", 2, 1)


def edited(line: str) -> Launch:
    kernel = kernel_from(
        "@triton.jit\ndef kernel(x_ptr, out_ptr):\n    k = tl.arange(0, 16)\n    x = tl.load(x_ptr + k)\n"
        f"    {line}\n    tl.store(out_ptr + k, x)\n"
    )
    return recorded(lambda: kernel[(1,)](torch.arange(16.0), torch.zeros(16)))


def test_a_line_that_was_edited_is_a_difference() -> None:
    a, b = edited("x = x + 1"), edited("x = x - 1")
    (one,) = a.diff(b)
    assert (one.kind, one.name, one.a.strip(), one.b.strip()) == ("source", "kernel", "x = x + 1", "x = x - 1")
    assert one.line == (a.first_line + 4, b.first_line + 4)
    assert "`x = x + 1`" in lab.compare(a, b).sentence


def test_a_global_with_another_value_is_a_difference() -> None:
    def launched(value: int) -> Launch:
        kernel = kernel_from(
            f"FACTOR = tl.constexpr({value})\n@triton.jit\ndef kernel(x_ptr, out_ptr):\n"
            "    k = tl.arange(0, 16)\n    tl.store(out_ptr + k, tl.load(x_ptr + k) * FACTOR)\n"
        )
        return recorded(lambda: kernel[(1,)](torch.arange(16.0), torch.zeros(16)))

    (one,) = launched(3).diff(launched(4))
    assert (one.kind, one.name, one.a, one.b) == ("global", "FACTOR", 3, 4)


def test_the_first_sentence_says_what_differs(wording: Wording) -> None:
    comparison = lab.compare(run(), run(s=0.25))
    wording(comparison.text().split("\n")[0], kernel="scaled", name="s", one=0.5, other=0.25)
    causes = comparison.causes()
    assert causes.named == (comparison.differences.told(),) and causes.known
    assert not any(one.names_it for one in causes.experiments) and causes.pair is None


def test_another_seed_is_the_cause() -> None:
    x = torch.ones(64)
    a, b = (recorded(lambda s=s: dropped[(1,)](x, torch.zeros(64), s, 0.25, 64, BLOCK=64)) for s in (8, 7))
    comparison = lab.compare(a, b)
    (one,) = comparison.differences
    assert (one.name, one.a, one.b) == ("seed", 8, 7)
    assert comparison.causes().named == (one.told(),)


def test_of_many_differences_the_deciding_ones_come_first() -> None:
    found = run().diff(run(num_warps=8, s=0.25, n=60, x=X + 1, grid=3))
    assert [one.decides for one in found] == [True] * 4 + [False]
    assert len(found.deciding) == 4 and found.told().count(" in a and ") < 4


def test_equal_launches_have_no_difference() -> None:
    comparison = lab.compare(run(), run())
    assert comparison.differences == () and repr(comparison.differences) and comparison.verdict == "bit-equal"
