"""A launch that is recorded while machine code computes it has the accesses and findings of NumPy's run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
import triton
import triton.language as tl

import triton_lab as lab
from tests.native.fuzz import same_accesses, told
from triton_lab.examples import all_examples
from triton_lab.examples.example import Example
from triton_lab.interpreter.kernel_errors import KernelError
from triton_lab.launch.launch import Launch
from triton_lab.native import engine
from triton_lab.native.runtime import observed_launch


def recorded(run: Any, on: str) -> list[Launch]:
    with lab.limits(engine=on), lab.record() as launches:
        run()
    return list(launches)


@pytest.mark.parametrize("page", all_examples(), ids=lambda page: page.name)
def test_an_example_has_the_same_accesses_and_findings(page: Example) -> None:
    def run() -> None:
        page.run(**page.inputs("small", 0, "cpu"))

    run()  # tuned now
    for one, other in zip(recorded(run, "native"), recorded(run, "numpy"), strict=True):
        # Tensors whose addresses lie in memory are elsewhere in each run.
        assert same_accesses(one, other) or None in map(one.owner_of, one.events)
        assert told(one) == told(other)


@triton.jit
def added(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


@triton.jit
def twice(x, out, BLOCK: tl.constexpr):
    """The second store replaces what the first one stored."""
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i) / 0.0)
    tl.store(out + i, i.to(tl.float32))


@triton.jit
def again(x, out, BLOCK: tl.constexpr):
    """Each round of the loop replaces what the one before stored."""
    i = tl.arange(0, BLOCK)
    for k in range(2):
        tl.store(out + i, tl.load(x + i) / k)


@triton.jit
def quotient(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, 1.0 / tl.load(x + i))


@triton.jit
def in_pairs(x, out, BLOCK: tl.constexpr):
    """Each odd lane replaces what the lane before it stores."""
    i = tl.arange(0, BLOCK)
    tl.store(out + i // 2, tl.where(i % 2 == 0, tl.load(x + i) / 0.0, 1.0))


@pytest.mark.parametrize("kernel", [twice, again, quotient, in_pairs])
@pytest.mark.parametrize("first", [0.0, 1.0])
def test_what_was_not_finite_is_known(kernel: Any, first: float) -> None:
    x, out = torch.full((32,), 2.0), torch.zeros(32)
    x[0] = first
    recorded(lambda: kernel[(1,)](x, out, BLOCK=32), "native")  # whether its programs are apart is known now
    native, numpy = (recorded(lambda: kernel[(1,)](x, out, BLOCK=32), on)[0] for on in ("native", "numpy"))
    assert engine.lately[-1].engine == "native"
    assert native.tape.strange >= numpy.tape.strange
    assert bool(native.tape.strange) == (kernel is not quotient or not first)
    assert told(native) == told(numpy)


def test_the_memory_is_that_of_an_unobserved_launch() -> None:
    x, y, out, plain = torch.rand(5000), torch.rand(5000), torch.zeros(5000), torch.zeros(5000)
    recorded(lambda: added[(5,)](x, y, out, 5000, BLOCK=1024), "native")
    assert engine.lately[-1].engine == "native"
    with lab.limits(engine="native"):
        added[(5,)](x, y, plain, 5000, BLOCK=1024)
    assert torch.equal(out, plain) and torch.equal(out, x + y)


def test_an_interrupt_of_the_walk_leaves_no_accesses(monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(machine: Any, observer: Any, of: Any) -> None:
        tell(machine, observer, of)
        raise KeyboardInterrupt

    tell = observed_launch._tell
    monkeypatch.setattr(observed_launch, "_tell", stopped)
    x, out = torch.rand(100), torch.zeros(100)
    with lab.limits(engine="native"), lab.record() as launches, pytest.raises(KeyboardInterrupt):
        added[(1,)](x, x, out, 100, BLOCK=128)
    assert not launches[0].events and not out.any()
    assert launches[0].dropped


def test_an_interrupt_leaves_no_accesses_that_have_not_happened(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(machine: Any, observer: Any, of: Any, values: Any) -> bool:
        def stopped() -> None:
            raise KeyboardInterrupt

        return run(machine, observer, of, stopped)

    run = observed_launch.run
    monkeypatch.setattr(observed_launch, "run", interrupted)
    x, out = torch.rand(100), torch.zeros(100)
    with lab.limits(engine="native"), lab.record() as launches, pytest.raises(KeyboardInterrupt):
        added[(1,)](x, x, out, 100, BLOCK=128)
    assert not launches[0].events and not out.any()
    assert launches[0].dropped


def test_the_events_of_several_batches_are_numpys() -> None:
    x = torch.rand(1 << 20)
    native, numpy = (
        recorded(lambda: added[(1024,)](x, x, torch.empty(1 << 20), 1 << 20, BLOCK=1024), on)[0]
        for on in ("native", "numpy")
    )
    (events, *_rest) = native.events.values()
    assert len(events) > 1 and same_accesses(native, numpy)
    assert np.concatenate([event.programs for event in events]).tolist() == list(range(1024))


def test_a_repeated_launch_has_the_accesses_of_its_own_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    @triton.jit
    def summed(x, y, out, n, BLOCK: tl.constexpr):
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(out + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)

    walks: list[Any] = []

    def counted(*given: Any) -> None:
        walks.append(given)
        walk(*given)

    walk = observed_launch._walk
    monkeypatch.setattr(observed_launch, "_walk", counted)
    kept: list[Any] = []  # so that no tensor takes the place of another
    for count, expected in ((300, 1), (300, 1), (290, 2), (300, 2), (290, 2)):
        x, y, out = torch.rand(count), torch.rand(count), torch.zeros(count)
        kept.append((x, y, out))
        native, numpy = (
            recorded(lambda x=x, y=y, out=out: summed[(3,)](x, y, out, len(x), BLOCK=128), on)[0]
            for on in ("native", "numpy")
        )
        assert same_accesses(native, numpy) and told(native) == told(numpy)
        assert len(walks) == expected
        assert torch.equal(out, x + y)


def test_a_repeated_launch_that_strays_is_stopped() -> None:
    x, short = torch.rand(5000), torch.zeros(4999)
    recorded(lambda: added[(5,)](x, x, torch.zeros(5000), 5000, BLOCK=1024), "native")
    (launch,) = recorded(lambda: added[(5,)](x, x, torch.zeros(5000), 5000, BLOCK=1024), "native")
    assert not launch.findings
    with lab.limits(engine="native"), lab.record() as launches, pytest.raises(KernelError):
        added[(5,)](x, x, short, 5000, BLOCK=1024)
    assert [found.kind for found in launches[0].findings] == ["out-of-bounds"]


# Sums by atomics: kernels of an x, a table and an out.


@triton.jit
def into_bins(x, table, out, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(out + i % 5, tl.load(x + i, mask=i < 900), mask=i < 900)


@triton.jit
def into_one(x, table, out, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(out, tl.max(tl.load(x + i, mask=i < 900, other=0.0)))


@triton.jit
def for_some(x, table, out, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if tl.program_id(0) % 3 != 1:
        tl.atomic_add(out + tl.zeros_like(i), tl.load(x + i, mask=i < 900, other=0.0))


@triton.jit
def counts(x, table, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    for k in range(3):
        tl.atomic_add(table + (i + k) % 4, i * k)
    tl.atomic_max(out.to(tl.pointer_type(tl.int32)), tl.program_id(0))


@pytest.mark.parametrize("kernel", [into_bins, into_one, for_some, counts])
@pytest.mark.parametrize("strange", [1.0, float("inf")])
def test_sums_by_atomics_are_recorded_in_machine_code(kernel: Any, strange: float) -> None:
    x = torch.randn(1024, generator=torch.Generator().manual_seed(0))
    x[17] = strange
    launches, results = {}, {}
    for on in ("native", "native", "numpy"):
        table, out = torch.zeros(8, dtype=torch.int32), torch.zeros(8)
        (launches[on],) = recorded(lambda table=table, out=out: kernel[(8,)](x, table, out, BLOCK=128), on)
        if on == "native":
            assert engine.lately[-1].engine == "native", engine.lately[-1]
        results[on] = table, out.view(torch.int32)
    native, numpy = launches["native"], launches["numpy"]
    assert same_accesses(native, numpy) and told(native) == told(numpy)
    assert native.tape.strange == numpy.tape.strange
    assert bool(native.tape.strange) == (strange != 1.0 and kernel is not counts)
    assert all(map(torch.equal, results["native"], results["numpy"]))
    assert results["native"][1].any()


@triton.jit
def with_result(x, table, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(x + tl.program_id(0) * BLOCK + i, tl.atomic_add(out + i % 5, 1.0))


@triton.jit
def floats_in_a_loop(x, table, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    for k in range(3):
        tl.atomic_add(out + i % 5, tl.load(x + i) * k)


@triton.jit
def by_two(x, table, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.atomic_add(out + i % 5, tl.load(x + i))
    tl.atomic_add(out + i % 3, tl.load(x + i))


@triton.jit
def and_a_load(x, table, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.atomic_add(out + i % 5, tl.load(out + i % 7))


@triton.jit
def exchanged(x, table, out, BLOCK: tl.constexpr):
    tl.atomic_xchg(table, tl.program_id(0))


@triton.jit
def to_loaded_places(x, table, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.atomic_add(out + tl.load(table + i % 8), 1.0)


@pytest.mark.parametrize(
    "kernel", [with_result, floats_in_a_loop, by_two, and_a_load, exchanged, to_loaded_places], ids=str
)
def test_atomics_whose_order_counts_are_recorded_on_numpy(kernel: Any) -> None:
    x, table, out = torch.randn(1024), torch.zeros(8, dtype=torch.int32), torch.zeros(8)
    for _ in range(2):
        recorded(lambda: kernel[(8,)](x, table, out, BLOCK=128), "native")
        assert engine.lately[-1].engine == "numpy"
