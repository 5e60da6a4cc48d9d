"""The assumptions that launches of a kernel suggest: tensors as large as arguments say, strides, and the grid."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from triton_lab.launch.argument import Argument
from triton_lab.polyhedral.proofs.proof import Assumption
from triton_lab.polyhedral.proofs.size_fit import SizeFit

if TYPE_CHECKING:
    from triton_lab.launch.launch import Launch


def suggested(launches: Sequence[Launch], written: frozenset[str], sized: bool) -> Iterator[Assumption]:
    """The assumptions, in the order in which they define sizes.

    ``launches`` are of one kernel with the same constants; ``written`` are the tensors that it stores to. Without
    ``sized``, shapes and the grid are not known.
    """
    first = launches[0]
    declared = declared_constants(first)
    sizes: dict[str, tuple[int, ...]] = {}
    for argument in first.arguments:
        if argument.kind == "scalar" and type(argument.value) is int:
            sizes[argument.name] = tuple(int(one.argument(argument.name).value) for one in launches)
    for name, values in sizes.items():
        if min(values) >= 0:
            yield Assumption(f"{name} >= 0", "launch")
    for argument in first.arguments:
        if argument.kind == "constexpr" and argument.name not in declared and type(argument.value) is int:
            yield Assumption(f"{argument.name} == {argument.value}", "compiler")
    if not sized:
        return
    constants = {a.name: a.value for a in first.arguments if a.kind == "constexpr" and type(a.value) is int}
    fit = SizeFit(sizes, {name: value for name, value in constants.items() if name in declared})
    for argument in first.arguments:
        if argument.kind in ("tensor", "descriptor"):
            every = [one.argument(argument.name) for one in launches]
            yield from (Assumption(text, "launch") for text in _tensor(every, fit, argument.name in written))
    for axis in range(3):
        extents = tuple(one.grid[axis] for one in launches)
        found = fit.find(extents)
        if found is not None:
            yield Assumption(f"grid[{axis}] == {found}", "grid")


def declared_constants(launch: Launch) -> frozenset[str]:
    """The parameters that the kernel declares as tl.constexpr."""
    source = launch.compiled[0]
    if source is None:
        return frozenset(a.name for a in launch.arguments if a.kind == "constexpr")
    return frozenset(one.name for one in source.fn.params if one.is_constexpr)


def _tensor(every: Sequence[Argument], fit: SizeFit, written: bool) -> Iterator[str]:
    """What defines the extents and strides of one tensor, by its arguments in the launches."""
    one = every[0]
    rank, name = len(one.shape), one.name
    if any(len(other.shape) != rank for other in every):
        return
    contiguous = all(each.is_contiguous for each in every)
    counts = tuple(_elements(each) for each in every)
    extents = [tuple(each.shape[axis] for each in every) for axis in range(rank)]
    found = [fit.find(values, "stride") for values in extents]
    if contiguous and (rank <= 1 or any(text is None for text in found)):
        total = found[0] if rank == 1 else fit.find(counts, "stride")
        if total is not None or rank == 0:
            yield f"{name}.numel() == {total or 1}"
            return
    for axis, text in enumerate(found):
        quantity = f"{name}.shape[{axis}]"
        if text is None:
            fit.sizes[quantity] = extents[axis]
        else:
            yield f"{quantity} == {text}"
    for axis in range(rank):
        yield from _stride(every, axis, fit)
    if written and rank > 1 and not contiguous:
        yield from _apart(every)


def _stride(every: Sequence[Argument], axis: int, fit: SizeFit) -> Iterator[str]:
    one = every[0]
    strides = tuple(each.strides[axis] for each in every)
    quantity = f"{one.name}.stride({axis})"
    if set(strides) == {1}:
        yield f"{quantity} == 1"
        return
    named = {n: v for n, v in fit.sizes.items() if v == strides and "stride" in n.lower() and "(" not in n}
    inner = range(axis + 1, len(one.shape))
    if named:
        choice = next((n for n in named if n not in fit.used), next(iter(named)))
        fit.used.add(choice)
        yield f"{quantity} == {choice}"
        return
    if all(each.is_contiguous for each in every):
        yield f"{quantity} == " + (" * ".join(f"{one.name}.shape[{k}]" for k in inner) or "1")
        return
    found = fit.find(strides)
    if found is not None:
        yield f"{quantity} == {found}"
    else:
        fit.sizes[quantity] = strides


def _apart(every: Sequence[Argument]) -> Iterator[str]:
    """That rows do not overlap, where that is so in all launches."""
    one = every[0]
    order = sorted(range(len(one.shape)), key=lambda axis: -one.strides[axis])
    for outer, inner in zip(order, order[1:], strict=False):
        if all(each.strides[outer] >= each.shape[inner] * each.strides[inner] for each in every):
            name = one.name
            yield f"{name}.stride({outer}) >= {name}.shape[{inner}] * {name}.stride({inner})"


def _elements(argument: Argument) -> int:
    total = 1
    for extent in argument.shape:
        total *= extent
    return total
