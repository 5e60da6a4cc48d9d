"""The live form of a view: one anywidget that holds a scene, and answers requests for further parts."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cache
from typing import Any, TypeVar

import anywidget
import traitlets

from triton_lab.localization import browser_texts
from triton_lab.views.comm_handlers import Answering, keep, part
from triton_lab.views.frontend_presence import listen
from triton_lab.views.scene_packing import beside
from triton_lab.views.scenes import Answer, Scene
from triton_lab.views.script_bundle import WIDGET, script, stylesheet


class SceneWidget(anywidget.AnyWidget):
    """The widget of a scene. ``scene``: what to draw. ``selection``: what is picked in it, such as ``{"program": 3}``.
    ``texts``: the catalogue of the language (`browser_texts`).

    The browser requests further scenes with a `scenes.Question` and gets a `scenes.Answer` back.
    """

    scene = traitlets.Dict().tag(sync=True)
    selection = traitlets.Dict().tag(sync=True)
    texts = traitlets.Dict().tag(sync=True)
    view = ""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.scene.get('kind')!r})"

    def answers(self, view: Answering) -> None:
        """Let ``view`` make the parts, as long as it is kept."""
        self.view = keep(view)
        listen()
        self.on_msg(self._asked)

    def _asked(self, _: object, content: Mapping[str, Any], __: object) -> None:
        name = content.get("part")
        if not isinstance(name, str):
            return
        buffers: list[bytes] = []
        self.send(Answer(part=name, scene=beside(part(self.view, name), buffers)), buffers)


class SliderWidget(SceneWidget):
    """The widget of a picture below sliders.

    ``sliders``: for each argument its name, the position at which it starts, and the values in words, or whole numbers
    (see ``sliders.js``). ``chosen``: the position of each by name. ``said`` and ``proved`` are lines below.
    """

    sliders: traitlets.List[dict[str, object]] = traitlets.List().tag(sync=True)
    chosen = traitlets.Dict().tag(sync=True)
    said = traitlets.Unicode().tag(sync=True)
    proved = traitlets.Unicode().tag(sync=True)


@cache
def _class_of(base: type[SceneWidget]) -> type[SceneWidget]:
    """The widget class of this version: anywidget sends a class's ``_esm`` as the trait of each instance.

    A page keeps the first style sheet that it gets for a class's name. The name includes the version, since pictures of
    another version may stand in the same notebook.
    """
    css = stylesheet()
    name = f"{base.__name__}_{hashlib.sha256(css.encode()).hexdigest()[:8]}"
    return type(name, (base,), {"__module__": __name__, "_esm": script(WIDGET), "_css": css})


def scene_widget(scene: Scene, view: Answering | None = None) -> SceneWidget:
    """A widget that draws ``scene``; ``view`` makes the parts that it requests."""
    return _filled(_class_of(SceneWidget)(scene=dict(scene), texts=browser_texts()), view)


def slider_widget(scene: Scene, view: Answering, **state: Any) -> SliderWidget:
    """As `scene_widget`, with sliders; ``state`` has the values of `SliderWidget`."""
    widget = _class_of(SliderWidget)(scene=dict(scene), texts=browser_texts(), **state)
    assert isinstance(widget, SliderWidget)
    return _filled(widget, view)


Shown = TypeVar("Shown", bound=SceneWidget)


def _filled(widget: Shown, view: Answering | None) -> Shown:
    if view is not None:
        widget.answers(view)
    return widget
