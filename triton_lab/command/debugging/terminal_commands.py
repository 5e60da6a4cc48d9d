"""The commands of the terminal's debugger: their names, what they do, and how their operands are read."""

from __future__ import annotations

import os
import re

from triton_lab.localization import N_, _

ELEMENT = re.compile(r"^\s*(?P<name>[^\s\[]+)\s*(?:\[(?P<place>[\d\s,]+)\]|(?P<number>\d+))\s*$")

# What each command does, by its names; the first is the one that `help` lists.
COMMANDS: tuple[tuple[tuple[str, ...], str, str], ...] = (
    (("n", "next"), "next", N_("to the next statement of this function")),
    (("s", "step"), "step", N_("to the next statement, also into a helper")),
    (("r", "return"), "out", N_("out of this function")),
    (("unt", "until"), "until", N_("[LINE]: to a line below this one, over a loop")),
    (("it", "iteration"), "iteration", N_("to the next iteration of the loop")),
    (("c", "cont", "continue"), "continue", N_("to the next breakpoint, in this program or the next ones")),
    (("rn",), "back_next", N_("back to the statement before, of this function")),
    (("rs",), "back_step", N_("back to the statement before, also into a helper")),
    (("rr",), "back_out", N_("back to where this function was called")),
    (("rit",), "back_iteration", N_("back to the iteration before")),
    (("rc",), "back_continue", N_("back to the breakpoint before")),
    (
        ("b", "break"),
        "break",
        N_("[LINE][, CONDITION]: stop at a line, or where a condition becomes true; or list"),
    ),
    (("cl", "clear"), "clear", N_("[NUMBER]: remove a breakpoint, or all")),
    (("p", "pp"), "print", N_("EXPRESSION: print its value: acc, acc.max(), x[0:4]")),
    (("v", "vars"), "vars", N_("print the variables of this function")),
    (("display",), "display", N_("[EXPRESSION]: print its value at each stop, or print all of them")),
    (("undisplay",), "undisplay", N_("[EXPRESSION]: no longer, or none of them")),
    (("w", "where", "bt"), "where", N_("print the stack")),
    (("u", "up"), "up", N_("to the caller's variables")),
    (("d", "down"), "down", N_("back to the called function's")),
    (("l", "list"), "list", N_("print the source around this line")),
    (("ll",), "longlist", N_("print the source of this function")),
    (("program",), "program", N_("NUMBER: to the same place in another program")),
    (("beside",), "beside", N_("NUMBER: the variables of this program and of another one")),
    (("stored",), "stored", N_("NAME[INDEX]: to where this element of an argument is stored")),
    (("q", "quit", "exit"), "quit", N_("end the script")),
    (("h", "help", "?"), "help", N_("this list")),
)
METHODS = {name: method for names, method, _unused in COMMANDS for name in names}


def shown_path(path: str) -> str:
    """A path as short as it can be read."""
    return os.path.relpath(path) if os.path.isabs(path) and os.path.exists(path) else path


def whole_number(text: str) -> int:
    """The number that a user wrote. Raises LookupError."""
    if not text.strip().isdecimal() or len(text.strip()) > 9:
        raise LookupError(_("{text} is no number").format(text=repr(text[:40])))
    return int(text)
