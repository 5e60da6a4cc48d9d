"""Refusals of Triton's front end that tests of single mistakes do not reach: a sample of the hostile corpus."""

from __future__ import annotations

import itertools
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from triton.tools.tensor_descriptor import TensorDescriptor

from tests.hostile.refusals import tried
from tests.hostile.refused_kernels import REFUSED
from triton_lab.notebook.mistakes.error_hints import hint_for

# A kernel whose module MLIR's verifier refuses: Triton prints the module. It stands in a file, since Triton reads it.
SCRIPT = """import torch, triton, triton.language as tl, triton_lab

@triton.jit
def joined(x, BLOCK: tl.constexpr):
    v = tl.load(x + tl.arange(0, BLOCK))
    tl.store(x + tl.arange(0, 2 * BLOCK), tl.interleave(v, x))

joined[(1,)](torch.ones(64), 16)
"""


@pytest.mark.parametrize("name", list(itertools.islice(REFUSED, 0, None, 12)))
def test_a_refusal_is_told_with_its_line_and_a_remedy(name: str, tmp_path: Path) -> None:
    one = tried(name, tmp_path)
    assert one.outcome in ("refused", "survived"), one.seen


@pytest.mark.parametrize("command", [[], ["-m", "triton_lab", "run"]], ids=["python", "triton-lab run"])
def test_a_module_that_does_not_verify_is_not_printed_in_a_script(command: list[str], tmp_path: Path) -> None:
    script = tmp_path / "joined.py"
    script.write_text(SCRIPT)
    done = subprocess.run([sys.executable, *command, str(script)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 1
    assert "module" not in done.stdout and len(done.stderr.splitlines()) < 20
    assert f"{script}, line 6" in done.stderr and "`tl.interleave(v, x)`" in done.stderr


@pytest.mark.parametrize(
    ("shape", "block", "numbers"),
    [
        ((64, 30), [16, 16], ("(64, 30)", "(30, 1)", "120 bytes", "(0, 2)")),
        ((8, 9, 10), [1, 1, 8], ("90", "360 bytes")),
    ],
)
def test_a_descriptor_that_a_gpu_refuses_is_told_with_the_tensors_own_strides(
    shape: tuple[int, ...], block: list[int], numbers: tuple[str, ...]
) -> None:
    with pytest.raises(AssertionError) as caught:
        TensorDescriptor.from_tensor(torch.empty(shape), block)
    hint = hint_for(caught.value)
    assert all(number in hint for number in numbers), hint


def test_a_descriptor_of_a_turned_tensor_is_told_with_its_strides() -> None:
    with pytest.raises(AssertionError) as caught:
        TensorDescriptor.from_tensor(torch.empty(64, 32).T, [16, 16])
    assert "(1, 32)" in hint_for(caught.value)
