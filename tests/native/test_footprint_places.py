"""Which launches are alike to who tells programs apart: it counts where memory lies, and where tensors meet."""

from __future__ import annotations

import numpy as np
import torch

from tests.interpreter.support import kernel_from
from tests.native.analysis.test_launch_footprint import Remembering, Touches, before_launches
from triton_lab.interpreter.machine import Machine


def test_what_depends_on_where_memory_lies_is_asked_for_each_launch() -> None:
    """Programs meet where a tensor begins on an even line, and keep apart on an odd one."""
    said = Remembering()

    def ask(machine: Machine) -> tuple[bool, bool]:
        touches = Touches()
        Machine(
            machine.executable,
            machine.arguments,
            machine.grid,
            machine.memory,
            access_observer=touches,  # type: ignore[arg-type]
        ).run()
        return said(machine), touches.are_apart()

    kernel = kernel_from(
        "@triton.jit\ndef kernel(out):\n"
        "    q = out.to(tl.int64) // 64 % 2 * 8 * tl.program_id(0)\n    tl.store(out + q + tl.arange(0, 8), 1)\n"
    )
    room = np.zeros(1000, np.int32)
    even = -(room.ctypes.data // 4) % 32
    with before_launches(ask) as found:
        for first in (even + 16, even):
            kernel[(2,)](torch.from_numpy(room[first : first + 100]))
    assert [true for _, true in found] == [True, False]
    assert all(true or not said for said, true in found)


def test_a_pointer_to_where_two_tensors_meet_counts_from_neither() -> None:
    """It is the end of the one and the start of the other, of which the kernel may mean either."""
    kernel = kernel_from(
        "@triton.jit\ndef kernel(x, a, b):\n    i = tl.arange(0, 8)\n    p = tl.program_id(0)\n"
        "    v = tl.load(x + i)\n    tl.store(a + 8 * p + i, v)\n    tl.store(b + 8 * p + i, v)\n"
    )
    room = np.zeros(300, np.int32)
    alone, behind = (torch.from_numpy(room[first : first + 150]) for first in (150, 100))
    with before_launches(Remembering()) as found:
        kernel[(2,)](torch.zeros(100, dtype=torch.int32), alone[100:], alone[8:])
        kernel[(2,)](torch.from_numpy(room[:100]), behind, behind[8:])
    assert found == [True, False]
