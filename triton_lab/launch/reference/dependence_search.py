"""`wrong_dependence`: finds on which elements of its inputs a wrong result depends, and on which it must.

The loads behind the stored value (`value_origin`) give candidates. Each is tried: an element of an input is changed,
and the reference and the kernel run again. So what is told is what both did, whatever the kernel computes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from triton_lab import messages
from triton_lab.interpreter.kernel_errors import KernelError
from triton_lab.interpreter.memory_regions import Memory
from triton_lab.launch.comparison.argument_difference import EQUAL, NEAR, Compared
from triton_lab.launch.comparison.first_divergence import FirstStore
from triton_lab.launch.comparison.launch_results import expected, read, tensors, torch_tensors
from triton_lab.launch.comparison.number_formats import unit_roundoff, wide
from triton_lab.launch.recording.progress_callback import breathe, within
from triton_lab.launch.recording.replay_error import CannotReplay
from triton_lab.launch.reference.dependence import Input, InputElement, WrongDependence
from triton_lab.launch.replay.replay_run import replay
from triton_lab.localization import _

if TYPE_CHECKING:
    import torch

    from triton_lab.launch.comparison.comparison_result import Comparison
    from triton_lab.launch.launch import Launch

Array = NDArray[Any]
Flags = dict[str, NDArray[np.bool_]]
"""For each input, by name, which of its elements are meant (row-major)."""

Asked = Callable[..., bool]
"""Takes `Flags`, and ``seed``, the number of the other values that the elements get."""

SECONDS = 2.0  # for all of it
_TRIED = 64  # elements behind a value that are changed one by one
_NUMBERS = 3  # other numbers for the same elements: a maximum does not change with each
_GROUNDS = 3  # other numbers for all inputs, with which a value must not depend on an element, either
_ROUNDINGS = 64  # roundings that are no change


Expected = Callable[[Mapping[str, "torch.Tensor"]], Array]
"""The expected values of the result, from other values of some inputs by name; the rest are as they were."""


def wrong_dependence(
    launch: Launch, one: Compared, first: FirstStore, inputs: Sequence[Input], wanted: Expected
) -> WrongDependence | None:
    """The wrong dependence of the wrong element that ``launch`` stored ``first``; None if none is known.

    ``one`` is the result that the element belongs to. ``inputs`` are all inputs of the reference that the launch reads;
    ``wanted`` calls it. It takes at most `SECONDS`.
    """
    # An atomic adds to what is there: of that the reference may know nothing.
    own = one.name if first.access.kind == "atomic" else ""
    plain = [one for one in inputs if one.values.numel() and one.is_plain and one.name != own]
    if first.argument != one.name or not _are_all(launch, plain, first):
        return None
    try:
        with within(SECONDS):
            return _Search(launch, one, first, tuple(plain), wanted).found()
    except CannotReplay:
        return None


def of_comparison(comparison: Comparison) -> WrongDependence | None:
    """The wrong dependence of a launch that was compared with a function; None if none is known."""
    launch, first, reference = comparison.launch, comparison.first, comparison.reference
    if reference is None or first is None or comparison.verdict in (EQUAL, NEAR):
        return None
    try:
        held = torch_tensors(launch)
    except CannotReplay:
        return None
    inputs = [Input(one.name, held[one.name], one.address, one.strides) for one in tensors(launch)]
    written = [one.name for one in comparison if one.written]

    def wanted(changed: Mapping[str, torch.Tensor]) -> Array:
        return expected(launch, reference, written, changed).arrays[first.argument]

    return wrong_dependence(launch, comparison[first.argument], first, inputs, wanted)


def _are_all(launch: Launch, inputs: Sequence[Input], first: FirstStore) -> bool:
    """Whether all that the wrong value was loaded from is in the inputs."""
    known = np.concatenate([one.addresses for one in inputs]) if inputs else np.empty(0, np.int64)
    for origin in first.origins:
        if origin.argument is None or (len(origin.elements) and origin.elements.min() < 0):
            return False
        if not np.isin(_addresses(launch, origin.argument, origin.elements), known).all():
            return False
    return True


def _addresses(launch: Launch, name: str, elements: Array) -> Array:
    """The addresses of elements of an argument, by their row-major numbers."""
    argument = launch.argument(name)
    places = np.unravel_index(elements.astype(np.int64), argument.shape or (1,))
    strides = argument.strides or (0,)
    steps = sum((place * stride for place, stride in zip(places, strides, strict=True)), np.zeros(len(elements), int))
    return np.asarray(argument.address + steps * argument.itemsize)


@dataclass(frozen=True, eq=False)
class _Search:
    launch: Launch
    result: Compared
    first: FirstStore
    inputs: tuple[Input, ...]
    wanted: Expected
    _kept: dict[tuple[Any, ...], Any] = field(default_factory=dict)

    def found(self) -> WrongDependence | None:
        used = self._used()
        unused = {name: ~flags for name, flags in used.items()}
        extra = self._one_by_one(used) or self._among(unused, self._only_kernel)
        first = "" if extra is None else extra.name
        missing = self._among(unused, self._only_reference, first) or self._among(used, self._only_reference, first)
        if extra is None and missing is None:
            return None
        return WrongDependence(self.result.name, self.first.index, missing, extra)

    def _used(self) -> Flags:
        """The elements of the inputs that the stored value was computed from."""
        behind = [
            _addresses(self.launch, origin.argument, origin.elements)
            for origin in self.first.origins
            if origin.argument is not None
        ]
        addresses = np.concatenate([np.empty(0, np.int64), *behind])
        return {one.name: np.isin(one.addresses, addresses) for one in self.inputs}

    # --- The candidates ---------------------------------------------------------------------------

    def _only_reference(self, flags: Flags, *, seed: int) -> bool:
        return self._moves(self._expected, flags, seed) is True and self._moves(self._stored, flags, seed) is False

    def _only_kernel(self, flags: Flags, *, seed: int) -> bool:
        return self._moves(self._expected, flags, seed) is False and self._moves(self._stored, flags, seed) is True

    def _among(self, flags: Flags, asked: Asked, first: str = "") -> InputElement | None:
        """The first element for which ``asked`` holds; those of the input ``first`` come first."""
        found = (self._first(name, flags[name], asked) for name in sorted(flags, key=lambda name: name != first))
        return next((one for one in found if one is not None), None)

    def _one_by_one(self, used: Flags) -> InputElement | None:
        """The first element among ``used`` ones that the reference does not need, and the kernel does.

        Others beside it may be needed, so each is tried alone.
        """
        for name, flags in used.items():
            numbers = np.flatnonzero(flags)
            needless = np.zeros_like(flags)
            places = np.unique(np.linspace(0, max(0, len(numbers) - 1), _TRIED).astype(int))
            for number in numbers[places[: len(numbers)]].tolist():
                alone = {name: _those(flags, np.array([number]))}
                needless[number] = all(self._moves(self._expected, alone, seed) is False for seed in range(_NUMBERS))
            found = self._first(name, needless, self._only_kernel)
            if found is not None:
                return found
        return None

    def _first(self, name: str, some: NDArray[np.bool_], asked: Asked) -> InputElement | None:
        """The first element of an input for which ``asked`` holds alone, if it does not only by chance."""
        for seed in range(_NUMBERS) if some.any() else ():
            if not asked({name: some}, seed=seed):
                continue
            numbers = np.flatnonzero(some)
            while len(numbers) > 1:
                halves = np.array_split(numbers, 2)
                held = (half for half in halves if asked({name: _those(some, half)}, seed=seed))
                numbers = next(held, np.empty(0, np.int64))
            if len(numbers) and self._is_general({name: _those(some, numbers)}, asked):
                return self._element(name, int(numbers[0]))
        return None

    def _is_general(self, flags: Flags, asked: Asked) -> bool:
        """Whether the side that does not depend on the elements does not with other numbers in all inputs, either.

        A product with zero depends on nothing.
        """
        still = self._stored if asked == self._only_reference else self._expected
        tries = ((seed, ground) for ground in range(1, _GROUNDS + 1) for seed in range(_NUMBERS))
        return not any(self._moves(still, flags, seed, ground) for seed, ground in tries)

    def _element(self, name: str, number: int) -> InputElement:
        one = next(one for one in self.inputs if one.name == name)
        index = messages.index(number, tuple(one.values.shape))
        address = int(one.addresses[number])
        return InputElement(name, index, next(self._lines(address, one), None))

    def _lines(self, address: int, one: Input) -> Iterator[int]:
        """The lines of the loads of an address behind the value, then those of all loads of the input."""
        loads = [
            (origin.line, _addresses(self.launch, origin.argument, origin.elements))
            for origin in self.first.origins
            if origin.argument is not None and origin.line is not None
        ]
        yield from (line for line, found in loads if address in found)
        yield from (line for line, found in loads if np.isin(found, one.addresses).any())

    # --- The two sides with other numbers ---------------------------------------------------------

    def _moves(self, side: _SideOf, flags: Flags, seed: int, ground: int = 0) -> bool | None:
        """Whether the element of one side changes with the elements meant; None if the side refuses such numbers."""
        breathe()
        key = (side, ground)
        if key not in self._kept:
            self._kept[key] = side(self._changed({}, 0, ground))
        before, after = self._kept[key], side(self._changed(flags, seed, ground))
        return None if before is None or after is None else self._differ(before, after)

    def _changed(self, flags: Flags, seed: int, ground: int) -> dict[str, torch.Tensor]:
        """Inputs with other numbers: in all elements those of a ``ground`` (0: their own), in those meant of a seed."""
        import torch

        found = {}
        for one in self.inputs:
            some = flags.get(one.name)
            if ground:
                found[one.name] = self._others(-ground, one)
            if some is not None:
                own = found.get(one.name, one.values)
                values = torch.where(torch.from_numpy(some), self._others(seed, one).reshape(-1), own.reshape(-1))
                found[one.name] = values.reshape(one.values.shape)
        return found

    def _others(self, seed: int, one: Input) -> torch.Tensor:
        key = (seed, one.name)
        if key not in self._kept:
            self._kept[key] = one.other(seed + _GROUNDS)
        found: torch.Tensor = self._kept[key]
        return found

    def _expected(self, changed: Mapping[str, torch.Tensor]) -> float | None:
        try:
            return self._number(self.wanted(changed))
        except Exception:  # a reference may refuse other numbers
            return None

    def _stored(self, changed: Mapping[str, torch.Tensor]) -> float | None:
        """Raises CannotReplay."""
        snapshot = self.launch.snapshot
        if snapshot is None:
            raise CannotReplay(_("the launch was recorded without the contents of its tensors"))
        memory = snapshot.memory()
        for one in self.inputs:
            if one.name in changed:
                _write(memory, one, changed[one.name])
        try:
            after = replay(self.launch, memory=memory, strict=True)
        except KernelError:
            return None
        return self._number(read(after, self.launch.argument(self.result.name)))

    def _number(self, result: Array) -> float:
        return float(wide(result[self.first.index]))

    def _differ(self, one: float, other: float) -> bool:
        if math.isnan(one) or math.isnan(other):
            return math.isnan(one) != math.isnan(other)
        slack = _ROUNDINGS * unit_roundoff(self.result.a.dtype) * max(abs(one), abs(other))
        return one != other and not abs(one - other) <= slack


_SideOf = Callable[[Mapping[str, "torch.Tensor"]], "float | None"]


def _those(flags: NDArray[np.bool_], numbers: Array) -> NDArray[np.bool_]:
    found = np.zeros_like(flags)
    found[numbers] = True
    return found


def _write(memory: Memory, one: Input, values: torch.Tensor) -> None:
    """Write an input's elements to a launch's memory."""
    import torch

    size = one.values.element_size()
    data = values.reshape(-1).contiguous().view(torch.uint8).numpy().reshape(-1, size)
    region = memory.holding(one.address)
    if region is None:
        raise CannotReplay(_("the values of {name} were not recorded").format(name=one.name))
    region.data.flags.writeable = True  # it is a copy
    region.data[one.addresses[:, None] - region.start + np.arange(size)] = data
