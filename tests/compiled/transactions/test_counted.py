"""Requests and sectors are those that one finds lane by lane, on real kernels and on random layouts."""

from __future__ import annotations

import time

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import triton_lab as lab
from tests.compiled.transactions import by_hand
from tests.compiled.transactions.kernels import CASES, scattered
from tests.wordings import Wording
from triton_lab.compiled.layouts import Linear
from triton_lab.compiled.transactions.sectors import SectorCounter, dealt
from triton_lab.examples import all_examples
from triton_lab.examples.vector_add import add
from triton_lab.interpreter.affine_block import AffineBlock
from triton_lab.interpreter.mask_box import MaskBox
from triton_lab.launch.access import Access
from triton_lab.launch.recording.access_event import AccessEvent

SMALL = {each.name: each for each in all_examples()}
REQUESTS, SECTORS = (f"l1tex__t_{what}_pipe_lsu_mem_global_op_" for what in ("requests", "sectors"))


def recorded(run, target="sm_90", **options):
    with lab.record() as launches:
        run()
    return [launch.compile(target, **options) for launch in launches]


def test_vector_addition_has_the_figures_that_hardware_has():
    (compiled,) = recorded(lambda: add(torch.zeros(1 << 20), torch.zeros(1 << 20), block=1024))
    found = compiled.transactions.counters()
    assert found[f"{REQUESTS}ld.sum"] == 16_384
    assert found[f"{SECTORS}ld.sum"] == 262_144
    assert found[f"{REQUESTS}st.sum"] == 8_192
    assert found[f"{SECTORS}st.sum"] == 131_072
    assert [value for name, value in found.items() if "bank_conflicts" in name] == [0, 0]
    assert [one.efficiency for one in compiled.transactions.transfers] == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_kernels_with_bad_access_lane_by_lane(case):
    (compiled,) = recorded(lambda: case.run("cpu"))
    check(compiled)
    assert not any(one.problem for one in compiled.transactions.transfers)


@pytest.mark.parametrize("name", ["softmax", "layer_norm", "rms_norm", "sparse_matmul", "prefix_sum", "int4_matmul"])
def test_examples_lane_by_lane(name):
    for compiled in recorded(lambda: SMALL[name].check("small")):
        check(compiled)


def check(compiled):
    """Hold every transfer to the oracle, some programs of it."""
    for one in compiled.transactions.transfers:
        operation, some = one.joined.operation, np.arange(min(3, one.access.programs))
        assert operation is not None, one.access
        # Of two stores at the ends of branches LLVM may make one, at one of their places.
        assert one.told or "sparse_matmul" in compiled.kernel, one.access
        once = operation.way not in ("load", "descriptor")
        access = one.access.of(some)
        expected = by_hand.counted(operation.linear, access, one.width, compiled.metadata.warps, 32, once)
        found = tuple(int(each[some].sum()) for each in (one.counts.requests, one.counts.sectors, one.counts.wanted))
        if any(one.joined.merged):  # what is left out asks for the same as what is there
            kept = one.joined.merged.count(False)
            assert len(one.joined.merged) == 2 * kept
            found = tuple(2 * each for each in found)
        assert found == expected, one.access


def test_a_pipelined_loop_fetches_ahead_and_asks_once_for_each_round():
    case = next(each for each in CASES if each.name == "a pipelined product")
    (compiled,) = recorded(lambda: case.run("cpu"))
    load = compiled.transactions.transfers[0]
    assert load.way == "async copy"
    assert load.joined.copies == 2
    # 64 x 64 of 2 bytes, 16 a lane: 4 requests of each of 4 warps; 4 rounds and 2 that are fetched ahead, so that the
    # last 2 have all lanes off: an H100 counts 128 requests of both loads.
    assert load.issued == 4 * 4 * (4 + 2)
    assert load.requests == 4 * 4 * 4
    assert load.sectors == 4 * 64 * 64 * 2 // 32


def test_a_descriptor_makes_no_requests_but_moves_sectors():
    from tests.compiled.transactions.descriptors import move

    (compiled,) = recorded(lambda: move("cpu"))
    load, store = compiled.transactions.transfers
    assert (load.way, store.way) == ("descriptor", "descriptor")
    assert (load.requests, load.sectors) == (0, 64 * 32 * 4 // 32)
    assert load.counters() == {}


def test_what_amd_asks_is_not_counted(wording: Wording):
    (compiled,) = recorded(lambda: add(torch.zeros(1000), torch.zeros(1000), block=128), "gfx942")
    with wording.raises(ValueError):
        _ = compiled.transactions


def test_what_was_compiled_without_a_launch_has_no_addresses(wording: Wording):
    from triton_lab.examples.vector_add import add_kernel

    compiled = lab.compile(add_kernel, "*fp32, *fp32, *fp32, i32", {"BLOCK": 128}, "sm_90")
    with wording.raises(LookupError):
        _ = compiled.transactions


def test_a_thousand_programs_take_less_than_a_second():
    (compiled,) = recorded(lambda: add(torch.zeros(1 << 20), torch.zeros(1 << 20), block=1024))
    begun = time.perf_counter()
    compiled.transactions.counters()
    assert compiled.transactions.launch.programs == 1024
    assert time.perf_counter() - begun < 1


# --- Random layouts, addresses and masks ------------------------------------------------------------

WARPS, LANES = 2, 4  # few, so that the oracle is quick


@st.composite
def events(draw):
    """A layout with copies and odd orders, an itemsize, a vector, and an event on it."""
    shape = draw(st.sampled_from([(8,), (32,), (64,), (8, 8), (4, 16)]))
    units = [
        tuple(1 << bit if axis == at else 0 for at in range(len(shape)))
        for axis, size in enumerate(shape)
        for bit in range(size.bit_length() - 1)
    ]
    zero = (0,) * len(shape)
    order = draw(st.permutations(units))
    held = {"lane": [zero, zero], "warp": [zero]}
    for bases in held.values():
        for bit in range(len(bases)):
            if order and draw(st.booleans()):
                bases[bit] = order.pop()
    linear = Linear.of({"register": order, **held, "block": []}, shape)
    itemsize = draw(st.sampled_from([1, 2, 4, 8]))
    count = draw(st.integers(1, 4))
    strides = tuple(draw(st.sampled_from([0, 1, 2, 3, 8, 33])) * itemsize for _ in shape)
    base = np.array(draw(st.lists(st.integers(64, 200), min_size=count, max_size=count))) * itemsize
    pointer = AffineBlock(base, strides, shape)
    kind = draw(st.sampled_from(["none", "box", "lanes"]))
    mask = None
    if kind == "box":
        lower = tuple(np.array([draw(st.integers(0, size)) for _ in range(count)]) for size in shape)
        mask = MaskBox(lower, tuple(np.full(count, size) for size in shape), shape)
    elif kind == "lanes":
        seed = draw(st.integers(0, 99))
        mask = np.random.default_rng(seed).integers(0, 2, (count, *shape)).astype(bool)
    if draw(st.booleans()):
        scattered = np.random.default_rng(draw(st.integers(0, 99))).integers(0, 500, (count, *shape)) * itemsize
        pointer = scattered
    return linear, itemsize, AccessEvent(0, np.arange(count), pointer, mask, shape)


@settings(max_examples=60, deadline=None)
@given(events(), st.booleans())
def test_random_layouts_lane_by_lane(drawn, once):
    linear, itemsize, event = drawn
    access = Access(0, "load", 1, 0, "x", itemsize, None, len(event.programs), [event], lambda ops: {})
    counter = SectorCounter(dealt(linear, itemsize, itemsize, LANES, WARPS, once), len(event.programs))
    counter.add(event)
    found = tuple(int(each.sum()) for each in (counter.counts.requests, counter.counts.sectors, counter.counts.wanted))
    assert found == by_hand.counted(linear, access, itemsize, WARPS, LANES, once)
    again = SectorCounter(counter.dealt, len(event.programs))
    again.known = counter.known
    again.add(event)
    assert (again.counts.sectors == counter.counts.sectors).all()


@pytest.mark.parametrize(("lanes", "collides"), [(1, False), (4, True), (512, True)])
def test_sectors_of_lanes_that_share_an_element_are_no_more_than_a_bound(lanes, collides):
    at = torch.arange(512, dtype=torch.int32) // lanes
    (compiled,) = recorded(lambda: scattered[(1,)](torch.ones(512), at, torch.zeros(512), BLOCK=512))
    atomics = [one for one in compiled.transactions.transfers if one.way == "atomic"]
    assert [one.collides for one in atomics] == [collides]
    assert bool(compiled.transactions.problems) == collides
