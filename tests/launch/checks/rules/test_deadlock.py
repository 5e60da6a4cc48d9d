"""Programs that wait for ever: the finding names what the loop's condition reads, not what its body touches."""

from __future__ import annotations

import pytest
import torch
import triton
import triton.language as tl

import triton_lab as lab


@triton.jit
def counting_kernel(flag_ptr, other_ptr, count_ptr):
    program = tl.program_id(0)
    rounds = 0
    while tl.load(flag_ptr + program) == 0:
        rounds += 1
        tl.store(count_ptr + program, tl.load(other_ptr + program) + rounds)


@triton.jit
def late_kernel(flag_ptr, other_ptr, count_ptr):
    program = tl.program_id(0)
    flag = tl.load(flag_ptr + program)
    while flag == 0:
        flag = tl.load(flag_ptr + program)
        tl.atomic_add(count_ptr + program, tl.load(other_ptr + program))


@triton.jit
def is_open(flag_ptr):
    return tl.load(flag_ptr) != 0


@triton.jit
def calling_kernel(flag_ptr, other_ptr, count_ptr):
    program = tl.program_id(0)
    while not is_open(flag_ptr + program):
        tl.store(count_ptr + program, 1)


@pytest.mark.parametrize("kernel", [counting_kernel, late_kernel, calling_kernel])
def test_a_wait_names_the_element_that_its_condition_reads(kernel: triton.JITFunction) -> None:
    flag, *others = (torch.zeros(4, dtype=torch.int32) for _ in range(3))
    flag[0] = 1
    with lab.record() as launches, pytest.raises(lab.Deadlock):
        kernel[(4,)](flag, *others)
    (found,) = [one for one in launches[0].findings if one.kind == "deadlock"]
    assert (found.argument, found.count, found.programs.tolist()) == ("flag_ptr", 3, [1, 2, 3])
    assert found.elements.tolist() == [1, 2, 3] and found.line is not None
