"""Checks a layout's numbers; the errors call them as the user wrote them."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any

from triton_lab.compiled.layouts.layout_error import LayoutError
from triton_lab.compiled.layouts.linear_layout import Linear
from triton_lab.localization import _
from triton_lab.messages import count as counted

CGA = tuple[tuple[int, ...], ...]


def is_power(number: int) -> bool:
    return number > 0 and not number & (number - 1)


MOST_ELEMENTS = 1 << 20  # of a tensor: Triton's own limit
_UNITS = {"threadsPerWarp": "thread", "warpsPerCTA": "warp", "sizePerThread": "element", "tilesPerWarp": "tile"}
_LIMITS = {
    "threadsPerWarp": "a warp has 32, or 64 on AMD's CDNA",
    "warpsPerCTA": "a program has at most 64",
    "sizePerThread": "a tensor has at most 1,048,576",
    "tilesPerWarp": "a tensor has at most 1,048,576",
}
_MOST = {"threadsPerWarp": 64, "warpsPerCTA": 64, "sizePerThread": MOST_ELEMENTS, "tilesPerWarp": MOST_ELEMENTS}


def power(name: str, value: int, *, most: int | None = None) -> None:
    """Check a power of two that is at most ``most``."""
    if not is_power(value) or (most is not None and value > most):
        limit = _(" of at most {most}").format(most=most) if most is not None else ""
        raise LayoutError(
            _("{name} is {value}, but must be a power of two{limit}").format(name=name, value=value, limit=limit)
        )


def powers(name: str, values: Sequence[int], rank: int) -> None:
    """Check for one power of two per dimension."""
    if len(values) != rank:
        raise LayoutError(
            _("{name} = {values} has {numbers}, but the layout has {dimensions}").format(
                name=name,
                values=list(values),
                numbers=counted(len(values), "number"),
                dimensions=counted(rank, "dimension"),
            )
        )
    for value in values:
        if not is_power(value):
            raise LayoutError(
                _("{name} = {values} holds {value}; each must be a power of two").format(
                    name=name, values=list(values), value=value
                )
            )
    most = _MOST.get(name)
    if most is not None and math.prod(values) > most:
        product = counted(math.prod(values), _UNITS[name])
        raise LayoutError(
            _("{name} = {values} are {product}, but {limits}").format(
                name=name, values=list(values), product=product, limits=_LIMITS[name]
            )
        )


def one_of(name: str, value: object, allowed: Sequence[object]) -> None:
    if value not in allowed:
        raise LayoutError(
            _("{name} is {value}, but must be one of {allowed}").format(
                name=name, value=value, allowed=", ".join(map(str, allowed))
            )
        )


def permutation(order: Sequence[int]) -> None:
    if sorted(order) != list(range(len(order))):
        raise LayoutError(
            _(
                "order = {order} must name each of the {order2} dimensions once, the fastest first, as {reversed} does"
            ).format(order=list(order), order2=len(order), reversed=list(reversed(range(len(order)))))
        )


def cluster(cga: CGA, rank: int, name: str = "CGALayout", most: int = 4) -> None:
    """Check the bases of ``block`` in a cluster, or other bases: each bit moves along one dimension at most."""
    if len(cga) > most:
        raise LayoutError(
            _("{name} has {vectors}, but at most {most} make sense").format(
                name=name, vectors=counted(len(cga), "basis vector"), most=most
            )
        )
    seen: list[list[int]] = [[] for _unused in range(rank)]
    for basis in cga:
        if len(basis) != rank:
            raise LayoutError(
                _("{name} has the basis {basis} of {numbers}, but the layout has {dimensions}").format(
                    name=name,
                    basis=list(basis),
                    numbers=counted(len(basis), "number"),
                    dimensions=counted(rank, "dimension"),
                )
            )
        moved = [axis for axis, value in enumerate(basis) if value]
        if len(moved) > 1 or any(not is_power(basis[axis]) for axis in moved):
            raise LayoutError(
                _("{name} has the basis {basis}, but each must be zero or one power of two along one dimension").format(
                    name=name, basis=list(basis)
                )
            )
        for axis in moved:
            seen[axis].append(basis[axis])
    for axis, values in enumerate(seen):
        if sorted(values) != [1 << bit for bit in range(len(values))]:
            what = _("blocks of the cluster") if name == "CGALayout" else "tiles"
            raise LayoutError(
                _(
                    "{name} = {value} leaves {what} out along dimension {axis}: it has {values}, which "
                    "should be {value2}"
                ).format(
                    name=name,
                    value=[list(basis) for basis in cga],
                    what=what,
                    axis=axis,
                    values=sorted(values),
                    value2=[1 << bit for bit in range(len(values))],
                )
            )


def tensor(shape: Sequence[int], rank: int, what: str) -> None:
    """Check a shape that the layout can hold: its rank fits, and each size is a power of two."""
    if len(shape) != rank:
        raise LayoutError(
            _("the shape {shape} has {shape2} dimensions, but this {what} layout is for {rank}").format(
                shape=tuple(shape), shape2=len(shape), what=what, rank=rank
            )
        )
    for axis, size in enumerate(shape):
        if not is_power(size):
            raise LayoutError(
                _(
                    "the shape {shape} has size {size} in dimension {axis}, but sizes of blocks are powers of two"
                ).format(shape=tuple(shape), size=size, axis=axis)
            )
    if math.prod(shape) > MOST_ELEMENTS:
        raise LayoutError(
            _("the shape {shape} has {elements}, but a program's tensor has at most {most_elements}").format(
                shape=tuple(shape), elements=counted(math.prod(shape), "element"), most_elements=f"{MOST_ELEMENTS:,}"
            )
        )


def inside(coordinate: Sequence[int], shape: Sequence[int]) -> None:
    """Check that a tensor has an element."""
    if len(coordinate) != len(shape):
        raise LayoutError(
            _("an element of a tensor of shape {shape} has {shape2} coordinates").format(shape=shape, shape2=len(shape))
        )
    for axis, (value, size) in enumerate(zip(coordinate, shape, strict=True)):
        if not 0 <= value < size:
            raise LayoutError(
                _("element {coordinate} is outside of dimension {axis}, which has {size}").format(
                    coordinate=tuple(coordinate), axis=axis, size=size
                )
            )


def split(cga: CGA, shape: Sequence[int]) -> list[int]:
    """The shape of one block's part of the tensor."""
    counts = [max([1] + [2 * basis[axis] for basis in cga]) for axis in range(len(shape))]
    for axis, (size, count) in enumerate(zip(shape, counts, strict=True)):
        if size < count:
            raise LayoutError(
                _("dimension {axis} has {elements}, but the cluster splits it among {blocks} (CGALayout)").format(
                    axis=axis, elements=counted(size, "element"), blocks=counted(count, "block")
                )
            )
    return [size // count for size, count in zip(shape, counts, strict=True)]


def covers(linear: Linear, what: str) -> None:
    """Check that every element has a place."""
    if not linear.surjective:
        missing = next(number for number in range(1 << 62) if not linear.echelon.spans(number))
        raise LayoutError(
            _("this {what} layout does not hold the whole tensor: element {unpack} has no place").format(
                what=what, unpack=linear.unpack(missing)
            )
        )


def types(kind: type[Any], given: Mapping[str, Any]) -> None:
    """Check the types of a layout's parameters, before arithmetic fails on one."""
    for field in dataclasses.fields(kind):
        value, wanted = given.get(field.name, field.default), str(field.type)
        if wanted == "int" and (isinstance(value, bool) or not isinstance(value, int)):
            raise LayoutError(_("{name} is {value}, but must be a number").format(name=field.name, value=repr(value)))
        if wanted == "bool" and not isinstance(value, bool):
            raise LayoutError(
                _("{name} is {value}, but must be true or false").format(name=field.name, value=repr(value))
            )
        if wanted == "tuple[int, ...]" and not _numbers(value):
            raise LayoutError(
                _("{name} is {value}, but must be a list of numbers, one for each dimension").format(
                    name=field.name, value=repr(value)
                )
            )
        if wanted == "CGA" and not (isinstance(value, tuple) and all(map(_numbers, value))):
            raise LayoutError(
                _("{name} is {value}, but must be a list of basis vectors").format(name=field.name, value=repr(value))
            )


def _numbers(value: object) -> bool:
    return isinstance(value, tuple) and all(isinstance(each, int) and each >= 0 for each in value)
