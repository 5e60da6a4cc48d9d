"""`triton-lab check --target sm_90`: what a GPU would refuse is an error, and so is what is beyond a limit."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.command.conftest import Call

SCRIPT = """import sys
import torch, triton, triton.language as tl

@triton.jit
def product(a, b, c, SIZE: tl.constexpr):
    i = tl.arange(0, SIZE)
    place = i[:, None] * SIZE + i[None, :]
    total = tl.zeros((SIZE, SIZE), tl.float32)
    for k in range(4):
        total += tl.dot(tl.load(a + place + k), tl.load(b + place + k))
    tl.store(c + place, total)

size = int(sys.argv[1])
a = torch.zeros(size * size + 8, dtype=torch.float16)
product[(1,)](a, torch.zeros_like(a), torch.zeros(size, size), size, num_stages=int(sys.argv[2]))
"""


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path: Path = tmp_path_factory.mktemp("resources") / "product.py"
    path.write_text(SCRIPT)
    return path


Checked = Callable[..., tuple[int, list[dict[str, Any]]]]


@pytest.fixture
def checked(script: Path, call: Call) -> Checked:
    """The exit code, and the findings of kind `resources`, of the script with these options."""

    def ran(*options: str, size: int = 32, stages: int = 1) -> tuple[int, list[dict[str, Any]]]:
        done = call("check", "--format", "json", *options, str(script), str(size), str(stages))
        found = json.loads(done.stdout)["findings"] if done.stdout.startswith("{") else []
        return done.exit_code, [one for one in found if one["kind"] == "resources"]

    return ran


def test_shared_memory_that_a_gpu_does_not_have_is_an_error(checked: Checked) -> None:
    code, (found,) = checked("--target", "sm_90", size=256, stages=1)
    assert code == 1 and found["severity"] == "error"
    assert "262,144 bytes" in found["message"] and "232,448" in found["message"]


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (("--max-spills", "0", "--max-registers", "255", "--max-shared", "100000", "--min-occupancy", "1"), 0),
        (("--max-registers", "8", "--max-shared", "16", "--min-occupancy", "100"), 1),
    ],
)
def test_a_limit_is_a_gate(checked: Checked, options: tuple[str, ...], code: int) -> None:
    ended, found = checked(*options)
    assert (ended, len(found)) == (code, code)


def test_a_target_that_does_not_exist_is_refused(checked: Checked) -> None:
    assert checked("--target", "sm_99")[0] == 2
