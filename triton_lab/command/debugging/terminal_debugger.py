"""The debugger in a terminal, with the words of pdb."""

from __future__ import annotations

import bdb
import cmd
import re
from collections.abc import Callable
from typing import Any

from triton_lab import messages
from triton_lab.command.debugging.debug_session import WantedBreakpoint, not_steppable, set_all
from triton_lab.command.debugging.terminal_commands import COMMANDS, ELEMENT, METHODS, shown_path, whole_number
from triton_lab.command.debugging.value_text import full_text, line_text, short_text
from triton_lab.launch.debugging.block_expression import ConditionError
from triton_lab.launch.debugging.breakpoints import Breakpoint, BreakpointError
from triton_lab.launch.debugging.debugger import Debugger
from triton_lab.launch.debugging.debugger_state import Arrival
from triton_lab.launch.launch import Launch
from triton_lab.launch.recording.replay_error import CannotReplay
from triton_lab.localization import _, translated

SHOWN = 5  # lines of the source on each side of the current one


class TerminalSession:
    """Shows the launches of a process, one after another; breakpoints are kept from one to the next.

    With ``first`` it stops in the first statement of the first launch, otherwise only at breakpoints. Leaving a launch
    with ``q`` raises `bdb.BdbQuit`, as pdb does.
    """

    def __init__(self, first: bool, stdin: Any = None, stdout: Any = None) -> None:
        self.first = first
        self.wanted: list[WantedBreakpoint] = []
        self.watched: list[str] = []
        self.streams = {"stdin": stdin, "stdout": stdout}

    def show(self, launch: Launch) -> None:
        """Step through a launch, if it is to be stopped in."""
        try:
            debugger = Debugger(launch)
        except CannotReplay as error:
            TerminalDebugger(None, self).say(not_steppable(launch, error))
            return
        made = set_all(debugger, self.wanted)
        origins = {found.number: one for one, found in made if isinstance(found, Breakpoint)}
        debugger.watched = self.watched
        arrival = debugger.run() if not self.first else Arrival("start")
        self.first = False
        if arrival is not None:
            TerminalDebugger(debugger, self, origins).talk(arrival)


class TerminalDebugger(cmd.Cmd):
    """Reads commands about one launch; see `COMMANDS`."""

    prompt = "(triton-lab) "

    def __init__(
        self, debugger: Debugger | None, session: TerminalSession, origins: dict[int, WantedBreakpoint] | None = None
    ) -> None:
        super().__init__(**session.streams)
        self.use_rawinput = session.streams["stdin"] is None
        self.session = session
        self.origins = origins or {}  # by the number of a breakpoint: what the user asked for
        self.depth = 0
        self.listed: int | None = None
        if debugger is not None:
            self.debugger = debugger

    def say(self, text: str) -> None:
        """Print a line."""
        self.stdout.write(text + "\n")

    def talk(self, arrival: Arrival) -> None:
        """Show where the program stands, and read commands until the user goes on or quits."""
        launch = self.debugger.launch
        self.say(messages.launched(launch.kernel, launch.grid))
        self._arrived(arrival)
        self.cmdloop()

    # --- Reading -------------------------------------------------------------------------------------

    def onecmd(self, line: str) -> bool:
        """Do one command; returns whether the launch is left."""
        line = line.strip()
        if line == "EOF":
            self.say(_("end of input: the script is ended"))
            raise bdb.BdbQuit
        if not line:
            return self.onecmd(self.lastcmd) if self.lastcmd else False
        self.lastcmd = line
        name, _unused, rest = line.partition(" ")
        name, rest = ("help", "") if name == "?" else (name, rest.strip())
        method: Callable[[str], bool | None] | None = getattr(self, f"on_{METHODS.get(name, '')}", None)
        try:
            if method is None:
                self._print(line)
                return False
            return bool(method(rest))
        except (BreakpointError, ConditionError, LookupError, CannotReplay) as error:
            self.say(f"*** {error}")
        return False

    def completenames(self, text: str, *ignored: Any) -> list[str]:
        return [name for name in METHODS if name.startswith(text)]

    # --- Commands ------------------------------------------------------------------------------------

    def on_next(self, rest: str) -> None:
        self._arrived(self.debugger.next())

    def on_step(self, rest: str) -> None:
        self._arrived(self.debugger.step())

    def on_out(self, rest: str) -> None:
        self._arrived(self.debugger.out())

    def on_until(self, rest: str) -> None:
        self._arrived(self.debugger.until(whole_number(rest) if rest else None))

    def on_iteration(self, rest: str) -> None:
        self._arrived(self.debugger.iteration())

    def on_continue(self, rest: str) -> bool:
        """To the next breakpoint; without one the script goes on."""
        if self.debugger.at_end and self.debugger.program == self.debugger.launch.programs - 1:
            return True
        arrival = self.debugger.continue_()
        if arrival.reason == "error":
            self._arrived(arrival)
            return False
        if arrival.breakpoint is None:
            if arrival.remark:
                self.say(arrival.remark)
            return True
        self._arrived(arrival)
        return False

    def on_back_next(self, rest: str) -> None:
        self._arrived(self.debugger.next(back=True))

    def on_back_step(self, rest: str) -> None:
        self._arrived(self.debugger.step(back=True))

    def on_back_out(self, rest: str) -> None:
        self._arrived(self.debugger.out(back=True))

    def on_back_iteration(self, rest: str) -> None:
        self._arrived(self.debugger.iteration(back=True))

    def on_back_continue(self, rest: str) -> None:
        self._arrived(self.debugger.continue_(back=True))

    def on_break(self, rest: str) -> None:
        if not rest:
            for one in self.debugger.breakpoints.values():
                parts = [one.line and _("line {line}").format(line=one.line), one.condition and one.condition.text]
                self.say(f"{one.number}: " + ", ".join(str(part) for part in parts if part))
            return
        found = re.match(r"^(\d+)\s*(?:,\s*(.*))?$", rest)
        line, condition = (int(found[1]), found[2] or "") if found else (None, rest.removeprefix("if "))
        file = self.debugger.stack()[0].function.file if line is not None else None
        made = self.debugger.break_at(line, condition, file=file)
        self.origins[made.number] = WantedBreakpoint(file, line, condition)
        self.session.wanted.append(self.origins[made.number])
        if made.remark:
            self.say(made.remark)
        where = _("line {line}").format(line=made.line) if made.line else made.condition and made.condition.text
        self.say(_("breakpoint {number} at {where}").format(number=made.number, where=where))

    def on_clear(self, rest: str) -> None:
        for number in [whole_number(rest)] if rest else list(self.debugger.breakpoints):
            self.debugger.clear(number)
            self.session.wanted.remove(self.origins.pop(number))

    def on_print(self, rest: str) -> None:
        self._print(rest)

    def on_vars(self, rest: str) -> None:
        for one in self.debugger.locals(self.depth):
            self.say(f"{one.name} = {line_text(one, self.debugger.launch)}")

    def on_display(self, rest: str) -> None:
        if rest:
            self.debugger.watch(rest)
        self._watches()

    def on_undisplay(self, rest: str) -> None:
        self.debugger.watched[:] = [one for one in self.debugger.watched if rest and one != rest]

    def on_where(self, rest: str) -> None:
        for depth, place in reversed(list(enumerate(self.debugger.stack()))):
            sign = ">" if depth == self.depth else " "
            self.say(f"{sign} {shown_path(place.function.file)}({place.line}){place.function.name}()")
            self.say(f"-> {self._text(place.function.file, place.line)}")

    def on_up(self, rest: str) -> None:
        self._move(1)

    def on_down(self, rest: str) -> None:
        self._move(-1)

    def on_list(self, rest: str) -> None:
        place = self.debugger.stack()[self.depth]
        first = self.listed if self.listed is not None and not rest else place.line - SHOWN
        self._source(first, first + 2 * SHOWN)
        self.listed = first + 2 * SHOWN + 1

    def on_longlist(self, rest: str) -> None:
        function = self.debugger.stack()[self.depth].function
        self._source(function.first_line, function.last_line)

    def on_program(self, rest: str) -> None:
        self._arrived(self.debugger.select(whole_number(rest)))

    def on_beside(self, rest: str) -> None:
        launch = self.debugger.launch
        for one in self.debugger.beside(whole_number(rest)):
            here, there = (None if value is None else short_text(value, launch) for value in (one.here, one.there))
            self.say(f"{'=' if one.equal else '!'} {one.name}: {here or '-'} | {there or '-'}")

    def on_stored(self, rest: str) -> None:
        found = ELEMENT.match(rest)
        if found is None:
            raise LookupError(_("name an element of an argument, as out[3] or out[1, 2]"))
        place = [int(part) for part in (found["place"] or found["number"]).split(",") if part.strip()]
        self._arrived(self.debugger.stored(found["name"], place[0] if len(place) == 1 else place))

    def on_help(self, rest: str) -> None:
        for names, _unused, text in COMMANDS:
            self.say(f"{', '.join(names):<20} {translated(text)}")

    def on_quit(self, rest: str) -> None:
        raise bdb.BdbQuit

    # --- Showing -------------------------------------------------------------------------------------

    def _print(self, text: str) -> None:
        fixed = {one.name: one for one in self.debugger.locals(self.depth) if one.value is None}
        if text in fixed:
            self.say(line_text(fixed[text], self.debugger.launch))
        else:
            self.say(full_text(self.debugger.evaluate(text, self.depth), self.debugger.launch))

    def _arrived(self, arrival: Arrival) -> None:
        self.depth, self.listed = 0, None
        debugger = self.debugger
        place = debugger.stack()[0]
        if arrival.breakpoint:
            self.say(_("breakpoint {number}").format(number=arrival.breakpoint))
        if arrival.remark:
            self.say(arrival.remark)
        who = messages.program(debugger.program, debugger.launch.grid)
        end = f" --{_('end')}--" if debugger.at_end else ""
        self.say(f"> {shown_path(place.function.file)}({place.line}){place.function.name}() {who}{end}")
        self.say(f"-> {self._text(place.function.file, place.line)}")
        self._watches()

    def _watches(self) -> None:
        for text, value in self.debugger.watches():
            shown = str(value) if isinstance(value, ConditionError) else short_text(value, self.debugger.launch)
            self.say(f"display {text}: {shown}")

    def _move(self, step: int) -> None:
        if not 0 <= self.depth + step < len(self.debugger.stack()):
            self.say(_("*** this is the outermost function") if step > 0 else _("*** this is the innermost function"))
            return
        self.depth, self.listed = self.depth + step, None
        place = self.debugger.stack()[self.depth]
        self.say(f"> {shown_path(place.function.file)}({place.line}){place.function.name}()")
        self.say(f"-> {self._text(place.function.file, place.line)}")

    def _text(self, file: str, line: int) -> str:
        for function in self.debugger.copy.functions:
            if function.holds(file, line):
                return function.source.split("\n")[line - function.first_line].strip()
        return ""

    def _source(self, first: int, last: int) -> None:
        place = self.debugger.stack()[self.depth]
        function = place.function
        stops = {one.line for one in self.debugger.breakpoints.values()}
        lines = function.source.rstrip("\n").split("\n")
        for line in range(max(first, function.first_line), min(last, function.last_line) + 1):
            mark = "B" if line in stops else " "
            here = "->" if line == place.line else "  "
            self.say(f"{line:>4} {mark}{here} {lines[line - function.first_line]}".rstrip())
