"""The parser of the ``%%triton`` line."""

from __future__ import annotations

import difflib
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from triton_lab.compiled.architecture import ARCHITECTURES, architectures
from triton_lab.localization import N_, _, translated
from triton_lab.notebook.startup import lab_preference
from triton_lab.views.launch.card.launch_tabs import COMPILED_SHOWN, COMPILED_TABS, SHOWN, TABS

# The targets of a cell, and their meanings.
TARGET_HELP = {
    "auto": N_("the GPU if there is one, else the CPU (the default)"),
    "cpu": N_("the CPU; no GPU is needed"),
    "gpu": N_("the GPU"),
    "both": N_("each launch on both, from the same memory; shows where the results differ"),
}
TARGETS = tuple(TARGET_HELP)
# The views of a card, and "none".
VIEWS = (*SHOWN, "none")
# The GPUs that kernels can be compiled for.
COMPILED_FOR = tuple(one.name for one in ARCHITECTURES)
_VIEW_HELP = {tab.name: tab.help for tab in TABS} | {"none": N_("the card without pictures")}


@dataclass(frozen=True)
class Flag:
    """An option of the line: its name, the name of its value ("" for none), and its help."""

    names: tuple[str, ...]
    value: str
    help: str


FLAGS = (
    Flag(("--show",), "VIEW,...", N_("what to print, and the tab to open first; one or more of (default: tiling)")),
    Flag(("--limit",), "STEPS", N_("stop a launch after this many loop iterations")),
    Flag(
        ("--compile",),
        "GPU,...",
        N_("also compile the kernels for a GPU (default: yours), one or more of"),
    ),
    Flag(("--help", "-h", "-?"), "", N_("this text")),
)
_SHOW, _LIMIT, _COMPILE, _HELP = FLAGS


class UsageError(ValueError):
    """The magic's line cannot be understood; the message says what is possible."""


@dataclass(frozen=True)
class Options:
    """The options of a line.

    ``target`` is one of `TARGETS`, ``show`` the requested views, ``steps`` a limit on loop iterations, ``gpus`` the
    GPUs for which the kernels are also compiled.
    """

    target: str = "auto"
    show: tuple[str, ...] = ("tiling",)
    steps: int | None = None
    help: bool = False
    gpus: tuple[str, ...] = ()


def parse(line: str) -> Options:
    """Read ``[auto|cpu|gpu|both] [--show VIEW,...] [--limit STEPS] [--compile [GPU,...]] [--help]``.

    Raises UsageError, which names the nearest valid word.
    """
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise UsageError(f"%%triton {line}: {error}") from error
    target: str | None = None
    show: tuple[str, ...] | None = None
    steps = None
    help = False
    gpus: tuple[str, ...] = ()
    while words:
        word = words.pop(0)
        flag, has_value, value = word.partition("=")
        if not word.startswith("-"):
            if target is not None:
                raise UsageError(
                    _("%%triton takes one target, not {target} and {word}").format(target=repr(target), word=repr(word))
                )
            target = _one_of(word, TARGETS, "target")
        elif flag in _SHOW.names:
            names = (value if has_value else _next(words, flag, f"a view: {', '.join(VIEWS)}")).split(",")
            known = (*VIEWS, *COMPILED_SHOWN)
            show = tuple(_one_of(name.strip(), known, "view") for name in names if name.strip())
        elif flag in _LIMIT.names:
            text = value if has_value else _next(words, flag, _("a number of loop iterations"))
            if not text.isdigit() or not int(text):
                raise UsageError(_("--limit takes a number of loop iterations, not {text}").format(text=repr(text)))
            steps = int(text)
        elif flag in _COMPILE.names:
            alone = not has_value and (not words or words[0].startswith("-") or words[0] in TARGETS)
            gpus = _gpus(None if alone else value if has_value else words.pop(0))
        elif flag in _HELP.names:
            help = True
        else:
            options = _unknown(flag, [each.names[0] for each in FLAGS], "option")
            targets = _("A target is a word without dashes: {targets}.").format(targets=", ".join(TARGETS))
            raise UsageError(f"{options}. {targets}")
    lacking = [name for name in show or () if name in COMPILED_SHOWN and not gpus]
    if lacking:
        raise UsageError(
            _("--show {lacking} needs the compiled kernels: add --compile sm_90").format(lacking=lacking[0])
        )
    return Options(target or "auto", preferred() if show is None else show, steps, help, gpus)


def preferred() -> tuple[str, ...]:
    """The views that a card opens with if its line names none."""
    return (lab_preference.first,) if lab_preference.first in VIEWS else Options.show


def _gpus(named: str | None) -> tuple[str, ...]:
    """The GPUs to compile for: the named ones, else this machine's, else sm_90."""
    names = None if named is None else [name.strip() for name in named.split(",") if name.strip()]
    try:
        return tuple(one.name for one in architectures(names or None))
    except ValueError as error:
        raise UsageError(f"--compile: {error}") from None


def asks_for_help(line: str) -> bool:
    """Whether ``line`` asks for help."""
    return not {*_HELP.names, "help", "?"}.isdisjoint(line.split())


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
    meant = difflib.get_close_matches(word, known, n=1, cutoff=0.7)
    if meant:
        return _("%%triton has no {what} {word}: did you mean {meant}? There is {near}").format(
            what=what, word=repr(word), meant=meant[0], near=", ".join(near)
        )
    return _("%%triton has no {what} {word}; there is {near}").format(what=what, word=repr(word), near=", ".join(near))


def usage() -> str:
    """The text of ``%triton --help``."""
    line = " ".join(f"[{each.names[0]}{' ' * bool(each.value)}{each.value}]" for each in FLAGS)
    targets = "\n".join(f"  {name:<10} {translated(text)}" for name, text in TARGET_HELP.items())
    flags = []
    for each in FLAGS:
        flags.append(f"  {each.names[0]:<10} {translated(each.help)}")
        if each is _SHOW:
            flags.extend(f"             {name:<14} {translated(_VIEW_HELP[name])}" for name in VIEWS)
        if each is _COMPILE:
            flags.append(f"             {', '.join(COMPILED_FOR)}")
            flags.append("             and for --show:")
            flags.extend(f"             {tab.name:<12} {translated(tab.help)}" for tab in COMPILED_TABS)
    return translated(_USAGE).format(targets="|".join(TARGETS), line=line, target_lines=targets, flags="\n".join(flags))


_USAGE = N_("""\
%%triton [{targets}] {line}

Write it as the first line of a cell. It runs the cell, records each launch and shows it.

{target_lines}

{flags}

Examples:

  %%triton                            run on the GPU if there is one, else the CPU; show a tiling
  %%triton cpu --show values,source   run on the CPU; show the variables' values beside the source
  %%triton both                       run on GPU and CPU; show where the results differ
  %%triton cpu --limit 10000          stop a loop that does not end
  %%triton cpu --compile sm_90        also compile the kernels for an H100

%triton prints what is installed and which target is active. It can stand anywhere in a cell.
%triton engine chooses how kernels run on the CPU: auto (NumPy first; costly kernels are compiled to machine code),
native (compiled from the first launch on) or numpy (never compiled). Without a name it prints what ran.
""")
