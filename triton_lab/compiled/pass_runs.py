"""`PassRuns`: the module after each pass of the compiler, run on a launch's inputs."""

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
from triton_lab.compiled.compilation_text import aligned
from triton_lab.compiled.compile_failure import CompileError
from triton_lab.compiled.compiler_client import MAX_BYTES, SECONDS
from triton_lab.compiled.front_end import Request
from triton_lab.compiled.passes import Pass, Passes
from triton_lab.interpreter.bound_plan import Executable
from triton_lab.interpreter.kernel_errors import KernelError, Unsupported
from triton_lab.ir import parse_plan
from triton_lab.ir.parse import ParseError
from triton_lab.ir.short_calls import without_short_calls
from triton_lab.ir.verify import InvalidPlan
from triton_lab.launch.checks.analysis.finding_text import finding
from triton_lab.launch.comparison.argument_difference import DIFFERENT, EQUAL, NEAR, UNKNOWN, Compared
from triton_lab.launch.comparison.bounds.error_bounds import bounds
from triton_lab.launch.comparison.launch_results import of_launch, read
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.launch.recording.launch_record import Recorded
from triton_lab.launch.recording.replay_error import CannotReplay
from triton_lab.launch.replay.replay_run import replay
from triton_lab.localization import N_, _, translated

Array = NDArray[Any]
NOT_RUN = N_("not run")
LIMIT = 60.0  # seconds for all passes of a kernel


@dataclass(frozen=True)
class PassRun:
    """What the module after ``changed`` computes, beside what the module before it does.

    ``verdict`` is ``bit-equal``, ``equal up to rounding``, ``not known``, ``different`` or ``not run``. ``compared``
    has the written arguments, before and after the pass; ``stopped`` says why the module was not run to its end.
    ``unseen`` are the passes before it whose modules were not run: any of them may be what changes the result.
    """

    number: int
    changed: Pass
    verdict: str
    compared: tuple[Compared, ...] = field(repr=False, default=())
    stopped: str = ""
    unseen: tuple[str, ...] = ()

    @property
    def names(self) -> str:
        """The pass, and those before it whose modules were not run."""
        return _(" or ").join((*self.unseen, self.changed.name))

    @property
    def first(self) -> tuple[Compared, tuple[int, ...]] | None:
        """The first argument that differs, and the index of its first element that does; None if all agree."""
        for one in self.compared:
            wrong = one.a.size and ~(one.explained | one.unknown if self.verdict == DIFFERENT else one.same)
            if np.any(wrong):
                return one, messages.index(int(np.argmax(wrong)), one.a.shape)
        return None

    def told(self) -> str:
        """The verdict in a sentence: ``different: out_ptr[3] was 1.0 and is 2.0, and 63 more elements differ``."""
        if self.stopped:
            return f"{translated(self.verdict)}: {self.stopped}"
        if self.verdict == EQUAL or self.first is None:
            return _("same result")
        one, index = self.first
        count = sum(each.count for each in self.compared)
        return _("{verdict}: {element} was {before} and is {after}; {count} in all").format(
            verdict=translated(self.verdict),
            element=messages.element_at(one.name, index),
            before=str(one.a[index]),
            after=str(one.b[index]),
            count=messages.count(count, "element"),
        )


class PassRuns(list[PassRun]):
    """The passes that changed a kernel's module, each run on the launch's inputs; they print as a table.

    >>> print(launch.compile("sm_90").run())
    add_kernel for sm_90: no pass changes the result (... modules run on the launch's inputs)
    """

    def __init__(self, runs: Iterable[PassRun], kernel: str, target: str) -> None:
        super().__init__(runs)
        self.kernel = kernel
        self.target = target

    @property
    def first(self) -> PassRun | None:
        """The first pass whose result differs beyond rounding, or whose module is stopped; None if there is none.

        >>> launch.compile("sm_90").run().first is None
        True
        """
        return next((one for one in self if one.verdict == DIFFERENT), None)

    @property
    def unknown(self) -> list[PassRun]:
        """The passes of which it is not known whether they change the result."""
        return [one for one in self if one.verdict in (NOT_RUN, UNKNOWN)]

    def of(self, number: int) -> PassRun | None:
        """The run of the pass with this number among all passes; None where the pass changed nothing."""
        return next((one for one in self if one.number == number), None)

    def headline(self) -> str:
        """What is known of all passes, in a sentence."""
        first = self.first
        if first is not None:
            return _("{kernel} for {target}: {name} changes the result: {told}").format(
                kernel=self.kernel, target=self.target, name=first.names, told=first.told()
            )
        ran = messages.count(len(self) - len(self.unknown), "module")
        if self.unknown:
            return _("{kernel} for {target}: for {unknown} it is not known whether they change the result").format(
                kernel=self.kernel, target=self.target, unknown=messages.count(len(self.unknown), "pass", "passes")
            )
        return _("{kernel} for {target}: no pass changes the result ({ran} run on the launch's inputs)").format(
            kernel=self.kernel, target=self.target, ran=ran
        )

    def findings(self, launch: Recorded) -> list[Finding]:
        """The finding for the first pass that changes the result of ``launch``; none if no pass is known to."""
        if self.first is None:
            return []
        message = _("for {target}, {name} changes the result: {told}").format(
            target=self.target, name=self.first.names, told=self.first.told()
        )
        mend = _("Try the kernel without the option that asks for this pass, and report it to Triton's developers.")
        argument = None if self.first.first is None else launch.argument(self.first.first[0].name)
        return [finding(launch, "miscompiled", message, mend, argument=argument)]

    def __str__(self) -> str:
        rows = [("", _("pass"), _("result"))]
        rows += [(str(one.number), one.changed.name, one.told()) for one in self if one.verdict != EQUAL]
        return "\n".join([self.headline(), *(aligned(rows) if len(rows) > 1 else [])])

    def __repr__(self) -> str:
        return str(self)


def runs_of(passes: Passes, request: Request, launch: Recorded, place: tuple[str, int]) -> PassRuns:
    """Run the module after each pass on what memory held before ``launch``; implements `Compiled.run`.

    Raises CompileError where the modules cannot be read back, CannotReplay where the launch cannot be run again.
    """
    changing = [(number, one) for number, one in enumerate(passes) if one.module]
    found = executables(request, [one.module for _number, one in changing], place)
    return PassRuns(_runs(changing, found, launch), request.kernel, request.target.name)


def executables(request: Request, modules: list[str], place: tuple[str, int]) -> Mapping[int, Executable | str]:
    """Each of the modules of one kernel, ready to run, by its number; a text says why it cannot be run."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "modules.json"
        path.write_text(json.dumps(modules), encoding="utf-8")
        outcome = compiler_client.ask(request, SECONDS, MAX_BYTES, threading.Event(), generic=str(path))
    if outcome.failure:
        told = _("{kernel}: its passes cannot be run: {failure}").format(kernel=request.kernel, failure=outcome.failure)
        raise CompileError(told, request.target.name, "ttgir", place, outcome.said)
    return {
        number: _executable(str(outcome.stages[str(number)]))
        if str(number) in outcome.stages
        else _("the compiler cannot read its own output")
        for number in range(len(modules))
    }


def _executable(text: str) -> Executable | str:
    try:
        return Executable.of(without_short_calls(parse_plan(text)))
    except (KernelError, ParseError, InvalidPlan) as error:
        return str(error).split("\n", 1)[0]


def _runs(
    changing: list[tuple[int, Pass]], found: Mapping[int, Executable | str], launch: Recorded
) -> Iterator[PassRun]:
    results = of_launch(launch, "cpu")
    before: Mapping[str, Array] = {name: results.arrays[name] for name in results.written}
    end = time.monotonic() + LIMIT
    last: Executable | None = None  # what computed `before`; None: the launch itself
    unseen: tuple[str, ...] = ()
    for k, (number, changed) in enumerate(changing):
        runs = found[k]
        one = _run(number, changed, runs, before, last, launch, time.monotonic() > end)
        yield replace(one, unseen=unseen)
        if one.stopped or isinstance(runs, str):
            unseen = (*unseen, changed.name)
        else:
            unseen, last, before = (), runs, {each.name: each.b for each in one.compared}


def _run(
    number: int,
    changed: Pass,
    runs: Executable | str,
    before: Mapping[str, Array],
    last: Executable | None,
    launch: Recorded,
    is_late: bool,
) -> PassRun:
    """The module after one pass, run; ``before`` is what ``last``, the module that ran before it, computes."""
    if is_late:
        runs = _("the limit of {seconds} s was reached").format(seconds=messages.significant(LIMIT))
    if isinstance(runs, str):
        return PassRun(number, changed, NOT_RUN, stopped=runs)
    try:
        # The compiler adds fences between proxies in passes of their own, the last of them on the way to LLVM IR.
        memory = replay(launch, executable=runs, strict=True, fenced=False)
        after = {name: read(memory, launch.argument(name)) for name in before}
    except (CannotReplay, Unsupported) as error:
        return PassRun(number, changed, NOT_RUN, stopped=str(error).split("\n", 1)[0])
    except KernelError as error:
        # If the launch itself ran to its end, the pass is what stops it.
        stopped = str(error).split("\n", 1)[0]
        return PassRun(number, changed, NOT_RUN if launch.error else DIFFERENT, stopped=stopped)
    compared = _compared(before, after, launch, last)
    return PassRun(number, changed, _worst(compared), compared)


def _compared(
    before: Mapping[str, Array], after: Mapping[str, Array], launch: Recorded, last: Executable | None
) -> tuple[Compared, ...]:
    plain = [Compared(name, before[name], after[name]) for name in before]
    if not any(one.count for one in plain):
        return tuple(plain)
    try:
        allowed = bounds(launch, False, executable=last)
    except (KernelError, CannotReplay) as error:
        return tuple(Compared(one.name, one.a, one.b, reason=str(error)) for one in plain)
    return tuple(Compared(one.name, one.a, one.b, bound=allowed[one.name]) for one in plain)


def _worst(compared: Iterable[Compared]) -> str:
    found = {one.verdict for one in compared}
    return next((verdict for verdict in (DIFFERENT, UNKNOWN, NEAR) if verdict in found), EQUAL)
