"""What is kept of a script's launches while it runs: a line of each, every finding once, and a few launches whole.

Each launch is checked when it ends and then let go, so that a script may make any number of them: a record that kept
them all would run out of room and check the later ones less.
"""

from __future__ import annotations

import os
import sys
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from triton_lab import words
from triton_lab.backend.recorders import Call, Recorder, Watch, recorders
from triton_lab.launch.finding import ERROR, Finding, gravest, place_of
from triton_lab.launch.launch import Launch
from triton_lab.launch.launches import Launches
from triton_lab.launch.record import record

# Launches that are kept whole, to be drawn: the first of each kernel and of each finding, so many in all and in bytes.
FIRST, MOST, MOST_BYTES = 2, 24, 512 << 20


@dataclass(frozen=True)
class Line:
    """A launch in a list; ``number`` counts from 0, in the order in which launches ended.

    ``severities`` counts its findings; ``drawn``: the launch itself was kept.
    """

    number: int
    kernel: str
    grid: tuple[int, int, int]
    target: str
    seconds: float
    failed: bool
    severities: Mapping[str, int]
    drawn: bool

    @property
    def worst(self) -> str | None:
        """The severity of the gravest finding; one that failed is an error, whatever was found."""
        return ERROR if self.failed else gravest(self.severities)


@dataclass
class Found:
    """A finding at one place: as it was met first, in launch ``first``, and in how many ``launches``.

    ``file`` and ``line`` are where it is; without a line of its own, where the kernel begins. ``known``: it is in a
    list of those that are known, and no longer counts.
    """

    finding: Finding
    file: str
    line: int
    first: int
    kernel: str
    grid: tuple[int, int, int]
    launches: int = 0
    last: int = -1  # launch
    known: bool = False


@dataclass
class Heard:
    """All that is known of the launches so far. ``unchecked`` says what was not checked, in how many launches."""

    lines: list[Line] = field(default_factory=list)
    found: dict[tuple[str, str, int, int], Found] = field(default_factory=dict)
    kept: dict[int, Launch] = field(default_factory=dict)
    unchecked: Counter[str] = field(default_factory=Counter)
    unseen: list[str] = field(default_factory=list)
    running: str = ""
    # What the launch raised that a finding stopped last.
    stopped: BaseException | None = None

    def count(self, severity: str) -> int:
        """How many different findings are so grave, and not known."""
        return sum(one.finding.severity == severity and not one.known for one in self.findings)

    @property
    def findings(self) -> list[Found]:
        """By file and line. A mask that is always true is one that no launch of the kernel needed."""
        kernels = Counter(line.kernel for line in self.lines)
        told = [
            one
            for one in self.found.values()
            if one.finding.kind != "always-true-mask" or one.launches == kernels[one.kernel]
        ]
        return sorted(told, key=lambda one: (one.file, one.line, one.finding.column or 0))


class _Listener(Recorder):
    """Hears of each launch after the record has, takes it from there and keeps what is to be told."""

    def __init__(self, launches: Launches, heard: Heard, draw: bool) -> None:
        self._launches, self._heard, self._draw = launches, heard, draw
        self._lock = threading.Lock()
        self._process = os.getpid()
        self._bytes = 0
        self._of_kernel: Counter[tuple[str, str]] = Counter()

    def before(self, call: Call) -> Watch:
        self._heard.running = words.launched(call.metadata.name, call.grid)
        return Watch()

    def after(self, call: Call) -> None:
        if call.trial:
            return
        if os.getpid() != self._process:  # a fork: nobody asks it what it has launched
            self._launches.clear()
            return
        ended = []
        while self._launches:
            ended.append(self._launches.pop(0))
        for launch in ended:
            with recorders.unrecorded():
                launch.findings  # noqa: B018  (worked out now, outside of the lock: it takes longest)
            with self._lock:
                self._keep(launch)
        self._heard.running = ""

    def _keep(self, launch: Launch) -> None:
        heard, number = self._heard, len(self._heard.lines)
        new = [self._note(launch, finding, number) for finding in launch.findings]
        self._of_kernel[launch.kernel, launch.file] += 1
        wanted = self._of_kernel[launch.kernel, launch.file] <= FIRST or any(one.launches <= FIRST for one in new)
        drawn = self._draw and wanted and len(heard.kept) < MOST and self._has_room(launch)
        if drawn:
            heard.kept[number] = launch
        if any(finding.stopped for finding in launch.findings):
            heard.stopped = launch.error
        heard.unchecked.update(dict.fromkeys(map(str, launch.unchecked), 1))
        severities = Counter(finding.severity for finding in launch.findings)
        failed = launch.error is not None
        heard.lines.append(
            Line(number, launch.kernel, launch.grid, launch.target, launch.seconds, failed, severities, drawn)
        )

    def _note(self, launch: Launch, finding: Finding, number: int) -> Found:
        """The finding among those that are known, counted once for each launch."""
        file, line = place_of(finding, launch.file, launch.first_line)
        key = (finding.fingerprint, file, line, finding.column or 0)
        known = self._heard.found.setdefault(key, Found(finding, file, line, number, launch.kernel, launch.grid))
        known.launches += known.last != number
        known.last = number
        return known

    def _has_room(self, launch: Launch) -> bool:
        held = sum(part.nbytes for part in (launch.tape, launch.snapshot) if part is not None)
        if self._bytes + held > MOST_BYTES:
            return False
        self._bytes += held
        return True


@contextmanager
def listening(draw: bool = False, time: bool = False) -> Iterator[Heard]:
    """Inside, all launches are recorded, checked and heard of; with ``draw`` some are kept whole.

    ``time`` is that of `record`.

    Raises NotRecorded where they cannot be seen.
    """
    heard = Heard()
    with record(max_total_bytes=sys.maxsize, time=time) as launches:
        heard.unseen = launches.unseen
        with recorders.listening(_Listener(launches, heard, draw)):
            yield heard
