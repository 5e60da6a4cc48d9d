"""A remark on a right answer that goes wrong elsewhere: for sizes that no case tried, or with a GPU's tensor cores.

A proof refutes sizes with a launch that ran and failed. tf32 is tried by running the launches again with cut inputs.
What is not known is not told, and the answer stays right.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from triton_lab import messages
from triton_lab.course.answer_fault import AnswerFault
from triton_lab.interpreter.bound_plan import Executable
from triton_lab.interpreter.variants import arithmetic_variants
from triton_lab.launch.comparison.launch_results import read, tensors
from triton_lab.launch.comparison.numerics import in_tf32
from triton_lab.launch.recording.replay_error import CannotReplay
from triton_lab.launch.replay.replay_run import replay
from triton_lab.localization import _

if TYPE_CHECKING:
    from triton_lab.launch.launch import Launch

# The seconds of this thread that the proofs of an answer's kernels take together, and those that the replays take.
SECONDS = 0.4


def untried_remark(launches: Sequence[Launch]) -> AnswerFault | None:
    """The remark with the smallest sizes for which a kernel of these launches goes wrong; None if none are known."""
    from triton_lab.polyhedral.proofs.untried_sizes import sizes_text, untried_sizes

    end = time.thread_time() + SECONDS
    for kernel in dict.fromkeys(launch.kernel for launch in launches):
        left = end - time.thread_time()
        if left <= 0:
            return None
        found = untried_sizes([launch for launch in launches if launch.kernel == kernel], left)
        if found is not None and found.wrong is not None:
            wrong = found.wrong
            message = _(
                "{kernel} is right for the sizes tried; wrong for {sizes}: the {access} in line {line} leaves "
                "{argument}."
            ).format(
                kernel=kernel,
                sizes=sizes_text(wrong),
                access=messages.access_noun(wrong.kind),
                line=wrong.line,
                argument=wrong.argument,
            )
            return AnswerFault(message, launch=wrong.launch, picture=wrong.launch)
    return None


def precision_remark(launches: Sequence[Launch], tolerance: tuple[float, float]) -> AnswerFault | None:
    """The remark on an answer with these launches; None if no launch is known to leave ``tolerance`` in tf32.

    ``tolerance`` is (relative, absolute), for float32. The launches' own results are within it, so results that are
    more than twice as far away from them are not.
    """
    end = time.thread_time() + SECONDS
    for launch in launches:
        lines = _lines_in_tf32(launch)
        if not lines or launch.error is not None:
            continue
        if time.thread_time() > end:
            return None
        try:
            found = _moved(launch, tolerance)
        except CannotReplay:
            continue
        if found is not None:
            argument, off, total = found
            message = _(
                "{kernel} is right on the CPU, which multiplies float32 with all bits. A GPU's tensor cores would cut "
                "the inputs of tl.dot in line {line} to tf32, 10 of 23 bits: {off} of {total} of {argument} would be "
                'outside the tolerance. Write input_precision="ieee".'
            ).format(
                kernel=launch.kernel,
                line=lines[0],
                off=messages.number(off),
                total=messages.count(total, "element"),
                argument=argument,
            )
            return AnswerFault(message, launch=launch)
    return None


def _lines_in_tf32(launch: Launch) -> list[int]:
    """The lines of the kernel's products of float32 that a GPU computes in tf32."""
    plan = launch.executable.plan
    return sorted({op.location.line for op in plan.walk() if op.location is not None and in_tf32(plan, op)})


def _moved(launch: Launch, tolerance: tuple[float, float]) -> tuple[str, int, int] | None:
    """Of a result that cut inputs move out of ``tolerance``: its name, how many elements move so far, and its size."""
    table = arithmetic_variants.tf32(nearest=False)
    ours, cut = replay(launch), replay(launch, executable=Executable.of(launch.executable.plan, table))
    relative, absolute = tolerance
    for argument in tensors(launch):
        if argument.dtype != "float32":
            continue
        one, other = (read(memory, argument).astype(np.float64) for memory in (ours, cut))
        with np.errstate(invalid="ignore"):
            off = int((np.abs(one - other) > 2 * (absolute + relative * np.abs(one))).sum())
        if off:
            return argument.name, off, one.size
    return None
