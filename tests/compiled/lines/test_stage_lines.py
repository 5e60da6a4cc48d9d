"""Which lines of each stage belong to which lines of the source: held against the text itself and among the stages."""

from __future__ import annotations

import re
import runpy
import subprocess
import tempfile

import pytest
import torch
import triton
import triton.language as tl

import triton_lab as lab
from tests.wordings import Wording
from triton_lab.backend.source.kernel_source import is_tritons
from triton_lab.compiled.compiled import Compiled
from triton_lab.compiled.explanations import operation
from triton_lab.compiled.lines import assembly_lines, llvm_lines, mlir_lines
from triton_lab.compiled.lines.cubin_lines import lines_of_ptx
from triton_lab.compiled.lines.missing_instructions import CONSTANT, FIXED, UNTOLD, UNUSED, doing
from triton_lab.compiled.lines.source_trail import Trail, TrailPlace
from triton_lab.examples import example
from triton_lab.views.launch.gallery import launches_of

NAMES = ["attention_causal", "softmax", "layer_norm_backward", "histogram"]
TARGETS = ["sm_90", "gfx942"]


@triton.jit
def halved(value):
    half = value * 0.5
    return half


@triton.jit
def lines_kernel(x, out, n, BLOCK: tl.constexpr):
    start = tl.program_id(0) * BLOCK
    k = start + tl.arange(0, BLOCK)
    width: tl.constexpr = BLOCK // 2
    unused = tl.load(x + k) * 3  # noqa: F841
    value = tl.load(x + k, mask=k < n)
    if width > 1:
        value = halved(value)
    tl.store(out + k, value, mask=k < n)


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> dict[tuple[str, str], Compiled]:
    return {(name, one.target): one for name in NAMES for one in launches_of(example(name))[0].compile(TARGETS)}


@pytest.fixture(scope="module")
def own() -> list[Compiled]:
    with lab.target("cpu"), lab.record() as launches:
        lines_kernel[(2,)](torch.zeros(256), torch.zeros(256), 200, BLOCK=128)
    return list(launches[0].compile(TARGETS))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", NAMES)
def test_every_line_with_a_place_comes_from_a_line_that_exists(made, name: str, target: str) -> None:
    lines = made[name, target].lines
    for stage in lines.stages:
        trails = [trail for trail in lines.trails(stage) if trail is not None]
        assert len(trails) > 10, stage
        for trail in trails:
            for place in trail.places:
                assert is_tritons(place.file) or any(source.has(place.file, place.line) for source in lines.sources)
            assert lines.written(trail), "some place of every trail is the user's"


@pytest.mark.parametrize("name", NAMES)
def test_nearly_every_instruction_of_sass_has_a_place(made, name: str) -> None:
    """But for those that no line of PTX has one for, which the compiler made up."""
    compiled = made[name, "sm_90"]
    trails = compiled.lines.trails("sass")
    lines = [(line, operation("sass", line)) for line in str(compiled.stages["sass"]).split("\n")]
    there = [trail is not None for (_, op), trail in zip(lines, trails, strict=True) if op and not op.startswith("NOP")]
    assert sum(there) >= 0.85 * len(there)
    ptx = compiled.lines.trails("ptx")
    assert {trail.places for trail in trails if trail is not None and trail.places[0].column} <= {
        trail.places for trail in ptx if trail is not None
    }


def nvdisasm(cubin: bytes, *options: str) -> list[tuple[str, int]]:
    """File and line of each instruction, as NVIDIA's own tool tells them."""
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        command = [triton.knobs.nvidia.nvdisasm.path, *options, "--print-code", file.name]
        told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    place, found, fresh = ("", 0), [], True
    for line in told.split("\n"):
        if (noted := re.match(r'\s*//## File "([^"]*)", line (\d+)', line)) and fresh:
            place, fresh = (noted[1], int(noted[2])), False
        elif re.match(r"\s*/\*[0-9a-f]{4,}\*/", line):
            found.append(place)
            fresh = True
    return found


@pytest.mark.parametrize("name", NAMES)
def test_the_lines_of_ptx_are_those_that_nvdisasm_tells(made, name: str) -> None:
    cubin = made[name, "sm_90"].stages["cubin"]
    ((_, ours),) = lines_of_ptx(cubin).items()
    assert ours == [line for _, line in nvdisasm(cubin, "--print-line-info-ptx")]


@pytest.mark.parametrize("name", NAMES)
def test_sass_agrees_with_the_table_of_source_lines(made, name: str) -> None:
    """An instruction comes from the line that ptxas noted for it in PTX, but for what `assembly_lines` mends."""
    compiled = made[name, "sm_90"]
    noted = nvdisasm(compiled.stages["cubin"], "--print-line-info")
    trails = [
        trail
        for line, trail in zip(str(compiled.stages["sass"]).split("\n"), compiled.lines.trails("sass"), strict=True)
        if operation("sass", line)
    ]
    # What belongs to no line of PTX's stands at the kernel's first, which has no column.
    pairs = [(t.places[0][:2], one) for t, one in zip(trails, noted, strict=True) if t and t.places[0].column]
    assert sum(here == there for here, there in pairs) >= 0.95 * len(pairs)
    assert all(there[0] == here[0] and 0 < there[1] - here[1] < 6 for here, there in pairs if here != there)


def test_what_is_no_cubin_has_no_lines() -> None:
    assert lines_of_ptx(b"") == lines_of_ptx(b"\x7fELF and no more") == lines_of_ptx(bytes(500)) == {}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", NAMES)
def test_a_line_that_does_something_has_instructions_or_a_reason(made, name: str, target: str) -> None:
    lines = made[name, target].lines
    last = lines.stages[-1]
    told = 0
    for source in lines.sources:
        for line in doing(source):
            reason = lines.reason(line, source.file)
            assert bool(lines.of(last, line, source.file)) != bool(reason), (line, reason)
            told += bool(reason)
            assert not reason or reason.startswith(("folded into line", FIXED, UNUSED, CONSTANT, UNTOLD)), reason
            for number in re.findall(r"\d+", reason.partition(":")[0]) if reason.startswith("folded") else []:
                assert any(source.has(source.file, int(number)) for source in lines.sources)
    assert told < sum(1 for source in lines.sources for _ in doing(source)) / 2


@pytest.mark.parametrize("name", NAMES)
def test_a_stage_knows_no_line_that_llvm_does_not(made, name: str) -> None:
    """PTX, SASS and AMD's assembly are made of LLVM's module: what they tell it has told them."""
    for target in TARGETS:
        lines = made[name, target].lines
        llir = {line for _, written in lines.table("llir") for line in written}
        ptx = {line for stage in lines.stages[3:4] for _, written in lines.table(stage) for line in written}
        assert ptx <= llir
        if target == "sm_90":
            assert {line for _, written in lines.table("sass") for line in written} <= ptx


@pytest.mark.parametrize("name", NAMES)
def test_ptx_follows_calls_out_as_llvm_does(made, name: str) -> None:
    """The trails of PTX, which names one call at a time, are trails of LLVM's, which has them whole."""
    lines = made[name, "sm_90"].lines
    whole = {trail.places for trail in lines.trails("llir") if trail is not None}
    for trail in lines.trails("ptx"):
        if trail is not None and len(trail.places) > 1:
            assert trail.places in whole


def test_both_directions_say_the_same(made) -> None:
    lines = made["softmax", "sm_90"].lines
    for stage in lines.stages:
        for number, written in lines.table(stage):
            for function, line in written:
                assert number in lines.of(stage, line, lines.sources[function].file)


def test_helpers_are_sources_and_calls_are_followed(own) -> None:
    for compiled in own:
        lines = compiled.lines
        assert [source.name for source in lines.sources] == ["lines_kernel", "halved"]
        helper, call = halved.starting_line_number + 2, lines_kernel.starting_line_number + 8
        last = lines.stages[-1]
        multiplied = lines.of(last, helper)
        assert multiplied
        assert set(multiplied) <= set(lines.of(last, call)), "what was inlined belongs to its call, too"
        places = lines.source(last, multiplied[0]).places
        assert [place.line for place in places] == [helper, call]
        assert lines.written(lines.source(last, multiplied[0])) == [(1, helper), (0, call)]


@pytest.mark.parametrize("target", TARGETS)
def test_a_file_is_known_by_its_name_however_compilers_spell_it(tmp_path, target: str) -> None:
    """MLIR and LLVM write other letters than English ones by their bytes in hexadecimal, assemblers in octal."""
    file = tmp_path / "jösé" / "é.py"
    file.parent.mkdir()
    file.write_text(
        "import triton\nimport triton.language as tl\n@triton.jit\ndef kernel(x):\n    tl.store(x, tl.load(x) * 2.0)\n",
        encoding="utf-8",
    )
    kernel = runpy.run_path(str(file))["kernel"]
    lines = lab.compile(kernel, "*fp32", target=target).lines
    assert {stage: bool(lines.of(stage, 5)) for stage in lines.stages} == dict.fromkeys(lines.stages, True)
    assert lines.reason(5) == ""
    assert {line.line for stage in lines.stages for _, found in lines.table(stage) for line in found} <= {4, 5}


def test_variables_have_their_names(own) -> None:
    lines = own[0].lines
    names = {trail.name for trail in lines.trails("ttgir") if trail is not None}
    assert {"k", "value", "half", "start"} <= names


def test_reasons_say_what_became_of_a_line(own) -> None:
    first = lines_kernel.starting_line_number
    for compiled in own:
        lines = compiled.lines
        assert lines.reason(first + 4) == FIXED, "width is known while compiling"
        assert lines.reason(first + 5) == FIXED or lines.reason(first + 5).startswith(UNUSED)
        assert lines.reason(first + 6) == ""
        assert lines.reason(1) == "", "no line of the kernel"


def test_what_there_is_not_is_told(own, wording: Wording) -> None:
    lines = own[0].lines
    with wording.raises(LookupError):
        lines.trails("cubin")
    with pytest.raises(LookupError, match=r"ptx .*line 0: "):
        lines.source("ptx", 0)


def test_locations_of_mlir_in_all_their_forms() -> None:
    text = """#loc1 = loc("a.py":3:5)
#loc2 = loc("x"(#loc1))
#loc3 = loc(callsite(#loc2 at "b.py":7:1))
#loc4 = loc(callsite(unknown at #loc2))
    %0 = tt.a : i32 loc(#loc3)
    %1 = tt.b : i32 loc(fused<"of">[#loc2, "c.py":1:1])
    %2 = tt.c : i32 loc(unknown)
    %3 = scf.for %i = %a to %b {
      %4 = tt.d : i32 loc("y"("d.py":9:2))
    } loc(#loc4)
    tt.e loc(callsite("e.py":1:2 at callsite(#loc1 at #loc2)))"""
    a, b, d, e = TrailPlace("a.py", 3, 5), TrailPlace("b.py", 7, 1), TrailPlace("d.py", 9, 2), TrailPlace("e.py", 1, 2)
    assert mlir_lines.trails(text)[4:] == [
        Trail((a, b), "x"), Trail((a,), "x"), None, Trail((a,), "x"), Trail((d,), "y"), Trail((a,), "x"),
        Trail((e, a, a), "x"),
    ]  # fmt: skip


def test_locations_of_llvm_through_scopes_and_calls() -> None:
    text = """define void @f() !dbg !4 {
  %1 = add i32 1, 2, !dbg !7
  ret void, !dbg !8
}
!1 = !DIFile(filename: "a.py", directory: "/x")
!2 = !DIFile(filename: "b.py", directory: "/y")
!4 = distinct !DISubprogram(name: "f", scope: !1, file: !1, line: 2)
!5 = !DILexicalBlockFile(scope: !4, file: !2, discriminator: 0)
!7 = !DILocation(line: 5, column: 6, scope: !5, inlinedAt: !9)
!8 = !DILocation(line: 0, scope: !4)
!9 = distinct !DILocation(line: 3, column: 1, scope: !4)"""
    inner, call = TrailPlace("/y/b.py", 5, 6), TrailPlace("/x/a.py", 3, 1)
    assert llvm_lines.trails(text)[:4] == [Trail((TrailPlace("/x/a.py", 2),)), Trail((inner, call)), None, None]


def test_assembly_of_several_lines_stands_where_its_first_does() -> None:
    """LLVM counts on within it."""
    text = """\t.loc\t1 3 1
\t// begin inline asm
\t.loc\t1 3 1
\tmov.u32 %r1, 0;
\t.loc\t1 4 1
\t@%p1 ld.global.b32 { %r1 }, [ %rd1 + 0 ];

\t// end inline asm
\tadd.s32 %r3, %r1, %r1;
\t.loc\t1 4 9
\tmul.lo.s32 %r2, %r1, %r1;
\t.file\t1 "/x/a.py\""""
    third, fourth = Trail((TrailPlace("/x/a.py", 3, 1),)), Trail((TrailPlace("/x/a.py", 4, 9),))
    found = assembly_lines.trails(text)
    assert [found[k] for k in (3, 5, 8, 10)] == [third, third, third, fourth]


def test_locations_of_assembly_hold_until_the_next() -> None:
    text = """\t.loc\t1 3 1
\tadd.s32 %r1, %r2, %r3;
$L__BB0_1:
\t.loc\t2 9 2, function_name $L__info_string0, inlined_at 1 3 1 // b.py
\tmul.s32 %r1, %r2, %r3;
\t.loc\t1 0 0
\tret;
\t.file\t1 "/x" "a.py"
\t.file\t2 "/y/b.py"
\t.loc\t2 4 4 ; b.py:4:4 @[ a.py:5:6 @[ other.py:1:1 ] ]
\tv_add_u32 v1"""
    a, b = TrailPlace("/x/a.py", 3, 1), TrailPlace("/y/b.py", 9, 2)
    whole = (TrailPlace("/y/b.py", 4, 4), TrailPlace("/x/a.py", 5, 6), TrailPlace("other.py", 1, 1))
    found = assembly_lines.trails(text)
    assert found[1] == Trail((a,)) and found[2] is None
    assert found[4] == Trail((b, a)) and found[6] is None
    assert found[10] == Trail(whole)
