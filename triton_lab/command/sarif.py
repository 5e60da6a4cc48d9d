"""Findings as SARIF 2.1.0, which code hosts read and show beside the source line."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import triton_lab
from triton_lab.command.console_report import seen
from triton_lab.command.session_log import Heard, SessionFinding
from triton_lab.finding_pages import link, page
from triton_lab.launch.checks.rule import rules
from triton_lab.localization import _, translated

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
ROOT = "%SRCROOT%"  # the folder of the repository, for code hosts


def report(heard: Heard, error: str, code: int) -> Mapping[str, Any]:
    """The log of one run. ``error`` says how the script failed, "" if it did not; ``code`` is our exit code."""
    kinds = sorted({found.finding.kind for found in heard.findings}, key=list(rules()).index)
    root = source_root()
    notes = [{"level": "warning", "message": {"text": what}} for what in (*heard.unchecked, *heard.unseen)]
    failure = [{"level": "error", "message": {"text": error}}] if error else []
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "triton-lab",
                        "version": triton_lab.__version__,
                        "semanticVersion": triton_lab.__version__,
                        "rules": [_rule(kind) for kind in kinds],
                    }
                },
                "originalUriBaseIds": {ROOT: {"uri": root.as_uri().rstrip("/") + "/"}},
                "columnKind": "unicodeCodePoints",
                "invocations": [
                    {
                        "executionSuccessful": not error,
                        "exitCode": code,
                        "toolExecutionNotifications": [*failure, *notes],
                    }
                ],
                "results": [_result(found, kinds, root) for found in heard.findings],
            }
        ],
    }


def source_root() -> Path:
    """The repository's folder that contains the current folder; outside of a repository, the current folder."""
    here = Path.cwd()
    return next((folder for folder in (here, *here.parents) if (folder / ".git").exists()), here)


def _rule(kind: str) -> Mapping[str, Any]:
    rule = rules()[kind]
    return {
        "id": kind,
        "name": "".join(word.capitalize() for word in kind.split("-")),
        "shortDescription": {"text": translated(rule.summary)},
        "fullDescription": {"text": f"{translated(rule.summary)} {translated(rule.why)}"},
        **({"helpUri": address} if (address := link(kind)) else {}),
        "help": {"text": translated(rule.remedy), "markdown": _page(kind)},
        # SARIF has the same words for severities.
        "defaultConfiguration": {"level": rule.severity},
        "properties": {"tags": ["triton", "correctness"]},
    }


def _page(kind: str) -> str:
    """The page of a kind as Markdown, which code hosts show beside a finding; its remedy if there is no page."""
    path = page(kind)
    return translated(rules()[kind].remedy) if path is None else path.read_text(encoding="utf-8")


def _result(found: SessionFinding, kinds: Sequence[str], root: Path) -> Mapping[str, Any]:
    finding = found.finding
    known = [{"kind": "external", "justification": _("It is in the list of known findings.")}] if found.known else []
    said = [finding.message, *finding.orders, finding.hint, *finding.fix_lines, f"({seen(found)})"]
    return {
        "ruleId": finding.kind,
        "ruleIndex": kinds.index(finding.kind),
        "level": finding.severity,
        "message": {"text": "\n".join(said)},
        "locations": list(_locations(found, root)),
        "partialFingerprints": {"tritonLabFinding/v1": finding.fingerprint},
        "occurrenceCount": found.launches,
        "suppressions": known,
    }


def _locations(found: SessionFinding, root: Path) -> Iterator[Mapping[str, Any]]:
    """The place of a finding; empty for a kernel that is in no file."""
    if not found.file:
        return
    region: dict[str, Any] = {"startLine": found.line}
    if found.finding.column is not None:
        region["startColumn"] = found.finding.column + 1
    if found.finding.excerpt:
        # The excerpt has an indent of its own, which is cut off.
        region["snippet"] = {"text": found.finding.excerpt[0][4:]}
    yield {
        "physicalLocation": {"artifactLocation": _artifact(found.file, root), "region": region},
        "logicalLocations": [{"name": found.kernel, "kind": "function"}],
    }


def _artifact(file: str, root: Path) -> Mapping[str, str]:
    """A file of the repository by its path in it, any other file by its absolute path."""
    path = Path(os.path.abspath(file))
    if path.is_relative_to(root):
        return {"uri": quote(path.relative_to(root).as_posix()), "uriBaseId": ROOT}
    return {"uri": path.as_uri()}
