"""The result of comparing a launch's model with its record."""

from __future__ import annotations

from dataclasses import dataclass

from triton_lab.localization import _
from triton_lab.messages import all_of, number
from triton_lab.messages import count as counted


@dataclass(frozen=True)
class Check:
    """One access, compared lane by lane: how many executions by programs, out of how many, and what differed.

    ``within``: mask or execution are not affine, so the record had only to be a subset of the model.
    """

    statement: str
    line: int | None
    compared: int
    total: int
    within: bool
    difference: str = ""

    def __str__(self) -> str:
        scope = all_of(self.total, "execution")
        if self.compared != self.total:
            scope = _("{compared} of {executions}, at random,").format(
                compared=number(self.compared), executions=counted(self.total, "execution")
            )
        verdict = self.difference or ("within the model" if self.within else "equal")
        return _("{statement}, line {line}: {scope} {verdict}").format(
            statement=self.statement, line=self.line, scope=scope, verdict=verdict
        )


@dataclass(frozen=True)
class Verification:
    """The comparison of all accesses; ``unchecked`` says what could not be compared, and why."""

    checks: tuple[Check, ...]
    unchecked: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether nothing differed."""
        return not any(check.difference for check in self.checks)

    @property
    def complete(self) -> bool:
        """Whether every execution of every access of the model was compared."""
        return self.holds and not self.unchecked and all(c.compared == c.total for c in self.checks)

    def __str__(self) -> str:
        if not self.holds:
            return _("differs from the record: ") + "; ".join(str(c) for c in self.checks if c.difference)
        if self.complete:
            within = any(check.within for check in self.checks)
            form = (
                _("addresses equal the recorded ones (masks that are not affine: within)")
                if within
                else _("addresses and masks equal the recorded ones")
            )
            accesses = counted(len(self.checks), "access", "accesses")
            executions = all_of(sum(c.total for c in self.checks), "execution")
            return _("all {form}, in {executions} of {accesses}").format(
                form=form, executions=executions, accesses=accesses
            )
        return "; ".join([*(str(c) for c in self.checks), *self.unchecked])
