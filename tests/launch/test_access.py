"""What an access tells of its events, held against the events one by one."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import triton_lab
from tests.interpreter.support import kernel_from
from triton_lab.interpreter import mask_box
from triton_lab.interpreter.affine_block import AffineBlock
from triton_lab.launch.access import Access
from triton_lab.launch.element_index import Digits, ElementPlaces, inverse
from triton_lab.launch.recording.access_event import AccessEvent

BLOCK = (4,)
PROGRAMS = 5


@st.composite
def events(draw) -> list[AccessEvent]:
    """Executions by some of the programs, in the compact forms or not."""
    found = []
    for order in range(draw(st.integers(0, 4))):
        programs = np.array(sorted(draw(st.sets(st.integers(0, PROGRAMS - 1), min_size=1))))
        base = np.array(draw(st.lists(st.integers(0, 99), min_size=len(programs), max_size=len(programs))))
        shared = draw(st.booleans())
        pointer = AffineBlock(base[:1] if shared else base, (draw(st.integers(-3, 3)),), BLOCK)
        if draw(st.booleans()):
            pointer = pointer.elements(np.dtype(np.int64))
        mask = None
        if draw(st.booleans()):
            ends = np.array(draw(st.lists(st.integers(0, 4), min_size=len(programs), max_size=len(programs))))
            mask = mask_box.compare(
                "lt", AffineBlock(np.zeros(1, np.int64), (1,), BLOCK), AffineBlock(ends, (0,), BLOCK)
            )
            mask = mask.elements() if draw(st.booleans()) else mask
        found.append(AccessEvent(3 * order + 1, programs, pointer, mask, BLOCK))
    return found


def access_of(found: list[AccessEvent]) -> Access:
    def recall(ops):
        return {7: [event.addresses() * 10 for event in found]}

    return Access(7, "load", 3, 0, "int64", 8, None, PROGRAMS, found, recall)


@settings(max_examples=150, deadline=None)
@given(events())
def test_iterations_are_a_programs_own(found):
    access = access_of(found)
    history = {program: [] for program in range(PROGRAMS)}
    for event in found:
        for row, program in enumerate(event.programs.tolist()):
            history[program].append((event.order, event.addresses()[row], event.active()[row]))
    count = max(map(len, history.values()))
    assert access.iterations == count
    for iteration in range(count):
        for program, past in history.items():
            took = len(past) > iteration
            _, address, mask = past[iteration] if took else (None, np.zeros(4), np.zeros(4, bool))
            assert access.executed(iteration)[program, 0] == took
            assert (access.address(iteration)[program] == address).all()
            assert (access.byte_offset(iteration)[program] == address).all()
            assert (access.mask(iteration)[program] == mask).all()
            assert (access.values(iteration)[program] == address * 10).all()
            assert (access.element(iteration=iteration)[program] == -1).all(), "of no argument"
        orders = [past[iteration][0] for past in history.values() if len(past) > iteration]
        assert access.order(iteration) == min(orders)
    for iteration in (-1, max(1, count)):
        with pytest.raises(IndexError, match=f"{iteration} .* {count}"):
            access.address(iteration)
    if not count:
        assert access.block == () and not access.address().any() and not access.executed().any()


@settings(max_examples=100, deadline=None)
@given(events(), st.randoms(use_true_random=False))
def test_a_part_of_an_event_is_that_of_its_programs(found, random):
    for event in found:
        rows = np.array([k for k in range(len(event.programs)) if random.random() < 0.6], np.int64)
        part = event.of(rows)
        assert (part.programs == event.programs[rows]).all() and part.order == event.order
        assert (part.addresses() == event.addresses()[rows]).all()
        assert (part.active() == event.active()[rows]).all()


def test_an_event_counts_the_bytes_of_its_arrays():
    programs = np.arange(3)
    affine = AffineBlock(np.arange(3), (8,), BLOCK)
    assert AccessEvent(0, programs, affine, None, BLOCK).nbytes == 24 + 24
    assert AccessEvent(0, programs, affine, mask_box.full(BLOCK), BLOCK).nbytes == 24 + 24
    whole = affine.elements(np.dtype(np.int64))
    assert AccessEvent(0, programs, whole, np.ones((3, 4), bool), BLOCK).nbytes == 24 + 96 + 12
    assert AccessEvent(0, programs, whole, None, BLOCK, took=np.ones((3, 4), bool)).nbytes == 24 + 96 + 12


def test_elements_and_offsets_of_a_view_that_begins_within_its_storage():
    kernel = kernel_from(
        "@triton.jit\ndef kernel(x, y, n):\n"
        "    p = tl.program_id(0)\n    k = p * 4 + tl.arange(0, 4)\n"
        "    if p != 1:\n        tl.store(y + k, tl.load(x + k * 2, mask=k < n, other=0))\n"
    )
    x, y = torch.arange(40, dtype=torch.int32)[6:].view(17, 2), torch.zeros(12, dtype=torch.int32)
    with triton_lab.record() as launches:
        kernel[(3,)](x, y, 10)
    load, store = launches[0].accesses
    k = np.arange(12).reshape(3, 4)
    took = np.array([[True], [False], [True]])
    assert (load.byte_offset() == np.where(took, 24 + 8 * k, 0)).all()
    assert (load.element() == np.where(took, 2 * k, -1)).all()
    assert (load.element(launches[0].argument("y")) == -1).all()
    assert (load.values()[took[:, 0]] == np.where(k < 10, 6 + 2 * k, 0)[took[:, 0]]).all()
    for program in range(3):
        for lane in range(4):
            assert store.element_of(program, lane) == (k[program, lane] if took[program, 0] else -1)
            assert store.element_of(program, lane, iteration=1) == -1


def test_offsets_are_taken_apart_as_digits_and_looked_up_in_a_table_only_where_elements_may_meet():
    assert isinstance(inverse((3, 4), (4, 1)), Digits) and isinstance(inverse((3, 4), (1, 3)), Digits)
    assert isinstance(inverse((3, 4), (2, 1)), ElementPlaces)
