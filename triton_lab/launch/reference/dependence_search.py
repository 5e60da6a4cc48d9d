"""`wrong_dependence`: finds what is wrong in how an element of a result depends on the elements of the inputs.

The loads behind the stored value (`value_origin`) give candidates. Each is tried: an element of an input is changed,
and the reference and the kernel run again. So what is told is what both did, whatever the kernel computes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from triton_lab.launch.comparison.argument_difference import EQUAL, NEAR, Compared
from triton_lab.launch.comparison.first_divergence import FirstStore
from triton_lab.launch.comparison.launch_results import expected, tensors, torch_tensors
from triton_lab.launch.comparison.number_formats import unit_roundoff
from triton_lab.launch.recording.progress_callback import breathe, within
from triton_lab.launch.recording.replay_error import CannotReplay
from triton_lab.launch.reference.changed_inputs import (
    HIGH,
    LOW,
    Array,
    ChangedInputs,
    Expected,
    Flags,
    Numbers,
    ReferenceInput,
    are_all,
    some_of,
)
from triton_lab.launch.reference.factor_search import wrong_factor
from triton_lab.launch.reference.wrong_dependence import Dependence, InputElement, WrongDependence

if TYPE_CHECKING:
    import torch

    from triton_lab.launch.comparison.comparison_result import Comparison
    from triton_lab.launch.launch import Launch

Asked = Callable[..., bool]
"""Takes `Flags`, and ``seed``, the number of the other values that the elements get."""

Made = Callable[[Numbers], "float | None"]
"""An element, as one side makes it; None if the side refuses such numbers."""

SECONDS = 1.5  # for all of it
_MOST = 1 << 20  # elements of all tensors: of more, one call of the reference may take all of the time
_TRIED = 64  # elements behind a value that are changed one by one
_NUMBERS = 3  # other numbers for the same elements: a maximum does not change with each
_GROUNDS = range(100, 106)  # other numbers for all inputs, with which a value must not depend on an element, either
_ROUNDINGS = 64  # roundings that are no change


def wrong_dependence(
    launch: Launch, one: Compared, first: FirstStore, inputs: Sequence[ReferenceInput], wanted: Expected
) -> Dependence | None:
    """What is wrong in the wrong element that ``launch`` stored ``first``; None if nothing is known.

    ``one`` is the result that the element belongs to. ``inputs`` are all inputs of the reference that the launch reads;
    ``wanted`` calls it. It takes at most `SECONDS`.
    """
    # An atomic adds to what is there: of that the reference may know nothing.
    own = one.name if first.access.kind == "atomic" else ""
    plain = [one for one in inputs if one.values.numel() and one.is_plain and one.name != own]
    if first.argument != one.name or not are_all(launch, plain, first):
        return None
    try:
        with within(SECONDS):
            sides = ChangedInputs(launch, one, first, tuple(one for one in plain if one.may_change), wanted)
            return _Search(sides).found() or wrong_factor(sides)
    except CannotReplay:
        return None


def of_comparison(comparison: Comparison) -> Dependence | None:
    """The wrong dependence of a launch that was compared with a function; None if none is known."""
    first, asked = comparison.first, inputs_of(comparison)
    if first is None or asked is None:
        return None
    inputs, wanted = asked
    return wrong_dependence(comparison.launch, comparison[first.argument], first, inputs, wanted)


def inputs_of(comparison: Comparison) -> tuple[list[ReferenceInput], Expected] | None:
    """The inputs of the function that a launch was compared with, and what calls it for the first wrong result.

    None if no function says what is wrong, or if a call may take long.
    """
    launch, first, reference = comparison.launch, comparison.first, comparison.reference
    if reference is None or first is None or comparison.verdict in (EQUAL, NEAR):
        return None
    if sum(math.prod(one.shape) for one in tensors(launch)) > _MOST:
        return None
    try:
        held = torch_tensors(launch)
    except CannotReplay:
        return None
    inputs = [ReferenceInput(one.name, held[one.name], one.address, one.strides) for one in tensors(launch)]
    written, name = [one.name for one in comparison if one.written], first.argument

    def wanted(changed: Numbers) -> Array:
        return expected(launch, reference, written, changed).arrays[name]

    return inputs, wanted


@dataclass(frozen=True, eq=False)
class _Search:
    sides: ChangedInputs
    _grounds: dict[tuple[Made, int], float | None] = field(default_factory=dict)

    def found(self) -> WrongDependence | None:
        used = self.sides.used()
        unused = {name: ~flags for name, flags in used.items()}
        extra = self._one_by_one(used) or self._among(unused, self._only_kernel)
        first = "" if extra is None else extra.name
        missing = self._among(unused, self._only_reference, first) or self._among(used, self._only_reference, first)
        if extra is None and missing is None:
            return None
        return WrongDependence(self.sides.result.name, self.sides.first.index, missing, extra)

    def _only_reference(self, flags: Flags, *, seed: int) -> bool:
        moved = self._moves(self.sides.expected, flags, seed)
        return moved is True and self._moves(self.sides.stored, flags, seed) is False

    def _only_kernel(self, flags: Flags, *, seed: int) -> bool:
        moved = self._moves(self.sides.expected, flags, seed)
        return moved is False and self._moves(self.sides.stored, flags, seed) is True

    def _among(self, flags: Flags, asked: Asked, first: str = "") -> InputElement | None:
        """The first element for which ``asked`` holds; those of the input ``first`` come first."""
        found = (self._first(name, flags[name], asked) for name in sorted(flags, key=lambda name: name != first))
        return next((one for one in found if one is not None), None)

    def _one_by_one(self, used: Flags) -> InputElement | None:
        """The first element among ``used`` ones that the reference does not need, and the kernel does.

        Others beside it may be needed, so each is tried alone.
        """
        for name, flags in used.items():
            needless = np.zeros_like(flags)
            for number in some_of(np.flatnonzero(flags), _TRIED):
                alone = {name: _those(flags, np.array([number]))}
                needless[number] = all(
                    self._moves(self.sides.expected, alone, seed) is False for seed in range(_NUMBERS)
                )
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
                return self.sides.element(name, int(numbers[0]))
        return None

    def _is_general(self, flags: Flags, asked: Asked) -> bool:
        """Whether the side that does not depend on the elements does not with other numbers in all inputs, either.

        A product with zero depends on nothing; a maximum and what is cut off at a bound, only on what is far enough.
        """
        still = self.sides.stored if asked == self._only_reference else self.sides.expected
        tries = ((seed, ground) for ground in _GROUNDS for seed in (HIGH, LOW, 0))
        return not any(self._moves(still, flags, seed, ground) for seed, ground in tries)

    def _moves(self, side: Made, flags: Flags, seed: int, ground: int = 0) -> bool | None:
        """Whether the element of one side changes with the elements meant; None if the side refuses such numbers."""
        breathe()
        key = (side, ground)
        if key not in self._grounds:
            self._grounds[key] = side(self._changed({}, 0, ground))
        before, after = self._grounds[key], side(self._changed(flags, seed, ground))
        return None if before is None or after is None else self._differ(before, after)

    def _changed(self, flags: Flags, seed: int, ground: int) -> dict[str, torch.Tensor]:
        """Inputs with other numbers: in all elements those of a ``ground`` (0: their own), in those meant of a seed."""
        import torch

        found = {}
        for one in self.sides.inputs:
            some = flags.get(one.name)
            if ground:
                found[one.name] = self.sides.others(ground, one)
            if some is not None:
                own = found.get(one.name, one.values)
                values = torch.where(torch.from_numpy(some), self.sides.others(seed, one).reshape(-1), own.reshape(-1))
                found[one.name] = values.reshape(one.values.shape)
        return found

    def _differ(self, one: float, other: float) -> bool:
        if math.isnan(one) or math.isnan(other):
            return math.isnan(one) != math.isnan(other)
        slack = _ROUNDINGS * unit_roundoff(self.sides.result.a.dtype) * max(abs(one), abs(other))
        return one != other and not abs(one - other) <= slack


def _those(flags: NDArray[np.bool_], numbers: Array) -> NDArray[np.bool_]:
    found = np.zeros_like(flags)
    found[numbers] = True
    return found
