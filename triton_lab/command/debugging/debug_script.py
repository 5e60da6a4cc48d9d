"""``triton-lab debug``: runs a script on the CPU target, and steps through its launches."""

from __future__ import annotations

import bdb
import contextlib
import os
import socket
import sys
import threading
from collections.abc import Iterator
from typing import BinaryIO

import click

from triton_lab.command import exception_text
from triton_lab.command.debugging.adapter_messages import MessageWriter
from triton_lab.command.run_script import INTERRUPTED, Script, ScriptEnd, run
from triton_lab.command.terminal import is_coloured
from triton_lab.launch.debugging.stepped_launch import all_launches
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


def serve(script: Script | None, port: int | None) -> int:
    """Debug a script for an editor: on standard input and output, or on ``port`` of this machine; 0 chooses one.

    Returns the exit code. On standard output there are messages alone; what the script prints becomes messages, too.
    """
    from triton_lab.command.debugging.debug_adapter import DebugAdapter

    with contextlib.ExitStack() as stack:
        reader, writer = stack.enter_context(_standard_streams() if port is None else _connection(port))
        adapter = DebugAdapter(reader, writer, script)
        if port is None:
            stack.enter_context(_printed(adapter.writer))
        adapter.start()
        chosen = adapter.wait_for_script()
        if chosen is None:
            return 0
        if adapter.folder:
            os.chdir(adapter.folder)
        try:
            ended = run_under(chosen, adapter.show)
            code = 0 if isinstance(ended.error, bdb.BdbQuit) else said(ended)
        except click.UsageError as error:
            print(error.format_message(), file=sys.stderr)
            code = 2
        sys.stdout.flush()
    adapter.ended(code)
    return code


@contextlib.contextmanager
def _connection(port: int) -> Iterator[tuple[BinaryIO, BinaryIO]]:
    """The streams to the first editor that connects."""
    with socket.create_server(("127.0.0.1", port)) as server:
        print(_("waiting for an editor on 127.0.0.1:{port}").format(port=server.getsockname()[1]), file=sys.stderr)
        connection, _unused = server.accept()
    yield connection.makefile("rb"), connection.makefile("wb")


@contextlib.contextmanager
def _standard_streams() -> Iterator[tuple[BinaryIO, BinaryIO]]:
    """Standard input and output as they are now; the script gets none of them."""
    sys.stdout.flush()
    reader, writer = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    yield reader, writer


@contextlib.contextmanager
def _printed(writer: MessageWriter) -> Iterator[None]:
    """Inside, what this process and others that it starts print on standard output becomes messages."""
    source, sink = os.pipe()
    os.dup2(sink, 1)
    os.close(sink)

    def forward() -> None:
        with os.fdopen(source, "rb", buffering=0) as stream:
            while data := stream.read(1 << 16):
                writer.event("output", category="stdout", output=data.decode(errors="replace"))

    thread = threading.Thread(target=forward, name="debug adapter output", daemon=True)
    thread.start()
    try:
        yield
    finally:
        sys.stdout.flush()
        with open(os.devnull, "wb") as nothing:
            os.dup2(nothing.fileno(), 1)  # the last one that writes into the pipe is gone: its reader ends
        thread.join(5.0)
