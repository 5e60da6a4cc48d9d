"""Comments beside a kernel's line that ignore findings there: ``# triton-lab: ignore[race]``, or several kinds."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from triton_lab.backend.source.kernel_source import KernelSource
from triton_lab.launch.checks.analysis.finding_text import named_file
from triton_lab.launch.checks.rule import rules
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.localization import N_, _, translated

if TYPE_CHECKING:
    from triton_lab.launch.recording.launch_record import Recorded
    from triton_lab.launch.source_lines import UserLine

_COMMENT = re.compile(r"#\s*triton-lab:\s*ignore\b(?:\[([^\]]*)\])?")
_UNUSED, _UNKNOWN = "unused-ignore", "unknown-ignore"
_MEND_UNUSED = N_("Remove the kind from the comment, or the comment. What stops a launch cannot be ignored.")


def without_ignored(launch: Recorded, findings: Sequence[Finding]) -> list[Finding]:
    """The findings that no comment ignores, and one for each comment that ignores nothing or names no kind.

    A finding that stopped the launch stays.
    """
    left: list[Finding] = []
    used: set[tuple[str, int | None, str]] = set()
    for each in findings:
        if not each.stopped and each.excerpt and each.kind in _kinds(each.excerpt[0]):
            used.add((each.file, each.line, each.kind))
        else:
            left.append(each)
    for place in _places(launch):
        for kind in _kinds(place.excerpt[0]):
            if kind not in rules():
                left.append(_unknown(launch, place, kind))
            elif (named_file(launch, place.file), place.line, kind) not in used and launch.error is None:
                left.append(_unused(launch, place, kind))
    return left


def _kinds(line: str) -> list[str]:
    """The kinds that the comment of a line names, each once; "" if it names none."""
    found = _COMMENT.search(line)
    return [] if found is None else list(dict.fromkeys(one.strip() for one in (found[1] or "").split(",")))


def _places(launch: Recorded) -> Iterator[UserLine]:
    """The lines of the kernel's operations that have such a comment, each once."""
    source = launch.compiled[0]
    texts = [launch.source]
    if source is not None:
        texts += ["".join(one.raw_src) for one in KernelSource(source.fn, launch.executable.plan).functions]
    if not any(_COMMENT.search(text) for text in texts):
        return
    places = {(place.file, place.line): place for place in launch.lines.values() if place is not None and place.excerpt}
    yield from (place for _unused, place in sorted(places.items()) if _COMMENT.search(place.excerpt[0]))


def _unused(launch: Recorded, place: UserLine, kind: str) -> Finding:
    text = _("the comment ignores {kind}, which was not found on this line").format(kind=kind)
    return _finding(launch, place, _UNUSED, text, translated(_MEND_UNUSED))


def _unknown(launch: Recorded, place: UserLine, kind: str) -> Finding:
    text = _("the comment ignores {kind}, which is no kind of finding").format(kind=kind)
    if not kind:
        text = _("the comment says to ignore findings, but not of which kind")
    hint = _("Write # triton-lab: ignore[race], with one or more of {kinds}.").format(kinds=", ".join(rules()))
    return _finding(launch, place, _UNKNOWN, text, hint)


def _finding(launch: Recorded, place: UserLine, kind: str, text: str, hint: str) -> Finding:
    line = place.excerpt[0]
    found = _COMMENT.search(line)
    assert found is not None
    return Finding(
        kind,
        text,
        hint,
        line=place.line,
        # An excerpt has an indent of its own.
        column=found.start() - 4,
        excerpt=(line, " " * found.start() + "^" * (found.end() - found.start())),
        kernel=launch.kernel,
        file=named_file(launch, place.file),
    )
