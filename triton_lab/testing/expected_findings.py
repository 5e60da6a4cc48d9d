"""The findings that a test expects: the marker ``triton_findings``."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from triton_lab.launch.checks.kind_filter import known_kind
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.localization import _
from triton_lab.messages import count
from triton_lab.testing.plugin_options import MARKER

_REMEDY = (
    f'If this is intended: @pytest.mark.{MARKER}("{{kind}}") on the test, or a line of the baseline '
    "(--triton-lab-baseline FILE --triton-lab-update-baseline)."
)


@dataclass(frozen=True)
class Wish:
    """One marker: ``kinds`` must be found, ``allow`` may, ``forbid`` must not; of one kernel or argument, or of any."""

    kinds: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()
    forbid: tuple[str, ...] = ()
    kernel: str | None = None
    argument: str | None = None

    def about(self, found: Finding, kernel: str) -> bool:
        """Whether the marker covers this finding, apart from its kind."""
        return self.kernel in (None, kernel) and self.argument in (None, found.argument)

    def told(self, kind: str) -> str:
        """The expectation in words: ``race of x_ptr in add_kernel``."""
        return kind + (f" of {self.argument}" if self.argument else "") + (f" in {self.kernel}" if self.kernel else "")


def wishes(item: pytest.Item) -> list[Wish]:
    """The markers of a test, the nearest first. Raises UsageError, which lists the existing kinds."""
    return [_wish(marker) for marker in item.iter_markers(MARKER)]


def _wish(marker: pytest.Mark) -> Wish:
    named = dict(marker.kwargs)
    wish = Wish(
        _kinds(marker.args),
        _kinds(named.pop("allow", ())),
        _kinds(named.pop("forbid", ())),
        named.pop("kernel", None),
        named.pop("argument", None),
    )
    if named:
        raise pytest.UsageError(
            _("@pytest.mark.{MARKER} has no {next}: it takes allow, forbid, kernel and argument").format(
                MARKER=MARKER, next=repr(next(iter(named)))
            )
        )
    return wish


def _kinds(given: Any) -> tuple[str, ...]:
    kinds = (given,) if isinstance(given, str) else tuple(given)
    for kind in kinds:
        try:
            known_kind(kind)
        except LookupError as error:
            raise pytest.UsageError(f"@pytest.mark.{MARKER}: {error}") from None
    return kinds


def missing(wishes: Iterable[Wish], found: Sequence[tuple[str, Finding]]) -> list[str]:
    """The expected findings that are not in ``found``, a list of kernels' names with findings."""
    return [
        wish.told(kind)
        for wish in wishes
        for kind in wish.kinds
        if not any(each.kind == kind and wish.about(each, kernel) for kernel, each in found)
    ]


def fails(found: Finding, kernel: str, wishes: Iterable[Wish], severities: Collection[str]) -> bool:
    """Whether a finding fails its test: one of ``severities`` does, unless a marker says otherwise."""
    about = [wish for wish in wishes if wish.about(found, kernel)]
    if any(found.kind in wish.forbid for wish in about):
        return True
    if any(found.kind in (*wish.kinds, *wish.allow) for wish in about):
        return False
    return found.severity in severities


def failure(failing: Sequence[tuple[str, Finding]], unmet: Sequence[str]) -> str:
    """The message of a test that fails for findings with their places, and for expected ones that are missing."""
    parts: dict[str, list[str]] = {}
    for place, found in failing:
        parts.setdefault(found.fingerprint, []).append(f"{place}: {found}")
    blocks = [
        told[0] + (f"\n  and in {count(len(told) - 1, 'more launch', 'more launches')}" if told[1:] else "")
        for told in parts.values()
    ]
    if failing:
        blocks.append(_REMEDY.format(kind=failing[0][1].kind))
    if unmet:
        blocks.append(_("expected, but not found: {unmet}").format(unmet=", ".join(unmet)))
    return "\n\n".join(blocks)
