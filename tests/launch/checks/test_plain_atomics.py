"""Atomics that only load, only store or only wait, recorded and checked."""

from __future__ import annotations

import pytest
import torch
import triton
import triton.language as tl

import triton_lab
from tests.wordings import Wording
from triton_lab.interpreter.kernel_errors import KernelError

pytestmark = pytest.mark.skipif(not hasattr(tl, "atomic_poll"), reason="this Triton has no plain atomics")


@triton.jit
def hand_over_kernel(x_ptr, flag_ptr, out_ptr, SEM: tl.constexpr, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    if tl.program_id(0) == 0:
        tl.atomic_poll(flag_ptr, 1, sem=SEM)
        tl.store(out_ptr + lane, tl.load(x_ptr + lane))
    else:
        tl.store(x_ptr + lane, lane)
        tl.debug_barrier()
        tl.atomic_store(flag_ptr, 1, sem="release")


@pytest.mark.parametrize("sem", ["acquire", "relaxed"])
def test_a_poll_orders_what_comes_after_it_if_it_acquires(sem: str) -> None:
    x, out = torch.zeros(8, dtype=torch.int32), torch.zeros(8, dtype=torch.int32)
    with triton_lab.record() as launches:
        hand_over_kernel[(2,)](x, torch.zeros(1, dtype=torch.int32), out, SEM=sem, BLOCK=8)
    assert out.tolist() == list(range(8))
    (launch,) = launches
    assert [(access.kind, access.argument) for access in launch.accesses if access.argument == "flag_ptr"] == [
        ("atomic", "flag_ptr"),
        ("atomic", "flag_ptr"),
    ]
    assert [found.kind for found in launch.findings if found.severity == "error"] == ["race"] * (sem == "relaxed")


@triton.jit
def forgotten_kernel(flag_ptr, out_ptr):
    tl.store(out_ptr + tl.program_id(0), 1)
    tl.atomic_poll(flag_ptr, 1)


def test_a_poll_that_nobody_answers_says_what_it_waits_for(wording: Wording) -> None:
    with triton_lab.record() as launches, pytest.raises(KernelError):
        forgotten_kernel[(2,)](torch.zeros(1, dtype=torch.int32), torch.zeros(2, dtype=torch.int32))
    (found,) = [each for each in launches[0].findings if each.severity == "error"]
    assert found.kind == "deadlock"
    assert found.programs.tolist() == [0, 1]
    wording(found.message, programs="program (0, 0, 0) and 1 other", name="flag_ptr")


@triton.jit
def copy_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    tl.atomic_store(out_ptr + lane, tl.atomic_load(x_ptr + lane), sem="relaxed")


def test_an_atomic_load_reads_and_an_atomic_store_does_not(wording: Wording) -> None:
    with triton_lab.record() as launches:
        x, out = torch.empty(8, dtype=torch.int32), torch.empty(8, dtype=torch.int32)
        x[:6] = 1
        copy_kernel[(1,)](x, out, BLOCK=8)
    (found,) = launches[0].findings
    assert (found.kind, found.argument, found.count) == ("uninitialized", "x_ptr", 2)
    wording(found.message, program="program (0, 0, 0)", element="x_ptr[6]", lanes="2 lanes")


@triton.jit
def look_kernel(x_ptr, out_ptr, PLAIN: tl.constexpr, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    tl.store(out_ptr + lane, tl.load(x_ptr + lane) if PLAIN else tl.atomic_load(x_ptr + lane))


@pytest.mark.parametrize("plain", [True, False])
def test_who_has_only_looked_at_memory_has_not_written_it(plain: bool) -> None:
    """A second launch that reads it is told as well."""
    with triton_lab.record() as launches:
        x, out = torch.empty(8, dtype=torch.int32), torch.empty(8, dtype=torch.int32)
        look_kernel[(1,)](x, out, PLAIN=plain, BLOCK=8)
        look_kernel[(1,)](x, out, PLAIN=True, BLOCK=8)
    assert [[found.kind for found in launch.findings] for launch in launches] == [["uninitialized"]] * 2


@triton.jit
def read_kernel(x_ptr, out_ptr):
    tl.store(out_ptr + tl.program_id(0), tl.atomic_load(x_ptr, scope="cta"))


def test_programs_that_only_load_do_not_race_whatever_the_scope() -> None:
    with triton_lab.record() as launches:
        read_kernel[(4,)](torch.zeros(1, dtype=torch.int32), torch.zeros(4, dtype=torch.int32))
    assert launches[0].findings == []
