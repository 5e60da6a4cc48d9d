"""Chapter 20: the least time of a kernel, reports of profilers, and two kernels to mend that they accuse."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from triton_lab.course.attempt import Inputs
from triton_lab.course.cases import case, tensor
from triton_lab.course.exercise_kinds import Choice, Question, Task
from triton_lab.course.launch_work import atomics, few_sectors, launched, once
from triton_lab.launch.launch import Launch
from triton_lab.localization import N_, _
from triton_lab.messages import count, number

_ROWS, _COLUMNS = 1024, 32768
_RATE = 3350  # bytes in a nanosecond
_PART = 4096  # elements that one program should add up at most, with some room

_SECTORS = "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio"
_LOCAL = "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum"
_UNCOALESCED, _FEW, _SPILLS = RIGHT = ("B", "D", "C")


def _accused(answer: Any) -> str:
    """Compare three letters with the figures of the reports; say what the figures of a wrong one are."""
    from triton_lab.examples.profiles import UNNAMED, profile

    if isinstance(answer, str) or len(answer) != 3 or any(one not in UNNAMED for one in answer):
        return _("{answer} is not three of the letters {letters}, in a tuple.").format(
            answer=repr(answer), letters=", ".join(UNNAMED)
        )
    uncoalesced, few, spills = answer
    if uncoalesced != _UNCOALESCED:
        return _(
            "Report {letter} has no uncoalesced load: a request asks for {sectors} sectors, and its threads load 16 "
            "bytes each, which fill 16. Look for the report with more."
        ).format(letter=uncoalesced, sectors=f"{profile(uncoalesced)[_SECTORS]:.1f}")
    if few != _FEW:
        return _(
            "Report {letter} has enough programs: {programs} for 132 multiprocessors. Look at Grid Size, and not at "
            "Occupancy alone."
        ).format(letter=few, programs=number(int(profile(few)["Grid Size"])))
    if spills != _SPILLS:
        return _(
            "Report {letter} spills nothing: it loads {sectors} of local memory. The number of registers does not "
            "decide."
        ).format(letter=spills, sectors=count(int(profile(spills)[_LOCAL]), "sector"))
    return ""


def _many_programs(launches: Sequence[Launch], inputs: Inputs) -> str:
    """Require a program for at least every ``2 * _PART`` elements."""
    enough = inputs["x"].numel() // (2 * _PART)
    found = launches[-1].programs
    if found >= enough:
        return ""
    return _("the grid has {programs} for {elements}: share each row out among several programs").format(
        programs=count(found, "program"), elements=count(inputs["x"].numel(), "element")
    )


def _few_updates(inputs: Inputs) -> int:
    """One update for every 16 elements; of short rows 32 for each, by a grid that does not depend on the size."""
    x = inputs["x"]
    return int(max(x.numel() // 16, 32 * x.shape[0]))


EXERCISES = (
    Question(
        "least_time",
        N_("The least time"),
        (
            N_("Each float is loaded once and stored once, so it costs 8 bytes."),
            N_("1,024 * 32,768 floats. Divide the bytes by 3,350 bytes in a nanosecond."),
            N_("268,435,456 bytes; 268,435,456 / 3,350 are nanoseconds, and 1,000 of them are a microsecond."),
        ),
        right=lambda: (8 * _ROWS * _COLUMNS, 8 * _ROWS * _COLUMNS // _RATE // 1000),
        tell=lambda answer, right: _(
            "Count the bytes of all elements, once for the load and once for the store. Then divide by 3,350 bytes in "
            "a nanosecond, and give whole microseconds."
        ),
    ),
    Choice(
        "accused",
        N_("Three faults, four reports"),
        (
            N_("Which line of a report says how much a request asks for? Which says how many programs there were?"),
            N_("Sectors per request: 16 are normal if each thread loads 16 bytes. Grid Size: compare it with 132."),
            N_("Spilled registers lie in local memory: without spilling there are no Local Memory Spilling Requests."),
        ),
        wrong=_accused,
        points=2,
    ),
    Task(
        "sum_columns",
        N_("Sums of columns, with few sectors"),
        (
            N_("A program needs more than one column, so that neighbouring threads have neighbouring columns."),
            N_("Load tiles of some rows and 32 or more columns, and walk down. Add the tiles up element by element."),
            N_(
                "at = i[:, None] * stride + j[None, :]; total += tl.load(x_ptr + at, mask=mask, other=0.0); after the "
                "loop tl.sum(total, axis=0) has one number for each column."
            ),
        ),
        cases=(
            case(x=tensor(64, 64)),
            case(x=tensor(65, 33)),
            case(x=tensor(130, 70, layout="inside")),
            case(x=tensor(1, 1)),
            case(x=tensor(3, 200)),
            case(x=tensor(300, 5)),
            case(x=tensor(0, 5)),
            case(x=tensor(100, 40, low=-50, high=-5)),
        ),
        reference=lambda x: x.double().sum(0).float(),
        tolerance=(1e-5, 1e-5),
        work=(launched(), once("x"), few_sectors),
        copied=False,
        points=2,
    ),
    Task(
        "sum_long_rows",
        N_("Sums of few long rows, by many programs"),
        (
            N_("The grid needs two axes: the row, and the part of the row."),
            N_("A program adds up its part, and then adds the sum to out[row]. Other programs do the same there."),
            N_("tl.atomic_add(out_ptr + row, tl.sum(x, axis=0)), with out made by torch.zeros."),
        ),
        cases=(
            case(x=tensor(2, 4096)),
            case(x=tensor(3, 4097)),
            case(x=tensor(4, 20_001)),
            case(x=tensor(1, 1)),
            case(x=tensor(5, 100, layout="inside")),
            case(x=tensor(2, 9000, low=-50, high=-5)),
        ),
        reference=lambda x: x.double().sum(1).float(),
        tolerance=(1e-5, 1e-4),
        work=(launched(), once("x"), _many_programs, atomics(_few_updates)),
        copied=False,
    ),
)
