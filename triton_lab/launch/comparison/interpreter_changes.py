"""Changes of a run as layers over the interpreter's functions, so that changes can be combined.

A layer takes the function that would run an operation, and returns the one that runs it instead. Of two layers, the
second wraps the first. Functions of loads and stores get the pointer and the mask, so that a layer can change one of
them and leave the other to other layers.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter import memory_access
from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.op_registry import Implementation
from triton_lab.interpreter.ops.memory import as_pointer, load_at, masking, store_at
from triton_lab.interpreter.runtime_values import Value
from triton_lab.interpreter.variants.arithmetic_variants import Table, ordinary
from triton_lab.ir import Op
from triton_lab.ir.effects import operands_of

Array = NDArray[Any]
Layer = Callable[[Implementation], Implementation]
Layers = Mapping[str, Layer]
# Called with the function that would run the operation, the frame, the operation, and its operands' values.
Change = Callable[..., Any]


@dataclass(frozen=True)
class ChangedAccess:
    """The pointer and the mask of a load or store."""

    where: memory_access.Pointer
    mask: memory_access.Mask

    @classmethod
    def of(cls, op: Op, operands: Sequence[Value]) -> ChangedAccess:
        """The pointer and the mask in the operands."""
        at = operands_of(op)
        return cls(as_pointer(operands[at.address]), masking(operands, at))

    def active(self) -> Array:
        """The mask as elements."""
        if self.mask is None:
            return np.ones(1, np.bool_)
        return self.mask if isinstance(self.mask, np.ndarray) else self.mask.elements()


Redirect = Callable[[memory_access.Pointer, memory_access.Mask], tuple[memory_access.Pointer, memory_access.Mask]]


def table_of(base: Table, layers: Iterable[Layers]) -> Table:
    """The functions of ``base`` under ``layers``, the first of them innermost."""
    found = dict(base)
    for each in layers:
        for name, layer in each.items():
            found[name] = layer(found.get(name) or _BASES.get(name) or ordinary(name))
    return found


def changed(ops: Iterable[Op], change: Change) -> Layers:
    """Layers that run ``change(inner, frame, op, *operands)`` for these operations."""
    chosen = list(ops)
    layer = on({op.index for op in chosen}, change)
    return {op.name: layer for op in chosen}


def on(chosen: Collection[int], change: Change) -> Layer:
    """A layer that changes only the operations ``chosen`` (by index)."""

    def layer(inner: Implementation) -> Implementation:
        def run(frame: Frame, op: Op, *operands: Value, **told: Any) -> Any:
            if op.index not in chosen:
                return inner(frame, op, *operands, **told)
            return change(inner, frame, op, *operands, **told)

        return run

    return layer


def redirected(changes: Mapping[int, Redirect]) -> Layers:
    """Layers in which some loads and stores (by index of the operation) have another pointer or mask."""

    def change(
        inner: Implementation, frame: Frame, op: Op, *operands: Value, touch: ChangedAccess | None = None
    ) -> Any:
        touch = touch or ChangedAccess.of(op, operands)
        return inner(frame, op, *operands, touch=ChangedAccess(*changes[op.index](touch.where, touch.mask)))

    return dict.fromkeys(_BASES, on(changes, change))


def _load(frame: Frame, op: Op, *operands: Value, touch: ChangedAccess | None = None) -> Value:
    touch = touch or ChangedAccess.of(op, operands)
    return load_at(frame, op, operands, touch.where, touch.mask)


def _store(frame: Frame, op: Op, *operands: Value, touch: ChangedAccess | None = None) -> None:
    touch = touch or ChangedAccess.of(op, operands)
    store_at(frame, op, operands, touch.where, touch.mask)


_BASES: Table = {"tt.load": _load, "tt.store": _store}
REDIRECTED = frozenset(_BASES)
"""The accesses whose pointer or mask may be changed, by name."""
