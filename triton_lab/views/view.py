"""What all views share: a live widget, a static picture and words, from one scene.

A *scene* is a nested dict of plain values in which bulk data is bytes (see `scenes`). The widget sends it to the
browser as it is; `figure` draws the same model with matplotlib.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING, Any

from triton_lab.views.scenes import Scene

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from triton_lab.views.drawing.pieces import Piece
    from triton_lab.views.widget import SceneWidget


class View(ABC):
    """A picture of a model. Shown in a notebook it is live; a static page keeps its PNG."""

    @abstractmethod
    def scene(self) -> Scene:
        """The picture as data for the browser; ``"kind"`` names what draws it."""

    def part(self, name: str) -> Scene:
        """A scene that the widget fetches when it needs it."""
        raise LookupError(f"{self.title()} has no part {name!r}")

    def live(self) -> Scene:
        """The scene that a widget begins with."""
        return self.scene()

    def standalone(self) -> Scene:
        """The scene with all that can be had without a kernel behind it."""
        return self.live()

    @abstractmethod
    def figure(self) -> Figure:
        """A new matplotlib figure; the caller owns it."""

    def pieces(self) -> list[Piece]:
        """The figure in pieces that stand one below the other, for a card that has others beside it."""
        raise NotImplementedError(f"{type(self).__name__} is drawn by itself alone")

    @abstractmethod
    def title(self) -> str:
        """What the picture shows, on one line."""

    @abstractmethod
    def text(self) -> str:
        """The picture in words, for terminals and screen readers."""

    @cached_property
    def widget(self) -> SceneWidget:
        """The live form, made when first asked for."""
        from triton_lab.views.widget import scene_widget

        has_parts = type(self).part is not View.part
        return scene_widget(self.live(), self.part if has_parts else None)

    def __repr__(self) -> str:
        return self.text()

    def _repr_mimebundle_(
        self, include: object = None, exclude: object = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Live, PNG and text; the metadata give the PNG's size in CSS pixels."""
        from triton_lab.views.drawing.png import png

        figure = self.figure()
        width, height = (round(inches * 96) for inches in figure.get_size_inches())
        data = {
            "application/vnd.jupyter.widget-view+json": {
                "version_major": 2,
                "version_minor": 0,
                "model_id": self.widget.model_id,
            },
            "image/png": png(figure),
            "text/plain": self.text(),
        }
        return data, {"image/png": {"width": width, "height": height}}
