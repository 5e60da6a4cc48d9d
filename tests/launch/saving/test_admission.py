"""What a file from a stranger would take is known before it runs: programs, lanes and rounds count together."""

from __future__ import annotations

import json
import re
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import triton
import triton.language as tl

import triton_lab as lab
from tests.launch.comparison.kernels import exponential, recorded

QUICK = 20.0
"""Seconds in which a refusal is there, on a busy machine."""


@triton.jit
def sums(x, out, n, BLOCK: tl.constexpr):
    total = tl.zeros((BLOCK,), tl.float32)
    for k in range(0, n):
        total += tl.load(x + k * BLOCK + tl.arange(0, BLOCK))
    tl.store(out + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), total)


@pytest.fixture(scope="module")
def straight(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    launch = recorded(lambda: exponential[(2,)](torch.rand(64), torch.empty(64), BLOCK=32))
    return members(launch, tmp_path_factory.mktemp("straight"))


@pytest.fixture(scope="module")
def looped(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    launch = recorded(lambda: sums[(2,)](torch.ones(32 * 4), torch.empty(64), 4, BLOCK=32))
    return members(launch, tmp_path_factory.mktemp("looped"))


def members(launch: Any, folder: Path) -> dict[str, bytes]:
    launch.save(folder / "one")
    with zipfile.ZipFile(folder / "one") as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def changed(found: dict[str, bytes], folder: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    head = json.loads(found["head.json"])
    change(head)
    path = folder / "changed.launch"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in {**found, "head.json": json.dumps(head).encode()}.items():
            archive.writestr(name, data)
    return path


def grown(elements: int, programs: int) -> Callable[[dict[str, Any]], None]:
    """All blocks of 32 with so many elements, over so many programs."""

    def change(head: dict[str, Any]) -> None:
        for holder in (head, head["twin"]):
            text = holder["plan"].replace("tensor<32x", f"tensor<{elements}x")
            holder["plan"] = re.sub(r"end = 32\b", f"end = {elements}", text)
        head["grid"] = [programs, 1, 1]

    return change


def test_blocks_and_programs_that_are_each_allowed_are_bounded_together(straight, tmp_path):
    begun = time.monotonic()
    with pytest.raises(lab.SavedLaunchError, match=r"about [\d,]+ s, but .*20 s .*max_seconds"):
        lab.load(changed(straight, tmp_path, grown(1 << 20, 1024)))
    with pytest.raises(lab.SavedLaunchError, match="max_seconds"):
        lab.load(changed(straight, tmp_path, grown(32, 1 << 24)), max_seconds=1)
    assert time.monotonic() - begun < QUICK


def test_the_time_that_is_allowed_is_the_callers(straight, tmp_path):
    path = changed(straight, tmp_path, lambda head: None)
    assert lab.load(path, max_seconds=1).programs == 2
    with pytest.raises(lab.SavedLaunchError, match="max_seconds"):
        lab.load(path, max_seconds=1e-9)


def test_rounds_are_bounded_by_what_each_takes(looped, tmp_path):
    path = changed(looped, tmp_path, lambda head: None)
    many, few = (lab.load(path, max_seconds=seconds).tape.limits.steps for seconds in (2.0, 0.2))
    assert 9 < many / few < 11 and many < 10_000_000
    assert lab.load(path, max_seconds=1e9).tape.limits.steps == 10_000_000


def test_a_loop_that_goes_on_is_stopped_and_told(looped, tmp_path):
    begun = time.monotonic()
    with pytest.raises(lab.SavedLaunchError, match=r"[\d,]+ rounds.*max_seconds") as caught:
        lab.load(changed(looped, tmp_path, endless), max_seconds=0.1)
    assert time.monotonic() - begun < QUICK and caught.value.__cause__ is None


def endless(head: dict[str, Any]) -> None:
    """Each round adds nothing to the counter's way, and reads the same again."""
    lines = head["plan"].split("\n")
    place = next(k for k, line in enumerate(lines) if '"scf.for"' in line)
    bounds = re.search(r'"scf\.for"\((%\w+), (%\w+), (%\w+)', lines[place])
    assert bounds is not None
    lines[place:place] = ['%9999 = "arith.constant"() <{value = 2000000000 : i32}> : () -> i32']
    lines[place + 1] = lines[place + 1].replace(f"{bounds[1]}, {bounds[2]}", f"{bounds[1]}, %9999", 1)
    # No pointer goes on, else the second round leaves the memory in the file.
    head["plan"] = re.sub(r'"arith\.muli"\(%\w+, (%\w+)\)', r'"arith.subi"(\1, \1)', "\n".join(lines))


# Of the definitions of values, which are what counts.
SHAPES = {
    "a load of another shape": (r'("tt.load".*-> )tensor<32xf32>', r"\1tensor<1x32xf32>"),
    "a sum of another shape": (r'("arith.addf".*-> )tensor<32xf32>', r"\1tensor<32x1xf32>"),
    "a range of another length": (r"end = 32", "end = 1048576"),
    "a constant of another shape": (r"(dense<0.000000e\+00> : )tensor<32xf32>", r"\1tensor<1048576xf32>"),
    "a splat of a block": (r'"tt.splat"\(%total_3\)', '"tt.splat"(%total_6)'),
}


@pytest.mark.parametrize("what", SHAPES)
def test_shapes_that_numpy_would_broadcast_are_refused(what, looped, tmp_path):
    def change(head: dict[str, Any]) -> None:
        head["plan"], count = re.subn(*SHAPES[what], head["plan"], count=1)
        assert count == 1

    with pytest.raises(lab.SavedLaunchError):
        lab.load(changed(looped, tmp_path, change))


def test_a_kernel_of_too_many_operations_is_refused(straight, tmp_path):
    def change(head: dict[str, Any]) -> None:
        lines = head["plan"].split("\n")
        place = next(k for k, line in enumerate(lines) if '"arith.constant"' in line or '"tt.get_program_id"' in line)
        more = [lines[place].replace("%", f"%x{k}_", 1) for k in range(60_000)]
        head["plan"] = "\n".join(lines[:place] + more + lines[place:])

    with pytest.raises(lab.SavedLaunchError):
        lab.load(changed(straight, tmp_path, change))
