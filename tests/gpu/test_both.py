"""Recorded launches on a real GPU: the CPU's account of them, and the two results side by side."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch
import triton
import triton.language as tl
from IPython.core.interactiveshell import InteractiveShell

import triton_lab as lab
from triton_lab.interpreter.kernel_errors import KernelError

pytestmark = pytest.mark.gpu


@triton.jit
def scale(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out_ptr + offsets, tl.exp(tl.load(x_ptr + offsets, mask=mask)), mask=mask)


@triton.jit
def bump(x_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(x_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < n) + 1, mask=offsets < n)


def test_a_launch_on_the_gpu_is_recorded_with_the_cpus_account() -> None:
    x = torch.rand(1000, device="cuda")
    out = torch.empty_like(x)
    with lab.target("gpu"), lab.record() as launches:
        scale[(8,)](x, out, 1000, BLOCK=128)
    (launch,) = launches
    assert launch.target == "gpu"
    assert launch.seconds > 0
    assert [(access.kind, access.argument) for access in launch.accesses] == [("load", "x_ptr"), ("store", "out_ptr")]
    assert int(launch.accesses[0].mask().sum()) == 1000
    torch.testing.assert_close(out, x.exp())
    ((name, gpu, cpu),) = launch.outputs
    assert name == "out_ptr"
    torch.testing.assert_close(gpu, out.cpu())
    torch.testing.assert_close(cpu, gpu, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("device", ["cuda", "cpu"])
def test_an_update_in_place_happens_once(device: str) -> None:
    x = torch.zeros(100, device=device)
    with lab.target("gpu"), lab.record() as launches:
        bump[(1,)](x, 100, BLOCK=128)
    assert x.tolist() == [1.0] * 100
    assert launches[0].outputs[0][2].tolist() == [1.0] * 100


def test_a_launch_out_of_bounds_is_not_started() -> None:
    x = torch.zeros(100, device="cuda")
    with lab.target("gpu"), lab.record() as launches, pytest.raises(KernelError, match="not started"):
        bump[(1,)](x, 1000, BLOCK=1024)
    assert x.tolist() == [0.0] * 100
    assert [finding.kind for finding in launches[0].findings] == ["out-of-bounds"]
    # The GPU is as alive as before.
    assert torch.ones(10, device="cuda").sum().item() == 10


@pytest.fixture
def shell() -> Iterator[InteractiveShell]:
    shell = InteractiveShell.instance()
    shell.run_cell("%load_ext triton_lab")
    shell.user_ns |= {"torch": torch, "scale": scale}
    yield shell
    InteractiveShell.clear_instance()


def test_both_shows_two_results_and_their_comparison(shell: InteractiveShell, monkeypatch: Any) -> None:
    shown: list[Any] = []
    monkeypatch.setattr("IPython.display.display", lambda view, **kw: shown.append((view, kw)))
    result = shell.run_cell(
        "%%triton both\n"
        "x = torch.rand(500, device='cuda')\n"
        "out = torch.empty_like(x)\n"
        "scale[(4,)](x, out, 500, BLOCK=128)"
    )
    assert result.success, result.error_in_exec
    ((card, how),) = shown
    assert how["metadata"] == {"triton_lab": {"target": "both"}}
    assert card.first == "comparison"
    (view,) = card.panel("comparison").drawn()
    assert view.comparison["out_ptr"].written and view.comparison.verdict != "different"
    assert view.figure() is not None
    torch.testing.assert_close(shell.user_ns["out"], shell.user_ns["x"].exp())


def test_auto_runs_and_records_where_triton_would(shell: InteractiveShell, monkeypatch: Any) -> None:
    shown: list[Any] = []
    monkeypatch.setattr("IPython.display.display", lambda view, **kw: shown.append((view, kw)))
    shell.run_cell("%%triton\nx = torch.rand(9, device='cuda')\nscale[(1,)](x, x, 9, BLOCK=16)")
    ((_, how),) = shown
    assert how["metadata"] == {"triton_lab": {"target": "gpu"}}
