"""Chapter 19: memory requests, and the limits of a kernel."""

from __future__ import annotations

from triton_lab.course.cases import case, tensor
from triton_lab.course.exercise_kinds import Question, Task
from triton_lab.course.launch_work import few_sectors, launched, once
from triton_lab.localization import N_, _


def _programs() -> tuple[int, int]:
    """The limits by registers and by shared memory, from the occupancy calculator."""
    from triton_lab.compiled.cost.occupancy import KIB, occupancy
    from triton_lab.compiled.resource_facts import Metadata

    taken = Metadata(
        96, 0, 0, 50 * KIB, tensor_memory=None, scalar_registers=None, accumulators=None,
        warps=4, lanes=32, stages=1, ctas=1,
    )  # fmt: skip
    limits = occupancy("sm_90", taken).limits
    return limits["registers"], limits["shared memory"]


def _size_at_the_ridge() -> int:
    """The smallest multiple of 64 at the ridge: 2 * n**3 operations for 3 * 2 * n**2 bytes are n / 3 for each byte."""
    from triton_lab.compiled.cost.gpu_limits import GPUS

    gpu = next(one for one in GPUS if one.name == "H100")
    return next(size for size in range(64, 1 << 16, 64) if size / 3 >= gpu.rate("float16") / gpu.bytes)


EXERCISES = (
    Question(
        "strided_requests",
        N_("One element for each thread"),
        (
            N_("A request is for 32 threads. How many requests are needed for 4,096 elements, one per thread?"),
            N_("At stride 2 the 32 floats of a request span 256 bytes."),
            N_("A sector has 32 bytes, so a request asks for 256 / 32 of them."),
        ),
        right=lambda: (4096 // 32, 4096 * 2 * 4 // 32),
        tell=lambda answer, right: _(
            "Neighbouring threads now access elements that are 8 bytes apart. How many of them lie in one sector?"
        ),
    ),
    Task(
        "straighten",
        N_("Few sectors for load and store"),
        (
            (
                N_(
                    "The elements of a row of the result are neighbours when stored, but each is loaded from another "
                    "row of x. A tile has both: neighbours in a row and neighbours in a column."
                )
            ),
            N_(
                "A program has a tile of 32 by 32. The compiler sees that a stride is 1, and gives load and store the "
                "layout that suits each."
            ),
            (
                N_(
                    "tl.load(x_ptr + i[:, None] * x0 + j[None, :] * x1, mask=mask); store with out's own strides: "
                    "i[:, None] * columns + j[None, :]."
                )
            ),
        ),
        cases=(
            case(x=tensor(32, 32, layout="turned")),
            case(x=tensor(5, 65, layout="turned")),
            case(x=tensor(1, 1, layout="turned")),
            case(x=tensor(33, 30, layout="turned", dtype="float16")),
            case(x=tensor(64, 96, layout="turned")),
            case(x=tensor(70, 50, layout="turned")),
        ),
        contiguous=True,
        reference=lambda x: x.contiguous().clone(),
        work=(launched(), once("x"), few_sectors),
        copied=False,
        points=2,
    ),
    Question(
        "size_at_the_ridge",
        N_("Where arithmetic becomes the limit"),
        (
            N_("n * n results, each of n multiplications and n additions; three matrices of n * n numbers of 2 bytes."),
            N_("2 * n**3 operations for 6 * n**2 bytes: n / 3 for each byte."),
            N_("An H100 does 989.4e12 operations and moves 3.35e12 bytes a second."),
        ),
        right=_size_at_the_ridge,
        tell=lambda answer, right: _(
            "The operations per byte must be at least what the GPU computes while it moves one byte."
        ),
    ),
    Question(
        "programs_at_once",
        N_("How many programs fit"),
        (
            N_("Registers: 96 for each of 128 threads. How often does that fit in 65,536?"),
            N_("Shared memory: each program takes 1 KiB more than it asked for, of 228 KiB."),
            N_("65,536 / (96 * 128) and 228 / 51, both rounded down."),
        ),
        right=_programs,
        tell=lambda answer, right: _("First by registers, then by shared memory. Round down both times."),
    ),
)
