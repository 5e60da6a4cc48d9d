"""The process of a script as a fork of the one that supervises it, which has imported all that a script needs.

For processes that begin warm (`tests.preloading.launches`). As ever are signals, descriptors, the environment, exit
codes and functions called at exit. Tests of how a script's process begins and ends start an ordinary Python.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests import warm
from triton_lab.command import launch_journal, script_process, script_supervisor


def install() -> None:
    script_supervisor._started = _forked


@dataclass
class _Fork:
    """What the supervisor needs of `subprocess.Popen`."""

    pid: int
    returncode: int | None = None

    def poll(self) -> int | None:
        if self.returncode is None:
            ended, status = os.waitpid(self.pid, os.WNOHANG)
            if ended:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)


def _forked(place: launch_journal.JournalPlace, settings: Mapping[str, Any]) -> _Fork:
    fork = os.fork()
    if fork:
        return _Fork(fork)
    os.environ[launch_journal.VARIABLE] = place.text()
    sys.argv = [script_process.__file__, json.dumps(settings)]
    os._exit(warm.ended(script_process.main))
