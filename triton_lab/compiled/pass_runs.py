"""`PassRuns`: the module after each pass of the compiler, run on a launch's inputs."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab import messages
from triton_lab.compiled.compilation_text import aligned
from triton_lab.compiled.front_end import Request
from triton_lab.compiled.module_values import ModuleValues, values_of
from triton_lab.compiled.pass_execution import ModuleRuns, pass_modules, sampled
from triton_lab.compiled.pass_run import NOT_RUN, PassModule, PassRun
from triton_lab.compiled.passes import Passes
from triton_lab.launch.checks.analysis.finding_text import finding
from triton_lab.launch.comparison.argument_difference import DIFFERENT, EQUAL, UNKNOWN
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.launch.launch import Launch
from triton_lab.launch.maps.last_writer import stored_in
from triton_lab.launch.recording.launch_record import Recorded
from triton_lab.localization import _

Array = NDArray[Any]
LIMIT = 60.0  # seconds for all passes of a kernel


class PassRuns(list[PassRun]):
    """The passes that changed a kernel's module, each run on the launch's inputs; they print as a table.

    >>> print(launch.compile("sm_90").run())
    add_kernel for sm_90: no pass changes the result (... modules run on the launch's inputs)
    """

    def __init__(
        self,
        runs: Iterable[PassRun],
        kernel: str,
        target: str,
        launch: Recorded,
        modules: Mapping[int, PassModule],
        programs: Array | None = None,
    ) -> None:
        super().__init__(runs)
        self.kernel = kernel
        self.target = target
        self.programs = programs  # those that were run; None: all
        self._launch = launch
        self._modules = modules

    @property
    def first(self) -> PassRun | None:
        """The first pass whose result differs beyond rounding, or whose module is stopped; None if there is none.

        >>> launch.compile("sm_90").run().first is None
        True
        """
        return next((one for one in self if one.verdict == DIFFERENT), None)

    @property
    def program(self) -> int:
        """The linear number of the program that stores the first element that differs; 0 if none is known."""
        difference = None if self.first is None else self.first.first
        if difference is None or not isinstance(self._launch, Launch):
            return 0
        compared, index = difference
        argument = self._launch.argument(compared.name)
        element = int(np.ravel_multi_index(index, compared.a.shape)) if index else 0
        for store in self._launch.accesses:
            if store.kind != "load" and store.argument == argument.name:
                last = stored_in(store, argument, self._launch.programs).last(element)
                if last is not None:
                    return last[0]
        return 0

    @property
    def unknown(self) -> list[PassRun]:
        """The passes of which it is not known whether they change the result."""
        return [one for one in self if one.verdict in (NOT_RUN, UNKNOWN)]

    def of(self, number: int) -> PassRun | None:
        """The run of the pass with this number among all passes; None where the pass changed nothing."""
        return next((one for one in self if one.number == number), None)

    def values(self, stage: int | str = "ttgir", program: int = 0) -> ModuleValues:
        """The module after a pass, with what ``program`` (a linear number) computes beside each line.

        ``stage`` is the pass's number among all passes, or "ttir" or "ttgir" for the last module of that dialect.
        Raises LookupError where the pass changed nothing or its module cannot be run, ValueError for a program that
        does not exist, CannotReplay.

        >>> runs = launch.compile("sm_90").run()
        >>> any("tt.load" in line and "//" in line for line in str(runs.values("ttir")).splitlines())
        True
        """
        number = self._last(stage) if isinstance(stage, str) else stage
        module = self._modules.get(number)
        if module is None:
            raise LookupError(
                _("there is no module {stage}; passes that changed it are {numbers}").format(
                    stage=repr(stage), numbers=", ".join(map(str, self._modules))
                )
            )
        if module.runs is None or module.plan is None:
            raise LookupError(
                _("the module after {name} cannot be run: {why}").format(name=self._name(number), why=module.why)
            )
        return values_of(module.text, module.runs, module.plan, self._launch, program)

    def _last(self, stage: str) -> int:
        """The number of the last module of a stage; -1 if there is none."""
        has_layouts = {number: "#ttg." in module.text for number, module in self._modules.items()}
        wanted = {"ttir": False, "ttgir": True}.get(stage)
        return max((number for number, found in has_layouts.items() if found is wanted), default=-1)

    def _name(self, number: int) -> str:
        one = self.of(number)
        return str(number) if one is None else one.changed.name

    def looked_at(self) -> str:
        """Which programs were not run, in a sentence; "" if all were."""
        if self.programs is None:
            return ""
        return _("{some} of {all} were run, so that each module had its share of the time.").format(
            some=f"{len(self.programs):,}", all=messages.count(self._launch.programs, "program")
        )

    def headline(self) -> str:
        """What is known of all passes, in a sentence, and what was not looked at."""
        return ". ".join(filter(None, [self._known(), self.looked_at()]))

    def _known(self) -> str:
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


def runs_of(
    passes: Passes, request: Request, launch: Recorded, place: tuple[str, int], seconds: float = LIMIT
) -> PassRuns:
    """Run the module after each pass on what memory held before ``launch``; implements `Compiled.run`.

    If all programs would take longer than ``seconds`` for all modules, some of them run. Raises CompileError where the
    modules cannot be read back, CannotReplay where the launch cannot be run again.
    """
    changing = [(number, one) for number, one in enumerate(passes) if one.module]
    modules = dict(zip((number for number, _one in changing), pass_modules(request, changing, place), strict=True))
    some = sampled(launch, seconds / (len(changing) + 1))
    runs = ModuleRuns(launch, modules, some, time.monotonic() + seconds, seconds)
    return PassRuns(runs.all(changing), request.kernel, request.target.name, launch, modules, some)
