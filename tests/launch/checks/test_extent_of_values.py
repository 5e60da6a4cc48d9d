"""How far what is wrong with numbers reaches: to every element that it was stored to, however few are listed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
import triton
import triton.language as tl

import triton_lab as lab
from tests.wordings import Wording
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.launch.launch import Launch
from triton_lab.views.launch.tiling.tiling_view import Tiling


@triton.jit
def log_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.log(tl.load(x_ptr + offsets, mask=offsets < n)), mask=offsets < n)


@triton.jit
def product_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr + n - 1 - offsets, (x * x).to(tl.float32), mask=(offsets < n) & (offsets != 7))


@triton.jit
def sums_kernel(x_ptr, out_ptr, rows, BLOCK: tl.constexpr):
    lane = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), dtype=tl.float16)
    for row in range(rows):
        total += tl.load(x_ptr + row * 512 + lane)
    tl.store(out_ptr + lane, total)


@triton.jit
def strided_kernel(out_ptr, n, stride, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * stride + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, 1.0, mask=(offsets >= 0) & (offsets < n))


def only(launch: Launch, kind: str) -> Finding:
    (found,) = (one for one in launch.findings if one.kind == kind)
    return found


def elements(extent: np.ndarray) -> list[int]:
    return [number for first, stop in extent.tolist() for number in range(first, stop)]


def test_infinity_reaches_every_element_that_has_it(wording: Wording) -> None:
    x, out = torch.rand(900), torch.zeros(900)
    x[10:400] = 0
    x[500:900:2] = 0
    with lab.record() as launches:
        log_kernel[(4,)](x, out, 900, BLOCK=256)
    found = only(launches[0], "non-finite")
    assert elements(found.extent) == np.flatnonzero(~np.isfinite(out.numpy())).tolist()
    assert len(found.elements) == 100 < found.count == 590
    (told,) = [line for line in Tiling(launches[0], "out_ptr").text().split("\n") if "590 elements" in line]
    wording(told, elements="590 elements")


def test_a_product_that_wraps_reaches_every_element_that_it_is_stored_to() -> None:
    x, out = torch.full((900,), 10, dtype=torch.int8), torch.zeros(900)
    x[:700] = 12
    with lab.record() as launches:
        product_kernel[(4,)](x, out, 900, BLOCK=256)
    found = only(launches[0], "overflow")
    ((name, stored),) = found.ends
    expected = np.flatnonzero(out.numpy() < 0)
    assert name == "out_ptr" and len(expected) == 699, "one is not stored"
    assert sorted(stored.tolist()) == expected.tolist()
    assert stored.tolist()[:3] == [899, 898, 897], "in the order of the lanes"
    assert "overflow: 699 elements" in Tiling(launches[0], "out_ptr").text()


def test_sums_that_lose_reach_every_element_they_are_stored_to(tmp_path: Path) -> None:
    x, out = torch.zeros(3000, 512, dtype=torch.float16), torch.zeros(512, dtype=torch.float16)
    x[:, 100:450] = 1
    with lab.record() as launches:
        sums_kernel[(2,)](x, out, len(x), BLOCK=256)
    assert np.flatnonzero(out.numpy() == 2048).tolist() == list(range(100, 450)), "where they stand still"
    found = only(launches[0], "lost-precision")
    ((name, stored),) = found.ends
    assert (name, stored.tolist()) == ("out_ptr", list(range(100, 450)))
    launches[0].save(tmp_path / "one.launch")
    assert only(lab.load(tmp_path / "one.launch"), "lost-precision").ends[0][1].tolist() == stored.tolist()


def test_an_address_that_wraps_reaches_as_far_as_its_lanes() -> None:
    """4 * 2^30 is 0 again: the fifth program stores where the first one does; two before it are below zero."""
    with lab.record() as launches:
        strided_kernel[(5,)](torch.zeros(300), 300, 1 << 30, BLOCK=256)
    found = only(launches[0], "overflow")
    exact = np.arange(5)[:, None] * (1 << 30) + np.arange(256)
    wrapped = exact.astype(np.int32)
    assert elements(found.extent) == np.unique(wrapped[wrapped != exact]).tolist()
    assert len(found.elements) == 100 < found.count == 3 * 256
