"""What the numbers of a layout must be, told in the words of who wrote them."""

from __future__ import annotations

from collections.abc import Sequence

from triton_lab.compiled.layouts.linear import Linear
from triton_lab.compiled.layouts.refusal import LayoutError
from triton_lab.words import count as counted

CGA = tuple[tuple[int, ...], ...]


def is_power(number: int) -> bool:
    return number > 0 and not number & (number - 1)


def power(name: str, value: int, *, most: int | None = None) -> None:
    """A power of two, and at most ``most``."""
    if not is_power(value) or (most is not None and value > most):
        limit = f" of at most {most}" if most is not None else ""
        raise LayoutError(f"{name} is {value}, but must be a power of two{limit}")


def powers(name: str, values: Sequence[int], rank: int) -> None:
    """One power of two per dimension."""
    if len(values) != rank:
        raise LayoutError(
            f"{name} = {list(values)} has {counted(len(values), 'number')}, but the layout has "
            f"{counted(rank, 'dimension')}"
        )
    for value in values:
        if not is_power(value):
            raise LayoutError(f"{name} = {list(values)} holds {value}; each must be a power of two")


def one_of(name: str, value: object, allowed: Sequence[object]) -> None:
    if value not in allowed:
        raise LayoutError(f"{name} is {value}, but must be one of {', '.join(map(str, allowed))}")


def permutation(order: Sequence[int]) -> None:
    if sorted(order) != list(range(len(order))):
        raise LayoutError(
            f"order = {list(order)} must name each of the {len(order)} dimensions once, the fastest first, "
            f"as {list(reversed(range(len(order))))} does"
        )


def cluster(cga: CGA, rank: int) -> None:
    """The bases of ``block`` over the blocks of a cluster: each bit moves along one dimension, or none."""
    seen: list[list[int]] = [[] for _ in range(rank)]
    for basis in cga:
        if len(basis) != rank:
            raise LayoutError(
                f"CGALayout has the basis {list(basis)} of {counted(len(basis), 'number')}, but the layout has "
                f"{counted(rank, 'dimension')}"
            )
        moved = [axis for axis, value in enumerate(basis) if value]
        if len(moved) > 1 or any(not is_power(basis[axis]) for axis in moved):
            raise LayoutError(
                f"CGALayout has the basis {list(basis)}, but each must be zero or one power of two along one dimension"
            )
        for axis in moved:
            seen[axis].append(basis[axis])
    for axis, values in enumerate(seen):
        if sorted(values) != [1 << bit for bit in range(len(values))]:
            raise LayoutError(
                f"CGALayout = {[list(basis) for basis in cga]} leaves blocks of the cluster out along dimension "
                f"{axis}: it has {sorted(values)}, which should be {[1 << bit for bit in range(len(values))]}"
            )


def tensor(shape: Sequence[int], rank: int, what: str) -> None:
    """A shape that the layout can hold: of its rank, each size a power of two."""
    if len(shape) != rank:
        raise LayoutError(f"the shape {tuple(shape)} has {len(shape)} dimensions, but this {what} layout is for {rank}")
    for axis, size in enumerate(shape):
        if not is_power(size):
            raise LayoutError(
                f"the shape {tuple(shape)} has size {size} in dimension {axis}, but sizes of blocks are powers of two"
            )


def split(cga: CGA, shape: Sequence[int]) -> list[int]:
    """The shape of one block's part."""
    counts = [max([1] + [2 * basis[axis] for basis in cga]) for axis in range(len(shape))]
    for axis, (size, count) in enumerate(zip(shape, counts, strict=True)):
        if size < count:
            raise LayoutError(
                f"dimension {axis} has {counted(size, 'element')}, but the cluster splits it "
                f"among {counted(count, 'block')} (CGALayout)"
            )
    return [size // count for size, count in zip(shape, counts, strict=True)]


def covers(linear: Linear, what: str) -> None:
    """Every element has a place."""
    if not linear.surjective:
        missing = next(number for number in range(1 << 62) if not linear.echelon.spans(number))
        raise LayoutError(
            f"this {what} layout does not hold the whole tensor: element {linear.unpack(missing)} has no place in it"
        )
