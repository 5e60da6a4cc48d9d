"""`ObservedRun`: one replay of a launch with all that the relations look at."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from triton_lab.interpreter.observers import together
from triton_lab.launch.comparison.launch_results import before, read, tensors
from triton_lab.launch.explanation.element_sources import ElementSources
from triton_lab.launch.explanation.observed_values import ObservedValues
from triton_lab.launch.explanation.stored_values import KernelValues
from triton_lab.launch.propagation.masked_lane_marks import MaskedTerms
from triton_lab.launch.recording.replay_error import CannotReplay
from triton_lab.launch.replay.replay_run import replay
from triton_lab.localization import _

if TYPE_CHECKING:
    from triton_lab.launch.launch import Launch

Array = NDArray[Any]

MOST_BYTES = 1 << 28  # of all tensors of a launch
MOST_LANES = 1 << 24  # lanes of loads that are followed
MOST_VALUES = 1 << 24  # elements of values that are kept


@dataclass(frozen=True, eq=False)
class ObservedRun:
    """A launch run again on the CPU: its tensors ``before`` and ``after``, by name, and what observers noted."""

    values: KernelValues
    before: dict[str, Array]
    after: dict[str, Array]
    sources: ElementSources
    masked: MaskedTerms
    observed: ObservedValues

    @property
    def launch(self) -> Launch:
        """The launch as it was recorded."""
        return self.values.launch

    @classmethod
    def of(cls, values: KernelValues, wanted: Collection[int]) -> ObservedRun:
        """Run the launch again; keep the values of the operations ``wanted``, by index. Raises CannotReplay."""
        launch = values.launch
        size = sum(math.prod(one.shape) * one.itemsize for one in tensors(launch))
        if size > MOST_BYTES:
            raise CannotReplay(
                _("its tensors have {size} MB, and {most} MB are looked at").format(
                    size=size >> 20, most=MOST_BYTES >> 20
                )
            )
        was = before(launch)
        sources, masked = ElementSources(launch, MOST_LANES), MaskedTerms(launch)
        observed = ObservedValues(wanted, MOST_VALUES)
        watching = together([sources, masked, observed])
        memory = replay(launch, observer=watching, access_observer=watching)
        found = {argument.name: read(memory, argument) for argument in tensors(launch)}
        return cls(values, was, found, sources, masked, observed)
