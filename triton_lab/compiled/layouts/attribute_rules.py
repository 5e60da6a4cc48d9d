"""Checks a layout's numbers; the errors call them as the user wrote them."""

from __future__ import annotations

import math
from collections.abc import Sequence

from triton_lab.compiled.layouts.layout_error import LayoutError
from triton_lab.compiled.layouts.linear_layout import Linear
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
        limit = f" of at most {most}" if most is not None else ""
        raise LayoutError(f"{name} is {value}, but must be a power of two{limit}")


def powers(name: str, values: Sequence[int], rank: int) -> None:
    """Check for one power of two per dimension."""
    if len(values) != rank:
        raise LayoutError(
            f"{name} = {list(values)} has {counted(len(values), 'number')}, but the layout has "
            f"{counted(rank, 'dimension')}"
        )
    for value in values:
        if not is_power(value):
            raise LayoutError(f"{name} = {list(values)} holds {value}; each must be a power of two")
    most = _MOST.get(name)
    if most is not None and math.prod(values) > most:
        product = counted(math.prod(values), _UNITS[name])
        raise LayoutError(f"{name} = {list(values)} are {product}, but {_LIMITS[name]}")


def one_of(name: str, value: object, allowed: Sequence[object]) -> None:
    if value not in allowed:
        raise LayoutError(f"{name} is {value}, but must be one of {', '.join(map(str, allowed))}")


def permutation(order: Sequence[int]) -> None:
    if sorted(order) != list(range(len(order))):
        raise LayoutError(
            f"order = {list(order)} must name each of the {len(order)} dimensions once, the fastest first, "
            f"as {list(reversed(range(len(order))))} does"
        )


def cluster(cga: CGA, rank: int, name: str = "CGALayout", most: int = 4) -> None:
    """Check the bases of ``block`` in a cluster, or other bases: each bit moves along one dimension at most."""
    if len(cga) > most:
        raise LayoutError(f"{name} has {counted(len(cga), 'basis vector')}, but at most {most} make sense")
    seen: list[list[int]] = [[] for _ in range(rank)]
    for basis in cga:
        if len(basis) != rank:
            raise LayoutError(
                f"{name} has the basis {list(basis)} of {counted(len(basis), 'number')}, but the layout has "
                f"{counted(rank, 'dimension')}"
            )
        moved = [axis for axis, value in enumerate(basis) if value]
        if len(moved) > 1 or any(not is_power(basis[axis]) for axis in moved):
            raise LayoutError(
                f"{name} has the basis {list(basis)}, but each must be zero or one power of two along one dimension"
            )
        for axis in moved:
            seen[axis].append(basis[axis])
    for axis, values in enumerate(seen):
        if sorted(values) != [1 << bit for bit in range(len(values))]:
            what = "blocks of the cluster" if name == "CGALayout" else "tiles"
            raise LayoutError(
                f"{name} = {[list(basis) for basis in cga]} leaves {what} out along "
                f"dimension {axis}: it has {sorted(values)}, which should be {[1 << bit for bit in range(len(values))]}"
            )


def tensor(shape: Sequence[int], rank: int, what: str) -> None:
    """Check a shape that the layout can hold: its rank fits, and each size is a power of two."""
    if len(shape) != rank:
        raise LayoutError(f"the shape {tuple(shape)} has {len(shape)} dimensions, but this {what} layout is for {rank}")
    for axis, size in enumerate(shape):
        if not is_power(size):
            raise LayoutError(
                f"the shape {tuple(shape)} has size {size} in dimension {axis}, but sizes of blocks are powers of two"
            )
    if math.prod(shape) > MOST_ELEMENTS:
        raise LayoutError(
            f"the shape {tuple(shape)} has {counted(math.prod(shape), 'element')}, but a program's tensor has at most "
            f"{MOST_ELEMENTS:,}"
        )


def split(cga: CGA, shape: Sequence[int]) -> list[int]:
    """The shape of one block's part of the tensor."""
    counts = [max([1] + [2 * basis[axis] for basis in cga]) for axis in range(len(shape))]
    for axis, (size, count) in enumerate(zip(shape, counts, strict=True)):
        if size < count:
            raise LayoutError(
                f"dimension {axis} has {counted(size, 'element')}, but the cluster splits it "
                f"among {counted(count, 'block')} (CGALayout)"
            )
    return [size // count for size, count in zip(shape, counts, strict=True)]


def covers(linear: Linear, what: str) -> None:
    """Check that every element has a place."""
    if not linear.surjective:
        missing = next(number for number in range(1 << 62) if not linear.echelon.spans(number))
        raise LayoutError(
            f"this {what} layout does not hold the whole tensor: element {linear.unpack(missing)} has no place in it"
        )
