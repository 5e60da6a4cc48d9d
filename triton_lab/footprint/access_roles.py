"""Which groups of accesses two programs contend for, by the roles of the accesses."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from triton_lab.ir.effects import Role

Ints: TypeAlias = npt.NDArray[np.int64]
Flags: TypeAlias = npt.NDArray[np.bool_]
Roles: TypeAlias = npt.NDArray[np.int8]
"""The numbers of `Role`s, by access."""


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
