"""Chapter 10: waves and bands of programs, the stages of a loop, and an autotuner that works on live memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from triton_lab.course.attempt import Inputs
from triton_lab.course.cases import case, tensor
from triton_lab.course.exercise_kinds import Question, Task
from triton_lab.course.launch_work import launched, programs, wide
from triton_lab.launch.launch import Launch
from triton_lab.localization import N_, _

_STAGE = 2 * 128 * 64 * 2  # bytes: two tiles of float16
_SHARED = 227 * 1024  # bytes of shared memory that a program may use on an H100


def _bands(rows: int, columns: int, band: int) -> Any:
    """One band after the other; in a band one column after the other."""
    import torch

    out = torch.empty((rows, columns), dtype=torch.int32)
    first = 0
    for top in range(0, rows, band):
        height = min(band, rows - top)
        numbers = torch.arange(first, first + height * columns, dtype=torch.int32)
        out[top : top + height] = numbers.reshape(columns, height).T
        first += height * columns
    return out


def autotuned(launches: Sequence[Launch], inputs: Inputs) -> str:
    """Require an autotuner that had a choice."""
    tuning = launches[-1].tuning
    if tuning is not None and len(tuning.tried) >= 2:
        return ""
    return _("the autotuner had no choice: give @triton.autotune at least two configurations")


EXERCISES = (
    Question(
        "strips_of_a_wave",
        N_("Strips of a wave"),
        (
            N_("Row by row, 64 programs fill two rows of 32 tiles. Each row of tiles needs one strip of a."),
            N_("Two rows of tiles have tiles in all 32 columns, so they need all strips of b."),
            N_("In bands of 8, 64 programs fill 8 rows and 8 columns."),
        ),
        right=lambda: (64 // 32 + 32, 8 + 64 // 8),
        tell=lambda answer, right: _(
            "Draw the tiles of the first 64 programs. Each of their rows needs a strip of a, each of their columns a "
            "strip of b."
        ),
    ),
    Task(
        "bands",
        N_("Number the tiles in bands"),
        (
            N_("A full band has BAND * columns programs. So program // (BAND * columns) is the number of the band."),
            N_(
                "The height of a band is tl.minimum(rows - first_row, BAND). Within it, the row is the remainder by "
                "the height, and the column is the quotient."
            ),
            N_("within = program % (BAND * columns); row = first_row + within % height; column = within // height"),
        ),
        cases=(
            case(rows=8, columns=8, band=2),
            case(rows=7, columns=6, band=3),
            case(rows=5, columns=9, band=8),
            case(rows=1, columns=1, band=4),
            case(rows=9, columns=1, band=4),
            case(rows=1, columns=9, band=1),
            case(rows=25, columns=40, band=16),
        ),
        reference=_bands,
        work=(launched(), programs(lambda inputs: int(inputs["rows"] * inputs["columns"]))),
    ),
    Question(
        "stages_that_fit",
        N_("Stages that fit"),
        (
            N_("A tile of 128 by 64 has 8,192 elements of two bytes, and a stage has two such tiles."),
            N_("227 KiB are 232,448 bytes. How many stages of 32,768 bytes fit? Round down."),
        ),
        right=lambda: (_STAGE, _SHARED // _STAGE),
        tell=lambda answer, right: _(
            "Multiply: two tiles, 128 * 64 elements each, two bytes for an element. Then see how often that fits into "
            "227 * 1,024 bytes."
        ),
    ),
    Task(
        "add_scaled",
        N_("Add in place, tuned"),
        (
            N_("The trials run on your tensors: x is changed by each of them. The autotuner must put it back."),
            N_("restore_value takes a list with the names of the kernel's pointers that must be put back."),
            N_('triton.autotune(configs=[..., ...], key=["n"], restore_value=["x_ptr"])(axpy_kernel)'),
        ),
        cases=(
            case(x=tensor(256), y=tensor(256), factor=2.0),
            case(x=tensor(257), y=tensor(257), factor=-1.5),
            case(x=tensor(1), y=tensor(1), factor=3.0),
            case(x=tensor(5001), y=tensor(5001), factor=0.5),
            case(x=tensor(300, low=-30, high=-5), y=tensor(300, low=-30, high=-5), factor=2.0),
            case(x=tensor(400, low=9000.0, high=11000.0), y=tensor(400), factor=0.25),
        ),
        reference=lambda x, y, factor: (x.double() + factor * y.double()).to(x.dtype),
        changes=("x",),
        tolerance=(1e-6, 1e-5),
        work=(launched(), wide(64), autotuned),
    ),
)
