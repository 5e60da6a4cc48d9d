"""Wrong answers to the clinic's second half: half-mended kernels, and mends from misunderstandings.

A wrong answer is a change of the teacher's. The check tries it on cases in order: the first one that fails is the one
that has to do with the fault that is left, and the message names its place or its cause.
"""

from __future__ import annotations

import warnings
from typing import NamedTuple

import pytest

from tests.course.chapters import answers, defined
from tests.course.told_fault import told_fault


class Wrong(NamedTuple):
    """``old``, which the answer to ``exercise`` has once, becomes ``new``: ``fault`` is left, or is made.

    ``on`` is the shape of the first argument in the case that fails; ``why`` is a part of the message, or the kind of a
    finding, or two where the fastest configuration decides. It is "" where the case is all that the check knows.
    """

    exercise: str
    fault: str
    old: str
    new: str
    on: tuple[int, ...]
    why: str


MASKS = "(i < M)[:, None] & (k < K)[None, :]\n        b_mask = (k < K)[:, None] & (j < N)[None, :]"
NO_MASKS = "(i < M)[:, None]\n        b_mask = (j < N)[None, :]"
B_MASK = "(k < K)[:, None] & (j < N)[None, :]"
SUM = "total = total * tl.exp(high - new) + part"
ADD = "tl.atomic_add(out_ptr + j, part, mask=mask)"
LOADED = "tl.load(out_ptr + j, mask=mask) + part"
BIAS = "    if part == 0:\n        total += bias[None, :]\n"
TURNS = "tl.cdiv(rows - tl.program_id(0), PROGRAMS)"
ROW = "    for turn in range(turns):\n        row = turn * PROGRAMS + tl.program_id(0)\n        # BEGIN SOLUTION\n"
EMPTY = "        total = tl.zeros((BLOCK,), tl.float32)\n"
SCALE = "tl.load(scale_ptr + j, mask=j < N, other=0.0)[None, :]"
AT = "x_ptr + row * x_0 + j * x_1"
RESTORED = ', restore_value=["x_ptr"]'

WRONG = [
    Wrong("banded_product", "the last band", "(rows - first, BAND)", "(rows, BAND)", (80, 32), "no program stored it"),
    Wrong("banded_product", "the end of K", MASKS, NO_MASKS, (64, 40), "element 2560 of a_ptr, whose storage ends"),
    Wrong("banded_product", "the end of K in b", B_MASK, "(j < N)[None, :]", (64, 40), "element 1920 of b_ptr"),
    Wrong("log_sum", "the scale of the sum", SUM, "total = total + part", (5, 64), ""),
    Wrong("log_sum", "the end of a row", 'other=float("-inf")', "other=0.0", (3, 100), ""),
    Wrong("log_sum", "the part is scaled", SUM, "total = (total + part) * tl.exp(high - new)", (4, 32), "non-finite"),
    Wrong("scale_gradient", "a store", ADD, ADD.replace("atomic_add", "store"), (9, 32), "race"),
    Wrong("scale_gradient", "three steps", ADD, f"tl.store(out_ptr + j, {LOADED}, mask=mask)", (9, 32), "race"),
    Wrong("scale_gradient", "a load before", ADD, ADD.replace("part", LOADED), (9, 32), "race"),
    Wrong(
        "split_product",
        "the memory",
        "torch.zeros(M, N)",
        "torch.empty(M, N)",
        (16, 64),
        "uninitialized",
    ),
    Wrong("split_product", "the bias", BIAS, "    total += bias[None, :]\n", (16, 64), ""),
    Wrong("split_product", "a store", "tl.atomic_add(c_ptr", "tl.store(c_ptr", (16, 64), "race"),
    Wrong("dropout_sum", "one number for both", "tl.rand(seed, n + i)", "tl.rand(seed, i)", (64,), "31 elements of 64"),
    Wrong("dropout_sum", "x's blocks", "tl.rand(seed, i)", "tl.rand(seed, lanes)", (200,), "at [65]"),
    Wrong("dropout_sum", "y's blocks", "tl.rand(seed, n + i)", "tl.rand(seed, n + lanes)", (200,), "at [67]"),
    Wrong("row_norms", "the row before", ROW + EMPTY, EMPTY[4:] + ROW, (16, 64), "at [8]"),
    Wrong("row_norms", "the last rows", TURNS, "rows // PROGRAMS", (20, 50), "no program stored it"),
    Wrong("row_norms", "a turn too many", TURNS, f"{TURNS} + 1", (8, 64), "element 512 of x_ptr"),
    Wrong("scaled_product", "the index", SCALE, SCALE.replace("j", "i"), (20, 40), "at [0, 16]"),
    Wrong("scaled_product", "the axis", SCALE, SCALE.replace("[None, :]", "[:, None]"), (16, 16), "at [0, 1]"),
    Wrong("decay", "the trials", RESTORED, "", (3, 64), "tuned-in-place"),
    Wrong("decay", "the strides", AT, "x_ptr + row * columns + j", (5, 40), "assumed-contiguous or outside-view"),
    Wrong("decay", "no autotuner", ', triton.Config({"BLOCK": 128})]', "]", (3, 64), "the autotuner had no choice"),
]


@pytest.mark.parametrize("wrong", WRONG, ids=lambda one: f"{one.exercise}: {one.fault}")
def test_what_is_left_of_the_faults_is_told(wrong: Wrong) -> None:
    text = answers()[wrong.exercise]
    assert text.count(wrong.old) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        answer = defined(text.replace(wrong.old, wrong.new), wrong.exercise)
        fault = told_fault(wrong.exercise, answer, lambda fault: True)  # where it is, and not its cause
    assert fault is not None and f" {wrong.on} " in fault.on
    assert fault.launch is not None
    kinds = {one.kind for one in fault.launch.findings}
    assert any(why in fault.message or why in kinds for why in wrong.why.split(" or "))
