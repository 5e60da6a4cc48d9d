"""The baseline: a file with known findings, kept with the code."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from triton_lab.localization import _
from triton_lab.messages import count
from triton_lab.testing.kernel_summary import SessionSummary, SummarizedFinding

_VERSION = 1
_TOLD = ("fingerprint", "kind", "severity", "kernel", "argument", "line")


class BaselineError(ValueError):
    """The file is no baseline."""


@dataclass(frozen=True)
class KnownFinding:
    """A finding of the file: the fields that identify it, and those for a reader."""

    fingerprint: str
    kind: str = ""
    severity: str = ""
    kernel: str = ""
    argument: str = ""
    line: str = ""


def load(path: Path) -> dict[str, KnownFinding]:
    """The known findings by fingerprint; none if there is no file yet. Raises BaselineError."""
    if not path.exists():
        return {}
    try:
        held = json.loads(path.read_text(encoding="utf-8"))
        if held["version"] != _VERSION:
            raise BaselineError(
                _("{path} has version {version}, but this triton-lab reads version {version2}").format(
                    path=path, version=held["version"], version2=_VERSION
                )
            )
        # A file from `triton-lab check` has line numbers, and null for a missing argument.
        found = [KnownFinding(**{name: str(each.get(name) or "") for name in _TOLD}) for each in held["findings"]]
    except BaselineError:
        raise
    except OSError as error:
        raise BaselineError(
            _("{path} cannot be read: {strerror}").format(path=path, strerror=error.strerror or error)
        ) from None
    except (LookupError, TypeError, AttributeError, ValueError) as error:
        lacks = _("it is not JSON") if isinstance(error, ValueError) else _("it has no list of findings")
        raise BaselineError(
            _("{path} is not a baseline of triton-lab: {lacks}. Delete it and write it again").format(
                path=path, lacks=lacks
            )
        ) from None
    return {each.fingerprint: each for each in found}


def update(
    path: Path, before: Mapping[str, KnownFinding], summary: SessionSummary, found: Sequence[SummarizedFinding]
) -> tuple[int, int]:
    """Write ``found``, and known findings of kernels that were not launched; returns how many came and went."""
    launched = {kernel.name for kernel in summary.kernels.values()}
    kept = {each.fingerprint: each for each in before.values() if each.kernel not in launched}
    for each in found:
        kept[each.fingerprint] = KnownFinding(
            each.fingerprint, each.kind, each.severity, each.kernel, each.argument, each.source
        )
    ordered = sorted(kept.values(), key=lambda one: (one.kernel, one.kind, one.argument, one.line, one.fingerprint))
    listed = [{name: getattr(each, name) for name in _TOLD} for each in ordered]
    path.write_text(json.dumps({"version": _VERSION, "findings": listed}, indent=1) + "\n", encoding="utf-8")
    return len(kept.keys() - before.keys()), len(before.keys() - kept.keys())


def gone(known: Mapping[str, KnownFinding], summary: SessionSummary) -> list[KnownFinding]:
    """The known findings of launched kernels that were not found again: fixed, or no longer reached by a test."""
    launched = {kernel.name for kernel in summary.kernels.values()}
    return [each for each in known.values() if each.kernel in launched and each.fingerprint not in summary.found]


def lines(path: Path, name: str, known: Mapping[str, KnownFinding], summary: SessionSummary) -> Iterator[str]:
    """What to tell of a baseline that is not updated: that there is none, or that it names what did not occur."""
    if not path.exists():
        yield _("there is no baseline {name}: --triton-lab-update-baseline writes it").format(name=name)
    if left := gone(known, summary):
        yield _("baseline {name}: {what} did not occur: --triton-lab-update-baseline removes fixed findings").format(
            name=name, what=count(len(left), "known finding")
        )
