"""Bytes that a GPU changes since the float before them does not fit, against a conversion of each pair in Python."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import pytest
import torch
import triton
import triton.language as tl

import triton_lab as lab
from triton_lab.launch.checks.analysis.evidence import Evidence
from triton_lab.launch.checks.rules.spilt_byte import BytePairs, ChangedByte, changed_bytes


@triton.jit
def bytes_of(x_ptr, o_ptr, BLOCK: tl.constexpr, LIMIT: tl.constexpr):
    k = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + k)
    if LIMIT:
        x = tl.clamp(x, 0.0, 255.0)
    tl.store(o_ptr + k, x)


def looked(x: torch.Tensor, block: int, limit: bool = False) -> BytePairs | None:
    with lab.target("cpu"), lab.record() as launches:
        bytes_of[(x.numel() // block,)](x, torch.zeros(x.numel(), dtype=torch.uint8), BLOCK=block, LIMIT=limit)
    launch = launches[0]
    assert launch.tape is not None
    return changed_bytes(Evidence(launch, launch.tape))


def expected(first: float, second: float) -> int:
    """The second byte: the upper half of the first 16 bits is added to it, bit by bit."""
    return (min(max(int(second), 0), 65535) | min(max(int(first), 0), 65535) >> 8) & 255


@pytest.mark.parametrize("pair", [(918.1, 5.0), (539.0, 205.0), (256.0, 0.0), (7e4, 1.0), (3e9, 0.0)])
def test_the_byte_after_a_number_above_255_is_changed(pair: tuple[float, float]) -> None:
    watcher = looked(torch.tensor(pair * 512), 256)
    assert watcher is not None
    ((op, tally),) = watcher.found.items()
    assert tally.count == 512
    lanes = tally.listed()
    assert [(int(p), int(k)) for p, k in zip(lanes.program[:3], lanes.lane[:3], strict=True)] == [
        (0, 1),
        (0, 3),
        (0, 5),
    ]
    one = watcher.examples[op]
    assert one == ChangedByte((256,), pytest.approx(pair[0]), int(pair[1]) & 255, expected(*pair))
    assert one.byte != one.changed


@pytest.mark.parametrize("pair", [(255.9, 5.0), (5.0, 918.1), (-300.0, 5.0), (257.0, 1.0), (float("nan"), 3.0)])
def test_no_byte_is_changed_by_a_number_that_fits_or_that_comes_second(pair: tuple[float, float]) -> None:
    """Of 257 the bit that is added is set already."""
    watcher = looked(torch.tensor(pair * 512), 256)
    assert watcher is not None and not watcher.found


def test_a_thread_with_one_byte_has_no_pairs() -> None:
    assert looked(torch.full((256,), 918.1), 128) is None


def test_a_clamp_before_the_cast_keeps_the_neighbour() -> None:
    watcher = looked(torch.tensor([918.1, 5.0] * 512), 256, limit=True)
    assert watcher is not None and not watcher.found
