"""What stopped a launch is kept and shown: every lane's address, what the mask let through, and who went astray.

The oracle is NumPy: each kernel's offsets and mask are worked out again, lane by lane.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch
import triton
import triton.language as tl

import triton_lab as lab
from triton_lab.backend.plugin import launcher
from triton_lab.interpreter.kernel_errors import KernelError
from triton_lab.launch.access import Access
from triton_lab.launch.launch import Launch

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


@triton.jit
def load_kernel(x_ptr, out_ptr, shift, bound, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK) + shift
    tl.store(out_ptr + tl.arange(0, BLOCK), tl.load(x_ptr + offsets, mask=offsets < bound))


@triton.jit
def store_kernel(x_ptr, out_ptr, shift, bound, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK) + shift
    tl.store(x_ptr + offsets, offsets, mask=offsets < bound)


@triton.jit
def bare_kernel(x_ptr, out_ptr, shift, bound, BLOCK: tl.constexpr):
    tl.store(out_ptr + tl.arange(0, BLOCK), tl.load(x_ptr + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK) + shift))


@triton.jit
def add_kernel(x_ptr, out_ptr, shift, bound, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK) + shift
    tl.atomic_add(x_ptr + offsets, 1, mask=offsets < bound)


@triton.jit
def swap_kernel(x_ptr, out_ptr, shift, bound, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    tl.atomic_cas(x_ptr + tl.program_id(0) * BLOCK + lane + shift, lane, lane)


@triton.jit
def scattered_kernel(x_ptr, out_ptr, shift, bound, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    offsets = tl.program_id(0) * BLOCK + (lane ^ 1) + shift  # no affine form
    tl.store(out_ptr + lane, tl.load(x_ptr + offsets, mask=offsets < bound))


@triton.jit
def waits_kernel(x_ptr, out_ptr, shift, bound, BLOCK: tl.constexpr):
    while tl.atomic_add(out_ptr, 0) < 0:
        pass
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK) + shift
    tl.store(x_ptr + offsets, offsets, mask=offsets < bound)


@triton.jit
def described_kernel(x_ptr, out_ptr, shift, bound, BLOCK: tl.constexpr):
    described = tl.make_tensor_descriptor(x_ptr, [bound], [1], [BLOCK])
    tl.store(out_ptr + tl.arange(0, BLOCK), described.load([tl.program_id(0) * BLOCK + shift]))


@triton.jit
def third_kernel(x_ptr, out_ptr, shift, bound, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK) + shift
    for k in range(4):
        here = offsets - (2 - k) * 8 * (k < 2)
        tl.store(x_ptr + here, here, mask=here < bound)


N, BLOCK, PROGRAMS = 100, 32, 4
KERNELS = {
    "load": (load_kernel, True),
    "store": (store_kernel, True),
    "no mask": (bare_kernel, False),
    "atomic": (add_kernel, True),
    "compare and swap": (swap_kernel, False),
    "lane by lane": (scattered_kernel, True),
    "programs that wait": (waits_kernel, True),
    "descriptor": (described_kernel, True),
}
SHIFTS = {"past the end": (0, 110), "before the start": (-7, 100), "both": (-3, 102), "far": (1 << 20, 1 << 22)}


def failing(kernel: Any, shift: int, bound: int, grid: int = PROGRAMS, **record: Any) -> Launch:
    x = torch.zeros(N, dtype=torch.int32)
    with lab.record(**record) as launches, contextlib.suppress(KernelError):
        kernel[(grid,)](x, torch.zeros(BLOCK, dtype=torch.int32), shift, bound, BLOCK=BLOCK)
    (launch,) = launches
    assert isinstance(launch.error, KernelError)
    return launch


def expected(kernel: Any, masked: bool, shift: int, bound: int) -> tuple[Ints, Flags]:
    """Offsets and mask of every lane, and of those the mask lets through the ones outside of x."""
    lane = np.arange(BLOCK) ^ (kernel is scattered_kernel)
    offsets = np.arange(PROGRAMS)[:, None] * BLOCK + lane + shift
    mask = offsets < bound if masked else np.ones_like(offsets, np.bool_)
    if kernel is described_kernel:
        mask &= offsets >= 0
    return offsets, mask


def stopping(launch: Launch) -> Access:
    (access,) = (one for one in launch.accesses if one.stopped is not None)
    return access


@pytest.mark.parametrize("record", [{}, {"max_bytes": 4}], ids=["kept", "too large to be kept"])
@pytest.mark.parametrize("where", SHIFTS)
@pytest.mark.parametrize("what", KERNELS)
def test_the_access_that_stopped_the_launch_is_kept_lane_by_lane(what: str, where: str, record: Any) -> None:
    kernel, masked = KERNELS[what]
    shift, bound = SHIFTS[where]
    offsets, mask = expected(kernel, masked, shift, bound)
    if not (mask & ((offsets < 0) | (offsets >= N))).any():
        pytest.skip("the descriptor's bound holds these back")
    launch = failing(kernel, shift, bound, **record)
    access = stopping(launch)
    assert access.argument == "x_ptr"
    last = access.iterations - 1
    ran = access.executed(last).reshape(-1)
    argument = launch.argument("x_ptr")
    assert np.array_equal(((access.address(last) - argument.address) // 4)[ran], offsets[ran])
    assert np.array_equal(access.mask(last)[ran], mask[ran])
    stray = mask & ((offsets < 0) | (offsets >= N))
    assert np.array_equal(access.strayed(last)[ran], stray[ran]) and stray[ran].any()
    # Those that ran alone before it were fine, and all others ran with it or not yet.
    assert ran.all() or kernel is waits_kernel
    (found,) = (one for one in launch.findings if one.severity == "error")
    assert found.stopped and found.argument == "x_ptr"


@pytest.mark.parametrize("what", KERNELS)
def test_it_changed_no_memory_and_what_it_is_made_from_does_not_say_so(what: str) -> None:
    kernel, _ = KERNELS[what]
    launch = failing(kernel, 0, 110)
    access = stopping(launch)
    done = access.completed
    assert done.stopped is None and done.events == access.events[:-1]
    assert not any(one.stopped for one in launch.done)
    assert launch.plot.grid().work.lanes.sum() == sum(
        int(one.mask(k).sum()) for one in launch.done for k in range(one.iterations)
    )
    assert access.values(access.iterations - 1).shape == (PROGRAMS, BLOCK)
    launch.plot.accesses("x_ptr", "values").text()
    # A replay stops at the same place, and the checks see what happened before alone.
    assert launch.tape is not None
    assert not any(event.strayed is not None for events in launch.tape.events.values() for event in events)


def test_the_iterations_before_it_are_kept_beside_it() -> None:
    launch = failing(third_kernel, 16, 200)
    access = stopping(launch)
    for iteration in range(access.iterations):
        k = iteration
        offsets = np.arange(PROGRAMS)[:, None] * BLOCK + np.arange(BLOCK) + 16 - (2 - k) * 8 * (k < 2)
        assert np.array_equal((access.address(k) - launch.argument("x_ptr").address) // 4, offsets)
        assert np.array_equal(access.strayed(k), offsets >= N)
        if (offsets >= N).any():
            assert access.stopped is not None and iteration == access.iterations - 1
            break


def test_batches_show_the_programs_that_ran_with_the_one_that_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launcher, "limits", replace(launcher.limits, batch=1))
    launch = failing(load_kernel, 0, 110)
    access = stopping(launch)
    assert access.stopped is not None and access.stopped.programs.tolist() == [3]
    assert access.executed(0).all() and access.strayed(0).sum(axis=1).tolist() == [0, 0, 0, 10]
    assert access.strayed(0)[3].nonzero()[0].tolist() == list(range(4, 14))


@triton.jit
def either_kernel(x_ptr, y_ptr, out_ptr, far):
    pointer = tl.where(far > 0, x_ptr, y_ptr)
    tl.store(out_ptr, tl.load(pointer + far))


@triton.jit
def crooked_kernel(x_ptr, out_ptr):
    pointer = (x_ptr.to(tl.pointer_type(tl.int8)) + 2 * tl.program_id(0)).to(tl.pointer_type(tl.float32))
    tl.store(out_ptr, tl.load(pointer))


@triton.jit
def table_kernel(table_ptr, out_ptr):
    tl.store(out_ptr, tl.load(tl.load(table_ptr).to(tl.pointer_type(tl.float32))))


@dataclass(frozen=True)
class Other:
    """A launch that fails in another way, and the argument that it is the fault of."""

    run: Callable[[], Any]
    argument: str | None
    stray: list[bool]


OTHERS = {
    "one of two": Other(lambda: either_kernel[(1,)](torch.zeros(4), torch.zeros(4), torch.zeros(1), 5), None, [True]),
    "misaligned": Other(lambda: crooked_kernel[(2,)](torch.zeros(4), torch.zeros(1)), "x_ptr", [False, True]),
    "null pointer": Other(lambda: table_kernel[(1,)](torch.zeros(1, dtype=torch.int64), torch.zeros(1)), None, [True]),
}


@pytest.mark.parametrize("what", OTHERS)
def test_pointers_that_are_crooked_or_unknown_are_kept_too(what: str) -> None:
    other = OTHERS[what]
    with lab.record() as launches, contextlib.suppress(KernelError):
        other.run()
    (launch,) = launches
    access = stopping(launch)
    assert access.strayed(0).tolist() == other.stray
    found = next(one for one in launch.findings if one.stopped)
    assert access.argument == found.argument and (other.argument is None or found.argument == other.argument)


@pytest.mark.skipif(not hasattr(tl, "atomic_poll"), reason="this Triton has no atomic_poll")
def test_a_poll_out_of_bounds_names_its_line_and_is_kept() -> None:
    @triton.jit
    def poll_kernel(flag_ptr, far):
        tl.atomic_poll(flag_ptr + far, 1)

    with lab.record() as launches, pytest.raises(KernelError, match=r"in kernel .*poll_kernel, program \(0, 0, 0\)"):
        poll_kernel[(2,)](torch.zeros(1, dtype=torch.int32), 9)
    access = stopping(launches[0])
    assert (access.argument, access.line) == ("flag_ptr", poll_kernel.starting_line_number + 2)


def test_nothing_is_kept_of_a_launch_that_ran_or_failed_otherwise() -> None:
    with lab.record() as launches:
        load_kernel[(2,)](torch.zeros(N), torch.zeros(BLOCK), 0, N, BLOCK=BLOCK)
    assert launches[0].stopped is None and all(one.completed is one for one in launches[0].accesses)
