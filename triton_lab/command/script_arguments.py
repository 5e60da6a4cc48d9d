"""``[OPTIONS] SCRIPT [ARGS]``: options, the words of a command line that are ours, and those that are the script's."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import click

from triton_lab.command.run_script import Script
from triton_lab.localization import N_, _, translated

EPILOG = (
    "Everything after SCRIPT is passed to the script, except options of triton-lab at the very end of the "
    "line. Write -- before SCRIPT to pass these to the script, too."
)
FILE = click.Path(path_type=Path, dir_okay=False)


class ScriptCommand(click.Command):
    """A command that takes a script with its arguments."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse only our own words with click."""
        takes = {
            name: not one.is_flag for one in self.params if isinstance(one, click.Option) for name in one.opts
        } | dict.fromkeys(ctx.help_option_names, False)
        ours, theirs = divided(args, takes)
        return super().parse_args(ctx, [*ours, "--", *theirs])


def divided(args: Sequence[str], takes: Mapping[str, bool]) -> tuple[list[str], list[str]]:
    """The words that are ours and the script's; ``takes`` says of each option whether a value follows it.

    As for Python itself, a module's name after ``-m`` stands for the script.
    """
    at = 0
    while at < len(args):
        word = args[at]
        if word == "--":
            return list(args[:at]), list(args[at + 1 :])
        if word.startswith("-m") and "-m" in takes:
            return _behind(args, at + (2 if word == "-m" else 1), takes)
        if not word.startswith("-") or word == "-":
            ours, theirs = _behind(args, at + 1, takes)
            return [*args[:at], *ours[at + 1 :]], [word, *theirs]
        name, equals, _ = word.partition("=")
        at += 2 if takes.get(name, False) and not equals else 1
    return list(args), []


def _behind(args: Sequence[str], at: int, takes: Mapping[str, bool]) -> tuple[list[str], list[str]]:
    """All words before ``at`` are ours; of the words after it, only our options at the end of the line are."""
    if "--" not in args[at:]:
        for start in range(at, len(args)):
            if _are_options(args[start:], takes):
                return [*args[:at], *args[start:]], list(args[at:start])
    return list(args[:at]), list(args[at:])


def _are_options(words: Sequence[str], takes: Mapping[str, bool]) -> bool:
    """Whether these words are only long options of ours and their values."""
    at = 0
    while at < len(words):
        name, equals, _ = words[at].partition("=")
        if name not in takes or not name.startswith("--") or name == "--help" or (equals and not takes[name]):
            return False
        at += 2 if takes[name] and not equals else 1
    return at == len(words)


def script_of(arguments: Sequence[str], module: str | None, command: str) -> Script:
    """The script to run. Raises UsageError if none is named."""
    if module is not None:
        return Script(module, tuple(arguments), module=True)
    if not arguments:
        raise click.UsageError(
            _("Which script? triton-lab {command} SCRIPT [ARGS], or -m MODULE [ARGS]").format(command=command)
        )
    return Script(arguments[0], tuple(arguments[1:]))


class TranslatedOption(click.Option):
    """An option whose help is translated when it is shown; the help is marked with `N_`."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        english = self.help
        self.help = translated(english or "")
        try:
            return super().get_help_record(ctx)
        finally:
            self.help = english


option = functools.partial(click.option, cls=TranslatedOption)


def of_a_script(command: Callable[..., None]) -> Callable[..., None]:
    """The options that all commands that run a script have in common."""
    command = click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="SCRIPT [ARGS]...")(command)
    return option("-m", "module", metavar="MODULE", help=N_("Run a module, as python -m does."))(command)
