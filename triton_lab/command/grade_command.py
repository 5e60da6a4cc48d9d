"""``triton-lab grade``: learners' notebooks, judged one by one."""

from __future__ import annotations

from pathlib import Path

import click

from triton_lab.command.script_arguments import FILE, option
from triton_lab.localization import N_


@click.command()
@click.argument("files", nargs=-1, required=True, type=FILE, metavar="NOTEBOOK...")
@option("--csv", "table", type=FILE, metavar="FILE", help=N_("Write the table to FILE, one row for each exercise."))
@option(
    "--seconds",
    type=click.FloatRange(min=1),
    default=300.0,
    show_default=True,
    help=N_("The limit for each notebook, in seconds."),
)
@option("--jobs", type=click.IntRange(min=1), help=N_("How many notebooks run at a time; by default one per CPU."))
@option(
    "--released",
    type=FILE,
    metavar="PATH",
    help=N_("A notebook, or a folder of notebooks, whose checks give points."),
)
@option(
    "--scheduler",
    metavar="ADDRESS",
    help=N_("A Dask scheduler, such as tls://host:8786. Its workers grade the notebooks."),
)
@option(
    "--tls-ca-file",
    type=FILE,
    metavar="FILE",
    help=N_("The authority that signs its certificates, as for dask worker."),
)
@option("--tls-cert", type=FILE, metavar="FILE", help=N_("Your certificate."))
@option("--tls-key", type=FILE, metavar="FILE", help=N_("Its key."))
def grade(
    files: tuple[Path, ...],
    table: Path | None,
    seconds: float,
    jobs: int | None,
    released: Path | None,
    scheduler: str | None,
    tls_ca_file: Path | None,
    tls_cert: Path | None,
    tls_key: Path | None,
) -> None:
    """Run learners' notebooks of the course and judge their answers; a line as each ends, then the table.

    Each runs in a process of its own, and another one judges. The exercises of the chapter count that a file's name
    begins with, as 07_reductions.ipynb does. Without --tls-... Dask's own configuration says what proves who is who.
    """
    from triton_lab.backend.targets.active_target import TargetError
    from triton_lab.course.grading import grade

    try:
        security = _security(tls_ca_file, tls_cert, tls_key) if scheduler is not None else None
        grades = grade(
            files,
            seconds=seconds,
            jobs=jobs,
            released=released,
            told=lambda line: click.echo(line, err=True),
            scheduler=scheduler,
            security=security,
        )
        if table is not None:
            grades.to_csv(table)
    except (OSError, ValueError, TargetError) as error:
        raise click.ClickException(str(error)) from None
    click.echo(str(grades))


def _security(authority: Path | None, certificate: Path | None, key: Path | None) -> object:
    """Dask's certificates as files; None if its configuration has them."""
    named = (("tls_ca_file", authority), ("tls_client_cert", certificate), ("tls_client_key", key))
    files = {name: str(path) for name, path in named if path is not None}
    if not files:
        return None
    from triton_lab.remote.scheduler_client import installed

    installed()
    import distributed

    return distributed.Security(**files, require_encryption=True)
