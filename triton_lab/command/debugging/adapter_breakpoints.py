"""The breakpoints that an editor has set, and where they are in the kernel that is stepped through."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from triton_lab.command.debugging.adapter_messages import RequestRefused, number_of, text_of
from triton_lab.command.debugging.debug_session import WantedBreakpoint, set_all
from triton_lab.launch.debugging.breakpoints import Breakpoint
from triton_lab.launch.debugging.debugger import Debugger
from triton_lab.localization import _


class AdapterBreakpoints:
    """An editor's breakpoints by file. ``numbers`` has the editor's number for each number of the debugger."""

    def __init__(self) -> None:
        self.numbers: dict[int, int] = {}
        self._wanted: dict[str, list[tuple[int, WantedBreakpoint]]] = {}
        self._places: dict[int, Breakpoint | str] = {}  # by the editor's number; a text says why there is none
        self._made = 0

    def ask(self, path: str, asked: Sequence[Any], debugger: Debugger | None) -> list[dict[str, Any]]:
        """Take the breakpoints of a file, in place of those before; returns what to answer. Raises RequestRefused."""
        wanted = []
        for one in asked:
            if not isinstance(one, dict):
                raise RequestRefused(_("a breakpoint must be an object"))
            self._made += 1
            texts = text_of(one, "condition"), text_of(one, "hitCondition")
            wanted.append((self._made, WantedBreakpoint(path, number_of(one, "line"), *texts)))
        self._wanted[path] = wanted
        if debugger is not None:
            self.place(debugger)
        return [self._told(*one) for one in wanted]

    def place(self, debugger: Debugger) -> list[dict[str, Any]]:
        """Set those that are in this kernel; returns them, as the protocol describes a breakpoint."""
        for number in list(debugger.breakpoints):
            debugger.clear(number)
        self.numbers.clear()
        self._places.clear()
        asked = [one for each in self._wanted.values() for one in each]
        found = []
        for (number, wanted), (_unused, made) in zip(asked, set_all(debugger, [one for _n, one in asked]), strict=True):
            self._places[number] = made
            if isinstance(made, Breakpoint):
                self.numbers[made.number] = number
                found.append(self._told(number, wanted))
        return found

    def _told(self, number: int, wanted: WantedBreakpoint) -> dict[str, Any]:
        made = self._places.get(number) or _("its kernel has not been launched yet")
        if isinstance(made, Breakpoint):
            remark = {"message": made.remark} if made.remark else {}
            return {"id": number, "verified": True, "line": made.line, **remark}
        return {"id": number, "verified": False, "line": wanted.line, "message": made}
