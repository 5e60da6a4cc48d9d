"""Runs the module after each pass of the compiler on a launch's inputs, within a time limit."""

from __future__ import annotations

import json
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab import messages
from triton_lab.compiled import compiler_client
from triton_lab.compiled.compile_failure import CompileError
from triton_lab.compiled.compiler_client import MAX_BYTES, SECONDS
from triton_lab.compiled.front_end import Request
from triton_lab.compiled.pass_run import NOT_RUN, PassModule, PassRun
from triton_lab.compiled.passes import Pass
from triton_lab.interpreter.asynchronous.buffer_accesses import MISSING_FENCE
from triton_lab.interpreter.asynchronous.pending_work import PROXIES, Queue
from triton_lab.interpreter.bound_plan import Executable
from triton_lab.interpreter.kernel_errors import KernelError, Unsupported
from triton_lab.interpreter.memory_regions import Memory
from triton_lab.ir import Op, parse_plan
from triton_lab.ir.parse import ParseError
from triton_lab.ir.short_calls import without_short_calls
from triton_lab.ir.verify import InvalidPlan
from triton_lab.launch.comparison.argument_difference import DIFFERENT, EQUAL, NEAR, UNKNOWN, Compared
from triton_lab.launch.comparison.bounds.error_bounds import bounds
from triton_lab.launch.comparison.launch_results import of_launch, read, written_by
from triton_lab.launch.recording.launch_record import Recorded
from triton_lab.launch.recording.progress_callback import within
from triton_lab.launch.recording.replay_error import CannotReplay
from triton_lab.launch.replay.replay_run import replay
from triton_lab.localization import _

Array = NDArray[Any]
Place = tuple[str, str, int, int]
_FENCE = "ttng.fence_async_shared"
# The queues whose fences are checked, from the most to none: a module is held to the first that it keeps to.
_FENCES: tuple[frozenset[Queue], ...] = (PROXIES, frozenset(("products", "tensor core")), frozenset())


def sampled(launch: Recorded, seconds: float) -> Array | None:
    """As many programs of a launch, at even distances, as run in so many seconds; None: all of them."""
    takes = max(launch.interpreted, launch.seconds if launch.target == "cpu" else 0.0)
    count = max(1, int(launch.programs * seconds / takes)) if takes > 0 else launch.programs
    if count >= launch.programs or launch.executable.waiting_loops:
        return None
    return np.unique(np.linspace(0, launch.programs - 1, count).astype(np.int64))


def pass_modules(request: Request, changing: list[tuple[int, Pass]], place: tuple[str, int]) -> Iterator[PassModule]:
    """The module of each pass of one kernel, ready to run. Raises CompileError if the compiler gives no text."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "modules.json"
        path.write_text(json.dumps([one.module for _number, one in changing]), encoding="utf-8")
        outcome = compiler_client.ask(request, SECONDS, MAX_BYTES, threading.Event(), generic=str(path))
    if outcome.failure:
        told = _("{kernel}: its passes cannot be run: {failure}").format(kernel=request.kernel, failure=outcome.failure)
        raise CompileError(told, request.target.name, "ttgir", place, outcome.said)
    for number, (_unused, one) in enumerate(changing):
        if str(number) in outcome.stages:
            yield _module(one.module, str(outcome.stages[str(number)]))
        else:
            yield PassModule(one.module, None, None, _("the compiler cannot read its own output"))


def _module(text: str, generic: str) -> PassModule:
    try:
        plan = parse_plan(generic)
        return PassModule(text, Executable.of(without_short_calls(plan)), plan)
    except (KernelError, ParseError, InvalidPlan) as error:
        return PassModule(text, None, None, str(error).split("\n", 1)[0])


@dataclass
class ModuleRuns:
    """The modules of a launch's passes, run one after another until ``end`` (of `time.monotonic`)."""

    launch: Recorded
    modules: Mapping[int, PassModule]
    programs: Array | None
    end: float
    seconds: float
    # By the queues whose fences were checked, the operations of the last module that had fences and was in order.
    fenced: dict[frozenset[Queue], frozenset[Place]] = field(default_factory=dict)

    def all(self, changing: list[tuple[int, Pass]]) -> Iterator[PassRun]:
        """Each pass's run, with what the module before it computes."""
        before = self._first()
        last: Executable | None = None  # what computed `before`; None: the launch itself
        unseen: tuple[str, ...] = ()
        for number, changed in changing:
            module = self.modules[number]
            one = self._run(number, changed, module, before, last)
            yield replace(one, unseen=unseen)
            if one.stopped or module.runs is None:
                unseen = (*unseen, changed.name)
            else:
                unseen, last, before = (), module.runs, {each.name: each.b for each in one.compared}

    @property
    def _left(self) -> float:
        return self.end - time.monotonic()

    def _first(self) -> Mapping[str, Array]:
        """What the launch itself computes, by the tensors that it writes."""
        with within(max(1.0, self._left)):
            if self.programs is None:
                results = of_launch(self.launch, "cpu")
                return {name: results.arrays[name] for name in results.written}
            names = written_by(self.launch)
            memory = replay(self.launch, programs=self.programs)
            return {name: read(memory, self.launch.argument(name)) for name in names}

    def _run(
        self, number: int, changed: Pass, module: PassModule, before: Mapping[str, Array], last: Executable | None
    ) -> PassRun:
        """The module after one pass, run; ``before`` is what ``last``, the module that ran before it, computes."""
        why = module.why
        if self._left <= 0:
            why = _("the limit of {seconds} s was reached").format(seconds=messages.significant(self.seconds))
        if why or module.runs is None:
            return PassRun(number, changed, NOT_RUN, stopped=why)
        try:
            with within(max(0.5, self._left)):
                memory = self._replayed(module.runs)
            after = {name: read(memory, self.launch.argument(name)) for name in before}
        except (CannotReplay, Unsupported) as error:
            return PassRun(number, changed, NOT_RUN, stopped=str(error).split("\n", 1)[0])
        except KernelError as error:
            # If the launch itself ran to its end, the pass is what stops it.
            stopped = str(error).split("\n", 1)[0]
            return PassRun(number, changed, NOT_RUN if self.launch.error else DIFFERENT, stopped=stopped)
        compared = self._compared(before, after, last)
        return PassRun(number, changed, _worst(compared), compared)

    def _replayed(self, runs: Executable) -> Memory:
        """The memory after a module, whose fences order what they ordered in the modules before it.

        The compiler adds fences in passes of their own: those of products, then, on the way to LLVM IR, those of TMA.
        Raises KernelError if the module stops, also at an access that a fence ordered before.
        """
        for number, fences in enumerate(_FENCES):
            try:
                memory = replay(self.launch, executable=runs, strict=True, fences=fences, programs=self.programs)
            except KernelError as error:
                if error.rule != MISSING_FENCE or self._was_fenced(error, fences):
                    raise
                continue
            if any(op.name == _FENCE for op in runs.plan.walk()):
                places = frozenset(map(_place, runs.plan.walk()))
                self.fenced |= dict.fromkeys(_FENCES[number:], places)
            return memory
        raise AssertionError(_FENCES)  # without any fences nothing is out of order

    def _was_fenced(self, error: KernelError, fences: frozenset[Queue]) -> bool:
        """Whether both operations that are out of order were in order in a module before."""
        places = self.fenced.get(fences, frozenset())
        return all(one is not None and _place(one) in places for one in (error.op, error.other))

    def _compared(
        self, before: Mapping[str, Array], after: Mapping[str, Array], last: Executable | None
    ) -> tuple[Compared, ...]:
        plain = [Compared(name, before[name], after[name]) for name in before]
        if not any(one.count for one in plain):
            return tuple(plain)
        try:
            allowed = bounds(self.launch, False, executable=last, seconds=max(0.5, self._left))
        except (KernelError, CannotReplay) as error:
            return tuple(Compared(one.name, one.a, one.b, reason=str(error)) for one in plain)
        return tuple(Compared(one.name, one.a, one.b, bound=allowed[one.name]) for one in plain)


def _place(op: Op) -> Place:
    """An operation's name, and its file, line and column: the same in all modules, inlined or not."""
    where = op.location
    return (op.name, "", 0, 0) if where is None else (op.name, where.file, where.line, where.column)


def _worst(compared: Iterable[Compared]) -> str:
    found = {one.verdict for one in compared}
    return next((verdict for verdict in (DIFFERENT, UNKNOWN, NEAR) if verdict in found), EQUAL)
