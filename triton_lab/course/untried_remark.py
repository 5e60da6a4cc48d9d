"""A remark on a right answer: the smallest sizes, among those that no case tried, for which its kernel goes wrong.

A proof refutes them with a launch that ran and failed. What is not known is not told, and the answer stays right.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from triton_lab import messages
from triton_lab.course.answer_fault import AnswerFault
from triton_lab.localization import _

if TYPE_CHECKING:
    from triton_lab.launch.launch import Launch

# The seconds of this thread that the proofs of an answer's kernels take together.
SECONDS = 0.4


def untried_remark(launches: Sequence[Launch]) -> AnswerFault | None:
    """The remark on an answer with these launches; None if no sizes are known to go wrong."""
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
