"""Tiles that the compact forms tell apart: they never race, and tiles of a matrix are told apart so."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from hypothesis import given, settings
from hypothesis import strategies as st

import triton_lab
from triton_lab.ir.effects import RIVALS, Role
from triton_lab.launch.checks.analysis.evidence import Evidence
from triton_lab.launch.checks.race import conflicts
from triton_lab.launch.checks.race.conflicts import not_apart, relevant


@triton.jit
def tiles(x, starts, step, rows, columns, M: tl.constexpr, N: tl.constexpr, UPDATE: tl.constexpr):
    r, c = tl.arange(0, M), tl.arange(0, N)
    at = x + tl.load(starts + tl.program_id(0)) + r[:, None] * step + c[None, :]
    mask = (r < rows)[:, None] & (c < columns)[None, :]
    # No two programs store the same value: that would be no race, but a `same-value`.
    value = (tl.load(at, mask=mask) if UPDATE else 0.0) + tl.program_id(0) + 1
    tl.store(at, value, mask=mask)


def recorded(starts, step, rows, columns, update=False):
    x, table = torch.zeros(4096), torch.tensor(starts, dtype=torch.int64)
    with triton_lab.record() as launches:
        tiles[(len(starts),)](x, table, step, rows, columns, M=4, N=8, UPDATE=update)
    return launches[0]


def left(launch):
    """The executions that the compact forms do not tell apart."""
    evidence = Evidence(launch, launch.tape)
    return not_apart(evidence, relevant(evidence))


@settings(max_examples=60, deadline=None)
@given(
    starts=st.lists(st.integers(0, 300), min_size=2, max_size=6),
    step=st.sampled_from([8, 10, 32, 64]),
    rows=st.integers(1, 4),
    columns=st.integers(1, 8),
    update=st.booleans(),
)
def test_what_is_called_apart_has_no_byte_in_common(starts, step, rows, columns, update):
    launch = recorded(starts, step, rows, columns, update)
    places = [{start + r * step + c for r in range(rows) for c in range(columns)} for start in starts]
    meet = sum(map(len, places)) > len(set().union(*places))
    assert ("race" in [finding.kind for finding in launch.findings]) == meet
    if meet:
        assert left(launch)


@pytest.mark.parametrize("update", [False, True])
@pytest.mark.parametrize("shape", [(4, 8), (3, 5)])
def test_the_tiles_of_a_matrix_are_told_apart_without_going_through_their_bytes(monkeypatch, update, shape):
    rows, columns = shape
    starts = [rows * i * 64 + columns * j for i in range(5) for j in range(64 // columns)]
    launch = recorded(starts, 64, rows, columns, update)
    assert not left(launch)
    monkeypatch.setattr(conflicts, "contested", None)
    assert "race" not in [finding.kind for finding in launch.findings]


def test_one_tile_that_is_one_column_too_wide_is_found():
    launch = recorded([0, 7], 64, 4, 8)
    assert left(launch)
    assert "race" in [finding.kind for finding in launch.findings]


@triton.jit
def diagonals(x, step, apart, N: tl.constexpr):
    """Each program stores to the rows ``i + j`` behind its own, by a block of three axes, and then to one of two."""
    i, j, c = tl.arange(0, 2)[:, None, None], tl.arange(0, 2)[None, :, None], tl.arange(0, N)[None, None, :]
    own = x + tl.program_id(0) * apart * step
    tl.store(own + (i + j) * step + c, tl.program_id(0))
    row, column = tl.arange(0, 2)[:, None], tl.arange(0, N)[None, :]
    tl.store(own + row * step + column, tl.program_id(0) + 1)


@pytest.mark.parametrize("apart", range(1, 6))
def test_rows_that_two_axes_lead_to_are_all_of_a_tile(apart):
    """Three rows: tiles that are fewer apart meet."""
    with triton_lab.record() as launches:
        diagonals[(4,)](torch.zeros(4096), 64, apart, N=8)
    assert ("race" in [finding.kind for finding in launches[0].findings]) == (apart < 3)


@triton.jit
def scattered(x, first, second, third, N: tl.constexpr, B: tl.constexpr, WHICH: tl.constexpr):
    """Each program loads, updates, loads atomically or stores at places of its own choice."""
    at = tl.program_id(0) * B + tl.arange(0, B)
    if WHICH % 2:
        tl.store(x + tl.load(first + at), at)
    if WHICH // 2 % 2:
        tl.atomic_add(x + tl.load(second + at), at)
    if WHICH // 4 % 2:
        tl.store(first + at, tl.load(x + tl.load(third + at)))
    if WHICH // 8:
        tl.store(second + at, tl.load(x + tl.load(third + at), volatile=True))


ROLES = {1: Role.STORE, 2: Role.UPDATE, 4: Role.LOAD, 8: Role.ATOMIC_LOAD}


@pytest.mark.parametrize("which", range(1, 16))
def test_bytes_that_programs_contend_for_are_those_of_a_list(monkeypatch, which):
    generator = torch.Generator().manual_seed(which)
    x = torch.zeros(64, dtype=torch.int32)
    places = [torch.randint(0, 64, (4 * 8,), generator=generator, dtype=torch.int32) for _ in range(3)]
    where = {1: places[0].clone(), 2: places[1].clone(), 4: places[2].clone(), 8: places[2].clone()}
    with triton_lab.record() as launches:
        scattered[(4,)](x, *places, N=64, B=8, WHICH=which)
    evidence = Evidence(launches[0], launches[0].tape)
    found = []
    for many in (-1, 1 << 14):
        monkeypatch.setattr(conflicts, "_MANY", many)
        shared = conflicts.shared_bytes(evidence, relevant(evidence))
        found.append(set(np.flatnonzero(shared.covers(x.data_ptr() + 4 * np.arange(64))).tolist()))
    touches = [
        (int(element), role, lane // 8)
        for bit, role in ROLES.items()
        if which & bit
        for lane, element in enumerate(where[bit].tolist())
    ]
    expected = {
        place
        for place, one, program in touches
        for other, two, another in touches
        if place == other and program != another and two in RIVALS[one]
    }
    assert found == [expected, expected]
