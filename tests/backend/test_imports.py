"""Any module of ours may be the first to be imported: Triton loads two of them while it is half imported itself."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    "name",
    [
        "backend.compiler",
        "backend.driver",
        "backend.targets.gpu",
        "backend.targets.active_target",
        "polyhedral.blocks.translation_validation",
    ],
)
def test_a_fresh_process_may_begin_with_it(name: str) -> None:
    command = [sys.executable, "-c", f"import triton_lab.{name}, triton; assert triton.runtime.driver.active"]
    found = subprocess.run(command, capture_output=True, text=True, timeout=240)
    assert found.returncode == 0, found.stderr
