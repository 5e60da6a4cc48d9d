"""Launches like one before: machine code must be given what it is given when all is prepared, and the results agree."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from hypothesis import given
from hypothesis import strategies as st

import triton_lab as lab
from tests.native.launches import add, on_both, outcome
from tests.wordings import Wording
from triton_lab.backend.plugin import dispatch_cache, launcher
from triton_lab.backend.plugin.device_mirror import joined
from triton_lab.backend.plugin.recorders import LaunchCall
from triton_lab.examples import all_examples
from triton_lab.interpreter.machine import Limits, Machine
from triton_lab.native import engine
from triton_lab.native.analysis.launch_footprint import _place
from triton_lab.native.runtime import native_launch
from triton_lab.native.threads import thread_team


@triton.jit
def of_all_types(out, small: tl.int8, n, wide, big, flag, x, one):
    """Each number as the kernel sees it."""
    tl.store(out, small.to(tl.float64))
    tl.store(out + 1, n.to(tl.float64))
    tl.store(out + 2, wide.to(tl.float64))
    tl.store(out + 3, big.to(tl.float64))
    tl.store(out + 4, flag.to(tl.float64))
    tl.store(out + 5, x.to(tl.float64))
    tl.store(out + 6, one)


@triton.jit
def add_found(x, y, where, n, BLOCK: tl.constexpr):
    """Adds to what it finds, so that a program that ran twice would show."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    found = tl.load(y + tl.load(where + i, mask=i < n, other=0))
    tl.store(x + i, tl.load(x + i, mask=i < n) + found, mask=i < n)


@contextmanager
def compared() -> Iterator[list[bool]]:
    """Of each launch whether it was found, and held to what machine code is given once all is prepared."""
    lookup = dispatch_cache.lookup
    found: list[bool] = []

    def watched(call: LaunchCall, limits: Limits) -> dispatch_cache.Ready | None:
        ready = lookup(call, limits)
        found.append(ready is not None)
        if ready is None:
            return None

        def run(progress: Any, machine: Callable[[], Machine]) -> None:
            asked: list[tuple[bytes, Any, Any]] = []
            table = dispatch_cache._Pattern.table

            def seen(self: Any, runs: Any) -> bytes:
                asked.append((table(self, runs), self.variant, self.built))
                return asked[-1][0]

            kernel = engine._kernel_of(call.executable)
            arguments = kernel.again.arguments(call.arguments)
            place = kernel.again.place(*arguments)
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(dispatch_cache._Pattern, "table", seen)
                ready(progress, machine)
            whole = machine()
            variant, regions = engine._variant_of(whole, kernel)
            ((told, mine, built),) = asked
            assert arguments[0] == native_launch.packed(whole.arguments)
            assert mine is variant and built is variant.built
            assert told == native_launch._table(whole, built, regions)
            found = variant._footprints.get(False)
            if found is not None and found._outline is not None:
                outline = found._outline
                assert tuple(map(place, outline.arguments)) == _place(outline, whole, regions)

        return run

    with pytest.MonkeyPatch.context() as patch, lab.limits(engine="native"):
        patch.setattr(dispatch_cache, "lookup", watched)
        yield found


@pytest.mark.parametrize("example", all_examples(), ids=lambda example: example.name)
def test_the_machine_code_of_an_example_is_given_the_same(example: Any) -> None:
    inputs = example.inputs("small", 0, "cpu")
    with compared() as found:
        example.run(**inputs)
        engine.lately.clear()
        found.clear()
        example.check_on(**inputs)
    # It finds where to go in memory, which every launch has to look up.
    if example.name != "grouped_gemm" and all(ran.engine == "native" for ran in engine.lately):
        assert any(found)


def test_numbers_of_all_types_arrive_as_they_are() -> None:
    out = torch.zeros(7, dtype=torch.float64)
    with compared() as found:
        for k in range(3):
            of_all_types[(1,)](out, -k, 2**31 - 1 - k, -(2**40) - k, 2**64 - 1 - k, bool(k % 2), 0.1 + k, 1)
            wanted = [-k, 2**31 - 1 - k, -(2**40) - k, 2**64 - 1 - k, k % 2, float(np.float32(0.1 + k)), 1]
            assert out.tolist() == [float(each) for each in wanted]
    assert found[-1]


def test_memory_that_is_shared_otherwise_has_code_of_its_own() -> None:
    base = torch.arange(4000.0)
    other = torch.zeros(4000)
    with compared() as found:
        for x, y, out in [
            (base, base, other),
            (base[:1000], base[1000:2000], base[2000:]),
            (base[3:], other[5:], other[1005:]),
        ] * 2:
            wanted = x[:1000] + y[:1000]
            add[(1,)](x, y, out, 1000, BLOCK=1024)
            assert torch.equal(out[:1000], wanted)
    assert all(found[3:])


@given(st.lists(st.tuples(st.integers(1, 40), st.integers(1, 12)), min_size=1, max_size=8))
def test_runs_of_memory_are_those_of_a_prepared_launch(places: list[tuple[int, int]]) -> None:
    extents = [(start, start + size, number) for number, (start, size) in enumerate(places)]
    runs, inside = dispatch_cache._joined(extents)
    assert runs == joined([(start, stop) for start, stop, _ in extents])
    assert all(runs[inside[k]][0] <= start < stop <= runs[inside[k]][1] for start, stop, k in extents)


@pytest.mark.parametrize(
    "made",
    [
        lambda: torch.from_numpy(np.ones(100, np.float32)),
        lambda: torch.empty(0),
        lambda: torch.ones(100).as_subclass(type("Own", (torch.Tensor,), {})),
        lambda: triton.reinterpret(torch.ones(100), tl.float32),
    ],
    ids=["borrowed memory", "empty", "a class of one's own", "reinterpreted"],
)
def test_what_is_out_of_the_ordinary_is_prepared(made: Callable[[], Any]) -> None:
    x, out = made(), torch.zeros(100)
    n = 0 if isinstance(x, torch.Tensor) and not x.numel() else 100
    with compared() as found:
        for _ in range(3):
            add[(1,)](x, x, out, n, BLOCK=128)
    assert not any(found) and out[:n].eq(2).all()


def test_a_guard_that_stops_a_launch_like_one_before_is_told_as_ever() -> None:
    x, y, out = torch.rand(5000), torch.rand(5000), torch.zeros(4096 + 300)
    with lab.limits(engine="native"):
        add[(4,)](x, y, out, 4096, BLOCK=1024)
    error, ran = on_both(lambda: add[(5,)](x, y, out, 5000, BLOCK=1024), out)
    assert "lane 300 of program (4, 0, 0)" in error
    assert (ran.engine, ran.handed) == ("native", 1)


@pytest.mark.parametrize("batch", [1, 5, None])
def test_programs_before_a_stop_run_once_and_those_behind_it_too(batch: int | None, monkeypatch: Any) -> None:
    n = 3000
    where = torch.arange(n, dtype=torch.int32)
    y, x = torch.rand(n), torch.rand(n)
    with lab.limits(engine="native"):
        add_found[(n // 100,)](x, y, where, n, BLOCK=128)
    monkeypatch.setattr(launcher.limits, "batch", batch)
    monkeypatch.setattr(thread_team, "size", lambda: 1)  # on several, some behind the one that stops have run
    where[1500] = n + 7
    with lab.limits(engine="native"):
        found = outcome(lambda: add_found[(n // 100,)](x, y, where, n, BLOCK=128), x)
        ran = engine.lately[-1]
        monkeypatch.setattr(dispatch_cache, "lookup", lambda call, limits: None)
        expected = outcome(lambda: add_found[(n // 100,)](x, y, where, n, BLOCK=128), x)
    assert found[0] == expected[0] and "out of bounds" in found[0]
    assert (found[1][0] == expected[1][0]).all() and ran == engine.lately[-1] and ran.handed > 0


def test_a_launch_like_one_before_is_recorded_and_obeys_the_limits(
    monkeypatch: pytest.MonkeyPatch, wording: Wording
) -> None:
    x, out = torch.rand(100), torch.zeros(100)
    with lab.limits(engine="native"):
        for _ in range(2):
            add[(1,)](x, x, out, 100, BLOCK=128)
        with lab.record() as launches:
            add[(1,)](x, x, out, 100, BLOCK=128)
        engine.lately.clear()
        with lab.limits(engine="numpy"):
            add[(1,)](x, x, out, 100, BLOCK=128)
        assert not engine.lately
        monkeypatch.setattr(launcher.limits, "steps", 10)
        add[(1,)](x, x, out, 100, BLOCK=128)
        (ran,) = engine.lately
        wording(ran.why)
    assert len(launches) == 1


def test_progress_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[int, int]] = []
    x, out = torch.rand(1000), torch.zeros(1000)
    with lab.limits(engine="native"):
        add[(10,)](x, x, out, 1000, BLOCK=128)
        monkeypatch.setattr(launcher, "progress", lambda *counts: told.append(counts))
        add[(10,)](x, x, out, 1000, BLOCK=128)
    assert told[-1] == (10, 10)
