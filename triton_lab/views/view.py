"""What all views share: a live widget, a static picture and words, from one scene.

A *scene* is a nested dict of plain values in which bulk data is bytes (see `scenes`). A notebook's output carries it
packed, a widget as it is; `figure` draws the same model with matplotlib.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from triton_lab.views.scenes import NotedSource, Picked, Scene

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from triton_lab.views.drawing.figure_pieces import FigurePiece
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

    def saved(self) -> Scene:
        """The scene that a notebook's output keeps: more than `live`, where that takes no time."""
        return self.live()

    @property
    def grows(self) -> bool:
        """Whether `saved` has more than `scene`: who looks on is shown that first, and the rest when it is made."""
        return False

    def annotations(self) -> list[NotedSource]:
        """What an editor shows beside lines of kernels while the view stands below a cell."""
        return []

    def follow(self, picked: Picked) -> Scene | None:
        """The picture that takes the place of this one once ``picked`` is; None where it stays."""
        return None

    @property
    def has_parts(self) -> bool:
        """Whether it can be asked for parts."""
        return type(self).part is not View.part

    @property
    def follows(self) -> bool:
        """Whether anything that is picked leads to another picture."""
        return type(self).follow is not View.follow

    def standalone(self) -> Scene:
        """The scene with all that can be had without a kernel behind it."""
        return self.live()

    @abstractmethod
    def figure(self) -> Figure:
        """A new matplotlib figure; the caller owns it."""

    def pieces(self) -> list[FigurePiece]:
        """The figure in pieces that stand one below the other, for a card that has others beside it."""
        raise NotImplementedError(f"{type(self).__name__} is drawn by itself alone")

    @abstractmethod
    def title(self) -> str:
        """What the picture shows, on one line."""

    @abstractmethod
    def text(self) -> str:
        """The picture in words, for terminals and screen readers."""

    def brief(self) -> str:
        """What of `text` costs little, shown until the rest is made."""
        return self.text()

    has_panel: ClassVar[bool] = False

    def panel_id(self) -> str | None:
        """The model of the widgets that stand around the picture, where it has such."""
        return None

    @cached_property
    def widget(self) -> SceneWidget:
        """The live form, made when first asked for."""
        from triton_lab.views.widget import scene_widget

        return scene_widget(self.beginning, self if self.has_parts else None)

    @cached_property
    def beginning(self) -> Scene:
        """`saved`, made once for output and widget."""
        return self.saved()

    def __repr__(self) -> str:
        return self.text()

    def _repr_mimebundle_(
        self, include: object = None, exclude: object = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """The scene, PNG and text, and a widget where one is needed: see `output`.

        What cannot be drawn says why: IPython would show an error here twice, with all that led to it in the lab.
        """
        from triton_lab.views.missing_picture import is_for_readers, reason
        from triton_lab.views.output import bundle

        try:
            return bundle(self)
        except Exception as error:
            if not is_for_readers(error):
                raise
            return {"text/plain": f"not drawn: {reason(error)}"}, {}
