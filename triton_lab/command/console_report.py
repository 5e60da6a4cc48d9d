"""Findings in the form of compiler messages: ``file:line:column: error: ... [kind]``, the line, and what to do."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

import triton_lab
from triton_lab import messages
from triton_lab.command.session_log import Heard, SessionFinding
from triton_lab.launch.checks.rule import rules
from triton_lab.launch.diagnosis.severity import SEVERITIES, WARNING
from triton_lab.localization import _


def lines(heard: Heard) -> Iterator[tuple[str, str]]:
    """All findings and unchecked things as lines of text, each with the severity that colours it or "".

    Known findings are left out.
    """
    for found in heard.findings:
        if found.known:
            continue
        finding = found.finding
        yield (
            f"{place(found)}: {messages.noun(1, finding.severity)}: {finding.message} [{finding.kind}]",
            finding.severity,
        )
        for line in more(found):
            yield f"  {line}", ""
    for doubt in doubts(heard):
        yield doubt, WARNING


def explanation(heard: Heard) -> str:
    """The command that explains what was found; "" if nothing was."""
    found = {one.finding.kind for one in heard.findings if not one.known}
    kinds = " ".join(kind for kind in rules() if kind in found)
    return _("What this means: triton-lab explain {kinds}").format(kinds=kinds) if kinds else ""


def doubts(heard: Heard) -> Iterator[str]:
    """What was not checked, and in how many launches."""
    for what, count in heard.unchecked.items():
        yield f"{what} ({messages.count(count, 'launch', 'launches')})"
    for unseen in heard.unseen:
        yield _("not checked: {what}").format(what=unseen)


def more(found: SessionFinding) -> Iterator[str]:
    """The lines below the first line of a finding."""
    finding = found.finding
    # The source line without the indent that all excerpts have.
    yield from (line.removeprefix("  ") for line in finding.excerpt)
    if finding.values_text:
        yield _("values: {values}").format(values=finding.values_text)
    yield from (*finding.orders, finding.hint, *finding.fix_lines)
    yield seen(found)


def seen(found: SessionFinding) -> str:
    """The launches of a finding: ``in launch 3, add[8, 1, 1], and 2 others``."""
    launched = messages.launched(found.kernel, found.grid)
    return _("in launch {first}, {launched}{and_others}").format(
        first=found.first, launched=launched, and_others=messages.and_others(found.launches - 1)
    )


def place(found: SessionFinding) -> str:
    """The place of a finding: ``kernels/add.py:11:9``, relative to the current folder if the file is in it.

    Columns count from 1, as compilers do.
    """
    column = "" if found.finding.column is None else f":{found.finding.column + 1}"
    return f"{path(found.file)}:{found.line}{column}"


def path(file: str) -> str:
    """The path of a file, relative to the current folder if the file is in it."""
    near = os.path.relpath(file) if file else "(no file)"
    return file if near.startswith(os.pardir + os.sep) else near


def data(heard: Heard, failure: str, code: int) -> Mapping[str, Any]:
    """The report as plain values. Lines and columns count from 1; ``failure`` says how the script failed, or ""."""
    return {
        "version": 1,
        "triton_lab": triton_lab.__version__,
        "exit_code": code,
        "failure": failure,
        "launches": len(heard.lines),
        "kernels": dict(Counter(line.kernel for line in heard.lines)),
        "findings": [_data(found) for found in heard.findings],
        "unchecked": [{"what": what, "launches": count} for what, count in heard.unchecked.items()],
        "unseen": list(heard.unseen),
    }


def _data(found: SessionFinding) -> Mapping[str, Any]:
    finding = found.finding
    return {
        "kind": finding.kind,
        "severity": finding.severity,
        "file": found.file,
        "line": found.line,
        "column": None if finding.column is None else finding.column + 1,
        "message": finding.message,
        "hint": finding.hint,
        "fix": [asdict(edit) for edit in finding.edits],
        "argument": finding.argument,
        "lanes": finding.count,
        "kernel": found.kernel,
        "grid": list(found.grid),
        "launch": found.first,
        "launches": found.launches,
        "fingerprint": finding.fingerprint,
        "known": found.known,
    }


def summary(heard: Heard) -> str:
    """The summary: ``3 launches of 1 kernel: 1 error, 2 warnings, no notes``."""
    kernels = len({line.kernel for line in heard.lines})
    launches = messages.count(len(heard.lines), "launch", "launches")
    none = {"error": _("no errors"), "warning": _("no warnings"), "note": _("no notes")}
    found = [messages.count(heard.count(one), one) if heard.count(one) else none[one] for one in SEVERITIES]
    if not heard.lines:
        return _("no launch was checked")
    known = sum(one.known for one in heard.findings)
    left = _("{findings} left out").format(findings=messages.count(known, "known finding"))
    found += [left] if known else []
    return _("{launches} of {kernels}: {found}").format(
        launches=launches, kernels=messages.count(kernels, "kernel"), found=", ".join(found)
    )
