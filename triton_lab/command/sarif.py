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
from triton_lab.launch.diagnosis.finding import SEVERITY
from triton_lab.localization import N_, _, translated

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
ROOT = "%SRCROOT%"  # the folder of the repository, for code hosts

# The description of each kind of finding, for its rule.
RULES = {
    "out-of-bounds": N_("A lane accesses memory outside of its tensor."),
    "null-pointer": N_("A lane accesses memory through a null pointer."),
    "misaligned": N_("A lane accesses an address that is not a multiple of the element's size."),
    "race": N_("Two programs access one element, at least one of them stores to it, and their order is undefined."),
    "lane-collision": N_("Lanes of one program store different values to one element."),
    "uninitialized": N_("A lane loads an element that was never written."),
    "deadlock": N_("Every program waits for another one."),
    "assertion": N_("A device assertion fails."),
    "same-value": N_("Several programs store the same value to one element."),
    "lane-order": (
        N_(
            "Two threads of one program access one element, at least one of them stores to it, and no "
            "barrier separates them."
        )
    ),
    "overflow": N_("A number does not fit its type and wraps."),
    "non-finite": N_("A program stores NaN or infinity, although every value that it loaded was finite."),
    "lost-precision": N_("A sum is too long for its type: added values are lost in rounding."),
    "lossy-store": N_("A store converts a number to the type of the tensor, which cannot represent it."),
    "undefined": N_("A stored value depends on masked-off lanes of a load without other=."),
    "lost-result": N_("A kernel stores nothing, and returns a value that a launch does not return."),
    "precedence": N_("Python groups a comparison differently than it looks: `&` binds more tightly than `<`."),
    "outside-view": N_("A lane accesses the storage of its tensor outside of the view that was passed."),
    "alias": N_("A kernel writes through one argument to memory that it reads through another."),
    "idle-program": N_("A program accesses no memory."),
    "always-true-mask": N_("A mask is true in all lanes of all programs."),
    "standing-load": N_("A load in a loop loads the same elements in each iteration, although its mask changes."),
    "unverified": N_("A lane accesses memory that belongs to no known tensor."),
    "unwritten": N_("Elements of an output were not written: the grid is too small, or a mask too narrow."),
}


def report(heard: Heard, error: str, code: int) -> Mapping[str, Any]:
    """The log of one run. ``error`` says how the script failed, "" if it did not; ``code`` is our exit code."""
    kinds = sorted({found.finding.kind for found in heard.findings}, key=list(SEVERITY).index)
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
    return {
        "id": kind,
        "name": "".join(word.capitalize() for word in kind.split("-")),
        "shortDescription": {"text": translated(RULES[kind])},
        "fullDescription": {"text": translated(RULES[kind])},
        "help": {
            "text": _("{rule} The finding's message names the program, lane and element, and says what to do.").format(
                rule=translated(RULES[kind])
            )
        },
        # SARIF has the same words for severities.
        "defaultConfiguration": {"level": SEVERITY[kind]},
        "properties": {"tags": ["triton", "correctness"]},
    }


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
