"""Turns a schedule into Triton kernels: loops that carry no dependence become grids and blocks.

Every generated program is tested before it is returned: see `proof`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import islpy as isl

from triton_lab.localization import _
from triton_lab.polyhedral.blocks.contraction import contraction_of
from triton_lab.polyhedral.blocks.contraction_text import write_contraction
from triton_lab.polyhedral.blocks.generated_text import GeneratedText
from triton_lab.polyhedral.blocks.launch_plan import launch_plan
from triton_lab.polyhedral.blocks.launch_text import write
from triton_lab.polyhedral.blocks.translation_validation import prove
from triton_lab.polyhedral.blocks.triton_kernel import NotABlockProgram, TritonKernel
from triton_lab.polyhedral.core.isl_effort import SECONDS, series

# Questions of full length that the writing and its proof may come to.
_MANY = 5

if TYPE_CHECKING:
    from triton_lab.polyhedral.schedule import Schedule


def to_triton(schedule: Schedule) -> TritonKernel:
    """See `Schedule.to_triton`. Raises `NotABlockProgram`."""
    if not schedule.is_legal:
        raise NotABlockProgram(_("the schedule is {legality}").format(legality=schedule.legality))
    try:
        with series(_("the kernels of this schedule"), _MANY * SECONDS):
            return _proved(schedule)
    except (isl.Error, NotImplementedError) as error:
        raise NotABlockProgram(_("isl cannot write loops for this order: {error}").format(error=error)) from error
    except RecursionError:
        raise NotABlockProgram(_("a statement is too long, or nested too deep, to be written as a kernel")) from None


def _proved(schedule: Schedule) -> TritonKernel:
    written = _contraction(schedule) or write(schedule, launch_plan(schedule))
    kernel = TritonKernel(written.text, schedule.scop, written.launches, written.constants)
    prove(kernel, schedule)
    return kernel


def _contraction(schedule: Schedule) -> GeneratedText | None:
    """A tiled sum of products, whose tiles tl.dot can multiply; None for others."""
    found = contraction_of(schedule)
    try:
        return write_contraction(schedule.scop, *found) if found else None
    except NotABlockProgram:  # a kernel with lanes may work
        return None
