"""The Debug Adapter Protocol over recorded launches: an editor sets breakpoints, steps, also back, and reads variables.

A thread of the adapter is a program of the launch. The script runs on the main thread, and waits there while it is
stopped. Requests are answered on the thread that reads them.
"""

from __future__ import annotations

import bdb
import os
import signal
import threading
from collections.abc import Callable, Mapping
from typing import Any, BinaryIO

from triton_lab import messages
from triton_lab.command.debugging.adapter_breakpoints import AdapterBreakpoints
from triton_lab.command.debugging.adapter_messages import (
    CAPABILITIES,
    BadMessage,
    MessageWriter,
    RequestRefused,
    list_of,
    number_of,
    read_message,
    text_of,
)
from triton_lab.command.debugging.adapter_variables import VariableReferences
from triton_lab.command.debugging.debug_session import not_steppable
from triton_lab.command.run_script import Script
from triton_lab.launch.debugging.block_expression import ConditionError
from triton_lab.launch.debugging.debugger import Debugger
from triton_lab.launch.debugging.debugger_state import Arrival
from triton_lab.launch.launch import Launch
from triton_lab.launch.recording.replay_error import CannotReplay
from triton_lab.localization import _

MOST_BREAKPOINTS = 1000
MOST_THREADS = 200
MOST_ARGUMENTS = 1000


class DebugAdapter:
    """One session with an editor. ``script`` is the one of the command line, if it named one.

    `wait_for_script` returns what to run once the editor is ready; `show` is called for each launch of it.
    """

    def __init__(self, reader: BinaryIO, writer: BinaryIO, script: Script | None = None) -> None:
        self.reader, self.writer = reader, MessageWriter(writer)
        self.script = script
        self.breakpoints = AdapterBreakpoints()
        self.debugger: Debugger | None = None
        self.references = VariableReferences()
        self.frames: list[tuple[int, int]] = []  # by the number of a frame: the program, and the depth in its stack
        self.stop_on_entry = False
        self.folder = ""
        self.is_over = False
        self._begin, self._resume = threading.Event(), threading.Event()
        self._lock = threading.RLock()

    # --- The script's side ---------------------------------------------------------------------------

    def start(self) -> None:
        """Begin to answer requests."""
        threading.Thread(target=self._read, name="debug adapter", daemon=True).start()

    def wait_for_script(self) -> Script | None:
        """The script to run, once the editor has set its breakpoints; None if it left before."""
        self._begin.wait()
        return None if self.is_over else self.script

    def show(self, launch: Launch) -> None:
        """Stop in a launch, if a breakpoint says so, until the editor goes on. Raises BdbQuit once it has left."""
        if self.is_over:
            raise bdb.BdbQuit
        try:
            debugger = Debugger(launch)
        except CannotReplay as error:
            self.writer.event("output", category="console", output=f"{not_steppable(launch, error)}\n")
            return
        with self._lock:
            for told in self.breakpoints.place(debugger):
                self.writer.event("breakpoint", reason="changed", breakpoint=told)
            arrival = Arrival("start") if self.stop_on_entry else debugger.run()
            self.stop_on_entry = False
            if arrival is None:
                return
            self.debugger = debugger
            self._resume.clear()
            self._arrived(arrival)
        self._resume.wait()
        if self.is_over:
            raise bdb.BdbQuit

    def ended(self, code: int) -> None:
        """The script has ended with this exit code."""
        self.writer.event("exited", exitCode=code)
        self.writer.event("terminated")

    # --- The editor's side ---------------------------------------------------------------------------

    def _read(self) -> None:
        try:
            while (message := read_message(self.reader)) is not None:
                if message.get("type") == "request":
                    self._answer(message)
        except BadMessage as error:
            self.writer.event("output", category="console", output=f"{error}\n")
        except (OSError, ValueError):  # the stream is closed
            pass
        self._leave()

    def _answer(self, message: Mapping[str, Any]) -> None:
        command, number = message.get("command"), message.get("seq")
        named = command if isinstance(command, str) else ""
        done: dict[str, Any] = {"request_seq": number if isinstance(number, int) else 0, "command": named[:100]}
        arguments = message.get("arguments", {})
        method = getattr(self, f"on_{named}", None) if named.isidentifier() else None
        after: list[Callable[[], None]] = []
        try:
            if method is None:
                raise RequestRefused(_("this debugger does not know {command}").format(command=repr(named[:100])))
            if not isinstance(arguments, dict):
                raise RequestRefused(_("the arguments of a request must be an object"))
            with self._lock:
                body = method(arguments, after)
        except (RequestRefused, ConditionError, LookupError, CannotReplay) as error:
            text = str(error) or _("it is not there any more: the program has moved")
            self.writer.write("response", success=False, message=text, **done)
            return
        self.writer.write("response", success=True, body=body or {}, **done)
        for one in after:
            one()

    def _leave(self) -> None:
        """The editor has left: end the script."""
        running = self._begin.is_set() and self.debugger is None and not self.is_over
        self.is_over = True
        self._begin.set()
        self._resume.set()
        if running:
            os.kill(os.getpid(), signal.SIGINT)

    def on_initialize(self, arguments: Mapping[str, Any], after: list[Callable[[], None]]) -> dict[str, Any]:
        after.append(lambda: self.writer.event("initialized"))
        return dict(CAPABILITIES)

    def on_launch(self, arguments: Mapping[str, Any], after: list[Callable[[], None]]) -> None:
        program, module = text_of(arguments, "program"), text_of(arguments, "module")
        given = list_of(arguments, "args", MOST_ARGUMENTS)
        if not all(isinstance(one, str) for one in given):
            raise RequestRefused(_("args must be texts"))
        if program or module:
            self.script = Script(program or module, tuple(given), bool(module and not program))
        if self.script is None:
            raise RequestRefused(_("name the script to debug as program, or a module as module"))
        self.folder = text_of(arguments, "cwd")
        self.stop_on_entry = arguments.get("stopOnEntry") is True

    def on_attach(self, arguments: Mapping[str, Any], after: list[Callable[[], None]]) -> None:
        if self.script is None:
            raise RequestRefused(_("there is no script yet: start triton-lab debug --dap SCRIPT, or use launch"))
        self.stop_on_entry = arguments.get("stopOnEntry") is True

    def on_configurationDone(self, arguments: Mapping[str, Any], after: list[Callable[[], None]]) -> None:
        if self.script is None:
            raise RequestRefused(_("there is no script yet: send launch or attach first"))
        after.append(self._begin.set)

    def on_setBreakpoints(self, arguments: Mapping[str, Any], after: list[Callable[[], None]]) -> dict[str, Any]:
        source = arguments.get("source")
        path = text_of(source if isinstance(source, dict) else {}, "path")
        if not path:
            raise RequestRefused(_("breakpoints need source.path"))
        asked = list_of(arguments, "breakpoints", MOST_BREAKPOINTS)
        return {"breakpoints": self.breakpoints.ask(os.path.abspath(path), asked, self.debugger)}

    def on_setExceptionBreakpoints(self, arguments: Mapping[str, Any], after: list[Callable[[], None]]) -> None:
        """There are none."""

    def on_threads(self, arguments: Mapping[str, Any], after: list[Callable[[], None]]) -> dict[str, Any]:
        if self.debugger is None:
            return {"threads": [{"id": 1, "name": str(self.script or "")}]}
        launch, here = self.debugger.launch, self.debugger.program
        first = min(max(0, here - MOST_THREADS // 2), max(0, launch.programs - MOST_THREADS))
        shown = range(first, min(launch.programs, first + MOST_THREADS))
        return {"threads": [{"id": one + 1, "name": messages.program(one, launch.grid)} for one in shown]}

    def on_stackTrace(self, arguments: Mapping[str, Any], after: list[Callable[[], None]]) -> dict[str, Any]:
        debugger, program = self._stopped(), number_of(arguments, "threadId") - 1
        start, levels = number_of(arguments, "startFrame"), number_of(arguments, "levels")
        with debugger.standing_in(program):
            stack = debugger.stack()
        found = []
        for depth, place in enumerate(stack):
            self.frames.append((program, depth))
            source = {"name": os.path.basename(place.function.file), "path": place.function.file}
            found.append(
                {"id": len(self.frames), "name": place.function.name, "line": place.line, "column": 1, "source": source}
            )
        return {"stackFrames": found[start : start + levels if levels else None], "totalFrames": len(found)}

    def on_scopes(self, arguments: Mapping[str, Any], after: list[Callable[[], None]]) -> dict[str, Any]:
        debugger = self._stopped()
        program, depth = self._frame(arguments)
        with debugger.standing_in(program):
            variables = debugger.locals(depth)
        reference = self.references.of(variables, debugger.launch)
        return {"scopes": [{"name": _("Variables"), "variablesReference": reference, "expensive": False}]}

    def on_variables(self, arguments: Mapping[str, Any], after: list[Callable[[], None]]) -> dict[str, Any]:
        self._stopped()
        asked = (number_of(arguments, name) for name in ("variablesReference", "start", "count"))
        return {"variables": self.references.opened(*asked)}

    def on_evaluate(self, arguments: Mapping[str, Any], after: list[Callable[[], None]]) -> dict[str, Any]:
        debugger = self._stopped()
        program, depth = self._frame(arguments) if "frameId" in arguments else (debugger.program, 0)
        with debugger.standing_in(program):
            value = debugger.evaluate(text_of(arguments, "expression"), depth)
        shown = self.references.block("", value, debugger.launch)
        return {"result": shown.pop("value"), **{name: one for name, one in shown.items() if name != "name"}}

    def on_next(self, arguments: Mapping[str, Any], after: list[Callable[[], None]]) -> None:
        self._move(arguments, after, lambda debugger: debugger.next())

    def on_stepIn(self, arguments: Mapping[str, Any], after: list[Callable[[], None]]) -> None:
        self._move(arguments, after, lambda debugger: debugger.step())

    def on_stepOut(self, arguments: Mapping[str, Any], after: list[Callable[[], None]]) -> None:
        self._move(arguments, after, lambda debugger: debugger.out())

    def on_stepBack(self, arguments: Mapping[str, Any], after: list[Callable[[], None]]) -> None:
        self._move(arguments, after, lambda debugger: debugger.next(back=True))

    def on_reverseContinue(self, arguments: Mapping[str, Any], after: list[Callable[[], None]]) -> None:
        self._move(arguments, after, lambda debugger: debugger.continue_(back=True))

    def on_continue(self, arguments: Mapping[str, Any], after: list[Callable[[], None]]) -> dict[str, Any]:
        self._move(arguments, after, lambda debugger: debugger.continue_(), leaves=True)
        return {"allThreadsContinued": True}

    def on_disconnect(self, arguments: Mapping[str, Any], after: list[Callable[[], None]]) -> None:
        after.append(self._leave)

    on_terminate = on_disconnect

    # --- Inside --------------------------------------------------------------------------------------

    def _stopped(self) -> Debugger:
        if self.debugger is None:
            raise RequestRefused(_("the script is running: nothing is stopped"))
        return self.debugger

    def _frame(self, arguments: Mapping[str, Any]) -> tuple[int, int]:
        number = number_of(arguments, "frameId")
        if not 1 <= number <= len(self.frames):
            raise LookupError
        return self.frames[number - 1]

    def _move(
        self,
        arguments: Mapping[str, Any],
        after: list[Callable[[], None]],
        verb: Callable[[Debugger], Arrival],
        leaves: bool = False,
    ) -> None:
        """Move, and tell the editor after the response; beyond the end of a launch, the script goes on."""
        debugger = self._stopped()
        program = number_of(arguments, "threadId", debugger.program + 1) - 1
        if program != debugger.program:
            debugger.select(program)
        was_at_end = debugger.at_end
        arrival = verb(debugger)
        gone = leaves and arrival.breakpoint is None and arrival.reason != "error"
        if gone or (was_at_end and debugger.at_end):
            after.append(self._go_on)
        else:
            after.append(lambda: self._arrived(arrival))

    def _go_on(self) -> None:
        self.debugger = None
        self.references.clear()
        self.frames.clear()
        self._resume.set()

    def _arrived(self, arrival: Arrival) -> None:
        debugger = self._stopped()
        self.references.clear()
        self.frames.clear()
        reasons = {"breakpoint": "breakpoint", "start": "entry", "error": "exception"}
        body: dict[str, Any] = {"reason": reasons.get(arrival.reason, "step"), "threadId": debugger.program + 1}
        if arrival.breakpoint in self.breakpoints.numbers:
            body["hitBreakpointIds"] = [self.breakpoints.numbers[arrival.breakpoint]]
        body["text"] = arrival.remark or (_("the program has ended") if debugger.at_end else "")
        self.writer.event("stopped", allThreadsStopped=True, **body)
