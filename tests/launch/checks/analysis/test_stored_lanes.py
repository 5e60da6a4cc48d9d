"""Where a number that is wrong in a register comes to memory."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

import triton_lab as lab
from triton_lab.launch.diagnosis.finding import Finding


@triton.jit
def sum_kernel(x_ptr, out_ptr, other_ptr, rows, TWICE: tl.constexpr, AT_ONCE: tl.constexpr, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), dtype=tl.float16)
    for row in range(rows):
        total += tl.load(x_ptr + row * BLOCK + lane)
    tl.store(other_ptr + lane, tl.zeros((BLOCK,), tl.float32))
    if AT_ONCE:
        tl.store(out_ptr, tl.sum(total.to(tl.float32)))
    else:
        tl.store(out_ptr + BLOCK * tl.program_id(0) + lane, total.to(tl.float32) * 2, mask=lane != 3)
    if TWICE:
        for again in range(2):
            tl.store(out_ptr + BLOCK * again + (BLOCK - 1 - lane), -total.to(tl.float32))


def lost(columns: tuple[int, ...], twice: bool = False, at_once: bool = False) -> Finding:
    """Of sums of ones, which stop growing in these columns; in the others is nothing to lose."""
    x = torch.zeros(3000, 8, dtype=torch.float16)
    x[:, list(columns)] = 1
    with lab.record() as launches:
        sum_kernel[(1,)](x, torch.zeros(16), torch.zeros(8), len(x), TWICE=twice, AT_ONCE=at_once, BLOCK=8)
    (found,) = (one for one in launches[0].findings if one.kind == "lost-precision")
    return found


def ends(found: Finding) -> dict[str, list[int]]:
    return {name: elements.tolist() for name, elements in found.ends}


def test_lanes_end_where_they_are_stored_and_those_that_a_mask_leaves_out_nowhere() -> None:
    assert ends(lost((1, 3, 6))) == {"out_ptr": [1, 6]}
    assert not ends(lost((3,)))


def test_of_several_stores_the_last_one_counts() -> None:
    assert ends(lost((1, 3), twice=True)) == {"out_ptr": [14, 12]}


def test_what_is_summed_up_on_its_way_ends_where_nobody_knows() -> None:
    assert not ends(lost((1, 6), at_once=True))
