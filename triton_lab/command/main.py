"""The commands, their arguments, and what is told when they are wrong."""

from __future__ import annotations

from pathlib import Path

import click

import triton_lab


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(triton_lab.__version__, message="triton-lab %(version)s")
def triton_lab_command() -> None:
    """Any Triton kernel, with or without a GPU: run it, see it, check it."""


@triton_lab_command.command()
@click.argument("folder", type=click.Path(path_type=Path), required=False)
@click.option("--list", "list_", is_flag=True, help="List the notebooks and copy nothing.")
def course(folder: Path | None, list_: bool) -> None:
    """Copy the course into FOLDER, or renew what you have not changed there.

    Notebooks that you have changed stay as they are; to have one as it was, delete or rename yours and call this again.
    """
    from triton_lab.command.course import notebooks, put, title

    try:
        if list_:
            for one in notebooks():
                click.echo(f"{one.name:<32} {title(one)}")
            return
        if folder is None:
            raise click.UsageError("Say where to: triton-lab course FOLDER. (--list only lists the notebooks.)")
        done = put(folder)
    except OSError as error:
        raise click.ClickException(str(error)) from None
    for told, paths in (("new", done.added), ("renewed", done.renewed), ("yours, kept", done.kept)):
        for path in paths:
            click.echo(f"{told:<12} {path}")
    if not (done.added or done.renewed or done.kept):
        click.echo(f"{folder} has the whole course, as it is in triton-lab {triton_lab.__version__}.")
    elif done.added:
        click.echo(f"Begin with: triton-lab lab {folder}")


def main() -> None:
    """What ``triton-lab`` and ``python -m triton_lab`` run."""
    triton_lab_command(prog_name="triton-lab")
