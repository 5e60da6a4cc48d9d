"""The values that accesses loaded from or stored to each element."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from triton_lab.launch.element_index import Digits, ElementPlaces, digits, places
from triton_lab.launch.maps.value_histogram import as_float

if TYPE_CHECKING:
    from triton_lab.launch.access import Access
    from triton_lab.launch.argument import Argument


@dataclass(frozen=True)
class ElementValues:
    """The values of an argument's elements: ``last`` (elements,) at the last touch in program order, if ``touched``.

    ``everything`` holds the values of all active lanes.
    """

    last: npt.NDArray[np.float64]
    touched: npt.NDArray[np.bool_]
    everything: npt.NDArray[Any]


def element_values(argument: Argument, accesses: Sequence[Access]) -> ElementValues:
    """Collect the values that these accesses loaded or stored. Replays the launch; raises CannotReplay."""
    known: Digits | ElementPlaces | None = digits(argument.shape, argument.strides)
    shared = any(stride == 0 and extent > 1 for stride, extent in zip(argument.strides, argument.shape, strict=True))
    first_of = None
    if known is None or shared:
        known = places(argument.shape, argument.strides)
        first_of = known.first_of
    last = np.zeros(math.prod(argument.shape))
    touched = np.zeros(len(last), dtype=bool)
    everything: list[npt.NDArray[Any]] = []
    ordered = sorted((access.order(i), n, i) for n, access in enumerate(accesses) for i in range(access.iterations))
    recalled = accesses[0].recall(accesses) if accesses else {}
    for _, number, iteration in ordered:
        access = accesses[number]
        mask = access.mask(iteration)
        values = np.broadcast_to(access.values_of(iteration, recalled), mask.shape)[mask]
        whole, rest = np.divmod(access.address(iteration)[mask] - argument.address, argument.itemsize)
        element = np.where(rest == 0, known.element(whole), -1)
        inside = element >= 0
        last[element[inside]] = as_float(values)[inside]
        touched[element[inside]] = True
        everything.append(values)
    if first_of is not None:
        last, touched = last[first_of], touched[first_of]
    kinds = {values.dtype for values in everything}
    if len(kinds) > 1:
        everything = [as_float(values) for values in everything]
    return ElementValues(last, touched, np.concatenate(everything) if everything else np.zeros(0))
