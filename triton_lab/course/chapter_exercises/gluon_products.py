"""Chapter 25: products by tensor cores that run while tiles are loaded, in one partition and in two."""

from __future__ import annotations

from typing import Any

from triton_lab.course.cases import Case, case, tensor
from triton_lab.course.exercise_kinds import Question, Task
from triton_lab.course.launch_work import launched
from triton_lab.course.pipeline_work import (
    loads_during_products,
    loads_waited_for,
    partitions,
    products_in_flight,
    tensor_cores,
)
from triton_lab.localization import N_, _

_ROWS, _COLUMNS, _THREADS = 128, 256, 128  # of a tile, and the threads of four warps


def _product(a: Any, b: Any) -> Any:
    return (a.double() @ b.double()).to(a.dtype)


def _pair(m: int, k: int, n: int, **options: Any) -> Case:
    return case(a=tensor(m, k, dtype="float16", **options), b=tensor(k, n, dtype="float16", **options))


# Two steps, one, as many as there are buffers, many; tiles that the matrix does not fill; numbers that do not cancel.
_CASES = (
    _pair(64, 128, 64),
    _pair(72, 200, 104),
    _pair(8, 40, 16),
    _pair(64, 512, 64),
    _pair(16, 1000, 24, low=0.0, high=1.0),
)
_TOLERANCE = (1e-3, 1e-3)

EXERCISES = (
    Question(
        "sum_registers",
        N_("Room for the sum"),
        (
            N_("Four warps have 128 threads. All of them together hold the whole tile, each element once."),
            N_("128 * 256 elements, in registers of 4 bytes: divide by the number of threads."),
        ),
        right=lambda: (_ROWS * _COLUMNS // _THREADS, _ROWS * _COLUMNS // (2 * _THREADS)),
        tell=lambda answer, right: _(
            "A float32 takes one register. Divide the elements of the tile by the threads of all warps; a warp has 32."
        ),
    ),
    Task(
        "ahead",
        N_("A product that loads ahead"),
        (
            N_("First write the loop with one load in each step: load, wait for `full`, multiply, wait."),
            N_(
                "Before the loop: gl.static_range(BUFFERS - 1) loads. In step k the load of step k + BUFFERS - 1, into "
                "the buffer (k + BUFFERS - 1) % BUFFERS."
            ),
            N_("mbarrier.wait(full.index(k % BUFFERS), k // BUFFERS & 1); pred is the step that is loaded < steps"),
        ),
        cases=_CASES,
        reference=_product,
        tolerance=_TOLERANCE,
        work=(launched(), tensor_cores, loads_waited_for, loads_during_products),
        points=2,
    ),
    Task(
        "parted",
        N_("A loader and a computer"),
        (
            N_("Both have the loop `for k in range(steps)`, and both use the buffer k % BUFFERS."),
            N_("The loader waits for empty in phase k // BUFFERS & 1 ^ 1, the computer for full in k // BUFFERS & 1."),
            N_("The computer arrives after the wait for its product: mbarrier.arrive(empty.index(at), count=1)"),
        ),
        cases=_CASES,
        reference=_product,
        tolerance=_TOLERANCE,
        work=(launched(), tensor_cores, partitions, loads_during_products),
        points=2,
    ),
    Task(
        "busy",
        N_("Leave one running"),
        (
            N_("In the loop num_outstanding is 1. After it, wait once more with 0."),
            N_("After that wait, the product of step k may still run; that of step k - 1 has ended."),
            N_("mbarrier.arrive(empty.index((k + BUFFERS - 1) % BUFFERS), count=1, pred=k > 0)"),
        ),
        cases=_CASES,
        reference=_product,
        tolerance=_TOLERANCE,
        work=(launched(), tensor_cores, partitions, loads_during_products, products_in_flight),
        points=2,
    ),
)
