"""`prove`: is a kernel in bounds, free of races and of overflow for every size? It need not have run."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from triton_lab.compiled.request import Signature
from triton_lab.ir import effects
from triton_lab.localization import _
from triton_lab.polyhedral.core.isl_effort import TooHard, series
from triton_lab.polyhedral.kernels.symbolic.symbolic_access import SymbolicAccess
from triton_lab.polyhedral.proofs.access_bounds import decided
from triton_lab.polyhedral.proofs.proof import PROVED, UNKNOWN, AccessProof, Proof
from triton_lab.polyhedral.proofs.proof_model import ProofModel, model_of
from triton_lab.polyhedral.proofs.sizes import sizes_of
from triton_lab.polyhedral.proofs.suggested_assumptions import suggested

if TYPE_CHECKING:
    from triton_lab.launch.launch import Launch

# What a proof may take, in seconds of this thread.
SECONDS = 3.0


def prove(
    kernel_or_launch: Any,
    signature: Signature | None = None,
    constants: Mapping[str, Any] | None = None,
    *,
    assume: Sequence[str] | str = (),
    seconds: float = SECONDS,
    refute: bool = True,
    **arguments: Any,
) -> Proof:
    """What holds of a kernel for every size."""
    launches = [kernel_or_launch] if not isinstance(kernel_or_launch, (list, tuple)) else list(kernel_or_launch)
    given = [assume] if isinstance(assume, str) else list(assume)
    return proof_of(launches, given, seconds, refute, True)


def proof_of(launches: Sequence[Launch], assume: Sequence[str], seconds: float, refute: bool, sized: bool) -> Proof:
    """The proof of the kernel of ``launches``, which all have the same constants."""
    began = time.perf_counter()
    launch = launches[0]
    plan = launch.executable.plan
    roots = launch.executable.roots
    written = frozenset(
        launch.plan_arguments[k].name for op in plan.walk() if effects.writes(op) for k in roots.get(op.index) or ()
    )
    sizes = sizes_of(launch, assume, list(suggested(launches, written, sized)), sized)
    try:
        with series(_("the proof"), seconds):
            model = model_of(launch, sizes)
            accesses = tuple(_accesses(model))
    except TooHard:
        accesses = tuple(_undecided(launch))
        model = None
    return Proof(
        launch.kernel,
        launch.file,
        launch.first_line,
        accesses,
        assumptions=tuple(sizes.assumptions),
        parameters=tuple(sizes.free.values()),
        constants=dict(sizes.constants),
        grid=() if model is None else tuple(map(str, model.grid)),
        seconds=time.perf_counter() - began,
    )


def _accesses(model: ProofModel) -> Iterator[AccessProof]:
    """The verdict on each access operation; one that is reached along several paths has one verdict."""
    by_op: dict[int, list[SymbolicAccess]] = {}
    for touch in model.touches:
        by_op.setdefault(touch.op.index, []).append(touch)
    for op in (one for one in model.launch.executable.plan.walk() if effects.is_access(one)):
        reasons = [reason for touch in by_op.get(op.index, ()) if (reason := decided(model, touch))]
        yield _verdict(model.launch, op, reasons[0] if reasons else "")


def _undecided(launch: Launch) -> Iterator[AccessProof]:
    for op in launch.executable.plan.walk():
        if effects.is_access(op):
            yield _verdict(launch, op, _("it took too long"))


def _verdict(launch: Launch, op: Any, reason: str) -> AccessProof:
    line = launch.lines.get(op.index)
    owner = launch.owner_of(op.index)
    return AccessProof(
        op.index,
        None if line is None else line.line,
        None if line is None else line.column,
        effects.ACCESSES[op.name].kind,
        None if owner is None else owner.name,
        UNKNOWN if reason else PROVED,
        reason,
        file="" if line is None else line.file,
    )
