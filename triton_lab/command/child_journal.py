"""Launches of processes that a script starts and that import Triton: they are journalled, too."""

from __future__ import annotations

import atexit
import os
from contextlib import ExitStack

from triton_lab.command.launch_journal import JournalPlace, journal, open_journal
from triton_lab.localization import _

_forever = ExitStack()  # open until the process ends, while its modules are still whole


def join(text: str) -> None:
    """Record and check the launches of this process from now on; called while Triton is imported.

    ``text`` is the value of the environment variable (`launch_journal.VARIABLE`). Launches that cannot be recorded are
    noted in the journal.
    """
    place = JournalPlace.of(text)
    if place is None or journal() is not None or not os.path.isdir(place.folder):
        return
    mine = open_journal(place, "python")
    if place.target != "cpu":
        mine.write(
            "unseen",
            what=_("process {getpid}, which the script started, launches kernels on the GPU").format(
                getpid=os.getpid()
            ),
        )
        return
    try:
        from triton_lab.command.launch_listener import listening

        _forever.enter_context(listening(mine))
        atexit.register(_forever.close)
    except Exception as error:  # Triton's interpreter is set there, for example
        mine.write(
            "unseen",
            what=_("launches of process {getpid}, which the script started: {error}").format(
                getpid=os.getpid(), error=error
            ),
        )
