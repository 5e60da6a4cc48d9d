"""``triton-lab debug``: runs a script on the CPU target, and steps through its launches."""

from __future__ import annotations

import bdb
import sys

from triton_lab.command import exception_text
from triton_lab.command.debugging.debug_session import all_launches
from triton_lab.command.run_script import INTERRUPTED, Script, ScriptEnd, run
from triton_lab.command.terminal import is_coloured
from triton_lab.localization import _


def debug_script(script: Script) -> int:
    """Run a script with a debugger in the terminal; returns the exit code.

    If standard input is no terminal, the debugger reads its commands there, as pdb does.
    """
    from triton_lab.command.debugging.terminal_debugger import TerminalSession

    session = TerminalSession(first=True)
    ended = run_under(script, session.show)
    if isinstance(ended.error, bdb.BdbQuit):
        return 0
    if session.first and not isinstance(ended.error, (SystemExit, KeyboardInterrupt)):
        print(_("{script} launched no kernel that could be stepped through").format(script=script), file=sys.stderr)
    return said(ended)


def run_under(script: Script, show: object) -> ScriptEnd:
    """Run a script on the CPU target, and have each launch shown."""
    from triton_lab.backend.targets.active_target import target

    assert callable(show)
    with target("cpu"), all_launches(show):
        return run(script)


def said(ended: ScriptEnd) -> int:
    """Print the error that ended a script; returns its exit code."""
    if isinstance(ended.error, KeyboardInterrupt):
        return INTERRUPTED
    if ended.error is not None and not isinstance(ended.error, SystemExit):
        exception_text.tell(ended.error, is_coloured(sys.stderr))
    return ended.code
