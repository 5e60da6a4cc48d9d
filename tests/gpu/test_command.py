"""`triton-lab run` and `check` on a real GPU: launches are recorded there, whoever chose it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.command.conftest import Call, call  # noqa: F401  (a fixture)
from tests.command.scripts import FINE, UNWRITTEN, written

pytestmark = pytest.mark.gpu


def on_the_gpu(script: str) -> str:
    return re.sub(r"(torch\.(?:ones|empty)\(1000)\)", r'\1, device="cuda")', script)


def test_launches_on_the_gpu_are_told(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    call: Call,  # noqa: F811
) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path, on_the_gpu(FINE))
    for words in (["--target", "auto"], ["--target", "gpu"], []):
        done = call("run", *words, "script.py")
        assert done.exit_code == 0 and re.search(r"add +8, 1, 1 +gpu", done.stderr), done.stderr
    written(tmp_path, on_the_gpu(UNWRITTEN))
    # `check` takes the CPU, and mirrors what is in the GPU's memory.
    for target in ("cpu", "gpu"):
        done = call("check", "script.py", "--target", target)
        assert done.exit_code == 1 and "script.py:11:9: error: " in done.stdout
