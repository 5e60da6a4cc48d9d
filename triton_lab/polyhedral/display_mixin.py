"""What draws itself as the last value of a cell, and says in words why it does not where it cannot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from triton_lab.polyhedral.core.integer_points import more_than
from triton_lab.polyhedral.core.static_part import StaticPart

if TYPE_CHECKING:
    from triton_lab.views.view import View

MOST_DRAWN = 1 << 17  # instances of a statement that are drawn without being asked for


class Pictured:
    """Something with a `plot`."""

    def plot(self) -> View:
        """The picture: live, a PNG and words."""
        raise NotImplementedError

    def _refuse_many(self) -> None:
        """Raise ValueError where a picture that nobody asked for would take too long."""

    def _in_words(self) -> dict[str, Any]:
        """What stands in the picture's place, by MIME type."""
        return {"text/plain": repr(self)}

    def _repr_mimebundle_(
        self, include: object = None, exclude: object = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        from triton_lab.views.output import bundle

        try:
            self._refuse_many()
            return bundle(self.plot())
        except ValueError as reason:
            words = self._in_words()
            return {**words, "text/plain": f"{words['text/plain']}\nnot drawn: {reason}"}, {}


def refuse_many(scop: StaticPart) -> None:
    """Raise ValueError where a statement has more than `MOST_DRAWN` instances."""
    for statement in scop.statements:
        if more_than(statement.domain.fixed(scop.values), MOST_DRAWN):
            many = f"{statement.name} has more than {MOST_DRAWN:,} instances"
            raise ValueError(f"{many}: bind smaller values, or ask for .plot()")
