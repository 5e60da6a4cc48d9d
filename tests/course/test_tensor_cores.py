"""Wrong answers to the exercises of chapters 25 and 26, made from misunderstandings: each is told its reason.

A wrong answer is a change of the teacher's. Its reason is a kind of finding, a requirement that is not met, a compared
number, or a refusal by Gluon's front end.
"""

from __future__ import annotations

import warnings
from typing import NamedTuple

import pytest
import torch

import triton_lab as lab
from tests.course.chapters import answers, defined
from tests.course.told_fault import told_fault
from tests.gpu import tensor_core_sweeps as sweeps
from tests.wordings import Wording

NUMBERS, COMPILER = "numbers", "compiler"
REQUIREMENTS = {"loads_during_products", "loads_waited_for", "no_key_in_vain", "partitions", "products_in_flight"}


class Wrong(NamedTuple):
    """``old``, which the answer to ``exercise`` has once, becomes ``new``; ``why`` is the reason."""

    exercise: str
    misunderstanding: str
    old: str
    new: str
    why: str


FULL = "        mbarrier.wait(full.index(at), k // BUFFERS & 1)\n"
EMPTY = "        mbarrier.wait(empty.index(at), k // BUFFERS & 1 ^ 1)\n"
PRODUCT = "warpgroup_mma(a.index(at), b.index(at), total, is_async=True)"
ENDED = "        total = warpgroup_mma_wait(num_outstanding=0, deps=(total,))\n"
LAST = ENDED.removeprefix("    ")
ARRIVE = "        mbarrier.arrive(empty.index(at), count=1)\n"
AHEAD = "AHEAD: gl.constexpr = BUFFERS - 1"
LOADER = "    for k in range(steps):\n        at = k % BUFFERS\n        mbarrier.wait(empty"
LOAD_ALL = "(load_keys, (k_desc, v_desc, keys, values, full, empty, head, steps, BUFFERS))"
SHRINK = "gl.convert_layout(shrink, gl.SliceLayout(1, SUM))[:, None]"
HIGHER = "gl.maximum(high, gl.max(scores, 1))"
HIDDEN = 'gl.where(key[None, :] <= query[:, None], scores, float("-inf"))'

WRONG = [
    Wrong("ahead", "the phase is that of the step", "k // BUFFERS & 1", "k & 1", "used-before-wait"),
    Wrong("ahead", "the phase is always 0", "k // BUFFERS & 1", "0", "used-before-wait"),
    Wrong("ahead", "TMA needs no wait", FULL, "", "used-before-wait"),
    Wrong("ahead", "one product may run on", ENDED, ENDED.replace("0", "1") + LAST, "written-while-read"),
    Wrong("ahead", "a sum needs no wait", ENDED, ENDED.replace("0", "1"), "used-before-wait"),
    Wrong("ahead", "what was started is the sum", ENDED, "", COMPILER),
    Wrong("ahead", "every buffer is loaded ahead", AHEAD, "AHEAD: gl.constexpr = BUFFERS", "barrier-misuse"),
    Wrong("ahead", "each step loads its own tiles", AHEAD, "AHEAD: gl.constexpr = 0", "loads_during_products"),
    Wrong("ahead", "zeros after the end do no harm", "later < steps", "True", "loads_waited_for"),
    Wrong("ahead", "the last step counts from 1", "later < steps", "later <= steps", "loads_waited_for"),
    Wrong("ahead", "the tiles just loaded are used", "        at = k % BUFFERS\n", "", "phase-never-ends"),
    Wrong("ahead", "each product is a new sum", PRODUCT, PRODUCT.replace("total", "total * 0"), NUMBERS),
    Wrong("parted", "both wait for one phase", EMPTY, EMPTY.replace(" ^ 1", ""), "phase-never-ends"),
    Wrong("parted", "both begin with phase 1", FULL, FULL.replace("& 1", "& 1 ^ 1"), "used-before-wait"),
    Wrong("parted", "the loader need not wait", EMPTY, "", "barrier-misuse"),
    Wrong("parted", "a used buffer is free by itself", ARRIVE, "", "phase-never-ends"),
    Wrong("parted", "a product in flight has read", ENDED + ARRIVE, ARRIVE + ENDED, "partition-race"),
    Wrong("parted", "the computer makes it full", ARRIVE, ARRIVE.replace("empty", "full"), "phase-never-ends"),
    Wrong("parted", "TMA makes it empty", "full.index(at), i, j, k", "empty.index(at), i, j, k", "phase-never-ends"),
    Wrong("parted", "the first step needs no load", LOADER, LOADER.replace("(steps", "(1, steps"), "phase-never-ends"),
    Wrong("parted", "one buffer is enough", "BUFFERS=2", "BUFFERS=1", "loads_during_products"),
    Wrong("busy", "the newest buffer is free", "before), count=1, pred=k > 0", "at), count=1", "partition-race"),
    Wrong("busy", "step 0 frees a buffer, too", ", pred=k > 0", "", "written-while-read"),
    Wrong("busy", "two may run", "num_outstanding=1", "num_outstanding=2", "partition-race"),
    Wrong("busy", "none may run", "num_outstanding=1", "num_outstanding=0", "products_in_flight"),
    Wrong("busy", "the last one ends by itself", LAST, "", "used-before-wait"),
    Wrong("gluon_attention", "old values keep their weight", f" * {SHRINK}", "", NUMBERS),
    Wrong("gluon_attention", "the old total keeps its weight", "total * shrink", "total", NUMBERS),
    Wrong("gluon_attention", "the new maximum is the old one", "gl.exp(high - new)", "gl.exp(new - new)", NUMBERS),
    Wrong("gluon_attention", "sums grow with the maximum", "gl.exp(high - new)", "gl.exp(new - high)", NUMBERS),
    Wrong("gluon_attention", "each tile has its own maximum", HIGHER, "gl.max(scores, 1)", NUMBERS),
    Wrong("gluon_attention", "weights refer to the old maximum", "scores - new", "scores - high", NUMBERS),
    Wrong("gluon_attention", "no maximum is needed", "scores - new[:, None]", "scores", NUMBERS),
    Wrong("gluon_attention", "the highest weight is the total", "gl.sum(weights, 1)", "gl.max(weights, 1)", NUMBERS),
    Wrong("gluon_attention", "a row is axis 0", "gl.max(scores, 1)", "gl.max(scores, 0)", COMPILER),
    Wrong("gluon_attention", "rows have one layout", SHRINK, "shrink[:, None]", COMPILER),
    Wrong("gluon_causal", "a query does not see itself", "<=", "<", NUMBERS),
    Wrong("gluon_causal", "a query sees the later keys", "<=", ">=", NUMBERS),
    Wrong("gluon_causal", "an earlier end is enough", HIDDEN, "scores", NUMBERS),
    Wrong("gluon_causal", "a hidden score is 0", HIDDEN, HIDDEN.replace('float("-inf")', "0.0"), NUMBERS),
    Wrong("gluon_causal", "keys count within a tile", "key[None", "(key - k * KEYS)[None", NUMBERS),
    Wrong("gluon_causal", "its own tile is not needed", "gl.program_id(0) + 1", "gl.program_id(0)", NUMBERS),
    Wrong("gluon_causal", "rows are keys", "key[None, :] <= query[:, None]", "key[:, None] <= query[None]", COMPILER),
    Wrong("gluon_causal", "a mask saves work", "gl.program_id(0) + 1", "gl.cdiv(tokens, 64)", "no_key_in_vain"),
    Wrong("gluon_causal", "loaded is used", LOAD_ALL, LOAD_ALL.replace("steps", "steps + 3"), "phase-never-ends"),
    Wrong("gluon_causal", "used is loaded", LOAD_ALL, LOAD_ALL.replace("steps", "steps - 1"), "phase-never-ends"),
]


@pytest.mark.parametrize("wrong", WRONG, ids=lambda one: f"{one.exercise}: {one.misunderstanding}")
def test_a_misunderstanding_is_told_its_reason(wrong: Wrong, wording: Wording) -> None:
    text = answers()[wrong.exercise]
    assert text.count(wrong.old) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        answer = defined(text.replace(wrong.old, wrong.new), wrong.exercise)
        fault = told_fault(wrong.exercise, answer, lambda fault: True)  # why numbers are wrong is not asked
    assert fault is not None
    if wrong.why == COMPILER:
        assert fault.launch is None and "in line" not in fault.message
        assert any(line.strip() and line.strip() in text.replace(wrong.old, wrong.new) for line in fault.lines)
    elif wrong.why == NUMBERS:
        assert fault.launch is not None and fault.launch.error is None and "but must be" in fault.message
    elif wrong.why in REQUIREMENTS:
        assert fault.launch is not None and fault.launch.error is None
        wording(fault.message, wrong.misunderstanding)
    else:
        assert fault.launch is not None and fault.launch.findings[0].kind == wrong.why


def test_programs_that_fit_explain_what_was_measured() -> None:
    """With one buffer three programs of the product without partitions fit on a multiprocessor, and one with two."""
    a, b, c = (torch.zeros(shape, dtype=torch.float16) for shape in ((128, 64), (64, 128), (128, 128)))
    tensors = [sweeps.described(one, list(one.shape)) for one in (a, b, c)]
    found = []
    for kernel in (sweeps.product_kernel, sweeps.parted_product_kernel):
        with lab.record() as launches:
            kernel[(1,)](*tensors, 64, BUFFERS=1, IN_FLIGHT=0)
        compiled = launches[0].compile("sm_90")
        found.append((compiled.metadata.registers, compiled.cost.occupancy.programs))
    assert found == [(154, 3), (255, 1)]
