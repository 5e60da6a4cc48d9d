"""Chapter 24: asynchronous copies, barriers and TMA in Gluon."""

from __future__ import annotations

from typing import Any

from triton_lab.course.cases import Case, case, tensor
from triton_lab.course.exercise_kinds import Question, Task
from triton_lab.course.launch_work import ahead, described, in_gluon, launched, once, programs
from triton_lab.localization import N_, _

_STEP, _BUFFERS = 7, 3
_PROGRAMS = 4


def _step_explained(answer: Any, right: Any) -> str:
    try:
        buffer, phase = answer
    except (TypeError, ValueError):
        return _("The answer is a tuple of two numbers.")
    if buffer != right[0]:
        return _("The steps 0, 1, 2, 3, 4 use the buffers 0, 1, 2, 0, 1.")
    if phase not in (0, 1):
        return _("A wait names the phase by its last bit: 0 or 1.")
    return _("Buffer {buffer} is used in the steps 1, 4 and 7. The phases of its barrier alternate, from 0.").format(
        buffer=right[0]
    )


def _tiles(*shapes: tuple[int, int]) -> tuple[Case, ...]:
    """Matrices of these shapes, then one of negative whole numbers."""
    return (
        *(case(x=tensor(*shape)) for shape in shapes),
        case(x=tensor(72, 132, low=-50, high=-5)),
    )


EXERCISES = (
    Task(
        "copy_ahead",
        N_("A copy runs ahead"),
        (
            N_("Two buffers: ring.index(k % 2). Start the copy of the first block before the loop."),
            N_("Step k: start the copy of block k + 1, make a group, wait until one group is left, read buffer k % 2."),
            N_("async_copy.wait_group(1) waits until at most one group is running: the newest may go on."),
            N_("After the last block there is nothing to copy: a mask that is false everywhere copies nothing."),
        ),
        cases=(
            case(x=tensor(512)),
            case(x=tensor(4096)),
            case(x=tensor(4097)),
            case(x=tensor(100)),
            case(x=tensor(1)),
            case(x=tensor(20_000)),
            case(x=tensor(700, low=-50, high=-5)),
        ),
        reference=lambda x: 2 * x,
        work=(launched(), in_gluon, programs(lambda inputs: _PROGRAMS), once("x"), ahead(1, "copies")),
    ),
    Question(
        "step_seven",
        N_("Which phase?"),
        (
            N_("Write down the buffers of the steps 0 to 7. How often was the buffer of step 7 used before?"),
            N_("Step k uses buffer k % 3, for the time number k // 3, counted from 0."),
        ),
        right=lambda: (_STEP % _BUFFERS, _STEP // _BUFFERS & 1),
        tell=_step_explained,
    ),
    Task(
        "tile_by_tma",
        N_("A tile by TMA"),
        (
            N_("In this order: init, expect, async_load, wait, load, store, fence, async_store, store_wait."),
            N_("mbarrier.expect(bar, x_desc.block_type.nbytes), and mbarrier.wait(bar, 0) for the first phase"),
            N_("fence_async_shared() after tile.store(...), and tma.store_wait(0) as the last line"),
        ),
        cases=_tiles((32, 32), (64, 32), (36, 68), (1, 4), (100, 200)),
        contiguous=True,
        reference=lambda x: 2 * x,
        work=(launched(), in_gluon, once("x"), described),
    ),
    Task(
        "ring_of_three",
        N_("Two loads ahead"),
        (
            N_("Three buffers, three barriers. Start the loads of the steps 0 and 1 before the loop."),
            N_("Step k: start the load of step k + 2 into buffer (k + 2) % 3, then wait for buffer k % 3."),
            N_("The wait's phase is k // 3 & 1. Beyond the end neither expect nor load: pred=ahead < steps for both."),
            N_("fence_async_shared() after ring.index(k % 3).load(...): TMA writes this buffer in the next step."),
        ),
        points=2,
        cases=_tiles((32, 32), (32, 512), (64, 320), (33, 68), (1, 4), (100, 200), (40, 64)),
        contiguous=True,
        reference=lambda x: 2 * x,
        work=(launched(), in_gluon, once("x"), ahead(2, "loads")),
    ),
)
