"""Every guard fails once: what a program had begun is done by NumPy from its start, and nobody sees it."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import pytest
import torch
import triton
import triton.language as tl

import triton_lab as lab
import triton_lab.native
from tests.native.harness import forcing
from tests.native.launches import on_both, rounds, wrapping
from tests.native.waits import FLAGGED
from triton_lab.backend.plugin import launcher
from triton_lab.native.lowering.guards import Guards
from triton_lab.native.runtime import native_launch
from triton_lab.native.threads import thread_team

Launch = tuple[Callable[[], object], torch.Tensor]


@triton.jit
def everywhere(x, at, out, bins, n, far, first, step, width, ROW: tl.constexpr):
    p = tl.program_id(0)
    i = tl.arange(0, ROW)
    places = tl.load(at + i)
    rows = tl.make_tensor_descriptor(x, shape=[4, 20], strides=[width, 1], block_shape=[1, ROW])
    total = tl.load(x + (p * ROW + i) % n)
    total += tl.load(x + (i + first).to(tl.uint32).to(tl.int64), mask=i < 20)
    total += tl.load(x + i * first, mask=far + i < n, other=0)
    for j in range(0, n, step):
        total += tl.load(x + j + i, mask=j + i < n, other=0)
    for k in range(far, far + 3):
        total += k.to(tl.int32)
    total += tl.load(x + places) + tl.reshape(rows.load([p, p * 2]), (ROW,))
    total += tl.gather(total, places, 0)
    tl.atomic_add(bins + places, total)
    tl.store(out + p * ROW + places, total)


def _everywhere() -> Launch:
    x, at = torch.arange(100, dtype=torch.int32), torch.randperm(16, generator=torch.Generator().manual_seed(0)).int()
    out = torch.zeros(64 + 16, dtype=torch.int32)
    return lambda: everywhere[(4,)](x, at, out, out[64:], 100, -(2**40), 2, 37, 20, ROW=16), out


@triton.jit(debug=True)
def asserted(x, out, ROW: tl.constexpr):
    found = tl.load(x + tl.arange(0, ROW))
    tl.device_assert(found >= 0, "none is negative")
    tl.store(out + tl.program_id(0) * ROW + tl.arange(0, ROW), found)


def _asserted() -> Launch:
    x, out = torch.arange(16), torch.zeros(64, dtype=torch.int64)
    return lambda: asserted[(4,)](x, out, ROW=16), out


def _rounds() -> Launch:
    x, out = torch.rand(100), torch.zeros(3 * 4 * 64)
    return lambda: rounds[(3,)](x, out, 100, 4, BLOCK=64), out


def _wrapped() -> Launch:
    x, out = torch.rand(1024), torch.zeros(1024)
    return lambda: wrapping[(1,)](x, out, 1, BLOCK=1024), out


def _flagged(how: str) -> Launch:
    flags, out = torch.zeros(4, dtype=torch.int32), torch.zeros(4, dtype=torch.int32)
    return lambda: FLAGGED[how][(4,)](flags, out, HOW=how, BACKWARDS=False), out


CASES = {"asserted": _asserted, "rounds": _rounds, "wrapping": _wrapped, "everywhere": _everywhere}


@pytest.mark.parametrize("name", CASES)
def test_wherever_a_guard_fails_the_program_is_run_from_its_start_by_somebody_else(name: str, monkeypatch) -> None:
    monkeypatch.setattr(launcher.limits, "batch", 1)
    # Where calls are slow, programs are shared; one that a guard stops on a thread is tried again, and gets past it.
    monkeypatch.setattr(thread_team, "size", lambda: 1)
    launch, out = CASES[name]()
    with forcing() as forced:
        error, ran = on_both(launch, out)
        assert not error and ran.engine == "native" and not ran.handed and forced.sites
        for site in forced.sites:
            for times in (0, 2):
                forced.fail(site, times)
                error, ran = on_both(launch, out)
                # For a remainder that is one the function has another way.
                handed = 1 if forced.has_failed(site) and site.what != "within" else 0
                assert not error and ran.handed == handed, site
            forced.fail(site)
            on_both(launch, out)
            assert forced.has_failed(site)


def test_these_kernels_have_guards_at_every_place_where_one_is_written() -> None:
    seen = set()
    with forcing():
        require = Guards.require

        def noting(self, ok, op, what, *where):
            frame = sys._getframe(1)
            seen.add(frame.f_code.co_name)
            if frame.f_code.co_name == "require":  # of all lanes of an access
                seen.add(sys._getframe(2).f_code.co_name)
            require(self, ok, op, what, *where)

        # Undone before `forcing` is: afterwards guards would be forced for good.
        with patch.object(Guards, "require", noting):
            for launch, out in (_asserted(), _everywhere(), *map(_flagged, FLAGGED)):
                assert not on_both(launch, out)[0]
    assert seen == set(_places()) - (set() if "atomic_poll" in FLAGGED else {"atomic_poll"})


def _places() -> list[str]:
    """The functions of the room in which a guard is written."""
    found = []
    for file in Path(triton_lab.native.__file__).parent.rglob("*.py"):
        for function in ast.walk(ast.parse(file.read_text())):
            if isinstance(function, ast.FunctionDef):
                calls = (node.func for node in ast.walk(function) if isinstance(node, ast.Call))
                if any(isinstance(call, ast.Attribute) and call.attr == "require" for call in calls):
                    found.append(function.name)
    return found


@triton.jit
def led_by_memory(at, out, n, WRAPPED: tl.constexpr):
    i = tl.arange(0, 4)
    for j in range(0, 3):
        first = tl.load(at + j)
        tl.store(out + ((first + i) % n if WRAPPED else first + i), 6)


@pytest.mark.parametrize("wrapped", [False, True])
def test_a_guard_that_fails_behind_a_write_says_that_somebody_changed_memory(monkeypatch, wrapped: bool) -> None:
    """It cannot happen by the kernel's own writes; so here two arguments, said to be apart, are one tensor."""
    groups_of = native_launch.groups_of
    monkeypatch.setattr(
        native_launch, "groups_of", lambda regions: tuple((op, (k,)) for k, (op, _) in enumerate(groups_of(regions)))
    )
    x = torch.zeros(9, dtype=torch.int32)
    with lab.limits(engine="native"), pytest.raises(lab.KernelError, match="process or thread"):
        led_by_memory[(1,)](x, x, 9, WRAPPED=wrapped)
    assert x.tolist() == [6] * 4 + [0] * 5
