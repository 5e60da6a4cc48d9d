"""What operations and instructions do is told of nearly all that compilers make of the examples.

`seen.json` counts those of every example's first kernel on all seven targets with Triton 3.9; ``python
tests/compiled/explanations/test_explained.py`` counts anew.
"""

from __future__ import annotations

import collections
import json
import re
import sys
from pathlib import Path

import pytest

import triton_lab as lab
from tests.gluon import kernels
from triton_lab.compiled.architecture import ARCHITECTURES
from triton_lab.compiled.explanations import _TABLES, explanation, operation
from triton_lab.examples import all_examples, example
from triton_lab.views.launch.gallery import launches_of

SEEN = Path(__file__).parent / "seen.json"
LEAST = 0.95


def share(counted: dict[str, int], stage: str) -> float:
    return sum(count for name, count in counted.items() if explanation(stage, name)) / sum(counted.values())


@pytest.mark.parametrize("stage", [stage for stage in _TABLES if stage != "glir"])  # whose table is that of ttgir
def test_nearly_all_that_was_seen_is_explained(stage: str) -> None:
    counted = json.loads(SEEN.read_text(encoding="utf-8"))[stage]
    missing = sorted((name for name in counted if not explanation(stage, name)), key=lambda name: -counted[name])
    assert share(counted, stage) >= LEAST, missing[:20]


@pytest.mark.parametrize("target", ["sm_90", "gfx942"])
def test_what_is_compiled_now_is_explained(target: str) -> None:
    compiled = launches_of(example("softmax"))[0].compile(target)
    for stage in compiled.lines.stages:
        found = collections.Counter(filter(None, (operation(stage, one) for one in lines_of(compiled, stage))))
        assert sum(found.values()) >= 20, stage
        assert share(found, stage) >= LEAST, [name for name in found if not explanation(stage, name)]


@pytest.mark.skipif(not hasattr(kernels.async_copy, "async_load"), reason="Triton writes this stage from 3.7 on")
def test_what_gluon_writes_is_explained() -> None:
    """No example is written in it, so that `seen.json` has none of its first stage."""
    compiled = lab.compile(kernels.product, kernels.product_types(), {"num_warps": 4}, "sm_90")
    found = collections.Counter(filter(None, (operation("glir", one) for one in lines_of(compiled, "glir"))))
    assert sum(found.values()) >= 20
    assert share(found, "glir") >= LEAST, [name for name in found if not explanation("glir", name)]


def lines_of(compiled, stage: str) -> list[str]:
    return str(compiled.stages[stage]).splitlines()


def test_explanations_are_one_or_two_plain_sentences() -> None:
    told = [text for table in _TABLES.values() for _, text in table]
    assert len(told) >= 120
    for text in told:
        assert text.endswith((".", ".)")) and (text[0].isupper() or text.startswith("a * b")), text
        assert len(text) <= 190 and len(re.findall(r"[.!?](?: |$)", text)) <= 3, text
        assert "  " not in text


def test_the_first_row_that_matches_is_one_that_can() -> None:
    """A row that a row before it hides says nothing to anybody."""
    for stage, names in json.loads(SEEN.read_text(encoding="utf-8")).items():
        for name in names:
            assert explanation(stage, name) == next(t for p, t in _TABLES[stage] if re.fullmatch(p, name))


@pytest.mark.parametrize(
    ("stage", "line", "name"),
    [
        ("ttir", "    %x = tt.load %p, %m : tensor<128x!tt.ptr<f32>> loc(#loc3)", "tt.load"),
        ("ttgir", '    %5:2 = "tt.reduce"(%4) <{axis = 0 : i32}> ({', "tt.reduce"),
        ("ttgir", "    } loc(#loc3)", ""),
        ("ttgir", "#blocked = #ttg.blocked<{order = [0]}>", ""),
        ("llir", "  %9 = tail call i32 @llvm.nvvm.elect.sync(i32 -1), !dbg !18", "llvm.nvvm.elect.sync"),
        ("llir", '  %4 = tail call i32 asm sideeffect "mov.u32 $0, $1;", "=r,r"(i32 0)', "asm"),
        ("llir", "  br i1 %3, label %5, label %9, !dbg !7", "br"),
        ("llir", "define void @f(ptr %0) {", ""),
        ("ptx", "\t@%p1 ld.global.b32 { %r1 }, [ %rd1 + 0 ];", "ld.global.b32"),
        ("ptx", "\t.reg .pred \t%p<2>;", ""),
        ("ptx", "$L__BB0_1:", ""),
        ("ptx", "\tret;", "ret"),
        ("sass", "--:-:2:-:4\t@!P0 LDG.E R0, desc[UR4][R2.64];", "LDG.E"),
        ("sass", "LBB0:", ""),
        ("amdgcn", "\tv_mov_b32_dpp v6, v4 row_shr:4 row_mask:0xf", "v_mov_b32_dpp"),
        ("amdgcn", "\t.loc\t2 196 12", ""),
        ("amdgcn", "\ts_endpgm", "s_endpgm"),
    ],
)  # fmt: skip
def test_operations_are_found_in_lines(stage: str, line: str, name: str) -> None:
    assert operation(stage, line) == name


def main() -> None:
    """Count what every example becomes."""
    found: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    for one in all_examples():
        launch = launches_of(one)[0]
        for compiled in launch.compile([each.name for each in ARCHITECTURES]):
            for stage in compiled.lines.stages:
                found[stage].update(filter(None, (operation(stage, line) for line in lines_of(compiled, stage))))
    rows = [
        f'"{stage}": {json.dumps(dict(sorted(each.items())), separators=(",", ":"))}' for stage, each in found.items()
    ]
    SEEN.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
