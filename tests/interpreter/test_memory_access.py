"""Loads and stores of pointers and masks in every form, against a loop over programs and lanes."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from triton_lab.interpreter import memory_access
from triton_lab.interpreter.affine_block import AffineBlock
from triton_lab.interpreter.mask_box import MaskBox
from triton_lab.interpreter.memory_regions import Memory, MemoryRegion, Reachable

START, SIZE, GAP = 1 << 16, 32, 64
INT = np.dtype(np.int32)


@dataclass(frozen=True)
class Case:
    """A block of each program: what is given to an access, and the same lane by lane."""

    programs: int
    shape: tuple[int, ...]
    pointer: memory_access.Pointer
    mask: memory_access.Mask
    addresses: np.ndarray
    active: np.ndarray


@st.composite
def pointers(draw: st.DrawFn, programs: int, shape: tuple[int, ...]) -> memory_access.Pointer:
    """Within two regions; compact or lane by lane, of each program or of all."""
    rows = draw(st.sampled_from([1, programs]))
    size = int(np.prod(shape))
    if draw(st.booleans()):
        strides = tuple(4 * draw(st.integers(-2, 3)) for _ in shape)
        below = sum(min(0, stride * (extent - 1)) for stride, extent in zip(strides, shape, strict=True))
        above = sum(max(0, stride * (extent - 1)) for stride, extent in zip(strides, shape, strict=True))
        first = st.integers(-below // 4, SIZE - 1 - above // 4)
        regions = st.sampled_from([0, 0, 0, GAP])
        base = [4 * (draw(first) + draw(regions)) for _ in range(rows)]
        if draw(st.booleans()):  # as programs mostly come: evenly apart
            step = draw(st.integers(0, 2))
            most = SIZE - 1 - above // 4
            base = [min(-below + 4 * step * k, 4 * most) for k in range(rows)]
        return AffineBlock(START + np.array(base), strides, shape)
    where = st.one_of(st.integers(0, SIZE - 1), st.integers(GAP, GAP + SIZE - 1))
    places = draw(st.lists(where, min_size=rows * size, max_size=rows * size))
    return START + 4 * np.array(places).reshape(rows, *shape)


@st.composite
def masks(draw: st.DrawFn, programs: int, shape: tuple[int, ...]) -> memory_access.Mask:
    how = draw(st.sampled_from(["none", "box", "box", "lanes"] if shape else ["none", "lanes"]))
    if how == "none":
        return None
    rows = draw(st.sampled_from([1, programs]))
    if how == "lanes":
        lanes = draw(st.lists(st.booleans(), min_size=rows * int(np.prod(shape)), max_size=rows * int(np.prod(shape))))
        return np.array(lanes).reshape(rows, *shape)
    lower, upper = [], []
    for extent in shape:
        rows = draw(st.sampled_from([1, programs]))
        alike = draw(st.booleans())
        pairs = [tuple(draw(st.integers(0, extent)) for _ in range(2)) for _ in range(rows)]
        pairs = pairs[:1] * rows if alike else pairs
        pairs = [(0, extent) for _ in pairs] if draw(st.booleans()) else pairs
        lower.append(np.array([pair[0] for pair in pairs]))
        upper.append(np.array([pair[1] for pair in pairs]))
    return MaskBox(tuple(lower), tuple(upper), shape)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    programs = draw(st.integers(1, 3))
    shape = draw(st.sampled_from([(), (1,), (4,), (2, 3), (3, 1)]))
    pointer, mask = draw(pointers(programs, shape)), draw(masks(programs, shape))
    addresses, active = np.empty((programs, *shape), np.int64), np.ones((programs, *shape), bool)
    for program, *lane in itertools.product(range(programs), *map(range, shape)):
        if isinstance(pointer, AffineBlock):
            base = int(pointer.base[program if pointer.base.size > 1 else 0])
            addresses[(program, *lane)] = base + sum(i * s for i, s in zip(lane, pointer.strides, strict=True))
        else:
            addresses[(program, *lane)] = pointer[(program if len(pointer) > 1 else 0, *lane)]
        if isinstance(mask, MaskBox):
            active[(program, *lane)] = all(
                low[program if low.size > 1 else 0] <= i < high[program if high.size > 1 else 0]
                for i, low, high in zip(lane, mask.lower, mask.upper, strict=True)
            )
        elif mask is not None:
            active[(program, *lane)] = mask[(program if len(mask) > 1 else 0, *lane)]
    return Case(programs, shape, pointer, mask, addresses, active)


def memory() -> tuple[Memory, dict[int, int]]:
    """Two regions of numbers, and what is at each address."""
    held = {}
    regions = []
    for first in (0, GAP):
        numbers = np.arange(first, first + SIZE, dtype=INT) + 1000
        regions.append(MemoryRegion(START + 4 * first, numbers.view(np.uint8)))
        held |= {START + 4 * (first + k): int(number) for k, number in enumerate(numbers)}
    return Memory(regions), held


@given(cases(), st.sampled_from(["none", "one", "each"]))
@settings(deadline=None, max_examples=250)
def test_loads_find_what_is_at_each_lanes_address(case: Case, other: str) -> None:
    holding, held = memory()
    elsewhere = None
    if other != "none":
        elsewhere = -1 - np.arange(case.programs * int(np.prod(case.shape)), dtype=INT)
        elsewhere = elsewhere.reshape(case.programs, *case.shape)[: 1 if other == "one" else None]
    found = memory_access.load(Reachable(holding), case.pointer, case.mask, elsewhere, INT, case.shape)
    default = np.zeros((1,) * (1 + len(case.shape)), INT) if elsewhere is None else elsewhere
    default = np.broadcast_to(default, case.addresses.shape)
    expected = np.array([held[int(address)] for address in case.addresses.reshape(-1)]).reshape(case.addresses.shape)
    expected = np.where(case.active, expected, default)
    assert np.broadcast_to(found, expected.shape).tolist() == expected.tolist()
    for region in holding.regions:  # what was found is nobody's memory
        region.data[:] = 0
    assert np.broadcast_to(found, expected.shape).tolist() == expected.tolist()


@given(cases(), st.booleans(), st.booleans())
@settings(deadline=None, max_examples=250)
def test_stores_leave_what_a_lane_wrote_there(case: Case, alike: bool, watching: bool) -> None:
    """Of one program the last; of several, which race, any."""
    holding, held = memory()
    rows = 1 if alike else case.programs
    values = np.arange(rows * int(np.prod(case.shape)), dtype=INT).reshape(rows, *case.shape)
    may = {address: {number} for address, number in held.items()}
    for program in range(case.programs):
        mine = {}
        for lane in itertools.product(*map(range, case.shape)):
            if case.active[(program, *lane)]:
                mine[int(case.addresses[(program, *lane)])] = int(values[(0 if alike else program, *lane)])
        for address, number in mine.items():
            before = may[address]
            may[address] = {number} if before == {held[address]} else before | {number}
    holding.watching = watching
    told = []
    holding.before_write = told.append
    memory_access.store(Reachable(holding), case.pointer, case.mask, values, INT, case.shape)
    left = {
        region.start + 4 * k: number
        for region in holding.regions
        for k, number in enumerate(region.data.view(INT).tolist())
    }
    assert all(left[address] in numbers for address, numbers in may.items())
    written = {address for address, numbers in may.items() if numbers != {held[address]}}
    regions = {region.start for region in holding.regions if any(region.start <= a < region.stop for a in written)}
    assert {region.start for region in told} == regions
    assert bool(holding.version) == bool(written)
