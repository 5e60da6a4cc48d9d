"""The process that runs a script: it records and checks launches, and journals its findings.

`triton_lab.command.script_supervisor` starts it, and reads and reports the journal.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import signal
import sys
import threading
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from triton_lab.command.launch_journal import VARIABLE, Journal, JournalPlace, Tally, open_journal
from triton_lab.command.run_script import Script, ScriptEnd, run
from triton_lab.localization import _
from triton_lab.processes import linux

if TYPE_CHECKING:
    from triton_lab.command.launch_listener import ListeningProcess


def main() -> None:
    """Run the process: ``python -m triton_lab.command.script_process SETTINGS``."""
    settings = json.loads(sys.argv[1])
    with contextlib.suppress(OSError):
        linux.end_with_parent(settings["supervisor"])
    from triton_lab.command.terminal import open_closed_streams

    open_closed_streams()
    place = JournalPlace.of(os.environ[VARIABLE])
    assert place is not None
    place = replace(place, script=os.getpid())
    os.environ[VARIABLE] = place.text()
    journal = open_journal(place, "script", Tally.opened(settings["tally"]))
    if threading.current_thread() is threading.main_thread():  # what the supervisor held back comes through again
        signal.pthread_sigmask(signal.SIG_SETMASK, settings["mask"])
    script = Script(settings["name"], tuple(settings["arguments"]), settings["module"])
    try:
        sys.exit(_ran(script, settings, journal))
    except KeyboardInterrupt as error:  # before the script began, or while its end was reported
        from triton_lab.command import exception_text
        from triton_lab.command.terminal import is_coloured

        signal.signal(signal.SIGINT, signal.SIG_IGN)
        exception_text.tell(error, is_coloured(sys.stderr))
    journal.write("ended", code=130, failure="interrupted", interrupted=True, found=False)
    sys.exit(130)


def _ran(script: Script, settings: Mapping[str, Any], journal: Journal) -> int:
    """Run the script, and journal how it ended; returns its exit code."""
    from triton_lab.backend.targets import active_target
    from triton_lab.command import exception_text
    from triton_lab.command.launch_listener import listening
    from triton_lab.command.status_line import status
    from triton_lab.command.terminal import CLOSED, is_coloured, is_cut_off, let_go
    from triton_lab.launch.recording.unrecordable import NotRecorded

    apart = _on_standard_error() if settings["apart"] else contextlib.nullcontext()
    process, ended = os.getpid(), ScriptEnd()
    # Launches are recorded to the end of the process: functions called at exit may make some.
    forever = contextlib.ExitStack()
    atexit.register(_last_words, forever, journal, process)
    try:
        with apart:
            # Triton's own choice of a driver bypasses our records: use the same GPU with our driver.
            target = settings["target"]
            forever.enter_context(active_target.as_it_is() if target == "auto" else active_target.target(target))
            _for_other_processes(journal, target)
            asked = (settings[name] for name in ("draw", "time", "passes", "resources"))
            here = forever.enter_context(listening(journal, *asked))
            with status(here, is_coloured(sys.stderr)):
                ended = run(script)
        if os.getpid() != process:  # a fork that ran to its end does not report
            return ended.code
        _refuse_interpreted(ended)
    except (active_target.TargetError, NotRecorded, click.UsageError) as error:
        message = error.message if isinstance(error, click.UsageError) else str(error)
        journal.write("refused", message=message)
        return 2
    if isinstance(ended.error, BrokenPipeError) and is_cut_off(sys.stdout):
        ended = ScriptEnd(CLOSED, SystemExit(CLOSED))  # the reader of `| head` is gone, which is no fault of the script
    let_go(sys.stdout)
    if ended.error is not None and not isinstance(ended.error, SystemExit):
        exception_text.tell(ended.error, is_coloured(sys.stderr))
    journal.write(
        "ended",
        code=ended.code,
        failure=failed(ended),
        interrupted=isinstance(ended.error, KeyboardInterrupt),
        found=_is_found(ended, here) and here.errors > 0,
    )
    if settings["draw"]:
        _draw(here, journal)
    return ended.code


def _last_words(forever: contextlib.ExitStack, journal: Journal, process: int) -> None:
    """Write the last entries; called last of all at exit."""
    if os.getpid() != process:
        return
    try:
        forever.close()
    except Exception as error:
        journal.write("unseen", what=str(error))
    journal.write("closed")


def _for_other_processes(journal: Journal, target: str) -> None:
    """Tell the processes that the script starts where kernels run, by the environment."""
    from triton_lab.backend.targets import active_target

    if target == "cpu":
        os.environ["TRITON_DEFAULT_BACKEND"] = "triton_lab"
    os.environ[VARIABLE] = replace(journal.place, target=active_target.current()).text()


def _refuse_interpreted(ended: ScriptEnd) -> None:
    """Raise NotRecorded if Triton's interpreter ran a kernel, unless the script failed anyway."""
    from triton_lab.launch.recording.unrecordable import interpreted

    if ended.error is None or isinstance(ended.error, SystemExit):
        interpreted()


def _is_found(ended: ScriptEnd, here: ListeningProcess) -> bool:
    """Whether the script ended because a launch was stopped, which is among the findings."""
    error = ended.error
    while error is not None and error is not here.stopped:
        error = error.__cause__ or error.__context__
    return error is not None


def failed(ended: ScriptEnd) -> str:
    """How a script failed, in a line; "" if it did not."""
    import traceback

    if ended.error is None or ended.code == 0:
        return ""
    if isinstance(ended.error, SystemExit):
        return _("exit code {code}").format(code=ended.code)
    if isinstance(ended.error, KeyboardInterrupt):
        return _("interrupted")
    said = traceback.format_exception_only(ended.error)[-1].strip()
    try:
        from triton_lab.notebook.mistakes.error_hints import hint_for
    except (OSError, MemoryError):  # the script has left no file descriptor, or no memory
        return said
    hint = hint_for(ended.error)
    return f"{said} ({hint})" if hint else said


def _draw(here: ListeningProcess, journal: Journal) -> None:
    """Journal the cards of the launches that were kept."""
    from triton_lab.command.launch_listener import cards
    from triton_lab.command.status_line import drawing
    from triton_lab.command.terminal import is_coloured

    try:
        with drawing(is_coloured(sys.stderr)) as tell:
            for number, card in cards(here.kept, tell):
                journal.write("card", launch=number, title=card.title, packed=card.packed)
        journal.write("drawn")
    except KeyboardInterrupt:
        journal.write("undrawn", why="interrupted")


@contextlib.contextmanager
def _on_standard_error() -> Iterator[None]:
    """Send all further output, of other programs too, to standard error until the process ends."""
    sys.stdout.flush()
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    yield


if __name__ == "__main__":
    main()
