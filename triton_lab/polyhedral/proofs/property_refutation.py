"""Refutes properties of a kernel by the smallest launch that breaks one.

Programs that race, an element that is not written, a result that depends on a lane that its mask turns off.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from triton_lab.ir import effects
from triton_lab.launch.access_footprint import runs
from triton_lab.launch.byte_ranges import Ranges
from triton_lab.launch.launch import Launch
from triton_lab.localization import _
from triton_lab.polyhedral.core.affine_expr import AffineExpr
from triton_lab.polyhedral.core.isl_effort import TooHard, check_time, series
from triton_lab.polyhedral.proofs.masked_results import masked_uses, may_use_masked
from triton_lab.polyhedral.proofs.program_conflicts import may_race
from triton_lab.polyhedral.proofs.proof import PROVED, REFUTED, PropertyProof
from triton_lab.polyhedral.proofs.proof_model import ProofModel
from triton_lab.polyhedral.proofs.refutation import candidates
from triton_lab.polyhedral.proofs.sized_launch import launch_at
from triton_lab.polyhedral.proofs.written_elements import may_leave_elements

# At most so many sizes are looked at, so many of them run, and so many seconds of this thread taken for one property.
_MOST_SIZES = 200
_MOST_RUNS = 3
_SECONDS = 0.2
# Elements of larger tensors are not looked at one by one.
_MOST_ELEMENTS = 1 << 16

MayFail = Callable[[Mapping[str, AffineExpr]], bool]
# The failure in words, "" if there is none, and its line.
Failure = Callable[[Launch], "tuple[str, int | None]"]


def with_refutations(
    model: ProofModel, found: Sequence[PropertyProof], doubtful: Collection[str]
) -> Iterator[PropertyProof]:
    """The verdicts, with those refuted for which a launch was found whose sizes are no guess (``doubtful``)."""
    for one in found:
        fails = None if one.outcome == PROVED or model.launch.compiled[0] is None else _failure(model, one)
        guessed = "grid" in doubtful or one.argument in doubtful
        yield one if fails is None or guessed else _refuted(model, one, *fails)


def _failure(model: ProofModel, one: PropertyProof) -> tuple[MayFail, Failure] | None:
    """Whether sizes may make the property fail, and how a launch fails; None for properties that are not refuted."""
    name = one.argument
    if one.name == "races":
        return partial(may_race, model), partial(_finding, ("race", "same-value"))
    if one.name == "masked lanes":
        return partial(may_use_masked, model, list(masked_uses(model))), partial(_finding, ("undefined",))
    if one.name == "writes" and name is not None:
        return partial(may_leave_elements, model, name), partial(_left, name)
    return None


def _refuted(model: ProofModel, one: PropertyProof, may_fail: MayFail, failure: Failure) -> PropertyProof:
    """The verdict, refuted by the first launch, by the size of its sizes, with a ``failure`` in words and its line."""
    end, ran = time.thread_time() + _SECONDS, 0
    for sizes in itertools.islice(candidates(model), _MOST_SIZES):
        try:
            check_time(_("the proof"))
            if time.thread_time() > end or ran >= _MOST_RUNS:
                break
            with series(_("the proof"), end - time.thread_time()):
                if not may_fail({name: AffineExpr((), value) for name, value in sizes.items()}):
                    continue
        except TooHard:
            break
        launch = launch_at(model, sizes, floats=1.0)
        if launch is None or launch.error is not None:
            continue
        ran += 1
        text, line = failure(launch)
        if text:
            shown = {model.sizes.free[name]: value for name, value in sizes.items()}
            where = ", ".join(f"{name} = {value}" for name, value in shown.items())
            reason = f"{where}: {text}" if where else text
            return replace(one, outcome=REFUTED, reason=reason, line=line or one.line, sizes=shown, launch=launch)
    return one


def _finding(kinds: Collection[str], launch: Launch) -> tuple[str, int | None]:
    for finding in launch.findings:
        if finding.kind in kinds:
            return finding.message, finding.line
    return "", None


def _left(name: str, launch: Launch) -> tuple[str, int | None]:
    """The first element of a tensor that no store writes, in words."""
    tape, argument = launch.tape, launch.argument(name)
    if tape is None or tape.dropped or int(np.prod(argument.shape)) > _MOST_ELEMENTS or 0 in argument.shape:
        return "", None
    stores = [op.index for op in launch.executable.plan.walk() if effects.writes(op)]
    written = Ranges.joined(
        [runs(event, tape.kinds[op][2]) for op in stores if op in tape.events for event in tape.events[op]]
    )
    for place in np.ndindex(argument.shape):
        steps = sum(index * stride for index, stride in zip(place, argument.strides, strict=True))
        start = argument.address + steps * argument.itemsize
        if len(Ranges.of([start], [start + argument.itemsize]) - written):
            shown = ", ".join(map(str, place))
            return _("element {place} is not written").format(place=shown if len(place) == 1 else f"({shown})"), None
    return "", None
