"""A process that a script starts anew, and that imports Triton: it writes down its launches, too."""

from __future__ import annotations

import os
from contextlib import ExitStack

from triton_lab.command.launch_journal import JournalPlace, journal, open_journal

_forever = ExitStack()  # to the end of the process


def join(text: str) -> None:
    """Called while Triton is imported: record and check the launches of this process from now on.

    ``text`` is what the environment says (`journal.VARIABLE`). What cannot be recorded is written down.
    """
    place = JournalPlace.of(text)
    if place is None or journal() is not None or not os.path.isdir(place.folder):
        return
    mine = open_journal(place, "python")
    if place.target != "cpu":
        mine.write("unseen", what=f"launches in process {os.getpid()}, which the script started, are on the GPU")
        return
    try:
        from triton_lab.command.launch_listener import listening

        _forever.enter_context(listening(mine))
    except Exception as error:  # Triton's interpreter is set there, say
        mine.write("unseen", what=f"launches in process {os.getpid()}, which the script started: {error}")
