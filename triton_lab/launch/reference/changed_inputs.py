"""`ChangedInputs`: an element of a result, as kernel and reference make it from other numbers in their inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from triton_lab import messages
from triton_lab.interpreter.kernel_errors import KernelError
from triton_lab.interpreter.memory_regions import Memory
from triton_lab.launch.comparison.argument_difference import Compared
from triton_lab.launch.comparison.first_divergence import FirstStore
from triton_lab.launch.comparison.launch_results import read
from triton_lab.launch.comparison.number_formats import wide
from triton_lab.launch.recording.replay_error import CannotReplay
from triton_lab.launch.reference.wrong_dependence import InputElement
from triton_lab.launch.replay.replay_run import replay
from triton_lab.localization import _

if TYPE_CHECKING:
    import torch

    from triton_lab.launch.launch import Launch

Array = NDArray[Any]
Flags = dict[str, NDArray[np.bool_]]
"""For each input, by name, which of its elements are meant (row-major)."""

Numbers = Mapping[str, "torch.Tensor"]
"""Other values of some inputs, by name; the rest are as they were."""

Expected = Callable[[Numbers], Array]
"""The expected values of the result."""


HIGH, LOW = -1, -2
"""In place of the number of an order: a number far above, or below, all of an input."""


@dataclass(frozen=True, eq=False)
class ReferenceInput:
    """An input of the reference: its ``values`` before the launch; ``address`` is that of the first of them in the
    launch, ``strides`` count elements there.
    """

    name: str
    values: torch.Tensor
    address: int
    strides: tuple[int, ...]

    @cached_property
    def addresses(self) -> NDArray[np.int64]:
        """The address of each element, row-major."""
        found = np.full((), self.address, np.int64)
        for size, stride in zip(self.values.shape, self.strides, strict=True):
            found = found[..., None] + np.arange(size) * stride * self.values.element_size()
        return found.reshape(-1)

    @property
    def is_plain(self) -> bool:
        """Whether each element has memory of its own."""
        return len(np.unique(self.addresses)) == self.values.numel()

    @property
    def may_change(self) -> bool:
        """Whether the reference may get other values: no index, with which a function of torch may leave memory.

        Offsets of a sparse matrix in another order end the process. Whole numbers of one byte are hardly ever indices.
        """
        return self.values.dtype.is_floating_point or self.values.dtype.itemsize == 1

    def other(self, seed: int) -> torch.Tensor:
        """Other values: those of the same tensor in another order; with `HIGH` and `LOW` one far from all of them.

        Where another order gives the same number, a float is increased by 1.
        """
        import torch

        flat = self.values.reshape(-1)
        if seed in (HIGH, LOW):
            return torch.full_like(self.values, self.far(high=seed == HIGH))
        moved = flat[torch.randperm(len(flat), generator=torch.Generator().manual_seed(seed))]
        if not flat.dtype.is_floating_point:
            return moved.reshape(self.values.shape)
        moved = torch.where(moved.double() == flat.double(), flat.double() + 1, moved.double()).to(flat.dtype)
        return moved.reshape(self.values.shape)

    def far(self, *, high: bool) -> float:
        """A number far above or below all finite ones; of whole numbers the greatest or the least."""
        import torch

        dtype = self.values.dtype
        if not dtype.is_floating_point:
            bounds = (0, 1) if dtype is torch.bool else (torch.iinfo(dtype).min, torch.iinfo(dtype).max)
            return bounds[high]
        found = self.values.double()
        far = min(4 * max(found[found.isfinite()].abs().tolist(), default=0.0) + 1, float(torch.finfo(dtype).max))
        return far if high else -far


@dataclass(frozen=True, eq=False)
class ChangedInputs:
    """The element that ``launch`` stored ``first``, of the ``result`` that it belongs to.

    ``inputs`` are those of the reference; ``wanted`` calls it.
    """

    launch: Launch
    result: Compared
    first: FirstStore
    inputs: tuple[ReferenceInput, ...]
    wanted: Expected
    _kept: dict[tuple[int, str], torch.Tensor] = field(default_factory=dict)

    def used(self) -> Flags:
        """The elements of the inputs that the stored value was computed from."""
        behind = [
            addresses_of(self.launch, origin.argument, origin.elements)
            for origin in self.first.origins
            if origin.argument is not None
        ]
        addresses = np.concatenate([np.empty(0, np.int64), *behind])
        return {one.name: np.isin(one.addresses, addresses) for one in self.inputs}

    def element(self, name: str, number: int) -> InputElement:
        one = next(one for one in self.inputs if one.name == name)
        index = messages.index(number, tuple(one.values.shape))
        address = int(one.addresses[number])
        return InputElement(name, index, next(self._lines(address, one), None))

    def _lines(self, address: int, one: ReferenceInput) -> Iterator[int]:
        """The lines of the loads of an address behind the value, then those of all loads of the input."""
        loads = [
            (origin.line, addresses_of(self.launch, origin.argument, origin.elements))
            for origin in self.first.origins
            if origin.argument is not None and origin.line is not None
        ]
        yield from (line for line, found in loads if address in found)
        yield from (line for line, found in loads if np.isin(found, one.addresses).any())

    @property
    def size(self) -> float:
        """The size of the element: the greater one of both sides."""
        index = self.first.index
        return max(abs(float(wide(side[index]))) for side in (self.result.a, self.result.b))

    def others(self, seed: int, one: ReferenceInput) -> torch.Tensor:
        key = (seed, one.name)
        if key not in self._kept:
            self._kept[key] = one.other(seed)
        return self._kept[key]

    def expected(self, changed: Numbers) -> float | None:
        try:
            return self._number(self.wanted(changed))
        except Exception:  # a reference may refuse other numbers
            return None

    def memory(self, changed: Numbers) -> Memory:
        """The launch's memory before it, with other values of some inputs. Raises CannotReplay."""
        snapshot = self.launch.snapshot
        if snapshot is None:
            raise CannotReplay(_("the launch was recorded without the contents of its tensors"))
        memory = snapshot.memory()
        for one in self.inputs:
            if one.name in changed:
                _write(memory, one, changed[one.name])
        return memory

    def stored(self, changed: Numbers) -> float | None:
        """Raises CannotReplay."""
        try:
            after = replay(self.launch, memory=self.memory(changed), strict=True)
        except KernelError:
            return None
        return self._number(read(after, self.launch.argument(self.result.name)))

    def _number(self, result: Array) -> float:
        return float(wide(result[self.first.index]))


def are_all(launch: Launch, inputs: Sequence[ReferenceInput], first: FirstStore) -> bool:
    """Whether all that the wrong value was loaded from is in the inputs."""
    known = np.concatenate([one.addresses for one in inputs]) if inputs else np.empty(0, np.int64)
    for origin in first.origins:
        if origin.argument is None or (len(origin.elements) and origin.elements.min() < 0):
            return False
        if not np.isin(addresses_of(launch, origin.argument, origin.elements), known).all():
            return False
    return True


def some_of(numbers: Array, most: int) -> list[int]:
    """At most so many of the numbers, the first and the last among them, evenly spaced."""
    if not len(numbers):
        return []
    found: list[int] = numbers[np.unique(np.linspace(0, len(numbers) - 1, most).astype(int))].tolist()
    return found


def addresses_of(launch: Launch, name: str, elements: Array) -> Array:
    """The addresses of elements of an argument, by their row-major numbers."""
    argument = launch.argument(name)
    places = np.unravel_index(elements.astype(np.int64), argument.shape or (1,))
    strides = argument.strides or (0,)
    steps = sum((place * stride for place, stride in zip(places, strides, strict=True)), np.zeros(len(elements), int))
    return np.asarray(argument.address + steps * argument.itemsize)


def _write(memory: Memory, one: ReferenceInput, values: torch.Tensor) -> None:
    """Write an input's elements to a launch's memory."""
    import torch

    size = one.values.element_size()
    data = values.reshape(-1).contiguous().view(torch.uint8).numpy().reshape(-1, size)
    region = memory.holding(one.address)
    if region is None:
        raise CannotReplay(_("the values of {name} were not recorded").format(name=one.name))
    region.data.flags.writeable = True  # it is a copy
    region.data[one.addresses[:, None] - region.start + np.arange(size)] = data
