"""Who asks which engine runs what is told, in a notebook, at the command line and in Python."""

from __future__ import annotations

import pytest

import triton_lab as lab
from tests.wordings import Wording
from triton_lab import magics
from triton_lab.backend.plugin import launcher
from triton_lab.native import engine, engine_report
from triton_lab.native.engine import EngineRun
from triton_lab.native.llvm import jit


@pytest.fixture(autouse=True)
def as_before():
    with lab.limits(engine="auto"):
        yield


def test_the_magic_chooses_and_tells(capsys: pytest.CaptureFixture[str], wording: Wording) -> None:
    magics.triton_line("engine native")
    assert launcher.limits.engine == "native"
    assert capsys.readouterr().out == "engine:  native: " + engine_report.choice("native").partition(": ")[2] + "\n"
    engine.lately.clear()
    magics.triton_line("engine")
    *_, last = capsys.readouterr().out.splitlines()
    wording(last)
    facts = {"line": "%triton engine fast", "given": "engine='fast'", "engines": "'auto', 'numpy', 'native'"}
    with wording.raises(ValueError, **facts):
        magics.triton_line("engine fast")


def test_launches_are_told_by_kernel_with_the_reasons(wording: Wording) -> None:
    ran = [EngineRun("add", "native", "", 4)] * 2 + [
        EngineRun("add", "native", "", 4, 3),
        EngineRun("scan", "numpy", "it prints", 1),
    ]
    head, *rows = str(engine_report.Engines(ran)).splitlines()
    starts = [head.index(word) for word in head.split()[:4]]
    cells = [[row[start:stop].strip() for start, stop in zip(starts, [*starts[1:], None], strict=True)] for row in rows]
    assert [row[:3] for row in cells] == [["add", "3", "0"], ["scan", "0", "1"]]
    wording(cells[0][3], failed="3 of 12")
    assert cells[1][3] == "it prints"


def test_without_a_compiler_the_choice_says_how_to_get_one(monkeypatch: pytest.MonkeyPatch, wording: Wording) -> None:
    monkeypatch.setattr(jit, "missing", lambda: "llvmlite is not installed")
    assert "pip install 'triton-lab[native]'" in engine_report.choice("native")
    wording(engine_report.choice("numpy"), engine="numpy")
