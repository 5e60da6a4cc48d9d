"""The module after each pass, run on a launch's inputs: equal for all examples, and a pass that changes it is named."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
import triton
import triton.language as tl

import triton_lab
from tests.gluon.cases import cases, launch
from triton_lab.compiled.compiled import Compiled
from triton_lab.compiled.module_values import ModuleValues
from triton_lab.compiled.pass_run import NOT_RUN
from triton_lab.compiled.pass_runs import runs_of
from triton_lab.compiled.passes import Passes
from triton_lab.examples import all_examples, example
from triton_lab.launch.comparison.argument_difference import DIFFERENT, EQUAL, NEAR
from triton_lab.launch.launch import Launch
from triton_lab.views.compiled.passes_view import PassesView, with_values
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


@triton.jit
def shifted_product_kernel(a, b, out, SIDE: tl.constexpr):
    lane = tl.arange(0, SIDE)
    places = lane[:, None] * SIDE + lane[None, :]
    tl.store(out + places, tl.dot(tl.load(a + places) + 1, tl.load(b + places) * 2))


def fenced_launches() -> dict[str, Launch]:
    """A product of Triton, to which the compiler adds fences, and kernels of Gluon, which have their own."""
    a, b = torch.randn(64, 64).half(), torch.randn(64, 64).half()
    with triton_lab.record() as launches:
        shifted_product_kernel[(1,)](a, b, torch.zeros(64, 64), SIDE=64)
        for case in cases(1):
            if case.kernel in ("tiles", "product_of_stored", "three_partitions"):
                launch(case)
    return {one.kernel: one for one in launches}


@pytest.mark.parametrize("kernel", ["shifted_product_kernel", "tiles", "product_of_stored", "three_partitions"])
def test_a_pass_that_drops_a_fence_is_named_and_one_that_has_yet_to_come_is_not(kernel: str) -> None:
    launched = fenced_launches()[kernel]
    compiled = launched.compile("sm_90")
    assert isinstance(compiled, Compiled) and compiled.request is not None
    assert compiled.run().first is None and compiled.run().unknown == []
    passes, fence = list(compiled.passes), "ttng.fence_async_shared"
    fenced = [number for number, one in enumerate(passes) if fence in one.module]
    for number in (fenced[1], fenced[-1]):
        lines = passes[number].module.splitlines()
        without = replace(passes[number], module="\n".join(line for line in lines if fence not in line))
        changed = Passes([*passes[:number], without, *passes[number + 1 :]])
        runs = runs_of(changed, compiled.request, launched, ("", 1))
        assert [one.number for one in runs if one.verdict == DIFFERENT] == [number]
        assert [one.kind for one in runs.findings(launched)] == ["miscompiled"]


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


def value_at(module: ModuleValues, operation: str) -> list[str]:
    return [module.values[k] for k, line in enumerate(module.lines) if operation in line and k in module.values]


def test_values_stand_beside_the_lines_of_each_stage() -> None:
    _launch, compiled = doubled()
    runs = compiled.run()
    for stage in ("ttir", "ttgir"):
        found = runs.values(stage)
        assert value_at(found, "arith.addf") == ["0, 2, 4, 6, …"] and value_at(found, "tt.load")[0] == "0, 1, 2, 3, …"
        assert "x[0], x[0], x[0], x[0], …" in value_at(found, "tt.splat")
        line = next(line for line in str(found).splitlines() if "arith.addf" in line)
        assert line.endswith("// 0, 2, 4, 6, …")
    assert ("#ttg." in str(runs.values("ttgir"))) > ("#ttg." in str(runs.values("ttir")))
    for number in (one.number for one in runs):
        assert runs.values(number).values
    with pytest.raises(LookupError):
        runs.values("ptx")
    with pytest.raises(ValueError, match="1"):
        runs.values(program=1)


@triton.jit
def looped_kernel(x, out, n, BLOCK: tl.constexpr):
    total = tl.zeros((BLOCK,), tl.float32)
    for k in range(n):
        total += tl.load(x + k * BLOCK + tl.arange(0, BLOCK)) * (1 + tl.program_id(0))
    tl.store(out + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), total)


def test_a_line_of_a_loop_has_its_last_value_of_the_chosen_program() -> None:
    with triton_lab.record() as launches:
        looped_kernel[(3,)](torch.arange(64.0), torch.zeros(48), 4, BLOCK=16)
    runs = launches[0].compile("sm_90").run()
    found = runs.values(program=2)
    assert found.program == 2
    (product,) = value_at(found, "arith.mulf")
    assert product.startswith("144, 147, 150, 153, …") and "4 times" in product
    (total,) = value_at(found, "scf.for")
    assert total.startswith("288, 300, 312, 324, …")


def test_the_pictures_show_the_chosen_program_or_the_one_that_a_pass_makes_wrong() -> None:
    with triton_lab.record() as launches:
        looped_kernel[(3,)](torch.arange(64.0), torch.zeros(48), 4, BLOCK=16)
    compiled = launches[0].compile("sm_90")
    assert isinstance(compiled, Compiled) and compiled.request is not None
    assert compiled.plot.passes().program == 0
    chosen = compiled.plot.passes(program=2)
    assert chosen.program == 2 and any("// 144, 147, 150, 153" in one["diff"] for one in chosen.scene()["passes"])
    with pytest.raises(ValueError, match="3"):
        compiled.plot.passes(program=3)
    scene = compiled.plot.passes().scene()
    assert (scene["grid"], scene["program"]) == ([3, 1, 1], 0)
    assert compiled.plot.passes().part(f"{scene['name']}/2") == chosen.scene()
    for name in (f"{scene['name']}/3", f"{scene['name']}/x", scene["name"]):
        with pytest.raises(LookupError):
            compiled.plot.passes().part(name)
    # 1 + 0 is 1 * 1, and 1 + 1 is not: all programs but the first compute other numbers.
    passes = list(compiled.passes)
    where = next(k for k, one in enumerate(passes) if one.argument == "convert-triton-to-tritongpu")
    factor = next(line for line in passes[where].module.splitlines() if "arith.addi" in line and ": i32" in line)
    wrong = passes[where].module.replace(factor, factor.replace("arith.addi", "arith.maxsi"))
    changed = Passes([*passes[:where], replace(passes[where], module=wrong), *passes[where + 1 :]])
    runs = runs_of(changed, compiled.request, launches[0], ("", 1))
    assert runs.first is not None and runs.first.number == where and runs.program == 1


def test_partitions_of_a_gluon_kernel_have_values_too() -> None:
    with triton_lab.record() as launches:
        launch(next(case for case in cases(1) if case.kernel == "three_partitions"))
    found = launches[0].compile("sm_90").run().values("ttgir")
    assert value_at(found, "ttg.local_load") and value_at(found, "arith.addf") and not found.stopped


def test_many_programs_run_in_part_and_the_result_says_so() -> None:
    with triton_lab.record() as launches:
        looped_kernel[(100,)](torch.arange(64.0), torch.zeros(1600), 4, BLOCK=16)
    found = launches[0]
    found.seconds = 1000.0  # as if each program took ten seconds
    compiled = found.compile("sm_90")
    assert isinstance(compiled, Compiled)
    runs = compiled.run(seconds=300.0)
    assert runs.programs is not None and 1 <= len(runs.programs) < 100 and runs.unknown == []
    assert "100" in runs.looked_at() and runs.looked_at() in runs.headline() and runs.first is None
    assert compiled.run(seconds=300.0) is runs


def test_nothing_is_run_after_the_time_and_that_is_told() -> None:
    _launch, compiled = doubled()
    runs = compiled.run(seconds=0.0)
    assert [one.verdict for one in runs] == [NOT_RUN] * len(runs) and len(runs.unknown) == len(runs)


def test_a_diff_has_the_values_before_and_after() -> None:
    diff = "@@ -3,2 +7,2 @@\n %a = one\n-%b = two\n+%b = three"
    told = with_values(diff, {2: "1", 3: "2"}, {6: "10", 7: "20"})
    assert told.splitlines()[1:] == [" %a = one  // 10", "-%b = two  // 2", "+%b = three  // 20"]
    _launch, compiled = doubled()
    scene = PassesView(compiled).scene()
    assert (
        any(
            "+" in line and "arith.addf" in line and "// 0, 2, 4, 6" in line
            for one in scene["passes"]
            for line in one["diff"].splitlines()
        )
        and "0" in scene["note"]
    )
