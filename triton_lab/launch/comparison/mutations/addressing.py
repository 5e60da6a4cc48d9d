"""Switches for wrong masks and strides.

A mask is replaced by all lanes inside the tensor, or by all lanes inside the row of the block. A stride is replaced by
one of the tensor's own, or by one that the other launch uses for it. Both change an access, and not what is written: so
they are `Switch.unusual`, and an edit of the source that does the same is likelier.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter import memory_access
from triton_lab.interpreter.affine_block import AffineBlock
from triton_lab.ir import Op
from triton_lab.ir.effects import operands_of
from triton_lab.launch.access import elements_at
from triton_lab.launch.comparison.interpreter_changes import REDIRECTED, Redirect, redirected
from triton_lab.launch.comparison.numerics import Switch
from triton_lab.localization import _, ngettext

if TYPE_CHECKING:
    from triton_lab.launch.access import Access
    from triton_lab.launch.argument import Argument
    from triton_lab.launch.launch import Launch

Array = NDArray[Any]

_MOST = 8  # switches of each kind for a launch, since each needs a run


def addresses(launch: Launch, other: Launch | None) -> Iterator[Switch]:
    """Switches for masks, then for strides; ``other`` is the launch to compare with, if it is one."""
    ops = {op.index: op for op in launch.executable.plan.walk()}
    known = [
        (one, ops[one.op], launch.argument(one.argument))
        for one in launch.done
        if one.kind != "atomic" and one.argument is not None and ops[one.op].name in REDIRECTED
    ]
    tensors = [each for each in known if each[2].kind == "tensor" and each[2].shape and each[0].events]
    yield from islice(_masks(tensors), _MOST)
    yield from islice(_strides(tensors, other), _MOST)


_Known = tuple["Access", Op, "Argument"]


def _on_lines(known: Sequence[_Known]) -> str:
    lines = sorted({one.line for one, _op, _argument in known if one.line is not None})
    if not lines:
        return _("of it")
    told = ngettext("on line {numbers}", "on lines {numbers}", len(lines))
    return told.format(numbers=_(" and ").join(map(str, lines)))


def _indices(known: Sequence[_Known]) -> frozenset[int]:
    return frozenset(op.index for _one, op, _argument in known)


def _place(known: Sequence[_Known], names: str = "") -> str:
    """The lines and names for a table, behind the switch's name: `` (line 5)``, `` (x_ptr, line 5)``."""
    lines = _on_lines(known).removeprefix("on ") if any(one.line is not None for one, _op, _argument in known) else ""
    told = ", ".join(filter(None, (names, lines)))
    return f" ({told})" if told else ""


# --- Masks --------------------------------------------------------------------------------------------


def _masks(known: Sequence[_Known]) -> Iterator[Switch]:
    """Switches for masks: all accesses under one mask at once, if that changes any lane."""
    groups: dict[int, list[_Known]] = defaultdict(list)
    for each in known:
        at = operands_of(each[1]).mask
        groups[-1 - each[1].index if at is None else each[1].operands[at]].append(each)
    for group in groups.values():
        for rows, name in ((True, _("every lane inside its row")), (False, _("every lane inside its tensor"))):
            apart = not rows or any(len(argument.shape) > 1 for _one, _op, argument in group)
            if apart and any(_differs(each, rows) for each in group):
                layers = redirected({op.index: _masked(argument, rows) for _unused, op, argument in group})
                yield Switch(
                    name, _("the mask {where}").format(where=_on_lines(group)),
                    redirects=(layers,), ops=_indices(group), place=_place(group), unusual=True,
                )  # fmt: skip


def _differs(each: _Known, rows: bool) -> bool:
    one, _unused, argument = each
    return any(
        not np.array_equal(
            _inside(event.addresses(), argument, _contiguous(event.pointer, argument), rows), event.active()
        )
        for event in one.events
    )


def _masked(argument: Argument, rows: bool) -> Redirect:
    def change(
        where: memory_access.Pointer, mask: memory_access.Mask
    ) -> tuple[memory_access.Pointer, memory_access.Mask]:
        found = where.elements(np.dtype(np.int64)) if isinstance(where, AffineBlock) else where
        return where, _inside(found, argument, _contiguous(where, argument), rows)

    return change


def _contiguous(where: memory_access.Pointer, argument: Argument) -> int:
    """The axis of the block along which elements of a row are contiguous; the last axis if that is not known."""
    if isinstance(where, AffineBlock) and argument.itemsize in where.strides:
        return where.strides.index(argument.itemsize)
    return (len(where.shape) if isinstance(where, AffineBlock) else where.ndim - 1) - 1


def _inside(found: Array, argument: Argument, axis: int, rows: bool) -> Array:
    """Which byte addresses are elements; with ``rows``, elements of the row of the first lane."""
    elements = elements_at(found - argument.address, argument)
    inside = elements >= 0
    if rows and len(argument.shape) > 1 and axis >= 0:
        row = elements // argument.shape[-1]
        inside = inside & (row == row.take([0], axis=axis + 1))
    return np.asarray(inside)


# --- Strides ------------------------------------------------------------------------------------------


def _strides(known: Sequence[_Known], other: Launch | None) -> Iterator[Switch]:
    """Switches for each used stride that is not the tensor's own: for one access, then for all with this stride."""
    found: dict[tuple[int, int], list[_Known]] = defaultdict(list)
    for each in known:
        one, _unused, argument = each
        used = _used(one, argument)
        right = {*argument.strides, *_by(other, one)}
        for stride in used:
            for instead in sorted(right - {stride, 0, 1}):
                if stride > 1 and stride not in argument.strides:
                    found[stride, instead].append(each)
    for (stride, instead), group in found.items():
        parts = [[each] for each in group] + ([group] if len(group) > 1 else [])
        for part in parts:
            layers = redirected({op.index: _restrided(argument, stride, instead) for _unused, op, argument in part})
            names = " and ".join(dict.fromkeys(argument.name for _one, _op, argument in part))
            yield Switch(
                _("a stride of {instead} instead of {stride}").format(instead=instead, stride=stride),
                _("the stride of {names} {on_lines}").format(names=names, on_lines=_on_lines(part)),
                redirects=(layers,),
                ops=_indices(part),
                place=_place(part, names),
                unusual=True,
            )


def _used(one: Access, argument: Argument) -> list[int]:
    """An access's strides, in elements: of its block, between programs, and between iterations."""
    pointers = [event.pointer for event in one.events]
    if not all(isinstance(pointer, AffineBlock) for pointer in pointers):
        return []
    first = pointers[0]
    assert isinstance(first, AffineBlock)
    size = argument.itemsize
    steps = [abs(stride) for stride, extent in zip(first.strides, first.shape, strict=True) if extent > 1]
    bases = (
        np.concatenate([pointer.base for pointer in pointers if isinstance(pointer, AffineBlock)]) - argument.address
    )
    steps += [
        math.gcd(*map(int, np.diff(pointer.base)))
        for pointer in pointers[:1]
        if isinstance(pointer, AffineBlock) and pointer.base.size > 1
    ]
    steps.append(math.gcd(*map(int, np.diff(bases))) if bases.size > 1 else 0)
    return list(dict.fromkeys(step // size for step in steps if step and step % size == 0))


def _by(other: Launch | None, one: Access) -> list[int]:
    """The strides that another launch uses for an argument of the same name, in accesses of the same kind."""
    if other is None:
        return []
    twins = [two for two in other.done if two.kind == one.kind and two.argument == one.argument and two.events]
    return [stride for two in twins for stride in _used(two, other.argument(str(two.argument)))]


def _restrided(argument: Argument, stride: int, instead: int) -> Redirect:
    """Replace ``stride`` by ``instead``, in the block and in its offset from the tensor's start."""
    size = argument.itemsize

    def change(
        where: memory_access.Pointer, mask: memory_access.Mask
    ) -> tuple[memory_access.Pointer, memory_access.Mask]:
        if not isinstance(where, AffineBlock):
            return where, mask
        whole, rest = np.divmod(where.base - argument.address, stride * size)
        strides = tuple(instead * size if one == stride * size else one for one in where.strides)
        return AffineBlock(argument.address + whole * instead * size + rest, strides, where.shape), mask

    return change
