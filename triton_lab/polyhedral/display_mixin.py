"""Draws objects as the last value of a cell; where a picture is not possible, words say why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from triton_lab.localization import _
from triton_lab.polyhedral.core.integer_points import more_than
from triton_lab.polyhedral.core.static_part import StaticPart

if TYPE_CHECKING:
    from triton_lab.views.view import View

MOST_DRAWN = 1 << 17  # instances of a statement that are drawn without a call of `plot`


class Pictured:
    """An object with a `plot`, which draws itself as the last value of a cell."""

    def plot(self) -> View:
        """The picture: live, a PNG and words."""
        raise NotImplementedError

    def _refuse_many(self) -> None:
        """Raise ValueError if an automatic picture would take too long."""

    def _in_words(self) -> dict[str, Any]:
        """The output without a picture, by MIME type."""
        return {"text/plain": repr(self)}

    def _repr_mimebundle_(
        self, include: object = None, exclude: object = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        try:
            self._refuse_many()
            return self.plot().bundle()
        except ValueError as reason:
            words = self._in_words()
            return {
                **words,
                "text/plain": _("{text}\nnot drawn: {reason}").format(text=words["text/plain"], reason=reason),
            }, {}

    def _display_(self) -> View | str:
        """The same for marimo, which then shows what this returns."""
        try:
            self._refuse_many()
            return self.plot()
        except ValueError as reason:
            return _("{text}\nnot drawn: {reason}").format(text=self._in_words()["text/plain"], reason=reason)


def refuse_many(scop: StaticPart) -> None:
    """Raise ValueError where a statement has more than `MOST_DRAWN` instances."""
    for statement in scop.statements:
        if more_than(statement.domain.fixed(scop.values), MOST_DRAWN):
            many = _("{name} has more than {most_drawn} instances").format(
                name=statement.name, most_drawn=f"{MOST_DRAWN:,}"
            )
            raise ValueError(_("{many}: bind smaller values, or ask for .plot()").format(many=many))
