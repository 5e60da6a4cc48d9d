"""Atomics in the model of a kernel: what races with them, and which lanes their masks let through."""

from __future__ import annotations

import pytest
import torch
import triton
import triton.language as tl

import triton_lab as lab
from tests.polyhedral.recorded import scop


@triton.jit
def share_kernel(x_ptr, total_ptr, out_ptr, BLOCK: tl.constexpr, HOW: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    tl.atomic_add(total_ptr, tl.sum(x))
    tl.debug_barrier()
    if HOW == "plain":
        total = tl.load(total_ptr)
    elif HOW == "volatile":
        total = tl.load(total_ptr, volatile=True)
    else:
        total = tl.atomic_add(total_ptr, 0.0, sem="relaxed")
    tl.store(out_ptr + offsets, x / total)


@pytest.mark.parametrize("how", ["plain", "volatile", "atomic"])
def test_a_load_beside_the_atomics_of_others_is_a_race_unless_it_takes_turns(how: str) -> None:
    with lab.target("cpu"), lab.record() as launches:
        share_kernel[(4,)](torch.ones(64), torch.zeros(1), torch.zeros(64), BLOCK=16, HOW=how)
    (launch,) = launches
    kinds = [found.kind for found in launch.findings if found.severity != "note"]
    verdict = scop(launch).races
    assert verdict.free == (how != "plain") == (kinds == [])
    if how == "plain":
        assert kinds == ["race"] and verdict.proof == "this launch"
        assert verdict.witnesses
        for witness in verdict.witnesses:
            assert witness.argument == "total_ptr" and witness.first.program != witness.second.program
            assert {witness.first.statement.kind, witness.second.statement.kind} == {"load", "atomic"}


@triton.jit
def alone_kernel(total_ptr, out_ptr):
    tl.atomic_add(total_ptr + tl.program_id(0), 1.0)  # by the thread that stores
    tl.store(out_ptr + tl.program_id(0), tl.load(total_ptr + tl.program_id(0)))


def test_a_program_may_load_what_it_alone_updates() -> None:
    with lab.target("cpu"), lab.record() as launches:
        alone_kernel[(4,)](torch.zeros(4), torch.zeros(4))
    assert not launches[0].findings
    assert scop(launches[0]).races.proof == "all sizes"


@triton.jit
def swap_kernel(lock_ptr, out_ptr, EXPECTED: tl.constexpr):
    tl.atomic_cas(lock_ptr, EXPECTED, 1, sem="relaxed")
    tl.store(out_ptr + tl.program_id(0), tl.load(lock_ptr))


@pytest.mark.parametrize("expected", [0, 7])
def test_a_swap_that_never_happens_writes_nothing(expected: int) -> None:
    with lab.target("cpu"), lab.record() as launches:
        swap_kernel[(4,)](torch.zeros(1, dtype=torch.int32), torch.zeros(4, dtype=torch.int32), EXPECTED=expected)
    verdict = scop(launches[0]).races
    assert verdict.proof == "this record"
    assert verdict.free == (expected == 7)


@triton.jit
def plain_atomics_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    offsets = tl.program_id(0) * n + lane
    tl.atomic_store(out_ptr + offsets, tl.atomic_load(x_ptr + offsets, mask=lane < n), mask=lane < n, sem="relaxed")
    tl.store(out_ptr + tl.program_id(0) * n, 1, mask=n > BLOCK)


@pytest.mark.skipif(not hasattr(tl, "atomic_load"), reason="this Triton has no plain atomics")
def test_masks_of_atomic_loads_and_stores_are_those_of_the_record() -> None:
    x, out = torch.arange(20, dtype=torch.int32), torch.zeros(20, dtype=torch.int32)
    with lab.target("cpu"), lab.record() as launches:
        plain_atomics_kernel[(4,)](x, out, 5, BLOCK=8)
    model = scop(launches[0])
    assert model.verification.holds, str(model.verification)
    for statement in model.kernel_statements:
        if statement.kind == "atomic":
            assert statement.domain.set.count_val().to_python() == 20
            (access,) = statement.accesses
            assert (access.array, access.kind) in (("x_ptr", "read"), ("out_ptr", "write"))
    assert out.tolist() == x.tolist()
