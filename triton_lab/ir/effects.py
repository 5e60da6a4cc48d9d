"""What an operation does to memory: the role of each operand, whether it reads or writes, what it orders.

`ir.traits` declares it; the interpreter, provenance, findings, origins, reports and the polyhedral walk all ask here.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import IntEnum

from triton_lab.ir.plan import Op
from triton_lab.ir.traits import TRAITS, Effect


class Rmw(IntEnum):
    """What ``tt.atomic_rmw`` does to an element, by the number in its ``atomic_rmw_op``."""

    AND = 1
    OR = 2
    XOR = 3
    ADD = 4
    FADD = 5
    MAX = 6
    MIN = 7
    UMAX = 8
    UMIN = 9
    XCHG = 10


class Sem(IntEnum):
    """What an atomic orders, by the number in its ``sem``."""

    RELAXED = 1
    ACQUIRE = 2
    RELEASE = 3
    ACQ_REL = 4


class Scope(IntEnum):
    """Which programs an atomic is atomic to, by the number in its ``scope``. A program is a CTA."""

    GPU = 1
    CTA = 2
    SYSTEM = 3


ACCESSES: Mapping[str, Effect] = {name: trait.effect for name, trait in TRAITS.items() if trait.effect is not None}


@dataclass(frozen=True, slots=True)
class Operands:
    """The positions of an access's operands; None for an operand that it does not have.

    ``coordinates`` say which part of the described tensor is accessed.
    """

    address: int
    value: int | None = None
    expected: int | None = None
    mask: int | None = None
    other: int | None = None
    timeout: int | None = None
    buffer: int | None = None
    barrier: int | None = None
    predicate: int | None = None
    coordinates: tuple[int, ...] = ()


def operands_of(op: Op) -> Operands:
    """The position of each operand of an access, by its role.

    Raises KeyError for an operation that is no access, ValueError for a number of operands that it cannot have.
    """
    sizes = op.attributes.get("operandSegmentSizes")
    return _operands(op.name, len(op.operands), None if sizes is None else tuple(sizes))


@functools.lru_cache(maxsize=1024)  # at each access; a small launch on NumPy takes a twelfth less
def _operands(name: str, count: int, sizes: tuple[int, ...] | None) -> Operands:
    roles = ACCESSES[name].roles
    if sizes is None:
        sizes = _sizes(roles, count)
    if len(sizes) != len(roles) or sum(sizes) != count:
        raise ValueError(f"{name} has {' '.join(roles)}, and not {count} operands")
    found: dict[str, int] = {}
    coordinates: tuple[int, ...] = ()
    at = 0
    for role, size in zip(roles, sizes, strict=True):
        if role.startswith("coordinate"):
            coordinates += tuple(range(at, at + size))
        elif role.startswith("offset"):
            if size:
                raise ValueError(f"{name} with offsets of an image is not run")
        elif size:
            found[role.rstrip("?")] = at
        at += size
    return Operands(**found, coordinates=coordinates)


def _sizes(roles: tuple[str, ...], count: int) -> tuple[int, ...]:
    """How many operands play each role, where the operation does not say: the last optional ones are left out."""
    left = count - sum(not role.endswith(("?", "*")) for role in roles)
    sizes = []
    for role in roles:
        size = 1
        if role.endswith(("?", "*")):
            size = max(left, 0) if role.endswith("*") else min(max(left, 0), 1)
            left -= size
        sizes.append(size)
    return tuple(sizes)


def is_access(op: Op) -> bool:
    """Whether the operation touches memory."""
    return op.name in ACCESSES


def reads(op: Op) -> bool:
    """Whether the operation depends on what memory holds."""
    effect = ACCESSES.get(op.name)
    return effect is not None and effect.reads


def writes(op: Op) -> bool:
    """Whether the operation may change what memory holds."""
    effect = ACCESSES.get(op.name)
    return effect is not None and effect.writes


def updates(op: Op) -> bool:
    """Whether the operation reads an element and replaces it in one step."""
    return reads(op) and writes(op)


def combines(op: Op) -> bool:
    """Whether the operation replaces an element by a function of it and of an operand, whatever it holds."""
    return updates(op) and not may_leave(op)


def may_leave(op: Op) -> bool:
    """Whether the operation writes an element only if it holds the expected value."""
    return updates(op) and operands_of(op).expected is not None


def brings_in(op: Op) -> bool:
    """Whether the operation's result is what memory held."""
    effect = ACCESSES.get(op.name)
    return effect is not None and effect.result == "held"


def by_descriptor(op: Op) -> bool:
    """Whether the operation accesses memory through a tensor's descriptor."""
    effect = ACCESSES.get(op.name)
    return effect is not None and effect.described


def waits(op: Op) -> bool:
    """Whether the operation's program goes on only once memory holds what it expects."""
    effect = ACCESSES.get(op.name)
    return effect is not None and effect.waits


def acquires(op: Op) -> bool:
    """Whether the operation reads with acquire semantics: it sees what others released."""
    return reads(op) and _sem(op) in (Sem.ACQUIRE, Sem.ACQ_REL)


def releases(op: Op) -> bool:
    """Whether the operation writes with release semantics: it publishes what its program did before."""
    return writes(op) and _sem(op) in (Sem.RELEASE, Sem.ACQ_REL)


def _sem(op: Op) -> int:
    return int(op.attributes.get("sem", Sem.ACQ_REL)) if ACCESSES[op.name].orders else Sem.RELAXED


def is_shared(op: Op) -> bool:
    """Whether an atomic is atomic to other programs, not only within its own."""
    return bool(op.attributes.get("scope", Scope.GPU) != Scope.CTA)


class Role(IntEnum):
    """What an access does to the bytes that it touches, as far as other programs are concerned.

    An atomic that is atomic only within its own program counts as a store. A volatile load counts as an atomic load,
    since PTX performs it as a relaxed load of system scope.
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
"""For each role, those of another program that race with it on the same bytes unless something orders the two."""


def role_of(op: Op) -> Role:
    """The role of an access. Raises KeyError for an operation that is no access."""
    effect = ACCESSES[op.name]
    if effect.writes:
        return Role.UPDATE if effect.kind == "atomic" and is_shared(op) else Role.STORE
    return Role.LOAD if effect.kind == "load" and not op.attributes.get("isVolatile", False) else Role.ATOMIC_LOAD
