"""The summary of a test session by kernel: kept by each process, and merged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from triton_lab.backend.plugin.recorders import LaunchCall, Recorder, Watch
from triton_lab.backend.source.kernel_source import python_function
from triton_lab.launch.diagnosis.finding import Finding, place_of
from triton_lab.launch.diagnosis.severity import NOTE, SEVERITIES, counted
from triton_lab.launch.launch import Launch
from triton_lab.localization import _
from triton_lab.messages import count, number


@dataclass
class KernelSummary:
    """The launches of one kernel; ``seconds`` is the interpreter's time."""

    name: str
    file: str
    line: int
    launches: int = 0
    programs: int = 0
    seconds: float = 0.0


@dataclass
class SummarizedFinding:
    """A finding over all launches: ``text`` is from the first of them, ``source`` is the line's text."""

    fingerprint: str
    kind: str
    severity: str
    kernel: str
    argument: str
    file: str
    line: int
    source: str
    text: str
    test: str
    launches: int = 0
    # The reason why it failed no test, if it did not.
    excused: str = ""


@dataclass
class SessionSummary:
    """The summary: ``kernels`` by name and place, ``found`` by fingerprint, ``unchecked`` by number of launches."""

    kernels: dict[str, KernelSummary] = field(default_factory=dict)
    found: dict[str, SummarizedFinding] = field(default_factory=dict)
    unchecked: Counter[str] = field(default_factory=Counter)

    def launched(self, name: str, file: str, line: int, programs: int, seconds: float) -> None:
        """Count a launch that has ended."""
        kernel = self.kernels.setdefault(f"{file}:{line}:{name}", KernelSummary(name, file, line))
        kernel.launches += 1
        kernel.programs += programs
        kernel.seconds += seconds

    def finding(self, launch: Launch, found: Finding, test: str, excused: str) -> None:
        """Add a finding of a launch."""
        known = self.found.get(found.fingerprint)
        if known is None:
            text = found.excerpt[0].strip() if found.excerpt else ""
            file, line = place_of(found, launch.file, launch.first_line)
            known = self.found[found.fingerprint] = SummarizedFinding(
                found.fingerprint,
                found.kind,
                found.severity,
                launch.kernel,
                found.argument or "",
                file,
                line,
                text,
                str(found),
                test,
                excused=excused,
            )
        known.launches += 1
        if not excused:
            known.excused = ""

    def merge(self, told: Mapping[str, Any]) -> None:
        """Add the results of another process, in the form of `as_data`."""
        for key, values in told["kernels"].items():
            kernel = self.kernels.setdefault(key, KernelSummary(values["name"], values["file"], values["line"]))
            for name in ("launches", "programs", "seconds"):
                setattr(kernel, name, getattr(kernel, name) + values[name])
        for key, values in told["found"].items():
            if key in self.found:
                known = self.found[key]
                known.launches += values["launches"]
                known.excused = known.excused and values["excused"]
            else:
                self.found[key] = SummarizedFinding(**values)
        self.unchecked.update(told["unchecked"])

    def as_data(self) -> dict[str, Any]:
        """All of it as numbers, text, lists and dictionaries."""
        return {
            "kernels": {key: asdict(kernel) for key, kernel in self.kernels.items()},
            "found": {key: asdict(found) for key, found in self.found.items()},
            "unchecked": dict(self.unchecked),
        }

    def by_severity(self) -> list[SummarizedFinding]:
        """The findings, the gravest first, then by kernel and line."""
        found = sorted(self.found.values(), key=lambda one: (one.kernel, one.file, one.line))
        return sorted(found, key=lambda one: SEVERITIES.index(one.severity))

    def lines(self, checked: bool, relative: Any, notes: bool) -> Iterable[str]:
        """The table and the findings for a terminal; ``relative`` shortens a path; ``notes``: list notes, too."""
        rows = [["kernel", "launches", "programs", "time", *(["findings"] if checked else [])]]
        for kernel in sorted(self.kernels.values(), key=lambda one: -one.seconds):
            rows.append(
                [
                    f"{kernel.name}  {relative(kernel.file)}:{kernel.line}",
                    number(kernel.launches),
                    number(kernel.programs),
                    f"{kernel.seconds:.2f} s",
                    *([self._counted(kernel)] if checked else []),
                ]
            )
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for row in rows:
            yield "  ".join(
                text.ljust(width) if at in (0, 4) else text.rjust(width)
                for at, (text, width) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
        if checked:
            yield from self._findings(relative, notes)

    def _counted(self, kernel: KernelSummary) -> str:
        counts = Counter(each.severity for each in self.found.values() if each.kernel == kernel.name)
        return counted(counts) or "none"

    def _findings(self, relative: Any, notes: bool) -> Iterable[str]:
        listed = [found for found in self.by_severity() if notes or found.severity != NOTE]
        for found in listed:
            what = found.text.split("\n", 1)[0].removeprefix(f"{found.severity}: ")
            excused = f" ({found.excused})" if found.excused else ""
            yield f"{found.severity}: {found.kind}{excused}: {relative(found.file)}:{found.line}: {what}"
            yield _("    {launches} of {kernel}, first in {test}").format(
                launches=count(found.launches, "launch", "launches"), kernel=found.kernel, test=found.test
            )
        if len(listed) < len(self.found):
            yield f"{count(len(self.found) - len(listed), 'note')}: -v lists them"
        for text, launches in self.unchecked.items():
            yield f"{text} ({count(launches, 'launch', 'launches')})"


class LaunchTally(Recorder):
    """Counts launches, without an autotuner's trials."""

    def __init__(self, summary: SessionSummary) -> None:
        self.summary = summary

    def before(self, call: LaunchCall) -> Watch:
        return Watch()

    def after(self, call: LaunchCall) -> None:
        if not call.trial:
            kernel = call.source.fn
            function = python_function(kernel)
            file = call.written.file or "" if function is None else function.__code__.co_filename
            x, y, z = call.grid
            self.summary.launched(call.metadata.name, file, kernel.starting_line_number, x * y * z, call.seconds)
