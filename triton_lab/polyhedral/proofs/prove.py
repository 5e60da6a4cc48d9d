"""`prove`: is a kernel in bounds, free of races and of overflow for every size? It need not have run."""

from __future__ import annotations

import math
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from triton_lab.compiled.request import Signature
from triton_lab.ir import Op, effects
from triton_lab.launch.assumption import parsed
from triton_lab.launch.launch import Launch
from triton_lab.launch.recording.proved_assumptions import remember
from triton_lab.localization import _
from triton_lab.polyhedral.core.isl_effort import TooHard, series
from triton_lab.polyhedral.kernels.symbolic.symbolic_access import SymbolicAccess
from triton_lab.polyhedral.kernels.symbolic.symbolic_values import Unknown
from triton_lab.polyhedral.proofs.access_bounds import decided, depends_on_memory
from triton_lab.polyhedral.proofs.masked_results import masked_lanes_proof
from triton_lab.polyhedral.proofs.overflow_bounds import overflow_proof
from triton_lab.polyhedral.proofs.program_conflicts import race_proof
from triton_lab.polyhedral.proofs.proof import PROVED, REFUTED, UNKNOWN, AccessProof, Proof, PropertyProof
from triton_lab.polyhedral.proofs.proof_model import ProofModel, model_of
from triton_lab.polyhedral.proofs.property_refutation import with_refutations
from triton_lab.polyhedral.proofs.refutation import refuted
from triton_lab.polyhedral.proofs.sizes import Sizes, sizes_of
from triton_lab.polyhedral.proofs.suggested_assumptions import (
    Suggestion,
    other_options,
    suggested,
    without_removed,
)
from triton_lab.polyhedral.proofs.unrun_kernels import alike, typed_launch, unrun
from triton_lab.polyhedral.proofs.written_elements import written_proofs

# What a proof may take, in seconds of this thread.
SECONDS = 3.0
_Found = tuple[Sizes, ProofModel, tuple[AccessProof, ...]]
# So many other assumptions than the likeliest are tried.
_MOST_TRIES = 40
# So many orders of two sizes are assumed at first.
_MOST_ORDERS = 4


def prove(
    kernel_or_launch: Any,
    signature: Signature | None = None,
    constants: Mapping[str, Any] | None = None,
    *,
    grid: Any = None,
    assume: Sequence[str] | str = (),
    seconds: float = SECONDS,
    refute: bool = True,
    **arguments: Any,
) -> Proof:
    """What holds of a kernel for every size: each access in bounds, programs that keep apart, addresses that fit.

    It takes a recorded launch, or several of one kernel; or a kernel, which does not run, with a ``grid`` and its
    ``arguments`` by name; or a kernel with types and constants as for `compile`, where nothing is known of its sizes.

    Launches suggest assumptions, such as ``x_ptr.numel() == n`` or ``grid[0] == cdiv(n, BLOCK)``; they are listed with
    the proof. ``assume`` adds others, and ``"not " + text`` leaves one out: ``assume=["n >= 1", "index in [0, n)"]``.
    The proof takes ``seconds`` at most; what is open then is not known. An access is out of bounds only if a launch
    with small sizes was run and failed there: without ``refute`` none is run.

    Raises TypeError for what is no kernel, and ValueError for arguments, types and assumptions that do not fit it.

    >>> proof = lab.prove(launch)
    >>> proof
    Proof add_kernel: 3 accesses, 3 in bounds
    >>> proof.accesses[0].verdict, [str(one) for one in proof.assumptions][:2]
    ('in bounds for every size', ['n >= 0', 'x_ptr.numel() == n'])
    """
    given = [assume] if isinstance(assume, str) else list(assume)
    if not math.isfinite(seconds) or seconds <= 0:
        raise ValueError(_("seconds={seconds}: a proof takes a positive number of seconds").format(seconds=seconds))
    if isinstance(kernel_or_launch, (Launch, Sequence)):
        launches = [kernel_or_launch] if isinstance(kernel_or_launch, Launch) else list(kernel_or_launch)
        if not launches or signature is not None or arguments:
            raise TypeError(_("prove takes launches of one kernel, or a kernel with its arguments"))
        launches = alike(launches)
    elif signature is not None:
        launches = [typed_launch(kernel_or_launch, signature, constants or {})]
    else:
        launches = [unrun(kernel_or_launch, grid, arguments)]
    proof = proof_of(launches, given, seconds, refute, signature is None)
    if proof.assumptions:
        remember(launches[0], [parsed(one.text) for one in proof.assumptions])
    return proof


def proof_of(launches: Sequence[Launch], assume: Sequence[str], seconds: float, refute: bool, sized: bool) -> Proof:
    """The proof of the kernel of ``launches``, which all have the same constants."""
    began = time.perf_counter()
    launch = launches[0]
    written = stored_to(launch)
    suggestions = suggested(launches, written, sized)
    sizes: Sizes | None = None
    model: ProofModel | None = None
    properties: tuple[PropertyProof, ...] = ()
    try:
        with series(_("the proof"), seconds):
            sizes, model, accesses, doubtful = most_proved(launch, assume, suggestions, sized)
            if refute:
                accesses = tuple(_with_refutation(model, one, doubtful) for one in accesses)
            properties = tuple(_properties(model, written))
            if refute:
                properties = tuple(with_refutations(model, properties, doubtful))
    except TooHard:
        accesses = tuple(_undecided(launch)) if model is None else accesses
    return Proof(
        launch.kernel,
        launch.file,
        launch.first_line,
        accesses,
        properties,
        assumptions=() if sizes is None else tuple(sizes.assumptions),
        parameters=() if sizes is None else tuple(sizes.free.values()),
        constants={} if sizes is None else dict(sizes.constants),
        grid=_grid(sizes),
        seconds=time.perf_counter() - began,
    )


def _grid(sizes: Sizes | None) -> tuple[str, ...]:
    """The extents of the grid as the assumptions have them; "any" where they say nothing."""
    texts = {} if sizes is None else {c.subject: c.text for c in (parsed(one.text) for one in sizes.assumptions)}
    found = [texts.get(f"grid[{axis}]", "").removeprefix(f"grid[{axis}] == ") or _("any") for axis in range(3)]
    return tuple(found[:1] if found[1:] == ["1", "1"] else found)


def stored_to(launch: Launch) -> frozenset[str]:
    """The tensors that the kernel writes, by the origin of its pointers."""
    plan, roots = launch.executable.plan, launch.executable.roots
    writes = [op.index for op in plan.walk() if effects.writes(op)]
    return frozenset(launch.plan_arguments[k].name for op in writes for k in roots.get(op) or ())


def most_proved(
    launch: Launch, assume: Sequence[str], suggestions: Sequence[Suggestion], sized: bool
) -> tuple[Sizes, ProofModel, tuple[AccessProof, ...], frozenset[str]]:
    """The proof with the options under which most accesses are proved, changed one by one. Raises TooHard.

    The last are the tensors whose sizes are a guess, and "grid" if that is one.
    """

    suggestions, assume = without_removed(suggestions, assume)

    def tried(options: Sequence[int], before: _Found | None) -> _Found | None:
        chosen = [one for s, number in zip(suggestions, options, strict=True) if (one := s.chosen(number)) is not None]
        sizes = sizes_of(launch, assume, chosen, sized)
        model = model_of(launch, sizes)
        open_ops = [] if before is None else [one.op for one in before[2] if one.outcome != PROVED]
        first = {one.op: one for one in _accesses(model, open_ops)}
        if before is not None and not _proved(first.values()):
            return None
        others = [one.index for one in _access_ops(launch) if one.index not in first]
        every = first | {one.op: one for one in _accesses(model, others)}
        return sizes, model, tuple(every[op.index] for op in _access_ops(launch))

    options = [0] * len(suggestions)
    best = tried(options, None)
    assert best is not None
    ordered = _ordered(suggestions, best)
    if ordered:
        other = [1 if k in ordered else one for k, one in enumerate(options)]
        with suppress(TooHard, ValueError):
            best, options = tried(other, None) or best, other
    tries, improved = 0, True
    while improved and tries < _MOST_TRIES:
        improved = False
        for other in other_options(suggestions, options):
            if all(one.outcome == PROVED for one in best[2]) or tries >= _MOST_TRIES:
                break
            changed = [s for s, old, new in zip(suggestions, options, other, strict=True) if old != new]
            if not any(_may_help(one, best) for one in changed):
                continue
            tries += 1
            try:
                found = tried(other, best)
            except (TooHard, ValueError):
                continue
            if found is not None and _proved(found[2]) > _proved(best[2]):
                best, options[:], improved = found, other, True
    for position, suggestion in enumerate(suggestions):  # orders, and what tensors hold, only where they are needed
        if (suggestion.helps or suggestion.order) and suggestion.options[options[position]] is not None:
            other = [suggestion.options.index(None) if k == position else one for k, one in enumerate(options)]
            with suppress(TooHard, ValueError):
                found = tried(other, None)
                if found is not None and _proved(found[2]) == _proved(best[2]):
                    best, options = found, other
    doubtful = {s.subject for s, number in zip(suggestions, options, strict=True) if number >= s.plain}
    return *best, frozenset(doubtful)


def _ordered(suggestions: Sequence[Suggestion], found: _Found) -> list[int]:
    """The orders of two sizes that are both in an address that is not proved, by their positions."""
    _sizes, model, accesses = found
    left = {one.op for one in accesses if one.outcome != PROVED}
    texts = [
        {model.sizes.free[name] for name in piece.value.names if name in model.sizes.free}
        for touch in model.touches
        if touch.op.index in left and not isinstance(touch.pointer, Unknown)
        for piece in touch.pointer.pieces
    ]
    every = [k for k, s in enumerate(suggestions) if s.order and any(names.issuperset(s.order) for names in texts)]
    return every[:_MOST_ORDERS]


def _may_help(suggestion: Suggestion, found: _Found) -> bool:
    """Whether another option may prove an access.

    It is of the grid, or of a tensor with an access that is not proved; nothing but what tensors hold helps where an
    address depends on that.
    """
    _sizes, model, accesses = found
    left = {one.op: one.argument for one in accesses if one.outcome != PROVED}
    if suggestion.helps:
        return not suggestion.helps.isdisjoint(left)
    loaded = {touch.op.index for touch in model.touches if touch.op.index in left and depends_on_memory(touch)}
    names = {name for op, name in left.items() if op not in loaded}
    return suggestion.subject in names or (suggestion.origin == "grid" and bool(names))


def _proved(accesses: Iterable[AccessProof]) -> int:
    return sum(one.outcome == PROVED for one in accesses)


def _access_ops(launch: Launch) -> list[Op]:
    return [one for one in launch.executable.plan.walk() if effects.is_access(one)]


def _accesses(model: ProofModel, ops: Collection[int]) -> Iterator[AccessProof]:
    """The verdict on each of these access operations; one that is reached along several paths has one verdict."""
    by_op: dict[int, list[SymbolicAccess]] = {}
    for touch in model.touches:
        by_op.setdefault(touch.op.index, []).append(touch)
    for op in (one for one in _access_ops(model.launch) if one.index in ops):
        reasons = [reason for touch in by_op.get(op.index, ()) if (reason := decided(model, touch))]
        yield _verdict(model.launch, op, reasons[0] if reasons else "")


def _properties(model: ProofModel, written: frozenset[str]) -> Iterator[PropertyProof]:
    yield race_proof(model)
    yield overflow_proof(model)
    yield masked_lanes_proof(model)
    yield from written_proofs(model, written)


def _with_refutation(model: ProofModel, found: AccessProof, doubtful: frozenset[str]) -> AccessProof:
    """The access, refuted if a launch fails there whose sizes are no guess."""
    if found.outcome != UNKNOWN or "grid" in doubtful or found.argument in doubtful:
        return found
    for touch in model.touches:
        wrong = refuted(model, touch) if touch.op.index == found.op else None
        if wrong is not None:
            return replace(
                found,
                outcome=REFUTED,
                reason=wrong.text,
                sizes=wrong.sizes,
                program=wrong.program,
                lane=wrong.lane,
                launch=wrong.launch,
            )
    return found


def _undecided(launch: Launch) -> Iterator[AccessProof]:
    for op in _access_ops(launch):
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
        code=line.excerpt[0].strip() if line is not None and line.excerpt else "",
    )
