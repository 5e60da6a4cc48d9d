"""Chapter 01: threads and elements, bytes and operations, and one kernel in place of three."""

from __future__ import annotations

from typing import Any

from triton_lab.course.cases import Case, case, tensor
from triton_lab.course.exercise_kinds import Question, Task
from triton_lab.course.launch_work import launched, once, wide
from triton_lab.localization import N_, _

_RIDGE = 20  # operations on float32 for a byte, on an H100
_FLOATS = 1_000_000
_RATE, _LATENCY = 3350, 344  # bytes in a nanosecond, nanoseconds


def _pair(n: int, a: float, **options: Any) -> Case:
    return case(x=tensor(n, **options), y=tensor(n, **options), a=a)


def _fused(x: Any, y: Any, a: float) -> Any:
    return ((a * x.double()).clamp(min=0) + y.double()).to(x.dtype)


EXERCISES = (
    Question(
        "threads_of_a_program",
        N_("Elements and threads"),
        (
            N_("A warp has 32 threads. How many threads have 8 warps?"),
            N_("All threads of a program share one block: 1,024 elements for 256 threads."),
        ),
        right=lambda: (8 * 32, 1024 // (8 * 32)),
        tell=lambda answer, right: _(
            "A warp is 32 threads. Count the threads of 8 warps, and share 1,024 elements out among them."
        ),
    ),
    Question(
        "degree_at_the_ridge",
        N_("At the ridge"),
        (
            N_("How many bytes does the kernel move for each element? It loads one float and stores one."),
            N_("At the ridge there are 20 operations for each byte: 160 for the 8 bytes of an element."),
            N_("Each degree is two operations, a multiplication and an addition."),
        ),
        right=lambda: _RIDGE * (4 + 4) // 2,
        tell=lambda answer, right: _(
            "Count the bytes that are moved for each element, loads and stores. Each is worth 20 operations, and a "
            "degree has two."
        ),
    ),
    Question(
        "bytes_of_three_and_one",
        N_("Three kernels, one kernel"),
        (
            N_("A float has four bytes. The first kernel loads one float for each element and stores one: 8 bytes."),
            N_("The second moves 8 bytes as well, and the third 12: it loads two floats."),
            N_("One kernel for all loads x and y and stores the result. Nothing between them is stored."),
        ),
        right=lambda: ((8 + 8 + 12) * _FLOATS, 12 * _FLOATS),
        tell=lambda answer, right: _(
            "Count for one element first, four bytes for each load and each store: for three kernels, then for one."
        ),
    ),
    Task(
        "fused",
        N_("Write that kernel"),
        (
            N_("It is the kernel `add` with two more steps between the loads and the store."),
            N_("A block times a number is a block; tl.maximum(block, 0.0) is the relu of each element."),
            N_("tl.store(out_ptr + offsets, tl.maximum(a * x, 0.0) + y, mask=mask), on triton.cdiv(n, BLOCK) programs"),
        ),
        cases=(
            _pair(512, 2.5),
            _pair(513, 2.5),
            _pair(511, -1.5),
            _pair(1, 2.0),
            _pair(0, 2.0),
            _pair(5001, -0.5),
            _pair(700, 1.0, low=-12, high=-3),
            _pair(600, 0.5, low=9000.0, high=11000.0),
            _pair(300, 2.0, dtype="float16"),
        ),
        reference=_fused,
        tolerance=(1e-6, 1e-5),
        work=(launched(), once("x"), once("y"), wide(64)),
    ),
    Question(
        "bytes_on_their_way",
        N_("Bytes on their way"),
        (
            N_("In one nanosecond 3,350 bytes arrive. What arrives now was asked for 344 nanoseconds ago."),
            N_("All that was asked for in the last 344 nanoseconds is still on its way."),
        ),
        right=lambda: _RATE * _LATENCY,
        tell=lambda answer, right: _(
            "What arrives in a nanosecond, times the nanoseconds that each byte is on its way."
        ),
    ),
)
