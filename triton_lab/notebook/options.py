"""The line of ``%%triton``, parsed."""

from __future__ import annotations

import difflib
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from triton_lab.views.launch.plot import SHOWN, TABS

TARGETS = ("auto", "cpu", "gpu", "both")
# What a card can show, and nothing.
VIEWS = (*SHOWN, "none")
_FLAGS = ("--show", "--limit", "--help")


class UsageError(ValueError):
    """The magic's line cannot be understood; the message says what can."""


@dataclass(frozen=True)
class Options:
    """``target`` is one of `TARGETS`, ``show`` the views asked for, ``steps`` a limit on loop iterations."""

    target: str = "auto"
    show: tuple[str, ...] = ("tiling",)
    steps: int | None = None
    help: bool = False


def parse(line: str) -> Options:
    """Read ``[auto|cpu|gpu|both] [--show VIEW,...] [--limit STEPS] [--help]``.

    Raises UsageError, which names the nearest thing that exists.
    """
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise UsageError(f"%%triton {line}: {error}") from error
    target: str | None = None
    show: tuple[str, ...] | None = None
    steps = None
    help = False
    while words:
        word = words.pop(0)
        flag, has_value, value = word.partition("=")
        if not word.startswith("-"):
            if target is not None:
                raise UsageError(f"%%triton takes one target, not {target!r} and {word!r}")
            target = _one_of(word, TARGETS, "target")
        elif flag == "--show":
            names = (value if has_value else _next(words, flag, f"a view: {', '.join(VIEWS)}")).split(",")
            show = tuple(_one_of(name.strip(), VIEWS, "view") for name in names if name.strip())
        elif flag == "--limit":
            text = value if has_value else _next(words, flag, "a number of loop iterations")
            if not text.isdigit() or not int(text):
                raise UsageError(f"--limit takes a number of loop iterations, not {text!r}")
            steps = int(text)
        elif flag in ("--help", "-h", "-?"):
            help = True
        else:
            raise UsageError(_unknown(flag, _FLAGS, "option"))
    return Options(target or "auto", Options.show if show is None else show, steps, help)


def _next(words: list[str], flag: str, what: str) -> str:
    if not words:
        raise UsageError(f"{flag} needs {what}")
    return words.pop(0)


def _one_of(word: str, known: Sequence[str], what: str) -> str:
    if word not in known:
        raise UsageError(_unknown(word, known, what))
    return word


def _unknown(word: str, known: Sequence[str], what: str) -> str:
    near = difflib.get_close_matches(word, known, n=len(known), cutoff=0.0)
    return f"%%triton has no {what} {word!r}; there is {', '.join(near)}"


_HELP = {tab.name: tab.help for tab in TABS} | {"none": "the card without pictures"}
_VIEWS = "\n".join(f"             {name:<9} {_HELP[name]}" for name in VIEWS)

USAGE = f"""\
%%triton [auto|cpu|gpu|both] [--show VIEW,...] [--limit STEPS]

Run the cell: its kernels, launches and plain Python. Each launch is recorded and shown.

  auto   where Triton would run: on the GPU if there is one (the default)
  cpu    on the CPU, without a GPU
  gpu    on the GPU
  both   each launch on both, from the same memory, with the difference

  --show   what to print and which tab to open first, one or more of (default: tiling)
{_VIEWS}
  --limit  stop a launch after so many loop iterations
"""
