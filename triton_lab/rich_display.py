"""How an object with a picture shows itself as the last value of a cell, in Jupyter and in marimo."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from triton_lab.views.view import View


class RichDisplay:
    """An object that a cell shows as its ``plot()``."""

    __slots__ = ()

    def _picture(self) -> View | None:
        """The picture; None for an object that is shown in words."""
        return cast("View", cast(Any, self).plot())

    def _words(self) -> str:
        """What stands in place of a picture."""
        return repr(self)

    def _repr_mimebundle_(
        self, include: object = None, exclude: object = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """The picture, for Jupyter."""
        picture = self._picture()
        return ({"text/plain": self._words()}, {}) if picture is None else picture._repr_mimebundle_(include, exclude)

    def _display_(self) -> View | str:
        """The same for marimo, which then shows what this returns."""
        picture = self._picture()
        return self._words() if picture is None else picture
