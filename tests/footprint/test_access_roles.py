"""Roles of accesses: each pair of them races or does not, whichever comes first."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from triton_lab.footprint.access_roles import contended
from triton_lab.ir.effects import RIVALS, Role


@pytest.mark.parametrize("roles", list(itertools.product(Role, Role)))
@pytest.mark.parametrize("programs", [(0, 0), (0, 1)])
def test_two_accesses_of_a_group_contend_if_they_are_rivals_of_two_programs(roles, programs) -> None:
    stored, updated = contended(np.array([0]), np.array(programs), np.array(roles, np.int8))
    assert bool(stored[0] | updated[0]) == (programs[0] != programs[1] and roles[1] in RIVALS[roles[0]])
    assert not (stored & updated).any()


def test_groups_are_looked_at_one_by_one() -> None:
    roles = np.array([Role.STORE, Role.UPDATE, Role.LOAD], np.int8)
    stored, updated = contended(np.array([0, 1]), np.array([0, 1, 2]), roles)
    assert stored.tolist() == [False, False] and updated.tolist() == [False, True]
