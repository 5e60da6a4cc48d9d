"""Words for the elements of a result that are wrong: how many, at which indices, for which numbers of an argument."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import lgamma, log
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from triton_lab import messages
from triton_lab.launch.comparison.relations import part_of
from triton_lab.localization import _

if TYPE_CHECKING:
    import torch

_FEW = 4  # elements: a box around fewer says nothing
_CHANCE = 20.0  # bits: a bound that parts wrong elements from right ones with less may do so by chance


def which_are(wrong: NDArray[np.bool_], given: Mapping[str, torch.Tensor]) -> str:
    """A sentence about the ``wrong`` elements of a result, with a space before it; "" if there is only one element.

    ``given`` are the arguments by name: one of the result's shape may tell which elements are wrong.
    """
    total = int(np.count_nonzero(wrong))
    if wrong.size == 1:
        return ""
    differ = _("{elements} of {numel} differ").format(
        elements=messages.count(total, "element"), numel=messages.number(wrong.size)
    )
    where = _where(wrong, given)
    if not where:
        return " " + _("{differ}.").format(differ=differ) if total > 1 else ""
    return " " + _("{differ}: {where}.").format(differ=differ, where=where)


def _where(wrong: NDArray[np.bool_], given: Mapping[str, torch.Tensor]) -> str:
    if wrong.all():
        return ""
    bound = next(_bounds(wrong, given), "")
    if bound:
        return bound
    part = part_of("", wrong) if np.count_nonzero(wrong) > 1 else None
    if part is not None:
        return _("those in {part}").format(part=part)
    box = _box(wrong)
    return "" if box is None else _("all of them in {part}").format(part=part_of("", box))


def _box(wrong: NDArray[np.bool_]) -> NDArray[np.bool_] | None:
    """The smallest box around the ``wrong`` elements; None if it may be smaller than the whole by chance."""
    box = np.zeros(wrong.shape, np.bool_)
    ends = [(int(at.min()), int(at.max()) + 1) for at in wrong.nonzero()]
    box[tuple(slice(low, high) for low, high in ends)] = True
    inside, some = int(np.count_nonzero(box)), int(np.count_nonzero(wrong))
    bits = some * log(wrong.size / inside) / log(2)  # as many elements, each of them in the box
    return box if some >= _FEW and bits > _CHANCE else None


def _bounds(wrong: NDArray[np.bool_], given: Mapping[str, torch.Tensor]) -> Iterator[str]:
    """For each argument of the result's shape bounds beyond which, or within which, just the wrong elements are."""
    if _bits(wrong) < _CHANCE:
        return
    for name, tensor in given.items():
        if tuple(tensor.shape) != wrong.shape:
            continue
        numbers = tensor.double().numpy()
        bad, good = numbers[wrong], numbers[~wrong]
        if bad.min() > good.max():
            yield _("those where {name} is {least} or more").format(name=name, least=messages.significant(bad.min()))
        elif bad.max() < good.min():
            yield _("those where {name} is {most} or less").format(name=name, most=messages.significant(bad.max()))
        elif not ((good.min() <= bad) & (bad <= good.max())).any():
            yield _("those where {name} is less than {least} or more than {most}").format(
                name=name, least=messages.significant(good.min()), most=messages.significant(good.max())
            )
        elif not ((bad.min() <= good) & (good <= bad.max())).any():
            yield _("those where {name} is from {least} to {most}").format(
                name=name, least=messages.significant(bad.min()), most=messages.significant(bad.max())
            )


def _bits(wrong: NDArray[np.bool_]) -> float:
    """How unlikely it is by chance that just these of all elements have the largest numbers."""
    total, some = wrong.size, int(np.count_nonzero(wrong))
    return (lgamma(total + 1) - lgamma(some + 1) - lgamma(total - some + 1)) / log(2)
