"""Who asks which engine runs what is told, in a notebook, at the command line and in Python."""

from __future__ import annotations

import pytest

import triton_lab as lab
from triton_lab import magics
from triton_lab.backend.plugin import launcher
from triton_lab.native import engine, engine_report
from triton_lab.native.engine import EngineRun
from triton_lab.native.llvm import jit


@pytest.fixture(autouse=True)
def as_before():
    with lab.limits(engine="auto"):
        yield


def test_the_magic_chooses_and_tells(capsys: pytest.CaptureFixture[str]) -> None:
    magics.triton_line("engine native")
    assert launcher.limits.engine == "native"
    assert capsys.readouterr().out == "engine:  native: " + engine_report.choice("native").partition(": ")[2] + "\n"
    engine.lately.clear()
    magics.triton_line("engine")
    assert "no launch so far" in capsys.readouterr().out
    with pytest.raises(ValueError, match=r"%triton engine fast: engine='fast': there is 'auto', 'numpy', 'native'"):
        magics.triton_line("engine fast")


def test_launches_are_told_by_kernel_with_the_reasons() -> None:
    ran = [EngineRun("add", "native", "", 4)] * 2 + [
        EngineRun("add", "native", "", 4, 3),
        EngineRun("scan", "numpy", "it prints", 1),
    ]
    assert str(engine_report.Engines(ran)).splitlines() == [
        "kernel  native  NumPy  why NumPy",
        "add     3       0      3 of 12 programs failed a check",
        "scan    0       1      it prints",
    ]


def test_without_a_compiler_the_choice_says_how_to_get_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jit, "missing", lambda: "llvmlite is not installed")
    assert "pip install 'triton-lab[native]'" in engine_report.choice("native")
    assert engine_report.choice("numpy") == "numpy: NumPy runs all launches"
