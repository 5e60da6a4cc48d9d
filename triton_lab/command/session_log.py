"""A script's launches as known afterwards: a line of each, every finding once, and the cards of a few.

They are put together from the journals of the script's processes, which are untrusted data.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from triton_lab import messages
from triton_lab.command.launch_journal import Entry, JournalReading
from triton_lab.launch.checks.kind_filter import KindFilter
from triton_lab.launch.checks.rule import rules
from triton_lab.launch.diagnosis.finding import Edit, Finding, place_of
from triton_lab.launch.diagnosis.severity import ERROR, gravest
from triton_lab.localization import _


@dataclass(frozen=True)
class LaunchLine:
    """A launch in a list; ``number`` counts from 0, in the order in which launches ended.

    ``severities`` counts its findings. ``drawn``: it has a card.
    """

    number: int
    kernel: str
    grid: tuple[int, int, int]
    target: str
    seconds: float
    failed: bool
    severities: Mapping[str, int]
    drawn: bool

    @property
    def worst(self) -> str | None:
        """The severity of the gravest finding; a launch that failed is an error, whatever was found."""
        return ERROR if self.failed else gravest(self.severities)


@dataclass(frozen=True)
class FindingText:
    """A `Finding` in words, as it is sent between processes; lines and columns are those of `Finding`."""

    kind: str
    message: str
    hint: str
    fingerprint: str
    file: str
    line: int
    column: int | None
    argument: str | None
    count: int
    excerpt: tuple[str, ...]
    values_text: str
    orders: tuple[str, ...]
    fix_lines: tuple[str, ...]
    edits: tuple[Edit, ...]

    @property
    def severity(self) -> str:
        """``error``, ``warning`` or ``note``."""
        return rules()[self.kind].severity

    @classmethod
    def of(cls, finding: Finding, file: str, first: int) -> FindingText:
        """The text of a finding in a kernel that begins at ``file:first``."""
        file, line = place_of(finding, file, first)
        return cls(
            finding.kind,
            finding.message,
            finding.hint,
            finding.fingerprint,
            file,
            line,
            finding.column,
            finding.argument,
            finding.count,
            finding.excerpt,
            finding.values_text if finding.values.size else "",
            finding.orders,
            tuple(finding.fix_lines),
            () if finding.fix is None else finding.fix.edits,
        )

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> FindingText:
        """The finding from ``data``, made by `dataclasses.asdict` and JSON."""
        several = {name: tuple(data[name]) for name in ("excerpt", "orders", "fix_lines")}
        return cls(**{**data, **several, "edits": tuple(Edit(**edit) for edit in data["edits"])})


@dataclass
class SessionFinding:
    """A finding at one place, with its first launch ``first`` and the number of its ``launches``.

    ``file`` and ``line`` are its place; for a finding without a line, the beginning of the kernel. ``known``: it is in
    a list of known findings, and does not count.
    """

    finding: FindingText
    file: str
    line: int
    first: int
    kernel: str
    grid: tuple[int, int, int]
    launches: int = 0
    known: bool = False


@dataclass(frozen=True)
class CardText:
    """A launch's card: its title, and its packed scene."""

    title: str
    packed: str


@dataclass
class Heard:
    """Everything known of the launches.

    ``unchecked``: what was not checked, and in how many launches. ``unseen``: launches that were not recorded.
    ``unjudged``: launches of the script's own process that began, and were not checked.
    """

    lines: list[LaunchLine] = field(default_factory=list)
    found: dict[tuple[str, str, int, int], SessionFinding] = field(default_factory=dict)
    cards: dict[int, CardText] = field(default_factory=dict)
    unchecked: Counter[str] = field(default_factory=Counter)
    unseen: list[str] = field(default_factory=list)
    unjudged: list[str] = field(default_factory=list)

    def leave(self, kinds: KindFilter) -> None:
        """Leave the findings of the kinds that ``kinds`` takes."""
        self.found = {key: one for key, one in self.found.items() if kinds.takes(one.finding.kind)}

    def count(self, severity: str) -> int:
        """The number of different findings of that severity that are not known."""
        return sum(one.finding.severity == severity and not one.known for one in self.findings)

    @property
    def findings(self) -> list[SessionFinding]:
        """The findings by file and line, without those that other launches of the kernel do not have and should."""
        kernels = Counter(line.kernel for line in self.lines)
        told = [
            one
            for one in self.found.values()
            if not rules()[one.finding.kind].every_launch or one.launches == kernels[one.kernel]
        ]
        return sorted(told, key=lambda one: (one.file, one.line, one.finding.column or 0))


def heard_of(told: Iterable[JournalReading]) -> Heard:
    """The journals of a script's processes, put together in the order in which launches ended."""
    heard = Heard()
    ended: list[tuple[float, Entry, dict[str, FindingText], dict[int, CardText]]] = []
    for one in told:
        begun: dict[int, str] = {}
        findings: dict[str, FindingText] = {}
        cards: dict[int, CardText] = {}
        for entry in one.entries:
            data = entry.data
            match entry.kind:
                case "launch":
                    begun[data["launch"]] = messages.launched(data["kernel"], tuple(data["grid"]))
                case "finding":
                    findings[data["name"]] = FindingText.read(data["finding"])
                case "judged":
                    begun.pop(data["launch"], None)
                    ended.append((entry.time, entry, findings, cards))
                case "passed":  # an autotuner's trial, or a launch that failed before it began
                    begun.pop(data["launch"], None)
                case "card":
                    cards[data["launch"]] = CardText(data["title"], data["packed"])
                case "unseen":
                    heard.unseen.append(data["what"])
        for launched in begun.values():
            where = "" if one.how == "script" else _(" in process {number}").format(number=one.process)
            why = _("the launch {launched}{where} began, but its process ended before the launch was checked").format(
                launched=launched, where=where
            )
            (heard.unjudged if one.how == "script" else heard.unseen).append(why)
        if one.broken and one.how != "script":
            heard.unseen.append(_("the record of process {process}'s launches is damaged").format(process=one.process))
    for _unused, entry, findings, cards in sorted(ended, key=lambda one: one[0]):
        _add(heard, entry.data, findings, cards)
    return heard


def _add(
    heard: Heard, data: Mapping[str, Any], findings: Mapping[str, FindingText], cards: Mapping[int, CardText]
) -> None:
    """Add a launch that was checked."""
    number, kernel, grid = len(heard.lines), str(data["kernel"]), _grid(data["grid"])
    card = cards.get(data["launch"])
    if card is not None:
        heard.cards[number] = card
    heard.unchecked.update(data["unchecked"])
    severities: Counter[str] = Counter()
    seen = set()
    for name in data["findings"]:
        text = findings.get(name)
        if text is None:  # its entry is missing, which is reported
            continue
        severities[text.severity] += 1
        key = (text.fingerprint, text.file, text.line, text.column or 0)
        known = heard.found.setdefault(key, SessionFinding(text, text.file, text.line, number, kernel, grid))
        known.launches += key not in seen
        seen.add(key)
    heard.lines.append(
        LaunchLine(number, kernel, grid, data["target"], data["seconds"], data["failed"], severities, card is not None)
    )


def _grid(extents: Sequence[int]) -> tuple[int, int, int]:
    x, y, z = extents
    return x, y, z
