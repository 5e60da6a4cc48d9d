"""Refutes an access: the smallest sizes for which it leaves its tensor, as a launch that was run and failed there."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from triton_lab import messages
from triton_lab.interpreter.kernel_errors import KernelError
from triton_lab.launch.launch import Launch
from triton_lab.localization import _
from triton_lab.polyhedral.core.affine_conditions import Constraint
from triton_lab.polyhedral.core.affine_expr import AffineExpr
from triton_lab.polyhedral.core.isl_effort import TooHard
from triton_lab.polyhedral.kernels.symbolic.symbol_facts import Case
from triton_lab.polyhedral.kernels.symbolic.symbolic_access import SymbolicAccess
from triton_lab.polyhedral.kernels.symbolic.symbolic_values import Unknown
from triton_lab.polyhedral.proofs.access_bounds import depends_on_memory, lanes_of, violations
from triton_lab.polyhedral.proofs.proof_model import ProofModel
from triton_lab.polyhedral.proofs.sized_launch import launch_at

# At most so many sizes are looked at, and so many of them run; and so many seconds.
_MOST_SIZES = 400
_MOST_RUNS = 3
_SECONDS = 1.0


@dataclass(frozen=True)
class Refutation:
    """A launch that fails at the access: the sizes, by the user's names, the program and the lane that fails."""

    launch: Launch
    sizes: Mapping[str, int]
    program: tuple[int, int, int]
    lane: tuple[int, ...]

    @property
    def text(self) -> str:
        """The sizes, program and lane in words: ``n = 129, program 1, lane 1``."""
        sizes = ", ".join(f"{name} = {value}" for name, value in self.sizes.items())
        parts = [sizes, _number("program", self.program), _number("lane", self.lane)]
        return ", ".join(filter(None, parts))


def _number(what: str, place: Sequence[int]) -> str:
    shown = [str(k) for k in place]
    if what == "program" and not any(place[1:]):
        shown = shown[:1]
    words = {"program": _("program"), "lane": _("lane")}[what]
    return "" if not shown else f"{words} {shown[0]}" if len(shown) == 1 else f"{words} ({', '.join(shown)})"


def refuted(model: ProofModel, touch: SymbolicAccess) -> Refutation | None:
    """The first launch, by the size of its sizes, that fails at the access; None if none was found. Raises TooHard."""
    if depends_on_memory(touch) or model.launch.compiled[0] is None:
        return None
    end, runs = time.perf_counter() + _SECONDS, 0
    for sizes in itertools.islice(candidates(model), _MOST_SIZES):
        if time.perf_counter() > end or runs >= _MOST_RUNS:
            return None
        try:
            if not _goes_wrong(model, touch, sizes):
                continue
        except TooHard:
            continue
        runs += 1
        found = _run(model, touch, sizes)
        if found is not None:
            return found
    return None


def candidates(model: ProofModel) -> Iterator[dict[str, int]]:
    """Values of the free symbols, from small ones on: small numbers, and those around the kernel's blocks."""
    free = sorted(model.sizes.free)
    here = {name: int(low) for name, (low, _high) in model.sizes.here.items()}
    blocks = {value for value in model.sizes.constants.values() if 1 < value <= 4096}
    values = {
        0,
        1,
        2,
        3,
        *(block + k for block in blocks for k in (-1, 0, 1)),
        *(2 * block + k for block in blocks for k in (0, 1)),
    }
    by_name = {}
    for name in free:
        low, high = model.ranges.get(name, (0, 1 << 20))
        own = values | ({here[name], here[name] + 1} if name in here else set())
        by_name[name] = sorted(one for one in own if low <= one <= high)
    if len(free) <= 2:
        every = list(itertools.product(*(by_name[name] for name in free)))
        every.sort(key=lambda one: (sum(one), one))
        yield from (dict(zip(free, one, strict=True)) for one in every)
        return
    for base in ({name: next((v for v in by_name[name] if v >= 1), 0) for name in free}, here):
        if base.keys() == set(free):
            yield dict(base)
            for name in free:
                yield from ({**base, name: value} for value in by_name[name])
            for one, other in itertools.combinations(free, 2):
                yield from ({**base, one: a, other: b} for a in by_name[one][:6] for b in by_name[other][:6])


def _goes_wrong(model: ProofModel, touch: SymbolicAccess, sizes: Mapping[str, int]) -> bool:
    """Whether the model says that a lane leaves its tensor for these sizes. Raises TooHard."""
    numbers = {name: AffineExpr((), value) for name, value in sizes.items()}
    if not all(_holds(c.expression.substitute(numbers), c.equality) for c in model.context):
        return False
    assert not isinstance(touch.pointer, Unknown)
    for piece in touch.pointer.pieces:
        assert piece.root is not None
        extents = model.sizes.extents(model.launch.plan_arguments[piece.root].name)
        if extents is None:
            return False
        for case in violations(model, touch, piece, extents):
            if model.possible(with_numbers(case, numbers), lanes_of(touch)):
                return True
    return False


def with_numbers(case: Case, numbers: Mapping[str, AffineExpr]) -> Case:
    """The case with sizes as numbers."""
    return tuple(Constraint(c.expression.substitute(numbers), c.equality) for c in case)


def _holds(value: AffineExpr, equality: bool) -> bool:
    return not value.is_constant or (value.constant == 0 if equality else value.constant >= 0)


def _run(model: ProofModel, touch: SymbolicAccess, sizes: Mapping[str, int]) -> Refutation | None:
    """The launch with these sizes, if it can be made and fails at the access."""
    launch = launch_at(model, sizes)
    if launch is None or not isinstance(launch.error, KernelError) or launch.error.fault is None:
        return None
    fault = launch.error.fault
    if fault.kind not in ("out-of-bounds", "null-pointer"):  # the address of a tensor without elements is 0
        return None
    place, here = (
        launch.lines.get(launch.error.op.index) if launch.error.op else None,
        model.launch.lines.get(touch.op.index),
    )
    if place is None or here is None or (place.line, place.column) != (here.line, here.column):
        return None
    program = messages.coordinates(int(fault.programs[0]), launch.grid)
    lane, rest = [], int(fault.lanes[0])
    for extent in reversed(fault.block):
        lane.append(rest % extent)
        rest //= extent
    shown = {model.sizes.free[name]: value for name, value in sizes.items()}
    return Refutation(launch, shown, program, tuple(reversed(lane)))
