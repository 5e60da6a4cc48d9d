"""Differences that an H100 made (Triton 3.6, ``h100.npz``), and whether their cause is named; no GPU is needed."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
import triton
import triton.language as tl

import triton_lab as lab
from tests.interpreter.variants.test_thread_reductions import H100, all_of_a_row, along_an_axis
from tests.launch.comparison.kernels import exponential, quotient, recorded
from triton_lab.examples.softmax import softmax_backward
from triton_lab.launch.comparison.argument_difference import NEAR
from triton_lab.launch.comparison.launch_results import before, of_launch

DATA = {name: torch.from_numpy(H100[name]) for name in H100.files}


@triton.jit
def logarithm(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.log(tl.load(x_ptr + offsets)))


def made_there(run: Callable[[torch.Tensor], Any], made: torch.Tensor) -> Any:
    """The launch with what the H100 made of it."""
    launch = recorded(lambda: run(torch.zeros_like(made)))
    ((name, ours),) = [(name, of_launch(launch).arrays[name]) for name in of_launch(launch).written]
    return replace(launch, target="gpu", outputs=[(name, made, torch.from_numpy(ours))])


def rows(name: str) -> Any:
    x, warps = DATA[f"{name}_x"], int(name.rsplit("_", 1)[1])
    count, n = x.shape
    return made_there(lambda out: all_of_a_row[(count,)](x, out, n, num_warps=warps), DATA[f"{name}_o"])


def block(name: str) -> Any:
    x, (axis, warps) = DATA[f"{name}_x"], map(int, name.rsplit("_", 2)[1:])
    return made_there(
        lambda out: along_an_axis[(1,)](x, out, *x.shape, axis, num_warps=warps), DATA[f"{name}_o"]
    )  # fmt: skip


@pytest.mark.parametrize("name", ["row_64_1", "row_256_4", "row_1024_4", "two_16_16_1_1"])
def test_the_order_of_sums_on_a_gpu_is_named(name: str) -> None:
    comparison = lab.compare(rows(name) if name.startswith("row") else block(name))
    assert comparison.verdict == NEAR
    assert comparison.causes().known and "threads" in comparison.cause


FUNCTIONS: dict[str, tuple[Callable[[torch.Tensor], Any], str, str]] = {
    "division": (
        lambda out: quotient[(3,)](DATA["div_x"], DATA["div_y"], out, BLOCK=64), "div_o",
        "division: ",
    ),
    "exp": (
        lambda out: exponential[(3,)](DATA["exp_x"], out, BLOCK=64), "exp_o",
        "exp: ",
    ),
    "log": (lambda out: logarithm[(3,)](DATA["log_x"], out, BLOCK=64), "log_o", "log: "),
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_approximate_functions_of_a_gpu_are_named(name: str) -> None:
    run, made, pattern = FUNCTIONS[name]
    comparison = lab.compare(made_there(run, DATA[made]))
    assert comparison.verdict == NEAR
    assert re.search(pattern, comparison.cause)


RECORDED = {
    "matmul_float16": "tensor cores",
    "matmul_float32": "fuses",
    "tf32_h100": "tf32",
}


@pytest.mark.parametrize("name", RECORDED)
def test_dots_are_made_as_the_gpu_made_them(name: str) -> None:
    """To the bit: launches that an H100 ran, of which two are among the examples' recordings."""
    own = Path(__file__).with_name(f"{name}.launch")
    comparison = lab.compare(lab.load(own) if own.exists() else lab.examples.recording(name))
    assert comparison.verdict == NEAR
    (dots,) = [one for one in comparison.causes().experiments if one.removes]
    assert "tl.dot" in dots.cause and RECORDED[name] in dots.cause and comparison.cause.startswith(f"{dots.cause}: ")


def test_tf32_is_named_beside_the_product_in_float64() -> None:
    """The launch's own run on the CPU has dots in float32."""
    launch = lab.load(Path(__file__).with_name("tf32_h100.launch"))
    a, b = (torch.from_numpy(before(launch)[name]).double() for name in ("a_ptr", "b_ptr"))
    causes = lab.compare(launch, a @ b).causes()
    (one,) = causes.experiments
    assert "tf32" in one.cause and one.names_it and one.equal > one.before
    # What differs otherwise is not laid to tf32.
    other = lab.compare(launch, a @ b * 1.5).causes()
    assert not any(each.names_it or each.helps for each in other.experiments if "tf32" in each.cause)


def test_sums_of_products_are_fused_as_the_gpu_fused_them() -> None:
    """Of a row each thread has one product, which is fused with the first that another thread gives it."""
    there = lab.load(Path(__file__).with_name("softmax_backward_h100.launch"))
    y, dy = (torch.from_numpy(before(there)[name]) for name in ("y_ptr", "dy_ptr"))
    launch = recorded(lambda: softmax_backward(y, dy))
    (name,) = of_launch(there).written
    both = [torch.from_numpy(of_launch(one).arrays[name]) for one in (there, launch)]
    on_gpu = replace(launch, target="gpu", outputs=[(name, *both)])
    (best,) = [one for one in lab.compare(on_gpu).causes().experiments if one.removes]
    assert best.name.endswith(", fused") and best.rows == (13, 13) and best.side == "softmax_backward_kernel (CPU)"
