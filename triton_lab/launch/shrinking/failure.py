"""`Failure`: why a launch fails, and whether another launch of its kernel fails for the same reason."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from triton_lab.interpreter.kernel_errors import KernelError, from_signal
from triton_lab.launch.checks.check_run import check, finished
from triton_lab.launch.comparison.argument_difference import DIFFERENT
from triton_lab.launch.comparison.compare import compare
from triton_lab.launch.comparison.launch_results import before
from triton_lab.launch.diagnosis.severity import NOTE
from triton_lab.launch.recording.replay_error import CannotReplay
from triton_lab.localization import _

if TYPE_CHECKING:
    from triton_lab.launch.launch import Launch

# Seconds for the bounds on rounding of one comparison.
_ROUNDING = 2.0


@dataclass(frozen=True)
class FailureReason:
    """A ``kind`` of finding, or the name of an error's class, at an ``argument`` and a ``line`` with this ``text``."""

    kind: str
    text: str
    argument: str | None
    line: int | None = None

    def is_also(self, other: FailureReason) -> bool:
        """Whether the ``other`` is the same in a copy of the kernel, where lines have other numbers."""
        return (self.kind, self.text, self.argument) == (other.kind, other.text, other.argument)


@dataclass(frozen=True)
class Failure:
    """The ``reason`` why a launch fails, in words: ``message``. ``others``: all that is wrong with it. ``is_note``:
    the reason is a finding that is only noteworthy. ``unwritten``: what differs from the expected result is what the
    launch did not write.

    ``differs`` and ``fails`` are the caller's: an expected result, or a question whether a launch fails.
    """

    reason: FailureReason
    message: str
    others: frozenset[FailureReason] = frozenset()
    is_note: bool = False
    unwritten: bool = False
    differs: Callable[..., Any] | None = field(default=None, repr=False)
    fails: Callable[[Launch], bool] | None = field(default=None, repr=False)

    @classmethod
    def of(
        cls,
        launch: Launch,
        expected: Callable[..., Any] | None,
        fails: Callable[[Launch], bool] | None,
        kind: str | None,
    ) -> Failure:
        """The failure of a launch that has run. Raises ValueError if it does not fail."""
        found = reasons(launch)
        if fails is not None:
            if not fails(launch):
                raise ValueError(_("fails(launch) is not true of this launch, so there is nothing to shrink"))
            told = _("{name}(launch) is true").format(name=getattr(fails, "__name__", "fails"))
            return cls(FailureReason("predicate", "", None), told, fails=fails)
        if expected is not None:
            for unwritten in (False, True):
                for name, told in _differing(launch, expected, unwritten).items():
                    reason = FailureReason(DIFFERENT, "", name)
                    return cls(reason, told, frozenset(found), unwritten=unwritten, differs=expected)
            raise ValueError(_("the launch gives what is expected, so there is nothing to shrink"))
        for reason, message in (found if kind is None else reasons(launch, notes=True)).items():
            if kind is None or reason.kind == kind:
                return cls(reason, message, frozenset(found), is_note=reason not in found)
        if kind is not None and found:
            raise ValueError(
                _("the launch has no {kind}; it has {kinds}").format(
                    kind=kind, kinds=", ".join(dict.fromkeys(one.kind for one in found))
                )
            )
        raise ValueError(
            _(
                "the launch has no error and no warning, so there is nothing to shrink; if its numbers are wrong, "
                "pass what is expected: lab.shrink(launch, lambda x_ptr, **_: ...)"
            )
        )

    def holds(self, launch: Launch) -> bool:
        """Whether ``launch`` fails for this reason, and for none that the first launch does not have.

        A function of the caller's that fails on other sizes says no.
        """
        if self.fails is None:
            found = reasons(launch)
            if not found.keys() <= self.others:
                return False
            if self.differs is None:
                return self.reason in (reasons(launch, notes=True) if self.is_note else found)
        try:
            if self.fails is not None:
                return bool(self.fails(launch))
            return self.differs is not None and self.reason.argument in _differing(launch, self.differs, self.unwritten)
        except Exception as error:
            if from_signal(error):
                raise
            return False

    def message_of(self, launch: Launch) -> str:
        """What goes wrong in another launch that fails for this reason, in words."""
        if self.differs is not None:
            return _differing(launch, self.differs, self.unwritten).get(self.reason.argument or "", self.message)
        return reasons(launch, notes=self.is_note).get(self.reason, self.message)


def reasons(launch: Launch, notes: bool = False) -> Mapping[FailureReason, str]:
    """What is wrong with a launch, the gravest first: errors and warnings, and an error that is no finding.

    With ``notes``, what is only noteworthy, too.
    """
    found = [one for one in finished(launch, check(launch).findings) if notes or one.severity != NOTE]
    result = {FailureReason(one.kind, _text(one.excerpt), one.argument, one.line): one.message for one in found}
    error = launch.error
    if error is not None and not any(one.stopped for one in found):
        op = error.op if isinstance(error, KernelError) else None
        line = None if op is None else launch.lines.get(op.index)
        first = str(error).strip().split("\n", 1)[0]
        reason = FailureReason(
            type(error).__name__, "" if line is None else _text(line.excerpt), None, None if line is None else line.line
        )
        result = {reason: first, **result}
    return result


def _text(excerpt: tuple[str, ...]) -> str:
    return " ".join(excerpt[0].split()) if excerpt else ""


def _differing(launch: Launch, expected: Callable[..., Any], unwritten: bool) -> Mapping[str, str]:
    """The arguments that differ from what is expected by more than rounding, each in a sentence.

    Elements that still hold what they held before the launch count only if ``unwritten`` ones are asked for.
    """
    if launch.error is not None:
        return {}
    try:
        compared = compare(launch, expected, seconds=_ROUNDING)
        held = before(launch)
    except CannotReplay:
        return {}
    found = {}
    for one in compared.arguments:
        if one.verdict == DIFFERENT:
            wrong = ~np.asarray(one.explained) & ~np.asarray(one.unknown)
            if (wrong & ((one.a == held[one.name]) == unwritten)).any():
                found[one.name] = one.told()
    return found
