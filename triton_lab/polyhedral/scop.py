"""The static control part (scop): statements with their domains and accesses, in an order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from triton_lab.localization import _, translated
from triton_lab.polyhedral.core.access_function import KINDS
from triton_lab.polyhedral.display_mixin import Pictured, refuse_many
from triton_lab.polyhedral.instances import Instances
from triton_lab.polyhedral.schedule import Schedule

if TYPE_CHECKING:
    from triton_lab.views.polyhedral.iteration_view import IterationView


class Scop(Instances, Pictured):
    """A static control part. A cell draws it as its last value, if its parameters have values.

    ``parameters`` are the names that the nest reads but never changes, and that bounds or subscripts use; ``values``
    holds numbers for (some of) them, for counting and drawing. Dependences and legality are symbolic: they hold for
    all values.
    """

    @cached_property
    def schedule(self) -> Schedule:
        """The order of the source."""
        return Schedule(self, self.tree)

    def plot(
        self,
        dims: Sequence[str] | None = None,
        at: Mapping[str, int] | None = None,
        *,
        dependences: str | None = None,
        order: bool = False,
        instance: Sequence[int] | None = None,
        title: str | None = None,
        time: bool | None = None,
    ) -> IterationView:
        """The instances as points in the order of the source: `Schedule.plot`.

        >>> from triton_lab.polyhedral import scop
        >>> from triton_lab.polyhedral.related_work import page_nests as examples
        >>> scop(examples.WAVEFRONT, n=6).plot(dependences="value").title()
        '25 instances at n = 6'
        """
        return self.schedule.plot(
            dims, at, dependences=dependences, order=order, instance=instance, title=title, time=time
        )

    def _refuse_many(self) -> None:
        refuse_many(self)

    def _in_words(self) -> dict[str, Any]:
        return {"text/plain": str(self), "text/latex": self.latex}

    @property
    def latex(self) -> str:
        """The domain, accesses and schedule of each statement as formulas, between dollar signs."""
        lines: list[str] = []
        for statement in self.statements:
            lines.append(rf"\mathtt{{{statement.name}}}:\quad {statement.domain.latex}")
            lines += [rf"\qquad {access.latex}" for access in statement.accesses]
            lines.append(rf"\qquad {self.schedule.latex(statement.name)}")
        body = " \\\\\n".join(f"&{line}" for line in lines)
        return f"$$\\begin{{aligned}}\n{body}\n\\end{{aligned}}$$"

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        names = ", ".join(self.parameters)
        parameters = _("parameters {names}\n").format(names=names) if names else ""
        parts = []
        for statement in self.statements:
            lines = [f"{statement.name}: {statement.text}", f"  {_('domain'):<9} {statement.domain.set}"]
            lines += [
                f"  {translated(KINDS[a.kind]):<9} {a.text}{_(', where data allows') if a.may else ''}"
                for a in statement.accesses
            ]
            lines.append(f"  {_('schedule'):<9} {self.schedule.time_text(statement.name)}")
            parts.append("\n".join(lines))
        return parameters + "\n".join(parts)
