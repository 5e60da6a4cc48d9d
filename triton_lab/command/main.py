"""The commands, their arguments, and the messages about wrong ones."""

from __future__ import annotations

import json
import shlex
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import triton_lab
from triton_lab.command.grade_command import grade
from triton_lab.command.script_arguments import EPILOG, FILE, ScriptCommand, of_a_script, option, script_of
from triton_lab.localization import N_, _

if TYPE_CHECKING:
    from triton_lab.command.copy_course import Put

TARGETS = click.Choice(["auto", "cpu", "gpu"])
LANGUAGES = click.Choice(["en", "zh"])
FORMS = click.Choice(["text", "json", "sarif"])


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(triton_lab.__version__, message="triton-lab %(version)s")
def triton_lab_command() -> None:
    """Any Triton kernel, with or without a GPU: run it, see it, check it."""


@triton_lab_command.command(context_settings={"ignore_unknown_options": True})
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[FOLDER] [ARGS]...")
def lab(arguments: tuple[str, ...]) -> None:
    """Start JupyterLab in FOLDER, or here; ARGS are JupyterLab's own.

    In a folder that `triton-lab course` has made, the first notebook of the course opens.
    """
    from triton_lab.command.open_lab import start

    start(arguments)


@triton_lab_command.command()
@click.argument("folder", type=click.Path(path_type=Path), required=False)
@option("--list", "list_", is_flag=True, help=N_("List the notebooks and copy nothing."))
@option(
    "--language",
    type=LANGUAGES,
    help=N_(
        "The language of the course; chapters without a translation are in English. Default: the language of FOLDER, "
        "else English."
    ),
)
@option(
    "--solutions/--no-solutions",
    default=None,
    help=N_("Copy the course with or without solutions. Default: as in FOLDER, else without."),
)
def course(folder: Path | None, list_: bool, language: str | None, solutions: bool | None) -> None:
    """Copy the course into FOLDER, or renew what you have not changed there.

    Notebooks that you have changed stay as they are; to have one as it was, delete or rename yours and call this again.
    """
    from triton_lab.command.copy_course import ENGLISH, notebooks, put, title

    if not list_ and folder is None:
        raise click.UsageError(_("Name a folder: triton-lab course FOLDER. (--list only lists the notebooks.)"))
    try:
        if folder is None or list_:
            lines = [f"{one.name:<32} {title(one, language or ENGLISH)}" for one in notebooks()]
        else:
            lines = _done(folder, put(folder, language, solutions))
    except OSError as error:
        raise click.ClickException(str(error)) from None
    except ModuleNotFoundError as error:  # Babel is missing, which comes with JupyterLab
        wanted = _("A translation needs {partition}, which is not installed here").format(
            partition=str(error.name).partition(".")[0]
        )
        raise click.ClickException(
            _("{wanted}: {executable} -m pip install 'triton-lab[lab]'").format(
                wanted=wanted, executable=sys.executable
            )
        ) from None
    for line in lines:
        click.echo(line)


def _done(folder: Path, done: Put) -> list[str]:
    """The lines about what was done with the course."""
    groups = (("new", done.added), ("renewed", done.renewed), ("yours, kept", done.kept))
    lines = [f"{told:<12} {path}" for told, paths in groups for path in paths]
    if done.added:
        lines.append(_("To begin: triton-lab lab {folder}").format(folder=shlex.quote(str(folder))))
    return lines or [
        _("{folder} holds the whole course of triton-lab {triton_lab}.").format(
            folder=folder, triton_lab=triton_lab.__version__
        )
    ]


@triton_lab_command.command()
@option("--json", "as_json", is_flag=True, help=N_("Print JSON."))
def doctor(as_json: bool) -> None:
    """Tell what is installed, what is missing, and how to get it.

    The exit code is 1 if anything is missing that the lab needs.
    """
    from triton_lab.command.doctor import examine
    from triton_lab.command.terminal import show_checked, write

    if as_json:
        checked = list(examine())
        write(sys.stdout, json.dumps([asdict(one) for one in checked], indent=1) + "\n")
    else:
        checked = show_checked(sys.stdout, examine())
    sys.exit(any(one.state == "missing" for one in checked))


@triton_lab_command.command(cls=ScriptCommand, epilog=EPILOG)
@of_a_script
@option(
    "--target",
    type=TARGETS,
    default="auto",
    help=N_("Where kernels run; auto is the GPU if there is one, else the CPU."),
)
@option("--html", type=FILE, metavar="FILE", help=N_("Write a page with the card of each launch to FILE."))
def run(arguments: tuple[str, ...], module: str | None, target: str, html: Path | None) -> None:
    """Run a script as Python does, and tell what its launches did.

    What is told goes to standard error; the exit code is the script's.
    """
    script = script_of(arguments, module, "run")
    from triton_lab.command.run_and_check import run_and_report

    sys.exit(run_and_report(script, target, html))


@triton_lab_command.command(cls=ScriptCommand, epilog=EPILOG)
@of_a_script
@option(
    "--target",
    metavar="TARGET",
    default="cpu",
    help=N_(
        "Where kernels run: cpu (the default), gpu or auto. With an architecture such as sm_90 they run on the CPU, "
        "and a kernel that such a GPU would refuse is an error."
    ),
)
@option("--format", "form", type=FORMS, default="text", help=N_("text; json; or sarif, which code hosts read."))
@option("--output", type=FILE, metavar="FILE", help=N_("Write the findings to FILE."))
@option(
    "--baseline",
    type=FILE,
    metavar="FILE",
    help=N_("Leave out the findings in FILE, a report written with --format json."),
)
@option("--select", multiple=True, metavar="KINDS", help=N_("Report only these kinds of findings: race,overflow."))
@option("--ignore", multiple=True, metavar="KINDS", help=N_("Leave these kinds of findings out."))
@option(
    "--passes",
    metavar="TARGET",
    help=N_(
        "Run each kernel after each pass of the compiler for TARGET, such as sm_90, and report a pass that changes "
        "its result."
    ),
)
@option(
    "--max-spills", type=click.IntRange(min=0), metavar="N", help=N_("Maximum number of spilled registers of a thread.")
)
@option("--max-registers", type=click.IntRange(min=0), metavar="N", help=N_("Maximum number of registers of a thread."))
@option(
    "--max-shared",
    type=click.IntRange(min=0),
    metavar="BYTES",
    help=N_("Maximum shared memory of a program, in bytes."),
)
@option(
    "--min-occupancy",
    type=click.FloatRange(min=0, max=100),
    metavar="PERCENT",
    help=N_(
        "Minimum occupancy: the share of a multiprocessor's warps that run at once. These limits are for sm_90 by "
        "default."
    ),
)
@option("--strict", is_flag=True, help=N_("Treat warnings and unchecked launches as errors."))
def check(arguments: tuple[str, ...], module: str | None, **options: Any) -> None:
    """Run a script and say what is wrong with its kernels: races, accesses out of bounds, uninitialised reads ...

    The exit code is 1 if anything of severity error was found, 2 if the script itself failed, else 0.
    """
    script = script_of(arguments, module, "check")
    from triton_lab.command.run_and_check import check

    sys.exit(check(script, **options))


@triton_lab_command.command(cls=ScriptCommand, epilog=EPILOG)
@of_a_script
@option(
    "--assume",
    multiple=True,
    metavar="CONDITION",
    help=N_("Take this for granted: 'n >= 1', 'index in [0, n)'; 'not n >= 0' leaves an assumption out."),
)
@option(
    "--seconds",
    type=click.FloatRange(min=0, min_open=True),
    default=3.0,
    show_default=True,
    help=N_("The limit for the proof of a kernel, in seconds."),
)
@option("--json", "as_json", is_flag=True, help=N_("Print JSON."))
def prove(arguments: tuple[str, ...], module: str | None, **options: Any) -> None:
    """Run a script, and prove for every size that its kernels stay in bounds and that their programs keep apart.

    The exit code is 1 if an access is out of bounds for some sizes or programs race, 2 if the script itself failed,
    else 0.
    """
    script = script_of(arguments, module, "prove")
    from triton_lab.command.prove_script import prove_script

    sys.exit(prove_script(script, **options))


@triton_lab_command.command(cls=ScriptCommand, epilog=EPILOG)
@of_a_script
@option("--dap", is_flag=True, help=N_("Speak the Debug Adapter Protocol, for editors, on standard input and output."))
@option(
    "--port",
    type=click.IntRange(0, 65535),
    metavar="PORT",
    help=N_("With --dap: wait for an editor on this port of 127.0.0.1; 0 chooses one, and prints it."),
)
def debug(arguments: tuple[str, ...], module: str | None, dap: bool, port: int | None) -> None:
    """Run a script and step through its kernels, forwards and backwards, with the words of pdb.

    It stops in the first statement of the first launch, and later at breakpoints. With --dap an editor may name the
    script.
    """
    from triton_lab.command.debugging.debug_script import debug_script, serve

    if dap:
        sys.exit(serve(script_of(arguments, module, "debug") if arguments or module else None, port))
    if port is not None:
        raise click.UsageError(_("--port needs --dap: the terminal's debugger has no port"))
    sys.exit(debug_script(script_of(arguments, module, "debug")))


@triton_lab_command.command()
@click.argument("kinds", nargs=-1, metavar="[KIND]...")
def explain(kinds: tuple[str, ...]) -> None:
    """Say what a KIND of finding means: why it matters, an example, what to do. Without KIND, list all kinds."""
    from triton_lab.command import finding_explanation
    from triton_lab.command.terminal import STYLES, show_lines

    try:
        lines = (
            [line for kind in kinds for line in finding_explanation.explained(kind)]
            if kinds
            else list(finding_explanation.kinds())
        )
    except LookupError as error:
        raise click.UsageError(str(error)) from None
    show_lines(sys.stdout, ((line, STYLES.get(style, style)) for line, style in lines))


triton_lab_command.add_command(grade)


def main() -> None:
    """What ``triton-lab`` and ``python -m triton_lab`` run."""
    from triton_lab.command.terminal import CLOSED, let_go, open_closed_streams

    open_closed_streams()
    try:
        triton_lab_command(prog_name="triton-lab")
    except BrokenPipeError:  # click handles all others; this one comes from output at exit
        sys.exit(CLOSED)
    finally:
        let_go(sys.stdout, sys.stderr)
