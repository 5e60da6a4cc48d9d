"""Runs a script in a process of its own, and outlives it: whatever the script does, its outcome is reported.

Signals to this process alone are passed on; those of the terminal reach both processes. Processes that the script
leaves behind are waited for, up to a limit.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from triton_lab.command import launch_journal
from triton_lab.command.launch_journal import JournalPlace, JournalReading
from triton_lab.command.session_log import Heard
from triton_lab.localization import _
from triton_lab.processes import descendants

PAUSE = 0.25  # seconds between two checks of the script's processes
_SHARE = 20  # checks take at most one part in so many of the time
# Seconds to wait for processes that the script leaves behind: while they neither compute nor journal anything, and in
# all.
QUIET, LINGER = 3.0, 60.0
_BUSY = 0.05  # the share of the time that counts as computing
_SEEN = 2  # checks in which a process has Triton and an empty journal, before it counts as hidden
_PASSED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
_BY_KERNEL = 0x80  # si_code of a signal of the terminal's, which the script has received, too
MODULE = "triton_lab.command.script_process"


@dataclass
class ScriptRemains:
    """What is known of a script's process after its end.

    ``code`` is its exit code as in a shell, ``signal`` the signal that ended it (0: none), ``asked`` the signal that
    this process received (0: none). ``told`` are the journals of all processes. ``hidden`` are the command lines of
    processes that had Triton and no journal, ``running`` those of processes that still run. ``written`` is the number
    of entries of the process ``script``, ``failed`` the number that could not be written, including its forks.
    """

    code: int
    signal: int = 0
    asked: int = 0
    told: list[JournalReading] = field(default_factory=list)
    hidden: list[str] = field(default_factory=list)
    running: list[str] = field(default_factory=list)
    script: int = 0
    written: int = 0
    failed: int = 0


def supervised(settings: Mapping[str, Any]) -> ScriptRemains:
    """Run the module that runs a script, with ``settings``, until its process and those that it leaves behind end."""
    folder = tempfile.mkdtemp(prefix="triton-lab-")
    try:
        place = JournalPlace(folder, os.urandom(16).hex())
        with descendants.kept_as_children(), _signals() as (waited, mask):
            before = frozenset(descendants.children(os.getpid()))
            tally, shared = launch_journal.Tally.made()
            os.set_inheritable(shared, True)
            try:
                process = _started(place, {**settings, "mask": [int(one) for one in mask], "tally": shared})
            finally:
                os.close(shared)
            family = _Family(place, process.pid, before)
            left = _until_it_ends(process, family, waited)
            family.linger(waited, left)
        left.told = launch_journal.read(place)
        left.written, left.failed = tally.numbers
        family.judge(left)
        return left
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _started(place: JournalPlace, settings: Mapping[str, Any]) -> subprocess.Popen[bytes]:
    flags = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]
    environment = {**os.environ, launch_journal.VARIABLE: place.text()}
    command = [sys.executable, *flags, "-m", MODULE, json.dumps(settings)]
    return subprocess.Popen(command, env=environment, close_fds=False)


@contextlib.contextmanager
def _signals() -> Iterator[tuple[set[signal.Signals], set[Any]]]:
    """Block the signals to pass on, except ignored ones, so that they can be waited for inside.

    Yields them, and the previous signal mask.
    """
    ignored = {one for one in _PASSED_ON if signal.getsignal(one) == signal.SIG_IGN}
    waited = {*_PASSED_ON, signal.SIGCHLD} - ignored
    before = signal.pthread_sigmask(signal.SIG_BLOCK, waited)
    try:
        yield waited, before
    finally:
        while signal.sigtimedwait(waited, 0) is not None:  # signals that arrived since then were meant for the script
            pass
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _until_it_ends(process: subprocess.Popen[bytes], family: _Family, waited: set[signal.Signals]) -> ScriptRemains:
    asked, pause = 0, PAUSE
    while process.poll() is None:
        got = signal.sigtimedwait(waited, pause)
        if got is not None and got.si_signo != signal.SIGCHLD:
            asked = got.si_signo
            if got.si_code != _BY_KERNEL:
                with contextlib.suppress(ProcessLookupError):
                    process.send_signal(got.si_signo)
        if process.poll() is None:
            pause = family.look()
    code = int(process.returncode)
    return ScriptRemains(code if code >= 0 else 128 - code, max(-code, 0), asked, script=process.pid)


class _Family:
    """A script's process with all its descendants."""

    def __init__(self, place: JournalPlace, script: int, before: frozenset[int]) -> None:
        self._place, self._script, self._before = place, script, before
        self._with_triton: dict[tuple[int, int], int] = {}  # number of checks that saw it, by number and start
        self._lines: dict[tuple[int, int], str] = {}
        self._last = 0.0

    def look(self) -> float:
        """Note the processes that have Triton; returns the seconds to wait before the next check."""
        begun = time.monotonic()
        if begun - self._last < PAUSE:
            return PAUSE
        for one in self._alive():
            key = one.number, one.since
            if key in self._with_triton or descendants.has_triton(one.number):
                self._with_triton[key] = self._with_triton.get(key, 0) + 1
                self._lines[key] = descendants.command_line(one.number)
        self._last = time.monotonic()
        return max(PAUSE, _SHARE * (self._last - begun))

    def _alive(self) -> list[descendants.Process]:
        """The processes that still run. Orphans among the others are reaped here, since they have no other parent."""
        alive = []
        for one in descendants.descendants(os.getpid(), self._before):
            if not one.ended:
                alive.append(one)
            elif one.parent == os.getpid() and one.number != self._script:
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(one.number, os.WNOHANG)
        return alive

    def linger(self, waited: set[signal.Signals], left: ScriptRemains) -> None:
        """Wait for the processes that the script left behind, while they do something; note those that still run."""
        begun = changed = looked = time.monotonic()
        before = (-1, 0)
        while alive := self._alive():
            now = time.monotonic()
            written, spent = self._written(), sum(one.spent for one in alive)
            if written != before[0] or spent - before[1] > _BUSY * os.sysconf("SC_CLK_TCK") * (now - looked):
                changed = now
            before, looked = (written, spent), now
            if left.asked or now - begun > LINGER or now - changed > QUIET:
                break
            self.look()
            got = signal.sigtimedwait(waited, PAUSE)
            if got is not None and got.si_signo != signal.SIGCHLD:
                left.asked = got.si_signo
        left.running = [descendants.command_line(one.number) for one in alive if descendants.has_triton(one.number)]

    def _written(self) -> int:
        total = 0
        with contextlib.suppress(OSError):
            for file in Path(self._place.folder).iterdir():
                with contextlib.suppress(OSError):
                    total += file.stat().st_size
        return total

    def judge(self, left: ScriptRemains) -> None:
        """Note the processes that had Triton and no journal."""
        known = {self._script, *(one.process for one in left.told)}
        for (number, since), times in self._with_triton.items():
            if times >= _SEEN and number not in known:
                left.hidden.append(self._lines[number, since])


@dataclass(frozen=True)
class ScriptOutcome:
    """The outcome of a script, as the supervising process sees it.

    ``code`` is the exit code for the shell. ``failure`` says in a line how the script failed, "" if it did not.
    ``found``: it failed because a launch was stopped, which is among the findings. ``incomplete`` says why some
    launches of the script's own process are not known; ``remark`` how it ended, if that is no failure; ``undrawn`` why
    there are no cards.
    """

    code: int = 0
    failure: str = ""
    interrupted: bool = False
    found: bool = False
    incomplete: str = ""
    remark: str = ""
    undrawn: str = ""


def outcome_of(left: ScriptRemains, heard: Heard) -> ScriptOutcome:
    """What became of a script. Raises UsageError if it could not be run, or its launches could not be recorded."""
    own = [one for one in left.told if one.how == "script"]
    entries = {entry.kind: entry.data for one in own for entry in one.entries}
    if "refused" in entries:
        raise click.UsageError(str(entries["refused"]["message"]))
    ended = entries.get("ended")
    how = _how(left)
    incomplete = "; ".join(heard.unjudged)
    if any(one.broken for one in own) or (own and sum(len(one.entries) for one in own) != left.written):
        incomplete = _("the record of the script's launches is damaged")
    elif not own:
        incomplete = _("the script's launches are not known: its process {how} and left no record").format(how=how)
    undrawn = "" if "drawn" in entries else _("the script's process ended before its cards were drawn")
    if "undrawn" in entries:
        undrawn = str(entries["undrawn"]["why"])
    interrupted = left.signal == signal.SIGINT or bool(ended and ended["interrupted"])
    failure, remark = "" if ended is None else str(ended["failure"]), ""
    if left.signal and not interrupted:
        failure = _("its process {how}").format(how=how)
    elif not failure and left.code:
        ended_so, died = _("exit code {code}").format(code=left.code), _("its process {how}").format(how=how)
        failure = ended_so if ended is not None else died
    elif ended is None and not left.code:
        remark = _("the script's process {how}; all its launches until then were checked").format(how=how)
    found = bool(ended and ended["found"])
    code = left.code if left.asked in (0, signal.SIGINT) or left.code else 128 + left.asked
    return ScriptOutcome(code, failure, interrupted, found, incomplete, remark, undrawn)


def _how(left: ScriptRemains) -> str:
    """How the process ended, in words."""
    if left.signal:
        return _("was ended by {name} ({strsignal})").format(
            name=signal.Signals(left.signal).name, strsignal=signal.strsignal(left.signal)
        )
    return _("ended before the script's end, with exit code {code}").format(code=left.code)
