"""Where a fault says that it lies: in elements of the argument, of which a view starts late in its storage."""

from __future__ import annotations

import contextlib
from dataclasses import replace

import pytest
import torch
import triton
import triton.language as tl

import triton_lab
from tests.wordings import Wording
from triton_lab.backend.plugin import launcher
from triton_lab.interpreter.kernel_errors import KernelError


@triton.jit
def far_kernel(x_ptr, out_ptr, distance):
    tl.store(out_ptr, tl.load(x_ptr + distance))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int8], ids=str)
@pytest.mark.parametrize("start", [0, 3, 10])
@pytest.mark.parametrize("beyond", [0, 5])
def test_elements_are_counted_from_the_views_start_and_the_end_is_the_storages(
    wording: Wording, dtype: torch.dtype, start: int, beyond: int
) -> None:
    base = torch.zeros(24, dtype=dtype)
    view = base[start : start + 4]
    with triton_lab.record() as launches, contextlib.suppress(KernelError):
        far_kernel[(1,)](view, torch.zeros(1), 24 - start + beyond)
    (found,) = [one for one in launches[0].findings if one.kind == "out-of-bounds"]
    last = 23 - start
    assert found.elements.tolist() == [last + 1 + beyond] and found.programs.tolist() == [0]
    offset = f", storage offset {start}" if start else ""
    tensor = f"x_ptr: {str(dtype).removeprefix('torch.')}, shape (4,), strides (1,){offset}"
    touched = f"element {last + 1 + beyond}"
    wording(
        found.message, program="program (0, 0, 0)", touched=touched, name="x_ptr", last=f"element {last}", tensor=tensor
    )
    # The oracle: torch reaches the last element from the view, and no further one.
    view.as_strided((1,), (1,), start + last)
    with pytest.raises(RuntimeError, match="out of bounds"):
        view.as_strided((1,), (1,), start + last + 1)


@triton.jit
def mixed_kernel(x_ptr, out_ptr, distance):
    program = tl.program_id(0)
    if program % 2 == 0:
        tl.store(out_ptr + program, tl.load(x_ptr + distance))
    else:
        tl.device_assert(distance < 0, "what else")


@pytest.mark.parametrize("batch", [1, 2, 4])
def test_of_programs_that_fail_in_different_ways_those_that_stray_are_told(
    batch: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launcher, "limits", replace(launcher.limits, batch=batch))
    with triton_lab.record() as launches, contextlib.suppress(KernelError):
        mixed_kernel[(4,)](torch.zeros(8), torch.zeros(8), 99, debug=True)
    (found,) = [one for one in launches[0].findings if one.severity == "error"]
    assert found.kind == "out-of-bounds" and found.programs.tolist() == [0, 2] and found.stopped
