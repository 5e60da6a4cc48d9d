"""`Rule`: the declaration of one kind of finding, from which everything else about that kind follows.

Each module of `checks/rules` and its folders holds one rule and is found there by itself: severities, the order of the
checks, the merging of shards' findings, marks in pictures, SARIF's rules, the options ``--select`` and ``--ignore``,
pytest's markers and the pages of the documentation ask `rules`.
"""

from __future__ import annotations

import importlib
import pkgutil
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar

from triton_lab.launch.diagnosis.fix_policy import Repair
from triton_lab.launch.diagnosis.severity import SEVERITIES
from triton_lab.launch.recording.replay_error import CannotReplay
from triton_lab.localization import N_

if TYPE_CHECKING:
    from triton_lab.ir import Plan
    from triton_lab.launch.checks.analysis.evidence import Evidence
    from triton_lab.launch.checks.analysis.launch_summary import LaunchSummary
    from triton_lab.launch.diagnosis.finding import Finding
    from triton_lab.launch.recording.launch_record import Recorded
    from triton_lab.launch.recording.watcher import Watcher

# The package whose modules are rules; each is loaded with the first question for `rules`.
PACKAGE = "triton_lab.launch.checks.rules"


class Merge(Enum):
    """How findings of a launch's parts become findings of the launch: `record(parts=4)` runs and checks parts."""

    ANY = "any"
    """What one part finds holds for the launch. Counts are added."""
    ALL = "all"
    """A finding holds only if each part that ran its operation found it."""
    WHOLE = "whole"
    """No part can tell: the rule is a `WholeRule`, and checks what all parts know together."""


class Concerned(Enum):
    """Which programs a finding is about, in words for its page."""

    ONE = N_("one program, whatever the others do")
    SEVERAL = N_("two programs or more, and the order in which they run")
    ALL = N_("all programs of the launch together")


class Rule(ABC):
    """One kind of finding. A subclass with a ``kind`` registers itself; its texts are marked with `N_`.

    ``severity``: a warning must be right on every kernel of the examples; what may be intended is a note.
    ``subject`` is what was not checked if the check fails, as a phrase for a list: "races". ``summary`` says in one
    sentence what the finding means. ``why`` says why it matters on a GPU, ``remedy`` what to do, ``intended`` when it
    is right to ignore it, and ``blind`` what the check does not see: Markdown, of which plain text stays readable.
    ``every_launch``: what is found says something about a kernel only if it is found in each of its launches.
    ``explains``: it may explain a wrong result, so a note of this kind comes before others, and above the pictures.
    ``causes`` are kinds of faults that it explains, at the same argument in the same programs: they then say it first.
    ``superseded_by`` are kinds of findings beside which a finding of this one is left out, since they say its cause.
    ``mark`` is the words for the elements that a finding marks in pictures; "" marks none.
    ``by_luck``: a result beside such a finding is right only by luck, on one machine; of an error that is understood.
    ``unsteady`` is why two runs of a kernel with such a finding may differ, a phrase for a cause; "" if they do not.
    ``repair`` is the edit of the source that is tried as a fix. ``unrepaired``: a new finding of this kind, though a
    note, shows that a tried edit is no fix. ``told_by_fill``: it is left out where a fix by `Repair.FILL` says it.
    """

    kind: ClassVar[str] = ""
    severity: ClassVar[str]
    subject: ClassVar[str]
    summary: ClassVar[str]
    why: ClassVar[str]
    remedy: ClassVar[str]
    intended: ClassVar[str]
    blind: ClassVar[str]
    concerned: ClassVar[Concerned]
    merge: ClassVar[Merge] = Merge.ANY
    every_launch: ClassVar[bool] = False
    explains: ClassVar[bool] = True
    causes: ClassVar[tuple[str, ...]] = ()
    superseded_by: ClassVar[tuple[str, ...]] = ()
    mark: ClassVar[str] = ""
    by_luck: ClassVar[bool] = False
    unsteady: ClassVar[str] = ""
    repair: ClassVar[Repair] = Repair.NONE
    unrepaired: ClassVar[bool] = False
    told_by_fill: ClassVar[bool] = False

    def __init_subclass__(cls) -> None:
        if not cls.kind:  # a form of rules, not a rule
            return
        if cls.kind in _registered:
            raise TypeError(f"two rules: {cls.kind!r}")
        if cls.severity not in SEVERITIES:
            raise TypeError(f"{cls.kind!r} is {cls.severity!r}")
        _registered[cls.kind] = cls()

    def check(self, evidence: Evidence, found: Sequence[Finding]) -> Iterator[Finding]:
        """The findings of a recorded launch. Raises CannotReplay if it cannot be checked.

        ``found`` are the findings so far: graver rules are checked first.
        """
        return iter(())

    def watchers(self, evidence: Evidence) -> Mapping[str, Watcher | None]:
        """What watches a launch that is too large for a replay while it runs, by names for `Recorded.watched`."""
        return {}

    def completed(self, launch: Recorded, finding: Finding) -> Finding:
        """The finding, once the values of its lanes are known."""
        return finding

    def noun(self, finding: Finding) -> str:
        """What the count of a finding counts: "lane" or "program"."""
        return "lane" if len(finding.lanes) else "program"

    def joined(self, plan: Plan, findings: Sequence[Finding]) -> Sequence[Finding]:
        """The findings of this kind, with those in one that a reader takes for one."""
        return findings

    def programs_mark(self, count: int) -> str:
        """The words for ``count`` programs that a finding about no argument marks in pictures; "" marks none."""
        return ""


class WholeRule(Rule):
    """A rule about the whole launch, of which its parts know nothing by themselves."""

    merge = Merge.WHOLE

    @abstractmethod
    def check(self, evidence: LaunchSummary, found: Sequence[Finding]) -> Iterator[Finding]:
        """The findings of a launch, recorded or run in parts. Raises CannotReplay if it cannot be checked."""


_registered: dict[str, Rule] = {}


@cache
def rules() -> Mapping[str, Rule]:
    """All rules by kind, the gravest first, then by name."""
    package = importlib.import_module(PACKAGE)
    for module in pkgutil.walk_packages(package.__path__, f"{PACKAGE}."):
        importlib.import_module(module.name)
    ordered = sorted(_registered.values(), key=lambda rule: (SEVERITIES.index(rule.severity), rule.kind))
    return MappingProxyType({rule.kind: rule for rule in ordered})


def in_turn(*checks: Iterator[Finding]) -> Iterator[Finding]:
    """The findings of several checks of one rule. If one cannot be done, the others still are.

    Raises CannotReplay at the end if one could not be done.
    """
    impossible = None
    for check in checks:
        try:
            yield from check
        except CannotReplay as reason:
            impossible = impossible or reason
    if impossible is not None:
        raise impossible
