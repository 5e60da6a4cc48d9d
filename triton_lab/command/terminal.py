"""Where things are told: in colours where a terminal shows them, and plain everywhere else."""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from rich.console import Console

    from triton_lab.command.doctor import Checked

# By severity, the gravest first. (`doctor` works without NumPy, so the names are not taken from where findings are.)
STYLES = {"error": "bold red", "warning": "yellow", "note": "cyan"}
NARROW = 70  # columns: below that a table leaves some out
WIDE = 200  # where nobody looks on, lines need not be broken


def console(stream: TextIO) -> Console:
    """rich's, which heeds NO_COLOR and TERM; a file gets lines as long as they are."""
    from rich.console import Console

    made = Console(file=stream, highlight=False, soft_wrap=True, emoji=False, markup=False)
    return made if made.is_terminal else Console(file=stream, highlight=False, emoji=False, markup=False, width=WIDE)


def is_coloured(stream: TextIO) -> bool:
    """Whether colours are shown there."""
    made = console(stream)
    return made.is_terminal and not made.no_color and made.color_system is not None


CLOSED = 128 + 13  # what a shell is told of a program that SIGPIPE ended


def is_cut_off(stream: TextIO) -> bool:
    """Whether nobody reads any more what is written there (``| head``)."""
    try:
        poll = select.poll()
        poll.register(stream.fileno(), 0)
        return any(event & select.POLLERR for _, event in poll.poll(0))
    except (OSError, ValueError, AttributeError):  # a stream without a file
        return False


def let_go(*streams: TextIO) -> None:
    """What would still go to a stream that nobody reads goes nowhere: Python would complain of it at its end."""
    for stream in streams:
        if is_cut_off(stream):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
            os.close(nowhere)


def show(stream: TextIO, what: Any) -> None:
    """Print a table or a text of rich's; what the stream's encoding does not have becomes a question mark."""
    made = console(stream)
    with made.capture() as captured:
        made.print(what)
    write(stream, "\n".join(line.rstrip() for line in captured.get().splitlines()) + "\n")


def show_lines(stream: TextIO, lines: Iterable[tuple[str, str]]) -> None:
    """Print lines of text, each in a style's colours; none is broken, so that a terminal can be copied from."""
    from rich.text import Text

    made = console(stream)
    with made.capture() as captured:
        for line, style in lines:
            made.print(Text(line, style), soft_wrap=True)
    write(stream, captured.get())


def show_checked(stream: TextIO, checked: Iterable[Checked]) -> list[Checked]:
    """What `doctor` finds, each as soon as it is known; and all of it."""
    signs = {"ok": ("✔", ""), "note": ("●", STYLES["note"]), "missing": ("✖", STYLES["error"])}
    seen = []
    for one in checked:
        seen.append(one)
        sign, style = signs[one.state]
        remedy = [(f"{'':<14}   {one.remedy}", "")] if one.remedy else []
        show_lines(stream, [(f"{sign} {one.name:<14} {one.told}", style), *remedy])
    missing = sum(one.state == "missing" for one in seen)
    told = f"{missing} of these must be mended" if missing else "nothing is missing"
    show_lines(stream, [(told, "bold")])
    return seen


def write(stream: TextIO, text: str) -> None:
    """Write all of it, as far as the stream can."""
    encoding = stream.encoding or "utf-8"
    stream.write(text.encode(encoding, "replace").decode(encoding))
    stream.flush()


def warn(text: str) -> None:
    """A word to whoever started the command, beside what it is asked for."""
    write(sys.stderr, f"triton-lab: {text}\n")
