"""What each pass of the compiler changed: held against the stages, and read from what both Tritons write."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from tests.wordings import Wording
from triton_lab.compiled import compiler_client
from triton_lab.compiled import passes as reading
from triton_lab.compiled.compile_failure import CompileError
from triton_lab.compiled.compiled import Compiled
from triton_lab.compiled.explanations import operation
from triton_lab.compiled.passes import START, read
from triton_lab.examples import example
from triton_lab.views.launch.gallery import launches_of

TARGETS = ["sm_90", "gfx942"]


@pytest.fixture(scope="module")
def made() -> dict[str, Compiled]:
    return {one.target: one for one in launches_of(example("softmax"))[0].compile(TARGETS)}


def count(text: str, op: str) -> int:
    return sum(operation("ttgir", line) == op for line in text.splitlines())


@pytest.mark.parametrize("target", TARGETS)
def test_passes_lead_from_what_triton_reads_to_the_stages(made: dict[str, Compiled], target: str) -> None:
    passes = made[target].passes
    assert passes[0].name == START and len(passes) > 40 and not passes.cut
    names = [one.argument for one in passes]
    # TTIR is what stands before the conversion: counted up from the start, each operation is there as often.
    conversion = names.index("convert-triton-to-tritongpu")
    ops: dict[str, int] = {}
    for one in passes[:conversion]:
        for name, (before, after) in one.ops.items():
            assert ops.get(name, 0) == before, "a pass begins where the one before it ended"
            ops[name] = after
    ttir = str(made[target].stages["ttir"])
    assert {name: ops[name] for name in ops if ops[name]} == {
        name: count(ttir, name) for name in ops if count(ttir, name)
    }


@pytest.mark.parametrize("target", TARGETS)
def test_passes_have_their_time_and_what_changed(made: dict[str, Compiled], target: str) -> None:
    passes = made[target].passes
    known = [one.seconds for one in passes[1:] if one.seconds is not None]
    assert len(known) >= 0.9 * (len(passes) - 1)
    assert 0 < sum(known) < 60
    for one in passes[1:]:
        assert one.changed or (not one.diff and not one.ops), one.name
        for line in one.diff.splitlines():
            assert line[:1] in ("", " ", "+", "-", "@", "…"), line
    assert 5 < len(passes.changing) < len(passes) / 2


def test_who_introduced_an_operation_is_told(made: dict[str, Compiled]) -> None:
    passes = made["sm_90"].passes
    assert [one.name for one in passes.introduced("tt.load")] == [START]
    assert [one.argument for one in passes.introduced("ttg.convert_layout")] == ["tritongpu-coalesce"]
    (coalesced,) = [one for one in passes if one.argument == "tritongpu-coalesce"]
    assert re.search(r"^\+ .*= ttg\.convert_layout", coalesced.diff, re.MULTILINE)
    assert passes.introduced("tt.nothing") == []


def test_as_words_they_are_a_table(made: dict[str, Compiled]) -> None:
    lines = str(made["sm_90"].passes).splitlines()
    assert lines[0].split() == ["pass", "time", "changed"]
    assert sum(line.endswith("nothing") for line in lines) > 20


def test_a_compiler_that_takes_too_long_is_an_error(monkeypatch: pytest.MonkeyPatch, wording: Wording) -> None:
    monkeypatch.setattr(reading, "SECONDS", 0.0)
    with wording.raises(CompileError):
        _ = launches_of(example("softmax"))[0].compile("sm_90").passes


def test_who_interrupts_leaves_no_compiler_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    made, begun = launches_of(example("softmax"))[0].compile("sm_90"), []

    def interrupted(self: compiler_client.Child, deadline: float, stop: threading.Event) -> Iterator[dict[str, Any]]:
        begun.append(self)
        raise KeyboardInterrupt
        yield {}

    monkeypatch.setattr(compiler_client.Child, "_answers", interrupted)
    with pytest.raises(KeyboardInterrupt):
        _ = made.passes
    (asked,) = begun
    assert not asked.alive and asked not in compiler_client._idle
    monkeypatch.undo()
    assert made.passes.changing


NEW = """\
===-------------------------------------------------------------------------===
                         ... Execution time report ...
===-------------------------------------------------------------------------===
  Total Execution Time: 0.0100 seconds

  ----Wall Time----  ----Name----
    0.0030 ( 30.0%)  InlinerPass
    0.0001 (  1.0%)    (A) CallGraph
    0.0010 ( 10.0%)    CanonicalizerPass
    0.0020 ( 20.0%)  'any' Pipeline
    0.0040 ( 40.0%)    CanonicalizerPass
    0.0010 ( 10.0%)  CSEPass
    0.0001 (  1.0%)  Rest
    0.0100 (100.0%)  Total
// -----// IR Dump Before InlinerPass: inline{pipeline=canonicalize max=4 } ('builtin.module' operation) //----- //
%0 = tt.load %p : !tt.ptr<f32> loc(#loc1)
// -----// IR Dump Before CanonicalizerPass: canonicalize{x=false    y=10} ('tt.func' operation: @f) //----- //
%0 = tt.inner %p : !tt.ptr<f32>
// -----// IR Dump Before CanonicalizerPass: canonicalize{x=false    y=10} ('builtin.module' operation) //----- //
%0 = tt.load %p : !tt.ptr<f32> loc(#loc2)
// -----// SoftwarePipeliner internal IR Dump After: LowerLoops
%9 = tt.other %p
// -----// IR Dump Before CSEPass: cse ('builtin.module' operation) //----- //
%0 = tt.load %p : !tt.ptr<f32> loc(#loc1)
%1 = tt.splat %0 : f32
// -----// IR Dump Before Last: last ('builtin.module' operation) //----- //
%4 = tt.load %p : !tt.ptr<f32> loc(#loc1)
%5 = tt.splat %4 : f32
"""
OLD = NEW.replace("InlinerPass: inline{pipeline=canonicalize max=4 }", "InlinerPass (inline)")


@pytest.mark.parametrize("text", [NEW, OLD], ids=["3.9", "3.6"])
def test_what_compilers_write_is_read(text: str) -> None:
    passes = read(text)
    assert [(one.name, one.argument, one.seconds, one.changed) for one in passes] == [
        (START, "", None, True),
        ("InlinerPass", "inline", 0.003, False),
        ("CanonicalizerPass", "canonicalize", 0.004, True),
        ("CSEPass", "cse", 0.001, True),
    ]
    assert passes[2].ops == {"tt.splat": (0, 1)}
    assert "+%1 = tt.splat %0 : f32" in passes[2].diff
    assert not passes[3].ops and not passes[3].diff, "values are numbered anew, and that is all"
    assert read("").changing == [] or [one.name for one in read("")] == [START]
