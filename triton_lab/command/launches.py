"""``triton-lab run`` and ``triton-lab check``: a script's launches recorded, checked and told."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import traceback
from collections.abc import Collection, Iterator
from pathlib import Path

import click

from triton_lab import words
from triton_lab.command import failure, told
from triton_lab.command.heard import Heard, listening
from triton_lab.command.live import drawing, status
from triton_lab.command.running import INTERRUPTED, Ended, Script, run
from triton_lab.command.terminal import (
    CLOSED,
    NARROW,
    STYLES,
    console,
    is_coloured,
    is_cut_off,
    let_go,
    show,
    show_lines,
    warn,
    write,
)
from triton_lab.launch.finding import ERROR, WARNING

FAILED = 2  # what `check` ends with where the script failed, as it does for a wrong line


def ran(script: Script, target: str, draw: bool, time: bool) -> tuple[Heard, Ended]:
    """Run a script with all launches heard of. Its error is told as Python tells it.

    Raises UsageError where it cannot be run, or its launches not be recorded.
    """
    from triton_lab.backend import targets
    from triton_lab.launch.unseen import NotRecorded

    process, ended = os.getpid(), Ended()
    try:
        # What Triton chooses by itself leads past our records: the same GPU, by our driver.
        chosen = targets.as_it_is() if target == "auto" else targets.target(target)
        with chosen, listening(draw, time) as heard, status(heard, is_coloured(sys.stderr)):
            ended = run(script)
            if os.getpid() != process:  # a fork that came to its end is not asked
                raise SystemExit(ended.code)
    except targets.TargetError as error:
        raise click.UsageError(str(error)) from None
    except NotRecorded as error:
        if ended.error is None or isinstance(ended.error, SystemExit):
            raise click.UsageError(str(error)) from None
    if isinstance(ended.error, BrokenPipeError) and is_cut_off(sys.stdout):
        ended = Ended(CLOSED, SystemExit(CLOSED))  # `| head` has seen enough: no fault of the script's
    let_go(sys.stdout)
    if ended.error is not None and not isinstance(ended.error, SystemExit):
        failure.tell(ended.error, is_coloured(sys.stderr))
    others = _processes()
    if others:
        warn(f"the script started {words.count(others, 'process', 'processes')}: launches there were not recorded")
    return heard, ended


_counted = 0  # processes that multiprocessing has numbered, up to the end of the last script


def _processes() -> int:
    """How many processes the script has made with multiprocessing, which numbers them in their names."""
    global _counted
    import multiprocessing

    before, _counted = _counted, int(multiprocessing.Process().name.rpartition("-")[2].rpartition(":")[2])
    return _counted - before - 1


def run_and_report(script: Script, target: str, page: Path | None) -> int:
    """`triton-lab run`; gives the script's exit code, or 2 where the page could not be written. Raises UsageError."""
    page = _writable(page)
    heard, ended = ran(script, target, draw=page is not None, time=True)
    print(file=sys.stderr)
    _show_table(heard)
    show_lines(sys.stderr, ((line, STYLES.get(severity, "")) for line, severity in told.lines(heard)))
    show_lines(sys.stderr, [(told.summary(heard), "bold")])
    if page is not None:
        try:
            _write_page(page, heard, script, ended)
        except KeyboardInterrupt:
            warn(f"interrupted: {page} was not written")
            return INTERRUPTED
        except OSError as error:
            _warn_of_unwritten(page, error)
            return ended.code or FAILED
    return ended.code


def _show_table(heard: Heard) -> None:
    from triton_lab.command.table import table

    if heard.lines:
        show(sys.stderr, table(heard.lines, narrow=console(sys.stderr).width < NARROW))
        print(file=sys.stderr)


def _write_page(page: Path, heard: Heard, script: Script, ended: Ended) -> None:
    from triton_lab.command.report import page as made

    with drawing(is_coloured(sys.stderr)) as tell:
        text = made(heard, script, failed(ended), tell)
    page.write_text(text, encoding="utf-8")
    warn(f"wrote {told.path(str(page))} ({len(text.encode()) / 1e6:.1f} MB)")


def check(
    script: Script, target: str, form: str, output: Path | None, strict: bool, baseline: Path | None = None
) -> int:
    """`triton-lab check`: 1 where something was found, 2 where the script failed by itself, else 0.

    With ``strict`` warnings count as errors, and so does what could not be checked; findings in the ``baseline`` do
    not count. Raises UsageError.
    """
    output, known = _writable(output), _known(baseline)
    # What a machine reads is all that there is on standard output.
    apart = form != "text" and output is None
    with _on_standard_error() if apart else contextlib.nullcontext():
        heard, ended = ran(script, target, draw=False, time=False)
    for found in heard.found.values():
        found.known = found.finding.fingerprint in known
    own = "" if _is_found(ended, heard) and heard.count(ERROR) else failed(ended)
    code = FAILED if own else int(_is_wrong(heard, strict))
    text = {"text": _as_text, "json": _as_json, "sarif": _as_sarif}[form]
    if isinstance(ended.error, KeyboardInterrupt):
        code = INTERRUPTED
    if form == "text" and output is None:
        show_lines(sys.stdout, ((line, STYLES.get(severity, "")) for line, severity in _told(heard, own)))
        return code
    made = text(heard, own, code)
    if output is None:
        write(sys.stdout, made)
        return code
    try:
        output.write_text(made, encoding="utf-8")
    except OSError as error:  # what was found is not lost with it
        write(sys.stdout, made)
        _warn_of_unwritten(output, error)
        return FAILED
    warn(f"{told.summary(heard)}; wrote {told.path(str(output))}")
    return code


def _known(baseline: Path | None) -> Collection[str]:
    """The fingerprints in a list of findings: what ``--format json`` writes, or the pytest plugin."""
    from triton_lab.testing.baseline import BaselineError, load

    if baseline is None:
        return ()
    if not baseline.exists():
        how = f"triton-lab check SCRIPT --format json --output {baseline} writes it"
        raise click.UsageError(f"{baseline} is not there: {how}")
    try:
        return load(baseline).keys()
    except BaselineError as error:
        raise click.UsageError(str(error)) from None


def _is_found(ended: Ended, heard: Heard) -> bool:
    """Whether what ended the script is what a launch was stopped for, which is among the findings."""
    error = ended.error
    while error is not None and error is not heard.stopped:
        error = error.__cause__ or error.__context__
    return error is not None


def _is_wrong(heard: Heard, strict: bool) -> bool:
    doubts = heard.count(WARNING) or heard.unchecked or heard.unseen or not heard.lines
    return bool(heard.count(ERROR) or (strict and doubts))


def failed(ended: Ended) -> str:
    """How a script failed, in a line; "" where it did not."""
    if ended.error is None or ended.code == 0:
        return ""
    if isinstance(ended.error, SystemExit):
        return f"exit code {ended.code}"
    if isinstance(ended.error, KeyboardInterrupt):
        return "interrupted"
    from triton_lab.notebook.hints import hint_for

    said, hint = traceback.format_exception_only(ended.error)[-1].strip(), hint_for(ended.error)
    return f"{said} ({hint})" if hint else said


def _told(heard: Heard, own: str) -> Iterator[tuple[str, str]]:
    """What `check` says: the findings, and last of all how many."""
    yield from told.lines(heard)
    if own:
        yield f"the script failed, so that it was checked up to there: {own}", ERROR
    yield told.summary(heard), ""


def _as_text(heard: Heard, own: str, code: int) -> str:
    return "".join(f"{line}\n" for line, _ in _told(heard, own))


def _as_json(heard: Heard, own: str, code: int) -> str:
    return json.dumps(told.data(heard, own, code), indent=1) + "\n"


def _as_sarif(heard: Heard, own: str, code: int) -> str:
    from triton_lab.command.sarif import report

    return json.dumps(report(heard, own, code), indent=1) + "\n"


def _writable(path: Path | None) -> Path | None:
    """The path from the root, if a file can be written there: a script may run long, and change the folder."""
    if path is None:
        return None
    path = path.absolute()
    if path.is_dir() or not os.access(path if path.exists() else path.parent, os.W_OK):
        raise click.UsageError(f"{path} cannot be written: is its folder there, and yours?")
    return path


def _warn_of_unwritten(path: Path, error: OSError) -> None:
    """What nobody could know before the script ran: the disk is full, say, or the folder gone."""
    warn(f"{told.path(str(path))} was not written: {error.strerror or error}")


@contextlib.contextmanager
def _on_standard_error() -> Iterator[None]:
    """What is printed inside, by other programs too, goes to standard error."""
    sys.stdout.flush()
    kept = os.dup(1)
    try:
        os.dup2(2, 1)
        with contextlib.redirect_stdout(sys.stderr):
            yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
