"""The module after each pass, run on a launch's inputs: equal for all examples, and a pass that changes it is named."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
import triton
import triton.language as tl

import triton_lab
from triton_lab.compiled.compiled import Compiled
from triton_lab.compiled.pass_runs import NOT_RUN, runs_of
from triton_lab.compiled.passes import Passes
from triton_lab.examples import all_examples, example
from triton_lab.launch.comparison.argument_difference import DIFFERENT, EQUAL, NEAR
from triton_lab.launch.launch import Launch
from triton_lab.views.launch.gallery import launches_of

# Examples whose kernel another one has, too.
ALIKE = ("bfloat16", "float32", "matmul_backward", "dropout_backward", "attention_full")


@pytest.mark.parametrize("name", [one.name for one in all_examples() if not any(part in one.name for part in ALIKE)])
def test_no_pass_changes_an_example(name: str) -> None:
    runs = launches_of(example(name))[0].compile("sm_90").run()
    assert [one.changed.name for one in runs if one.verdict not in (EQUAL, NEAR)] == []
    assert runs.first is None and len(runs) > 4


@triton.jit
def doubled_kernel(x, out, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    tl.store(out + lane, tl.load(x + lane) + tl.load(x + lane))


def doubled() -> tuple[Launch, Compiled]:
    with triton_lab.record() as launches:
        doubled_kernel[(1,)](torch.arange(64.0), torch.zeros(64), BLOCK=64)
    compiled = launches[0].compile("sm_90")
    assert isinstance(compiled, Compiled)
    return launches[0], compiled


def altered(old: str, new: str) -> tuple[int, Launch, Compiled, Passes]:
    """The passes of `doubled`, the one that makes TTGIR altered: its number, and all of them."""
    launch, compiled = doubled()
    passes = compiled.passes
    where = [one.argument for one in passes].index("convert-triton-to-tritongpu")
    assert old in passes[where].module
    changed = [replace(one, module=one.module.replace(old, new)) if k == where else one for k, one in enumerate(passes)]
    return where, launch, compiled, Passes(changed)


def test_a_pass_that_changes_the_result_is_named_with_its_first_element() -> None:
    where, launch, compiled, passes = altered("arith.addf", "arith.mulf")
    assert compiled.request is not None
    runs = runs_of(passes, compiled.request, launch, ("", 1))
    assert runs.first is not None and runs.first.number == where and runs.first.unseen == ()
    assert runs.first.first is not None
    compared, index = runs.first.first
    # 0 + 0 and 2 + 2 are as 0 * 0 and 2 * 2: the first lane that differs is the second.
    assert (compared.name, index, compared.a[index], compared.b[index]) == ("out", (1,), 2.0, 1.0)
    assert compared.count == 62
    (found,) = runs.findings(launch)
    assert (found.kind, found.severity, found.argument) == ("miscompiled", "error", "out")
    # The next pass begins with the right module again: seen from the altered one, it differs, too.
    assert [one.verdict for one in runs].count(DIFFERENT) == 2


def test_a_module_that_cannot_be_run_is_not_equal() -> None:
    where, launch, compiled, passes = altered("arith.addf", "arith.no_such_operation")
    assert compiled.request is not None
    runs = runs_of(passes, compiled.request, launch, ("", 1))
    assert [one.number for one in runs.unknown] == [where] and runs.of(where).verdict == NOT_RUN  # type: ignore[union-attr]
    following = next(one for one in runs if one.number > where)
    assert following.unseen == (passes[where].name,)


def test_a_compilation_without_a_launch_cannot_be_run() -> None:
    compiled = triton_lab.compile(doubled_kernel, "*fp32, *fp32", {"BLOCK": 64}, "sm_90")
    with pytest.raises(LookupError):
        compiled.run()


@triton.jit
def empty_loop_kernel(out, bound):
    total = tl.full((), 0, tl.int32)
    for _ in tl.range(0, 4, flatten=True):
        for _ in tl.range(5, bound):
            total += 1
    tl.store(out, total)


def test_the_fusion_of_loops_that_some_tritons_get_wrong() -> None:
    """Up to Triton 3.8, an inner loop whose end lies before its start runs once if it is fused with the outer one."""
    out = torch.full((1,), -1, dtype=torch.int32)
    with triton_lab.record() as launches:
        empty_loop_kernel[(1,)](out, 3)
    runs = launches[0].compile("sm_90").run()
    assert out.item() == 0 and runs.unknown == []
    if tuple(map(int, triton.__version__.split(".")[:2])) >= (3, 9):
        assert runs.first is None
    else:
        assert runs.first is not None and runs.first.changed.argument == "tritongpu-fuse-nested-loops"
        assert runs.first.first is not None and runs.first.first[0].b.item() == 4
