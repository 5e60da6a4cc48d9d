"""Output for the user: with colours in a terminal that shows them, plain elsewhere."""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TextIO

from triton_lab.localization import _

if TYPE_CHECKING:
    from rich.console import Console

    from triton_lab.command.doctor import Checked

# By severity, the gravest first. (`doctor` works without NumPy, so the names are not imported from the findings.)
STYLES = {"error": "bold red", "warning": "yellow", "note": "cyan"}
NARROW = 70  # columns: a table leaves some out in a narrower terminal
WIDE = 200  # without a terminal, lines need not be broken


def console(stream: TextIO) -> Console:
    """A console of rich's, which respects NO_COLOR and TERM; in a file, lines are not broken."""
    from rich.console import Console

    made = Console(file=stream, highlight=False, soft_wrap=True, emoji=False, markup=False)
    return made if made.is_terminal else Console(file=stream, highlight=False, emoji=False, markup=False, width=WIDE)


def is_coloured(stream: TextIO) -> bool:
    """Whether the stream shows colours."""
    made = console(stream)
    return made.is_terminal and not made.no_color and made.color_system is not None


CLOSED = 128 + 13  # the exit code that shells use for a program ended by SIGPIPE


def is_cut_off(stream: TextIO) -> bool:
    """Whether the reader of a stream is gone (``| head``)."""
    try:
        poll = select.poll()
        poll.register(stream.fileno(), 0)
        return any(event & select.POLLERR for _, event in poll.poll(0))
    except (OSError, ValueError, AttributeError):  # a stream that is no file
        return False


def open_closed_streams() -> None:
    """Where a stream was closed when we were started (``>&-``), what would go there goes nowhere.

    Else Python has None in its place, and the next file that a script opens would get its number.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):  # as they are numbered
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115 - to the end of the process


def let_go(*streams: TextIO) -> None:
    """Discard the rest of the output to streams whose reader is gone: Python would complain of it at exit."""
    for stream in streams:
        if is_cut_off(stream):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
            os.close(nowhere)


def show(stream: TextIO, what: Any) -> None:
    """Print a table or a text of rich's; characters that the stream's encoding lacks become question marks."""
    made = console(stream)
    with made.capture() as captured:
        made.print(what)
    write(stream, "\n".join(line.rstrip() for line in captured.get().splitlines()) + "\n")


def show_lines(stream: TextIO, lines: Iterable[tuple[str, str]]) -> None:
    """Print lines of text, each in a style; none is broken, so that text can be copied from a terminal."""
    from rich.text import Text

    made = console(stream)
    with made.capture() as captured:
        for line, style in lines:
            made.print(Text(line, style), soft_wrap=True)
    write(stream, captured.get())


def show_checked(stream: TextIO, checked: Iterable[Checked]) -> list[Checked]:
    """Print the results of `doctor`, each as soon as it is known; returns all of them."""
    signs = {"ok": ("✔", ""), "note": ("●", STYLES["note"]), "missing": ("✖", STYLES["error"])}
    seen = []
    for one in checked:
        seen.append(one)
        sign, style = signs[one.state]
        remedy = [(f"{'':<14}   {one.remedy}", "")] if one.remedy else []
        show_lines(stream, [(f"{sign} {one.name:<14} {one.told}", style), *remedy])
    missing = sum(one.state == "missing" for one in seen)
    told = _("{missing} of these must be fixed").format(missing=missing) if missing else "nothing is missing"
    show_lines(stream, [(told, "bold")])
    return seen


def write(stream: TextIO, text: str) -> None:
    """Write the text, with what the stream can encode."""
    encoding = stream.encoding or "utf-8"
    stream.write(text.encode(encoding, "replace").decode(encoding))
    stream.flush()


def warn(text: str) -> None:
    """Print a warning to standard error, beside the requested output."""
    write(sys.stderr, f"triton-lab: {text}\n")
