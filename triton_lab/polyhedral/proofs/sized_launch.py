"""A launch of a proved kernel with given sizes: tensors as the assumptions say, on the CPU target."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from triton_lab.launch.launch import Launch
from triton_lab.launch.recording.own_launch import recorded_launch
from triton_lab.polyhedral.core.affine_expr import AffineExpr
from triton_lab.polyhedral.proofs.proof_model import ProofModel

# Larger tensors and grids are not made.
_MOST_ELEMENTS = 1 << 22
_MOST_PROGRAMS = 1 << 12


def launch_at(model: ProofModel, sizes: Mapping[str, int], floats: float = 0.0) -> Launch | None:
    """The launch with these values of the free symbols, with its error if it fails.

    Tensors of floating-point numbers hold ``floats``: zeros would hide what they are multiplied with. None if the sizes
    contradict the assumptions, are too large, or Triton refuses them.
    """
    try:
        grid, arguments = _call(model, sizes, floats)
    except _CannotMake:
        return None
    function = model.launch.compiled[0].fn
    try:
        return recorded_launch(lambda: function[grid](**arguments))
    except Exception:  # what Triton refuses is no launch
        return None


class _CannotMake(Exception):
    """Tensors or a grid that are too large, or not known."""


def _call(model: ProofModel, sizes: Mapping[str, int], floats: float) -> tuple[tuple[int, ...], dict[str, Any]]:
    """The grid and the arguments for these sizes. Raises _CannotMake."""

    def number(value: AffineExpr) -> int:
        found = value.substitute({name: AffineExpr((), one) for name, one in sizes.items()})
        if not found.is_constant:
            raise _CannotMake
        return found.constant

    grid = tuple(number(extent) for extent in model.grid)
    if min(grid) < 1 or grid[0] * grid[1] * grid[2] > _MOST_PROGRAMS:
        raise _CannotMake
    for constraint in model.context:
        value = number(constraint.expression)
        if value != 0 if constraint.equality else value < 0:
            raise _CannotMake
    arguments: dict[str, Any] = {}
    for argument in model.launch.arguments:
        if argument.kind == "tensor":
            arguments[argument.name] = _tensor(model, argument.name, argument.dtype, number, floats)
        elif argument.kind == "scalar" and type(argument.value) is int:
            arguments[argument.name] = number(model.sizes.of(argument.name))
        elif argument.kind in ("scalar", "constexpr") and "[" not in argument.name:
            arguments[argument.name] = argument.value
        else:
            raise _CannotMake
    return grid, arguments


def _tensor(model: ProofModel, name: str, dtype: str, number: Callable[[AffineExpr], int], floats: float) -> Any:
    """A tensor whose storage ends with its last element.

    Integers are zeros, or the ends of what is assumed of them in turn.
    """
    import torch

    extents = model.sizes.extents(name)
    if extents is None:
        raise _CannotMake
    shape = tuple(number(one) for one in extents.shape)
    strides = tuple(number(one) for one in extents.strides)
    if min((*shape, *strides), default=0) < 0:
        raise _CannotMake
    needed = 0 if 0 in shape else 1 + sum((extent - 1) * stride for extent, stride in zip(shape, strides, strict=True))
    if needed > _MOST_ELEMENTS:
        raise _CannotMake
    least = most = 0
    if name in model.sizes.contents:
        least, most = (number(one) for one in model.sizes.contents[name])
        if needed and least > most:
            raise _CannotMake
    storage = torch.full((needed,), least, dtype=torch.int64)
    storage[1::2] = most
    storage = storage.to(getattr(torch, dtype))
    if storage.is_floating_point():
        storage = torch.full((needed,), floats).to(storage.dtype)
    return storage.as_strided(shape, strides)
