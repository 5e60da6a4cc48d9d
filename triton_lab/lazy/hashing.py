"""The hash of a graph: everything that changes what a compiled graph computes, or what it does to memory.

    ops        the operations, their operands and dimensions, and which values are outputs
    shapes     of every value
    dtypes     of every value
    strides    the index map of every view and of every write through a view
    constants  the numbers written in the program
    donors     the inputs that may be overwritten
    target     the target of the compiler, and the device that the kernels run on

If one were left out, two different graphs would share an executable. `hash_includes_donors(False)` leaves the donors
out on purpose.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, fields

from triton_lab.lazy.graph import Constant, Graph, short
from triton_lab.lazy.index_maps import Map
from triton_lab.localization import _


@dataclass(frozen=True)
class Ingredients:
    """Each ingredient as text."""

    ops: str
    shapes: str
    dtypes: str
    strides: str
    constants: str
    donors: str
    target: str

    def names(self) -> tuple[str, ...]:
        return tuple(field.name for field in fields(self))

    def key(self, include_donors: bool) -> str:
        """The hash, as 64 hexadecimal digits. Each ingredient enters with its name and its length."""
        digest = hashlib.sha256()
        for name in self.names():
            if include_donors or name != "donors":
                text = getattr(self, name)
                digest.update(f"{name} {len(text)} {text};".encode())
        return digest.hexdigest()

    def differing(self, other: Ingredients) -> tuple[str, ...]:
        """The names of the ingredients that differ."""
        return tuple(name for name in self.names() if getattr(self, name) != getattr(other, name))


def ingredients(graph: Graph, donors: tuple[int, ...], target: str) -> Ingredients:
    """The ingredients of a graph's hash. `donors` are input indices, decided before."""
    ops, strides, constants = [], [], []
    for number, op in enumerate(graph.ops):
        along = ""
        if isinstance(op.attribute, Map):
            strides.append(f"%{number}: {op.attribute}")
        elif isinstance(op.attribute, Constant):
            constants.append(f"%{number}: {op.attribute.text}")
        elif op.attribute is not None:
            along = f" {op.attribute}"
        ops.append(f"{op.name}({', '.join(f'%{operand}' for operand in op.operands)}{along})")
    ops.append("return " + ", ".join(f"%{output}" for output in graph.outputs))
    return Ingredients(
        ops="; ".join(ops),
        shapes="; ".join(str(op.shape) for op in graph.ops),
        dtypes="; ".join(short(op.dtype) for op in graph.ops),
        strides="; ".join(strides) or "all contiguous",
        constants="; ".join(constants) or "none",
        donors=", ".join(f"in{donor}" for donor in donors) or "none",
        target=target,
    )


class _Switch:
    """A context manager for the setting whether donors are part of the key; it restores the old one."""

    def __init__(self, include: bool, before: bool):
        self.include = include
        self._before = before

    def __enter__(self) -> bool:
        return self.include

    def __exit__(self, *_: object) -> None:
        global _includes
        _includes = self._before

    def __repr__(self) -> str:
        return _("the hash {which} the donors").format(which="includes" if self.include else "leaves out")


_includes = True


def hash_includes_donors(include: bool) -> _Switch:
    """Put the donors into the hash (the default), or leave them out and see the bug that this causes.

    It takes effect at once; in a `with` statement, it ends with the block. An executable cached under one setting is
    never used under the other.

    >>> with lab.lazy.hash_includes_donors(False):
    ...     t = lab.lazy.ones(2) + 1
    ...     step = lab.lazy.mark_step()
    >>> step.donors_hashed
    False
    """
    global _includes
    if not isinstance(include, bool):
        raise TypeError(_("hash_includes_donors takes True or False, not {include}").format(include=repr(include)))
    before, _includes = _includes, include
    return _Switch(include, before)


def donors_included() -> bool:
    """The current setting of the switch."""
    return _includes
