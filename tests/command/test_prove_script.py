"""`triton-lab prove`: a script's kernels, line by line; the exit code says whether something is wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from triton_lab.command.prove_script import prove_script
from triton_lab.command.run_script import Script

SCRIPT = """
import torch, triton, triton.language as tl

@triton.jit
def copy_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets {relation} n)
    tl.store(out_ptr + offsets, x, mask=offsets < n)

n = 100
x = torch.ones(n + 60)[:n]
copy_kernel[(triton.cdiv(n, 64),)](x, torch.empty(n), n, BLOCK=64)
print("ran")
"""


def _script(folder: Path, relation: str) -> Script:
    path = folder / "copies.py"
    path.write_text(SCRIPT.format(relation=relation), encoding="utf-8")
    return Script(str(path))


def test_a_right_script_gives_0(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert prove_script(_script(tmp_path, "<"), (), 3.0, False) == 0
    shown = capsys.readouterr().out
    assert "copies.py:7:" in shown and "copies.py:8:" in shown and "grid[0] == cdiv(n, BLOCK)" in shown


def test_an_access_out_of_bounds_gives_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert prove_script(_script(tmp_path, "<="), (), 3.0, True) == 1
    (proof,) = json.loads(capsys.readouterr().out)
    load, store = proof["accesses"]
    assert (load["outcome"], load["line"], load["sizes"], load["lane"]) == ("refuted", 7, {"n": 1}, [1])
    assert store["outcome"] == "proved"
    assert {"text": "x_ptr.numel() == n", "origin": "launch"} in proof["assumptions"]
