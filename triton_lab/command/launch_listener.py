"""Records and checks the launches of this process, and writes an entry about each as soon as it ends.

Each launch is checked when it ends and then dropped, so that a script may make any number of them: a record of them all
would run out of room and check later launches less.
"""

from __future__ import annotations

import os
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any

from triton_lab import messages
from triton_lab.backend.plugin.recorders import LaunchCall, Recorder, Watch, recorders
from triton_lab.command.launch_journal import Journal
from triton_lab.command.session_log import CardText, FindingText
from triton_lab.interpreter.bound_plan import Executable
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.launch.launch import Launch
from triton_lab.launch.recording.launch_list import Launches
from triton_lab.launch.recording.record import record
from triton_lab.localization import _

# Launches that are kept whole, to be drawn: the first few of each kernel and of each finding, the most in all, and the
# most bytes.
FIRST, MOST, MOST_BYTES = 2, 24, 512 << 20
CARD_BYTES = 20_000_000  # of all cards together


@dataclass
class ListeningProcess:
    """What this process knows of its launches.

    It has the number of ended launches, the one that runs now, those that are kept to be drawn by number, and the error
    that the last launch stopped by a finding raised.
    """

    ended: int = 0
    running: str = ""
    kept: dict[int, Launch] = field(default_factory=dict)
    stopped: BaseException | None = None
    errors: int = 0


class _Listener(Recorder):
    """Takes each launch from the record when it ends, checks it and writes its entries."""

    def __init__(
        self,
        launches: Launches,
        here: ListeningProcess,
        journal: Journal,
        draw: bool,
        passes: str,
        resources: Mapping[str, Any],
    ) -> None:
        self._launches, self._here, self._journal, self._draw = launches, here, journal, draw
        self._passes = passes
        self._resources = resources
        self._process = os.getpid()
        self._begin()

    def _begin(self) -> None:
        """Begin the state of a new process: the other process has written its own entries."""
        self._lock = threading.Lock()
        self._bytes = self._count = 0
        self._numbers: dict[int, int] = {}  # by the identity of the call
        self._texts: dict[tuple[str, str, int, int], tuple[str, int]] = {}  # a finding's name and number of launches
        self._compiled: set[Executable] = set()  # whose compilation was looked at
        self._of_kernel: Counter[tuple[str, str]] = Counter()

    def before(self, call: LaunchCall) -> Watch:
        if os.getpid() != self._process:
            self._process, self._draw = os.getpid(), False
            self._launches.clear()
            self._launches.unseen.clear()
            self._begin()
        self._here.running = messages.launched(call.metadata.name, call.grid)
        with self._lock:
            number = self._numbers[id(call)] = self._count
            self._count += 1
        if not call.trial:
            self._journal.write("launch", launch=number, kernel=call.metadata.name, grid=call.grid)
        return Watch()

    def after(self, call: LaunchCall) -> None:
        with self._lock:
            number = self._numbers.pop(id(call), -1)
            taken = None if call.trial else self._taken(call)
        if taken is not None:
            with recorders.unrecorded():
                # Computed now, outside of the lock: it takes longest.
                found, unchecked = list(taken.findings), list(map(str, taken.unchecked))
                if (self._passes or self._resources) and taken.executable not in self._compiled:
                    self._compiled.add(taken.executable)
                    if self._passes:
                        more, left = _of_passes(taken, self._passes)
                        found, unchecked = found + more, unchecked + left
                    if self._resources:
                        more, left = _of_resources(taken, self._resources)
                        found, unchecked = found + more, unchecked + left
            with self._lock:
                self._keep(taken, number, found, unchecked)
        elif not call.trial:
            self._journal.write("passed", launch=number)
        self._here.running = ""

    def missed(self, kernel: str, reason: str) -> None:
        self._journal.write(
            "unseen", what=_("the launch of {kernel} was not recorded: {reason}").format(kernel=kernel, reason=reason)
        )

    def _taken(self, call: LaunchCall) -> Launch | None:
        """The recorded launch of this call; another thread may have added its own after it."""
        for at, launch in enumerate(self._launches):
            if launch.executable is call.executable and launch.error is call.error and launch.seconds == call.seconds:
                return self._launches.pop(at)
        return self._launches.pop(0) if self._launches else None

    def _keep(self, launch: Launch, number: int, findings: Sequence[Finding], unchecked: Sequence[str]) -> None:
        here = self._here
        names, new = [], False
        for finding in findings:
            text = FindingText.of(finding, launch.file, launch.first_line)
            key = (text.fingerprint, text.file, text.line, text.column or 0)
            name, met = self._texts.get(key, (str(len(self._texts)), 0))
            if not met:
                self._journal.write("finding", name=name, finding=asdict(text))
            self._texts[key] = name, met + 1
            new |= met < FIRST
            names.append(name)
            here.errors += finding.severity == "error"
            if finding.stopped:
                here.stopped = launch.error
        self._of_kernel[launch.kernel, launch.file] += 1
        wanted = self._of_kernel[launch.kernel, launch.file] <= FIRST or new
        if self._draw and wanted and len(here.kept) < MOST and self._has_room(launch):
            here.kept[number] = launch
        self._journal.write(
            "judged",
            launch=number,
            kernel=launch.kernel,
            grid=launch.grid,
            target=launch.target,
            seconds=launch.seconds,
            failed=launch.error is not None,
            findings=names,
            unchecked=list(dict.fromkeys(unchecked)),
        )
        here.ended += 1

    def _has_room(self, launch: Launch) -> bool:
        held = sum(part.nbytes for part in (launch.tape, launch.snapshot) if part is not None)
        if self._bytes + held > MOST_BYTES:
            return False
        self._bytes += held
        return True


def _of_passes(launch: Launch, target: str) -> tuple[list[Finding], list[str]]:
    """The findings of the compiler's passes for ``target``, and what could not be checked of them."""
    from triton_lab.compiled.compile_failure import CompileError
    from triton_lab.launch.recording.replay_error import CannotReplay

    try:
        runs = launch.compile(target).run()
    except (CompileError, CannotReplay, ValueError) as error:
        return [], [_("passes of the compiler: {error}").format(error=str(error).split("\n", 1)[0])]
    left = [
        _("passes of the compiler: {name}: {told}").format(name=one.changed.name, told=one.told())
        for one in runs.unknown
    ]
    return runs.findings(launch), left


def _of_resources(launch: Launch, asked: Mapping[str, Any]) -> tuple[list[Finding], list[str]]:
    """What a GPU would refuse of a launch, what is beyond the limits, and what could not be checked of them."""
    from triton_lab.compiled.compile_failure import CompileError
    from triton_lab.compiled.cost.resource_gates import ResourceGates, resource_findings
    from triton_lab.launch.recording.replay_error import CannotReplay

    try:
        return list(resource_findings(launch, asked["target"], ResourceGates(**asked["gates"]))), []
    except (CompileError, CannotReplay, LookupError, ValueError) as error:
        return [], [_("what a program needs of a GPU: {error}").format(error=str(error).split("\n", 1)[0])]


@contextmanager
def listening(
    journal: Journal,
    draw: bool = False,
    time: bool = False,
    passes: str = "",
    resources: Mapping[str, Any] | None = None,
) -> Iterator[ListeningProcess]:
    """Record, check and journal all launches inside, of this process and of those that it forks.

    With ``draw`` some launches are kept whole. With ``passes``, the name of a target, the first launch of each kernel
    is run after each pass of the compiler, too. With ``resources``, a target and its limits (`ResourceGates`), each
    kernel is compiled, and what a GPU would refuse is found.

    ``time`` is that of `record`.

    Raises NotRecorded if they cannot be recorded.
    """
    here = ListeningProcess()
    with (
        record(max_total_bytes=sys.maxsize, time=time) as launches,
        recorders.listening(_Listener(launches, here, journal, draw, passes, resources or {})),
    ):
        launches.elsewhere = None  # a fork journals its own launches
        yield here


def cards(
    kept: Mapping[int, Launch], drawing: Callable[[int, int], None] = lambda done, total: None
) -> Iterator[tuple[int, CardText]]:
    """The card of each launch, one after the other; ``drawing`` is called with the progress.

    They are drawn here, in the launches' process, and put into a page in another one.
    """
    from triton_lab.views.launch.card.launch_card import PAGE_BYTES, Card
    from triton_lab.views.launch.card.launch_tabs import SHOWN
    from triton_lab.views.scene_packing import packed

    room = min(PAGE_BYTES, CARD_BYTES // max(1, len(kept)))
    for done, (number, launch) in enumerate(kept.items()):
        drawing(done, len(kept))
        card = Card(launch, SHOWN)
        yield number, CardText(card.title(), packed(card.standalone(room)))
    drawing(len(kept), len(kept))
