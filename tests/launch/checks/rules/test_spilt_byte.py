"""A byte that a GPU changes is found at the conversion, with the lanes that are changed and where they are stored."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np
import pytest
import torch
import triton
import triton.language as tl

from tests.launch.comparison.kernels import recorded
from tests.wordings import Wording
from triton_lab.launch.comparison.gpu_ways import emulations
from triton_lab.launch.comparison.launch_results import of_launch, read
from triton_lab.launch.recording import record, snapshot
from triton_lab.launch.replay.replay_run import replay


@triton.jit
def quantised(x_ptr, out_ptr, BLOCK: tl.constexpr, LIMIT: tl.constexpr):
    k = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + k)
    if LIMIT:
        x = tl.clamp(x, 0.0, 255.0)
    tl.store(out_ptr + k, x.to(tl.uint8))  # CAST


def run(limit: bool, large: int = 300):
    x = torch.full((1024,), 5.0)
    x[large] = 918.1
    return recorded(lambda: quantised[(4,)](x, torch.zeros(1024, dtype=torch.uint8), BLOCK=256, LIMIT=limit))


def found(launch):
    return [one for one in launch.findings if one.kind == "spilt-byte"]


def test_the_neighbour_of_a_large_number_is_found(wording: Wording) -> None:
    launch = run(limit=False)
    (one,) = found(launch)
    line = next(k for k, text in enumerate(launch.source.splitlines()) if "# CAST" in text) + launch.first_line
    assert (one.line, one.count, one.programs.tolist(), one.lanes.tolist()) == (line, 1, [1], [45])
    ((name, elements),) = one.ends
    assert name == "out_ptr" and elements.tolist() == [301]
    wording(str(one.message), lane="lane 45", program="(1, 0, 0)", byte=5, changed=7, first="918.1")


def test_a_clamp_and_a_large_number_in_second_place_change_nothing() -> None:
    assert not found(run(limit=True))
    assert not found(run(limit=False, large=301))


def test_the_lane_is_the_one_that_a_gpus_bits_change() -> None:
    launch = run(limit=False)
    (switch,) = [one for one in emulations(launch) if one.table]
    memory = replay(launch, executable=switch.executable(launch))
    other = read(memory, launch.argument("out_ptr"))
    changed = np.flatnonzero(other != of_launch(launch).arrays["out_ptr"])
    ((_unused, elements),) = found(launch)[0].ends
    assert changed.tolist() == elements.tolist()


def test_a_launch_without_a_copy_of_memory_is_watched(monkeypatch: pytest.MonkeyPatch) -> None:
    take = snapshot.take
    monkeypatch.setattr(
        record.snapshot, "take", lambda memory, arguments, owners, limit: take(memory, arguments, owners, -1)
    )
    launch = run(limit=False)
    assert launch.snapshot is not None and launch.snapshot.missing
    assert [one.count for one in found(launch)] == [1]
