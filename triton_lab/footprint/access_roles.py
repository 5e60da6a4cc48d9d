"""Which accesses of two programs may not share a byte unless something orders them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from enum import IntEnum
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from triton_lab.ir import Op, effects

Ints: TypeAlias = npt.NDArray[np.int64]
Flags: TypeAlias = npt.NDArray[np.bool_]
Roles: TypeAlias = npt.NDArray[np.int8]
"""The numbers of `Role`s, by access."""


class Role(IntEnum):
    """What an access does to the bytes that it touches, as far as other programs are concerned.

    An atomic that is atomic only within its own program counts as a store, and a volatile load as an atomic load.
    """

    LOAD = 0
    STORE = 1
    UPDATE = 2
    ATOMIC_LOAD = 3


RIVALS: Mapping[Role, Collection[Role]] = {
    Role.STORE: frozenset(Role),
    Role.UPDATE: frozenset({Role.STORE, Role.LOAD}),
    Role.LOAD: frozenset({Role.STORE, Role.UPDATE}),
    Role.ATOMIC_LOAD: frozenset({Role.STORE}),
}
"""For each role, those of another program that race with it on the same byte."""


def role_of(op: Op) -> Role:
    """The role of an access."""
    if effects.is_plain_store(op):
        return Role.STORE
    if effects.is_shared_update(op):
        return Role.UPDATE
    return Role.LOAD if effects.is_plain_load(op) else Role.ATOMIC_LOAD


def flags_of(roles: Roles) -> tuple[Flags, Flags, Flags]:
    """Which accesses are stores, updates and loads."""
    return roles == Role.STORE, roles == Role.UPDATE, roles == Role.LOAD


def contended(heads: Ints, programs: Ints, roles: Roles) -> tuple[Flags, Flags]:
    """Of groups of accesses, which two programs contend for: by a store, and by an update and a load alone.

    ``heads`` (groups,) are the positions of each group's first access; the other arrays are by access.
    """
    stores, updates, loads = flags_of(roles)

    def has(some: Flags) -> Flags:
        return np.logical_or.reduceat(some, heads)

    stored = has(stores) & (np.minimum.reduceat(programs, heads) != np.maximum.reduceat(programs, heads))
    if not updates.any():
        return stored, np.zeros_like(stored)
    mixed, far = updates | loads, np.iinfo(np.int64).max
    least = np.minimum.reduceat(np.where(mixed, programs, far), heads)
    several = least < np.maximum.reduceat(np.where(mixed, programs, -1), heads)
    return stored, has(updates) & has(loads) & several & ~has(stores)
