"""`advise`: tries edits of a launch, the most promising first, and checks those that should be faster."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from triton_lab.backend.targets import active_target
from triton_lab.compiled.advice.edited_launch import edited_launch
from triton_lab.compiled.advice.launch_edit import LaunchEdit
from triton_lab.compiled.advice.launch_scope import LaunchScope
from triton_lab.compiled.advice.measured_edits import has_gpu, with_times
from triton_lab.compiled.advice.option_edits import option_edits
from triton_lab.compiled.advice.result_check import ResultCheck
from triton_lab.compiled.advice.source_edits import source_edits
from triton_lab.compiled.advice.speed_advice import Advice, Dropped, LaunchFigures, SpeedSuggestion
from triton_lab.compiled.compile_failure import CompileError
from triton_lab.compiled.compiled import Compiled
from triton_lab.compiled.cost.gpu_timing import timing
from triton_lab.compiled.cost.predicted_time import SectorFootprint, TimeModel, footprint
from triton_lab.compiled.launch_compilation import compiled_together, is_gluon
from triton_lab.interpreter.kernel_errors import from_signal
from triton_lab.ir import effects
from triton_lab.launch.comparison.argument_difference import DIFFERENT
from triton_lab.launch.recording.progress_callback import breathe
from triton_lab.launch.recording.replay_error import CannotReplay
from triton_lab.localization import N_, _, translated

if TYPE_CHECKING:
    from triton_lab.launch.launch import Launch

_PROGRAMS = 32  # that are followed of each edit
_TOGETHER = 4  # edits that are compiled at once
_WORTH = 1.03  # a smaller gain is no advice
_ABOUT = 1.04  # times as long, for less to change
_SHOWN = 8
_COMPILING = 3.0  # seconds that any edit may take to compile
_STEP = 0.02  # times that differ by a smaller share are taken for equal
_SEARCH = 0.65  # the share of the time for the search; the rest is for checks
# The kinds of edits that help against what limits a launch, the likeliest first; all others come after them.
_HELPS = {
    "dram": ("order", "rows", "vector", "shape", "block", "swizzle", "mask"),
    "l2": ("order", "rows", "vector", "hoist", "shape", "swizzle", "block", "mask", "stages"),
    "lsu": ("order", "rows", "vector", "types", "hoist", "mask", "shape", "block"),
    "issue": ("vector", "types", "rows", "mask", "warps", "block", "split", "shape"),
    "products": ("types", "shape", "block", "warps", "stages"),
    "atomics": ("block", "warps", "shape"),
    "latency": ("vector", "rows", "hoist", "grid", "block", "stages", "warps", "order", "shape", "mask"),
    "starts": ("rows", "block", "warps", "shape", "vector"),
}
_LEFT = (
    N_("Other algorithms, descriptors, other layouts of the tensors and fused kernels were not looked at."),
    N_("Programs in the middle of the grid were followed. Those at its ends may take another time."),
    N_("Results were compared on the CPU. There num_warps and num_stages change none; a GPU may round sums otherwise."),
)
NOT_CHECKED = "not checked"


@dataclass(frozen=True, eq=False)
class _Tried:
    """An edit that was compiled: its launch and figures."""

    edit: LaunchEdit
    launch: Launch
    figures: LaunchFigures


def advise(launch: Launch, target: str = "sm_90", *, seconds: float = 20.0, measure: bool | None = None) -> Advice:
    """Implements `Launch.advise`."""
    timing(target)
    _refuse(launch)
    measures = has_gpu(target) if measure is None else measure
    with active_target.target("gpu") if measures else contextlib.nullcontext():
        found = _EditSearch(launch, target, seconds).advice()
        try:
            return with_times(found) if measures else found
        except CannotReplay as error:
            if measure:
                raise
            return replace(found, left=(*found.left, _("Nothing was measured: {error}.").format(error=error)))


def _refuse(launch: Launch) -> None:
    """Raise CannotReplay for a launch that cannot be run again with an edit."""
    source = launch.compiled[0]
    if source is None or source.fn.fn is None:
        raise CannotReplay(
            _("the Python function of {kernel} does not exist in this process, so it cannot be edited").format(
                kernel=launch.kernel
            )
        )
    if launch.error is not None:
        raise CannotReplay(_("the launch stopped with an error: correct it first, then ask for its speed"))
    if is_gluon(launch) or launch.executable.waiting_loops:
        raise CannotReplay(_("advice is given for Triton kernels whose programs do not wait for each other"))
    if launch.snapshot is None or launch.tape is None:
        raise CannotReplay(_("the launch was recorded without the data that a rerun needs"))
    if missing := launch.snapshot.missing or launch.tape.cut:
        raise CannotReplay(missing)


@dataclass(eq=False)
class _EditSearch:
    """Edits of one launch, each tried once; ``known`` are those that compiled, the launch itself first."""

    launch: Launch
    target: str
    seconds: float
    known: list[_Tried] = field(default_factory=list)
    dropped: list[Dropped] = field(default_factory=list)
    seen: set[Any] = field(default_factory=set)
    started: float = field(default_factory=time.monotonic)
    compiling: float = 0.0  # seconds for the launch itself

    def __post_init__(self) -> None:
        self.scope = LaunchScope(self.launch, self.launch.compiled[0].fn.src)

    @property
    def left(self) -> float:
        """The seconds that are left."""
        return self.started + self.seconds - time.monotonic()

    def advice(self) -> Advice:
        """Search and check."""
        self._begin()
        original = self.known[0]
        is_complete = self._search()
        ranked = sorted(self.known[1:], key=_rank)
        faster = [one for one in ranked if original.figures.time.seconds / one.figures.time.seconds >= _WORTH]
        suggestions = self._checked(original, _plain(faster))
        left = [translated(one) for one in _LEFT]
        if not is_complete:
            left.append(_("The time ended before all edits were tried: pass more seconds."))
        return Advice(
            self.launch, self.target, original.figures, tuple(suggestions), tuple(self.dropped),
            len(self.known) - 1, tuple(left),
        )  # fmt: skip

    # --- The search -----------------------------------------------------------------------------------

    def _search(self) -> bool:
        """Try edits of the launch, then those next to the best, until there is none left; False if the time ends."""
        expanded: set[Any] = set()
        waiting: list[LaunchEdit] = []
        while True:
            best = min(self.known, key=lambda one: one.figures.time.seconds)
            if best.edit.key not in expanded:
                expanded.add(best.edit.key)
                waiting = self._ordered(best) + waiting
            if not waiting:
                return True
            if self.left < self.seconds * (1 - _SEARCH):
                return False
            breathe()
            some, waiting = waiting[:_TOGETHER], waiting[_TOGETHER:]
            self._try(some)

    def _ordered(self, state: _Tried) -> list[LaunchEdit]:
        """The untried edits next to a state, those first that help against its limits."""
        parts = state.figures.time.parts
        slow = sorted(parts, key=lambda name: -parts[name])
        kinds = list(dict.fromkeys(kind for name in slow[:2] for kind in _HELPS[name]))
        found = [(kind, edit) for kind, edit in self._next_to(state.edit) if edit.key not in self.seen]
        self.seen |= {edit.key for _kind, edit in found}
        place = {kind: k for k, kind in enumerate(kinds)}
        count: dict[str, int] = {}
        ranked = []
        for kind, edit in found:
            count[kind] = count.get(kind, -1) + 1
            # The kinds take turns, so that no long list of one of them comes before the first of another.
            ranked.append((count[kind] // 2, place.get(kind, len(kinds)), count[kind], edit))
        return [edit for *_rank, edit in sorted(ranked, key=lambda one: one[:3])]

    def _next_to(self, edit: LaunchEdit) -> Iterator[tuple[str, LaunchEdit]]:
        if edit.text is None:
            for kind, one in source_edits(self.scope):
                constants = {**edit.constants, **one.constants}
                grid = self.scope.grid(constants, one.grid or edit.grid)
                yield kind, replace(one, constants=constants, options=edit.options, grid=grid)
        yield from option_edits(self.scope, edit)

    def _begin(self) -> None:
        """The launch as it is. Raises CompileError, KernelError, CannotReplay."""
        nothing = LaunchEdit()
        self.seen.add(nothing.key)
        tried, begun = edited_launch(self.launch, nothing, self._programs(nothing)), time.monotonic()
        (made,) = compiled_together([(tried, {})], self.target)
        if isinstance(made, CompileError):
            raise made
        self.compiling = time.monotonic() - begun
        self.known.append(_Tried(nothing, tried, self._figures(tried, made)))

    def _try(self, edits: Sequence[LaunchEdit]) -> None:
        """Run some programs of each edit, compile it, and predict its time."""
        launches: list[tuple[LaunchEdit, Launch]] = []
        for edit in edits:
            try:
                launches.append((edit, edited_launch(self.launch, edit, self._programs(edit))))
            except Exception as error:  # the front end may raise anything, and such an edit is no advice
                self._drop(edit, error, _("it does not run"))
        for (edit, tried), made in zip(launches, self._compiled(launches), strict=True):
            if isinstance(made, Compiled):
                try:
                    self.known.append(_Tried(edit, tried, self._figures(tried, made)))
                except CannotReplay as error:
                    self._drop(edit, error, _("it does not run"))
            else:
                self._drop(edit, made, _("it does not compile, or not as fast as the others"))

    def _drop(self, edit: LaunchEdit, error: Exception, reason: str) -> None:
        if from_signal(error):
            raise error
        self.dropped.append(Dropped(edit.title, reason))

    def _compiled(self, launches: Sequence[tuple[LaunchEdit, Launch]]) -> list[Compiled | Exception]:
        asked = [(tried, edit.options) for edit, tried in launches]
        # An edit that takes much longer to compile than the launch has too much in its registers.
        limit = _COMPILING + 3 * self.compiling
        try:
            return list(compiled_together(asked, self.target, limit))
        except Exception as error:  # the front end stops at the first one that it refuses
            if from_signal(error) or len(asked) == 1:
                return [error]
            return [one for each in launches for one in self._compiled([each])]

    def _programs(self, edit: LaunchEdit) -> int:
        """The programs of an edit to follow: more where what they share decides the traffic of memory."""
        gpu = timing(self.target)
        if not self.known or self._footprint.bytes <= gpu.l2:
            return _PROGRAMS
        # Fewer where each does the work of several.
        share = math.prod(edit.grid or self.launch.grid) / max(1, self.launch.programs)
        return max(_PROGRAMS, math.ceil(gpu.multiprocessors * 4 * min(1.0, share)))

    @cached_property
    def _footprint(self) -> SectorFootprint:
        writing = {op.index for op in self.launch.executable.plan.walk() if effects.writes(op)}
        return footprint(self.launch.accesses, writing)

    def _figures(self, tried: Launch, made: Compiled) -> LaunchFigures:
        cost = made.cost
        found, held, resident = made.transactions, made.metadata, cost.occupancy
        scale = tried.programs / len(tried.own)
        return LaunchFigures(
            TimeModel(cost, self._footprint).predicted(),
            round(sum(one.sectors for one in found.transfers) * scale),
            round(sum(one.requests for one in found.transfers) * scale),
            held.registers,
            held.spills,
            held.shared,
            resident.share if resident is not None else 0.0,
        )

    # --- The results ----------------------------------------------------------------------------------

    def _checked(self, original: _Tried, ranked: Sequence[_Tried]) -> list[SpeedSuggestion]:
        """The first edits whose results are not wrong."""
        check = ResultCheck(self.launch, max(2.0, self.left / 2))
        found: list[SpeedSuggestion] = []
        unchecked: list[SpeedSuggestion] = []
        for one in ranked:
            if len(found) + len(unchecked) >= _SHOWN:
                break
            if self.left <= 0 and (found or unchecked):
                unchecked.append(self._suggested(original, one, NOT_CHECKED))
                continue
            breathe()
            verdict = check.verdict(one.launch, max(5.0, self.left))
            if verdict == DIFFERENT:
                self.dropped.append(Dropped(one.edit.title, _("its results differ")))
            else:
                found.append(self._suggested(original, one, verdict))
        return found + unchecked

    def _suggested(self, original: _Tried, one: _Tried, results: str) -> SpeedSuggestion:
        return SpeedSuggestion(one.edit, original.figures, one.figures, results, one.launch, self.scope.text)


def _rank(one: _Tried) -> tuple[float, ...]:
    """By time, then, within a step of two in a hundred, by how much is changed, and by the warps that hide waiting."""
    time = one.figures.time
    return round(math.log(time.seconds) / _STEP), one.edit.parts, -one.figures.occupancy, sum(time.parts.values())


def _plain(ranked: Sequence[_Tried]) -> list[_Tried]:
    """The edits without those that change more than another that is about as fast."""
    found: list[_Tried] = []
    for one in ranked:
        simpler = [
            other for other in ranked
            if other.edit.parts < one.edit.parts and other.figures.time.seconds <= one.figures.time.seconds * _ABOUT
        ]  # fmt: skip
        if not simpler:
            found.append(one)
    return found
