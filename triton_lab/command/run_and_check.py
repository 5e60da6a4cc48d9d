"""``triton-lab run`` and ``triton-lab check``: a script's launches recorded, checked and reported."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from triton_lab import messages
from triton_lab.command import console_report
from triton_lab.command.run_script import INTERRUPTED, Script
from triton_lab.command.script_supervisor import ScriptOutcome, outcome_of, supervised
from triton_lab.command.session_log import Heard, heard_of
from triton_lab.command.terminal import NARROW, STYLES, console, show, show_lines, warn, write
from triton_lab.launch.checks.kind_filter import KindFilter
from triton_lab.launch.diagnosis.severity import ERROR, WARNING
from triton_lab.localization import _

FAILED = 2  # the exit code of `check` if the script failed, as for a wrong command line


def ran(
    script: Script,
    target: str,
    *,
    draw: bool,
    time: bool,
    apart: bool = False,
    passes: str = "",
    resources: Mapping[str, Any] | None = None,
) -> tuple[Heard, ScriptOutcome]:
    """Run a script in a process of its own, with all launches recorded; Python prints its error there.

    ``apart``: its output goes to standard error. ``passes``: the compiler's passes for this target are run, too. Raises
    UsageError if it cannot be run, or if its launches cannot be recorded.
    """
    settings = {
        **{"name": script.name, "arguments": list(script.arguments), "module": script.module, "target": target},
        **{"draw": draw, "time": time, "apart": apart, "passes": passes, "supervisor": os.getpid()},
        "resources": dict(resources or {}),
    }
    sys.stdout.flush()
    left = supervised(settings)
    heard = heard_of(left.told)
    outcome = outcome_of(left, heard)
    if left.failed:
        heard.unseen.append(
            _("{entries} about launches could not be recorded").format(
                entries=messages.count(left.failed, "entry", "entries")
            )
        )
    for line in left.hidden:
        heard.unseen.append(
            _("the script started a process that reported nothing about its launches: {line}").format(line=line)
        )
    for line in left.running:
        heard.unseen.append(
            _("a process that the script started still runs after the script ended: {line}").format(line=line)
        )
    return heard, outcome


def run_and_report(script: Script, target: str, page: Path | None) -> int:
    """Run `triton-lab run`; returns the script's exit code, or 2 if the page cannot be written. Raises UsageError."""
    page = _writable(page)
    heard, outcome = ran(script, target, draw=page is not None, time=True)
    print(file=sys.stderr)
    _show_table(heard)
    show_lines(sys.stderr, ((line, STYLES.get(severity, "")) for line, severity in console_report.lines(heard)))
    for line in filter(None, (outcome.incomplete, outcome.remark)):
        show_lines(sys.stderr, [(line, STYLES[WARNING])])
    show_lines(sys.stderr, [(console_report.summary(heard), "bold")])
    if page is not None:
        if outcome.undrawn == "interrupted":
            warn(_("interrupted: {page} was not written").format(page=page))
            return INTERRUPTED
        if outcome.undrawn:
            warn(
                _("{page} has no cards: {undrawn}").format(page=console_report.path(str(page)), undrawn=outcome.undrawn)
            )
        try:
            _write_page(page, heard, script, outcome)
        except OSError as error:
            _warn_of_unwritten(page, error)
            return outcome.code or FAILED
    return outcome.code


def _show_table(heard: Heard) -> None:
    from triton_lab.command.launch_rows import table

    if heard.lines:
        show(sys.stderr, table(heard.lines, narrow=console(sys.stderr).width < NARROW))
        print(file=sys.stderr)


def _write_page(page: Path, heard: Heard, script: Script, outcome: ScriptOutcome) -> None:
    from triton_lab.command.html_report import page as made

    text = made(heard, script, "; ".join(filter(None, (outcome.failure, outcome.incomplete))))
    page.write_text(text, encoding="utf-8")
    size = f"{len(text.encode()) / 1e6:.1f}"
    warn(_("wrote {path} ({size} MB)").format(path=console_report.path(str(page)), size=size))


def check(
    script: Script,
    target: str,
    form: str,
    output: Path | None,
    strict: bool,
    baseline: Path | None = None,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    passes: str | None = None,
    max_spills: int | None = None,
    max_registers: int | None = None,
    max_shared: int | None = None,
    min_occupancy: float | None = None,
) -> int:
    """Run `triton-lab check`; returns 1 if something was found, 2 if the script failed by itself, else 0.

    With ``strict``, warnings count as errors, and so does everything that could not be checked. Findings in the
    ``baseline``, of kinds that are not in ``select``, and of kinds in ``ignore`` do not count. ``passes`` is the
    target whose compiler's passes are run, too. If ``target`` is an instruction set, or with a limit on resources,
    kernels are compiled and what a GPU would refuse is an error. Raises UsageError.
    """
    gates = {"spills": max_spills, "registers": max_registers, "shared": max_shared, "occupancy": min_occupancy}
    target, resources = _with_gates(target, gates)
    if passes is not None:
        _check_target(passes)
    output, known = _writable(output), _known(baseline)
    try:
        kinds = KindFilter.of(select, ignore)
    except LookupError as error:
        raise click.UsageError(str(error)) from None
    # With a format for machines, standard output has nothing else.
    apart = form != "text" and output is None
    heard, outcome = ran(script, target, draw=False, time=False, apart=apart, passes=passes or "", resources=resources)
    heard.leave(kinds)
    for found in heard.found.values():
        found.known = found.finding.fingerprint in known
    own = "" if outcome.found and heard.count(ERROR) else outcome.failure
    own = "; ".join(filter(None, (own, outcome.incomplete)))
    code = INTERRUPTED if outcome.interrupted else FAILED if own else int(_is_wrong(heard, strict))
    if outcome.code > 128 and not outcome.failure:  # we were told to stop by a signal
        code = outcome.code
    lines = [
        *_told(heard, own),
        *([(outcome.remark, "")] if outcome.remark else []),
        (console_report.summary(heard), ""),
    ]
    try:
        if form == "text" and output is None:
            show_lines(sys.stdout, ((line, STYLES.get(severity, "")) for line, severity in lines))
            return code
        made = {"text": _as_text, "json": _as_json, "sarif": _as_sarif}[form](heard, own, code, lines)
        if output is None:
            write(sys.stdout, made)
            return code
    except BrokenPipeError:  # the reader is gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return code or FAILED
    try:
        output.write_text(made, encoding="utf-8")
    except OSError as error:  # the findings are not lost with it
        write(sys.stdout, made)
        _warn_of_unwritten(output, error)
        return FAILED
    path = console_report.path(str(output))
    warn(_("{summary}; wrote {path}").format(summary=console_report.summary(heard), path=path))
    return code


def _with_gates(target: str, gates: Mapping[str, float | None]) -> tuple[str, dict[str, Any]]:
    """Where kernels run, and for what they are compiled with which limits. Raises UsageError for an unknown target."""
    if target in ("auto", "cpu", "gpu"):
        asked = any(one is not None for one in gates.values())
        return target, {"target": "sm_90", "gates": dict(gates)} if asked else {}
    _check_target(target)
    return "cpu", {"target": target, "gates": dict(gates)}


def _check_target(name: str) -> None:
    """Raise UsageError for a name that is no GPU's instruction set."""
    from triton_lab.compiled.architecture import architectures

    try:
        architectures(name)
    except ValueError as error:
        raise click.UsageError(str(error)) from None


def _known(baseline: Path | None) -> Collection[str]:
    """The fingerprints in a list of findings that ``--format json`` or the pytest plugin wrote."""
    from triton_lab.testing.baseline import BaselineError, load

    if baseline is None:
        return ()
    if not baseline.exists():
        how = _("triton-lab check SCRIPT --format json --output {baseline} writes it").format(baseline=baseline)
        raise click.UsageError(_("{baseline} does not exist: {how}").format(baseline=baseline, how=how))
    try:
        return load(baseline).keys()
    except BaselineError as error:
        raise click.UsageError(str(error)) from None


def _is_wrong(heard: Heard, strict: bool) -> bool:
    doubts = heard.count(WARNING) or heard.unchecked or heard.unseen or not heard.lines
    return bool(heard.count(ERROR) or (strict and doubts))


def _told(heard: Heard, own: str) -> Iterator[tuple[str, str]]:
    """The lines of `check`: the findings, and how the script failed."""
    yield from console_report.lines(heard)
    if told := console_report.explanation(heard):
        yield told, ""
    if own:
        yield _("the script failed; launches until then were checked: {own}").format(own=own), ERROR


def _as_text(heard: Heard, own: str, code: int, lines: Sequence[tuple[str, str]]) -> str:
    return "".join(f"{line}\n" for line, _ in lines)


def _as_json(heard: Heard, own: str, code: int, lines: Sequence[tuple[str, str]]) -> str:
    return json.dumps(console_report.data(heard, own, code), indent=1) + "\n"


def _as_sarif(heard: Heard, own: str, code: int, lines: Sequence[tuple[str, str]]) -> str:
    from triton_lab.command.sarif import report

    return json.dumps(report(heard, own, code), indent=1) + "\n"


def _writable(path: Path | None) -> Path | None:
    """The absolute path, if a file can be written there: a script may run long, and change the folder."""
    if path is None:
        return None
    path = path.absolute()
    if path.is_dir() or not os.access(path if path.exists() else path.parent, os.W_OK):
        raise click.UsageError(
            _("{path} cannot be written. Does its folder exist, and may you write there?").format(path=path)
        )
    return path


def _warn_of_unwritten(path: Path, error: OSError) -> None:
    """Warn of an error that could not be known before the script ran: a full disk, say, or a missing folder."""
    warn(
        _("{path} was not written: {strerror}").format(
            path=console_report.path(str(path)), strerror=error.strerror or error
        )
    )
