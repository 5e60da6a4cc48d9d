"""Chapter 23: layouts and shared memory in Gluon."""

from __future__ import annotations

import math
from typing import Any

from triton_lab import messages
from triton_lab.course.cases import Case, case, tensor
from triton_lab.course.exercise_kinds import Choice, Question, Task
from triton_lab.course.launch_work import few_sectors, in_gluon, launched, once, without_conflicts
from triton_lab.localization import N_, _

_TILE, _WARPS, _THREADS, _VECTOR = (16, 64), 4, 32, 4
_BANKS, _ROW = 32, 48


def _whole_rows(answer: Any) -> str:
    """The reason why a warp's first request does not cover two whole rows, four neighbours a thread; "" if it does."""
    from triton_lab.compiled.layouts.layout import Layout

    if not isinstance(answer, Layout):
        return _("{answer} is not a layout. lab.layout(gl.BlockedLayout(...), (16, 64)) makes one.").format(
            answer=repr(answer)
        )
    if answer.where != "registers" or answer.shape != _TILE:
        return _("The layout must be of {shape} in registers; this one is of {shape2} in {where}.").format(
            shape=_TILE, shape2=answer.shape, where=answer.where
        )
    found = answer.linear.size("warp"), answer.linear.size("lane")
    if found != (_WARPS, _THREADS):
        return _("The layout must have 4 warps of 32 threads; this one has {warps} of {threads}.").format(
            warps=found[0], threads=found[1]
        )
    if answer.copies > 1:
        return _("Each element is held {copies} times: multiply the three lists of the layout, and compare.").format(
            copies=answer.copies
        )
    for warp in range(_WARPS):
        first = [tuple(answer.elements(warp=warp, lane=thread)[:_VECTOR]) for thread in range(_THREADS)]
        for thread, held in enumerate(first):
            row, column = held[0]
            if held != tuple((row, column + k) for k in range(_VECTOR)) or column % _VECTOR:
                return _("The first registers of thread {thread} of warp {warp} hold {held}, not 4 neighbours.").format(
                    thread=thread, warp=warp, held=", ".join(str(list(one)) for one in held)
                )
        rows = {row for held in first for row, _column in held}
        if len(rows) != 2:
            return _("The threads of warp {warp} hold parts of {rows} at once, not 2 whole rows.").format(
                warp=warp, rows=messages.count(len(rows), "row")
            )
    return ""


def _ways(row: int) -> int:
    """The threads of a warp that meet in one bank when they read a column of rows of so many words."""
    return math.gcd(row, _BANKS)


def _ways_explained(answer: Any, right: Any) -> str:
    try:
        ways, padding = (int(one) for one in answer)
    except (TypeError, ValueError):
        return _("The answer is a tuple of two numbers.")
    if ways != right[0]:
        return _(
            "Thread i reads word {row} * i, which is in bank {row} * i % 32. Write down the banks of the first threads."
        ).format(row=_ROW)
    if _ways(_ROW + padding) > 1:
        return _("With {padding} more words, {ways} threads still meet in one bank.").format(
            padding=messages.number(padding), ways=_ways(_ROW + padding)
        )
    return _("{padding} more words suffice, but fewer do as well.").format(padding=messages.number(padding))


def _biased(rows: int, columns: int, **options: Any) -> Case:
    return case(x=tensor(rows, columns, **options), bias=tensor(columns))


EXERCISES = (
    Choice(
        "whole_rows",
        N_("Two rows at once"),
        (
            N_("Start with the thread: [1, 4] are four neighbours in a row. How many threads does a row of 64 need?"),
            N_("16 threads hold a row, so the 32 threads of a warp are [2, 16]."),
            N_("The warps are one below the other: [4, 1]. The last axis is the fastest: order [1, 0]."),
        ),
        wrong=_whole_rows,
    ),
    Task(
        "bias_in_gluon",
        N_("Add a bias, in Gluon"),
        (
            N_("Two gl.arange suffice: one for the rows of the tile, one for its columns, which the bias shares."),
            N_("Rows: gl.arange(0, T, gl.SliceLayout(1, layout)), then [:, None]. Columns: SliceLayout(0, layout)."),
            N_("bias = gl.load(bias_ptr + j, mask=j < columns), and x + bias[None, :] adds it to each row"),
        ),
        cases=(
            _biased(32, 32),
            _biased(33, 65),
            _biased(5, 200, layout="inside"),
            _biased(100, 45, layout="turned"),
            _biased(40, 70, layout="steps"),
            _biased(1, 1),
            _biased(64, 96, low=-50, high=-5),
        ),
        contiguous=True,
        reference=lambda x, bias: x + bias,
        work=(launched(), in_gluon, once("x")),
    ),
    Question(
        "rows_of_48",
        N_("Rows of 48 words"),
        (
            N_("In which banks are the words 0, 48, 96, 144? A word's bank is its number % 32."),
            N_("The banks are 0, 16, 0, 16, ...: two banks for 32 threads."),
            N_("With a row of an odd number of words, 32 rows begin in 32 different banks."),
        ),
        right=lambda: (_ways(_ROW), next(more for more in range(1, _BANKS) if _ways(_ROW + more) == 1)),
        tell=_ways_explained,
    ),
    Task(
        "turn_in_gluon",
        N_("A transpose through shared memory"),
        (
            N_("Read the tile with a layout whose warps go along the rows of x, store it into a buffer, read it back."),
            N_("Read the buffer with a layout whose warps go down its columns: these are the rows of the result."),
            N_("buffer.load(DOWN), and i, j again with slices of DOWN; the result's row is j, its column i"),
            N_("gl.SwizzledSharedLayout(vec=1, per_phase=1, max_phase=32, order=[1, 0]) has no conflicts"),
        ),
        points=2,
        cases=(
            case(x=tensor(32, 32)),
            case(x=tensor(64, 32)),
            case(x=tensor(33, 65)),
            case(x=tensor(5, 200)),
            case(x=tensor(1, 1)),
            case(x=tensor(96, 128)),
            case(x=tensor(70, 40, low=-50, high=-5)),
        ),
        contiguous=True,
        reference=lambda x: x.t().contiguous(),
        work=(launched(), in_gluon, once("x"), few_sectors, without_conflicts),
    ),
)
