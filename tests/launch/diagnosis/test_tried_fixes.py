"""Fixes that are offered: each is written into the file of its kernel, which then runs without a finding."""

from __future__ import annotations

import ast
import contextlib
import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
import torch
import triton
import triton.language as tl

import triton_lab as lab
from tests.planted import bounds_indices, bounds_masks, bounds_pointers, through_control
from tests.planted.plant import Plant
from tests.wordings import Wording
from triton_lab.backend.plugin import launcher
from triton_lab.interpreter.kernel_errors import KernelError
from triton_lab.launch.diagnosis import fix, tried_fixes
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.launch.launch import Launch

BEDS = (bounds_masks, bounds_indices, bounds_pointers, through_control)
PLANTS = [
    pytest.param(bed, each, id=f"{bed.__name__.rpartition('.')[2]}-{each.name}")
    for bed in BEDS
    for each in vars(bed).values()
    if isinstance(each, Plant) and each.kind == "out-of-bounds"
]


def stopped(run: object, seconds: float | None = None) -> tuple[Launch, Finding]:
    """The launch that a kernel's error stopped, as if it had taken ``seconds``."""
    with lab.record() as launches, contextlib.suppress(KernelError):
        run()  # type: ignore[operator]
    launch = launches[-1]
    launch.interpreted = launch.interpreted if seconds is None else seconds
    return launch, next(one for one in launch.findings if one.stopped)


@contextlib.contextmanager
def edited(path: Path, finding: Finding, where: Path) -> Iterator[ModuleType]:
    """The module at ``path`` with the fix written into it, as an editor would."""
    assert finding.fix is not None
    text = path.read_text().split("\n")
    for edit in finding.fix.edits:
        assert text[edit.line - 1] == edit.before
        text[edit.line - 1] = edit.after
    copy = where / "edited_kernels.py"
    copy.write_text("\n".join(text))
    spec = importlib.util.spec_from_file_location(copy.stem, copy)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[copy.stem] = module
    try:
        spec.loader.exec_module(module)
        yield module
    finally:
        del sys.modules[copy.stem]


OFFERED: set[str] = set()


@pytest.mark.parametrize(("bed", "plant"), PLANTS)
def test_a_fix_that_is_offered_mends_the_planted_bug(bed: ModuleType, plant: Plant, tmp_path: Path) -> None:
    _, finding = stopped(lambda: plant.run(False))
    if finding.fix is None:
        return
    OFFERED.add(plant.name)
    assert bed.__file__ is not None
    with edited(Path(bed.__file__), finding, tmp_path) as module, lab.record() as launches:
        getattr(module, plant.name).run(False)
    told = [str(one) for launch in launches for one in launch.findings if one.severity != "note"]
    assert not told and not any(one.kind == "unwritten" for one in launches[-1].findings)


def test_the_simple_ones_are_offered_one() -> None:
    for plant in (bounds_masks.tail_load, bounds_masks.tail_store, bounds_masks.at_most_n, bounds_masks.rounded_length):
        _, finding = stopped(lambda plant=plant: plant.run(False))
        assert finding.fix is not None, plant.name
        assert all(str(edit.line) in str(finding) and edit.after.strip() in str(finding) for edit in finding.fix.edits)


@triton.jit
def plain_kernel(x_ptr, out_ptr, length, BLOCK: tl.constexpr):
    where = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + where)
    tl.store(out_ptr + where, x + 1)


@triton.jit
def block_too_far_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n + BLOCK
    tl.store(out_ptr + offs, tl.load(x_ptr + offs, mask=mask), mask=mask)


@triton.jit
def unknown_size_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offs, tl.load(x_ptr + offs))


@triton.jit
def late_kernel(x_ptr, out_ptr, n, STORES: tl.constexpr, BLOCK: tl.constexpr):
    offs = (tl.program_id(0) + 1) * BLOCK + tl.arange(0, BLOCK)
    inside = offs < n
    if STORES:
        tl.store(out_ptr + offs, tl.load(x_ptr + offs, mask=inside, other=0.0))
    else:
        tl.store(out_ptr + offs, tl.load(x_ptr + offs), mask=inside)


@pytest.mark.parametrize("stores", [False, True])
def test_a_store_that_leaves_elements_out_lacks_more_than_a_mask_and_a_load_may(stores: bool) -> None:
    _, finding = stopped(lambda: late_kernel[(3,)](torch.ones(100), torch.zeros(100), 100, stores, BLOCK=32))
    assert finding.message.startswith("store" if stores else "load")
    assert (finding.fix is None) == stores


def test_whether_a_fix_is_offered_depends_on_what_the_launch_computes_and_not_on_its_seconds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def run() -> None:
        plain_kernel[(4,)](torch.ones(100), torch.zeros(100), 100, BLOCK=32)

    assert stopped(run, seconds=60.0)[1].fix is not None
    monkeypatch.setattr(launcher.limits, "batch", 1)
    launch, _ = stopped(run)
    # Four batches of one program each, without a loop.
    kernel = launch.executable.plan.kernel
    operations = sum(1 for _ in kernel.walk()) * tried_fixes._OPERATION
    assert tried_fixes._computed(launch) == 4 * (operations + launch.executable.routines[kernel.name].footprint)
    monkeypatch.setattr(tried_fixes, "_MOST_BYTES", tried_fixes._computed(launch) - 1)
    assert stopped(run)[1].fix is None


def test_two_masks_that_are_missing_are_two_edits_in_the_users_own_names() -> None:
    _, finding = stopped(lambda: plain_kernel[(4,)](torch.ones(100), torch.zeros(100), 100, BLOCK=32))
    assert finding.fix is not None
    assert [edit.after.strip() for edit in finding.fix.edits] == [
        "x = tl.load(x_ptr + where, mask=where < length, other=0.0)",
        "tl.store(out_ptr + where, x + 1, mask=where < length)",
    ]


def test_a_bound_that_is_a_block_too_far_is_mended_where_it_is_written() -> None:
    _, finding = stopped(lambda: block_too_far_kernel[(4,)](torch.ones(100), torch.zeros(100), 100, BLOCK=32))
    assert finding.fix is not None
    assert [edit.after.strip() for edit in finding.fix.edits] == ["mask = offs < n"]


def test_integers_are_masked_with_an_integer() -> None:
    x, out = torch.ones(100, dtype=torch.int32), torch.zeros(100, dtype=torch.int32)
    _, finding = stopped(lambda: plain_kernel[(4,)](x, out, 100, BLOCK=32))
    assert finding.fix is not None and "other=0)" in finding.fix.edits[0].after


def test_nothing_is_offered_where_no_size_is_known_or_the_launch_cannot_be_run_again(wording: Wording) -> None:
    _, finding = stopped(lambda: unknown_size_kernel[(4,)](torch.ones(100), torch.zeros(100), BLOCK=32))
    assert finding.fix is None
    wording(finding.hint, name="x_ptr")
    # 128 is no size of x: with it the launch would be stopped again.
    _, finding = stopped(lambda: plain_kernel[(4,)](torch.ones(100), torch.zeros(100), 128, BLOCK=32))
    assert finding.fix is None
    with lab.record(max_bytes=100) as launches, contextlib.suppress(KernelError):
        plain_kernel[(4,)](torch.ones(100), torch.zeros(100), 100, BLOCK=32)
    assert next(one for one in launches[0].findings if one.stopped).fix is None


def test_trying_leaves_the_users_tensors_as_they_are() -> None:
    out = torch.zeros(100)
    _, finding = stopped(lambda: plain_kernel[(4,)](torch.ones(100), out, 100, BLOCK=32))
    assert finding.fix is not None and not out.any()


@triton.jit
def same_size_kernel(x_ptr, out_ptr, length, BLOCK: tl.constexpr, SIZE: tl.constexpr, WAY: tl.constexpr):
    where = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if WAY == 0:  # noqa: SIM108  # each is a line of its own
        x = tl.load(x_ptr + where)
    else:
        x = tl.load(x_ptr + where, where < length + 1, 1.0)
    tl.store(out_ptr + where, x)


def test_what_a_kernel_is_given_counts_before_what_it_is_compiled_with() -> None:
    x, out = torch.ones(100), torch.zeros(128)
    _, finding = stopped(lambda: same_size_kernel[(4,)](x, out, 100, BLOCK=32, SIZE=100, WAY=0))
    assert finding.fix is not None
    (edit,) = finding.fix.edits
    assert edit.after.strip() == "x = tl.load(x_ptr + where, mask=where < length, other=0.0)"


def test_what_a_load_brings_where_its_mask_is_off_is_kept_also_by_position() -> None:
    x, out = torch.ones(100), torch.zeros(128)
    _, finding = stopped(lambda: same_size_kernel[(4,)](x, out, 100, BLOCK=32, SIZE=100, WAY=1))
    assert finding.fix is not None
    (edit,) = finding.fix.edits
    assert edit.after.strip() == "x = tl.load(x_ptr + where, where < length, 1.0)"
    call = ast.parse("tl.load(p, m, 1.0)").body[0].value  # type: ignore[attr-defined]
    assert not fix._says_no_other(call) and fix._says_no_other(ast.parse("tl.load(p, m)").body[0].value)  # type: ignore[attr-defined]
