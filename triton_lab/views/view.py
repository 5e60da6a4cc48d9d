"""The base of all views: a live widget, a static picture and words, all from one scene.

A *scene* is a nested dict of plain values in which bulk data is bytes (see `scenes`). A notebook's output holds it
packed, a widget as it is; `drawing` is the same model for a static page, which `figure` draws with matplotlib.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from triton_lab.localization import _
from triton_lab.views.scenes import NotedSource, Picked, Scene

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from triton_lab.views.drawing.drawing import Drawing
    from triton_lab.views.widget import SceneWidget


class View(ABC):
    """A picture of a model. It is live in a running notebook; a static page keeps its PNG."""

    @abstractmethod
    def scene(self) -> Scene:
        """The picture as data for the browser; ``"kind"`` says which module draws it."""

    def part(self, name: str) -> Scene:
        """A scene that the widget fetches when needed."""
        raise LookupError(_("{title} has no part {name}").format(title=self.title(), name=repr(name)))

    def live(self) -> Scene:
        """The scene that a widget begins with."""
        return self.scene()

    def saved(self) -> Scene:
        """The scene that a notebook's output keeps: more than `live`, if that takes no time."""
        return self.live()

    @property
    def saves_more(self) -> bool:
        """Whether `saved` may be another scene than `live`, which is then kept where `saved` is too large."""
        return type(self).saved is not View.saved

    @property
    def grows(self) -> bool:
        """Whether `saved` has more than `scene`: then `scene` is shown first, and the rest once it is made."""
        return False

    def annotations(self) -> list[NotedSource]:
        """The notes that an editor shows beside lines of kernels while the view stands below a cell."""
        return []

    def follow(self, picked: Picked) -> Scene | None:
        """The picture that replaces this one after ``picked`` was picked; None if this one stays."""
        return None

    @property
    def has_parts(self) -> bool:
        """Whether the view has parts to request."""
        return type(self).part is not View.part

    @property
    def follows(self) -> bool:
        """Whether picking something can lead to another picture."""
        return type(self).follow is not View.follow

    def standalone(self) -> Scene:
        """The scene with everything that can be shown without a running kernel."""
        return self.live()

    def figure(self) -> Figure:
        """The static picture as a new matplotlib figure; the caller owns it."""
        from triton_lab.views.drawing.drawing_figure import figure_of

        return figure_of(self.drawing())

    def drawing(self) -> Drawing:
        """The static picture with its margins: by default the pieces below each other."""
        from triton_lab.views.drawing.drawing_pieces import WIDTH, column

        return column(self.pieces(), 0 if self.tight else WIDTH).framed()

    def pieces(self) -> list[Drawing]:
        """The static picture in pieces that stand below each other, for a card that has other pieces, too."""
        raise NotImplementedError(
            _("{type} cannot be drawn together with other pictures").format(type=type(self).__name__)
        )

    @abstractmethod
    def title(self) -> str:
        """What the picture shows, on one line."""

    @abstractmethod
    def text(self) -> str:
        """The picture in words, for terminals and screen readers."""

    def brief(self) -> str:
        """The part of `text` that is cheap, shown until the rest is made."""
        return self.text()

    has_panel: ClassVar[bool] = False
    tight: ClassVar[bool] = False  # whether the figure is as narrow as its pieces

    def panel_id(self) -> str | None:
        """The id of the widget model around the picture, if there is one."""
        return None

    @cached_property
    def widget(self) -> SceneWidget:
        """The live form, made at first use."""
        from triton_lab.views.widget import scene_widget

        return scene_widget(self.beginning, self if self.has_parts else None)

    @cached_property
    def beginning(self) -> Scene:
        """The scene of `saved`, made once for output and widget."""
        return self.saved()

    def bundle(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """The scene, PNG and text, and a widget where one is needed: see `output`."""
        from triton_lab.views.notebook_output import bundle

        return bundle(self)

    def __repr__(self) -> str:
        return self.text()

    def _display_(self) -> SceneWidget:
        """The live picture for marimo, which shows anywidgets."""
        return self.widget

    def _repr_mimebundle_(
        self, include: object = None, exclude: object = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """What `bundle` gives. What cannot be drawn says why: IPython would show an error here twice, with all that
        led to it in the lab."""
        from triton_lab.views.missing_picture import is_for_readers, reason

        try:
            return self.bundle()
        except Exception as error:
            if not is_for_readers(error):
                raise
            return {"text/plain": f"not drawn: {reason(error)}"}, {}
