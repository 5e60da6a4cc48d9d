"""The live form of a view: one anywidget that carries a scene, and answers for what is not in it."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import anywidget
import traitlets

from triton_lab.views.assembly import WIDGET, script, stylesheet
from triton_lab.views.reason import attempt
from triton_lab.views.scenes import Answer, Scene, WordsScene

Maker = Callable[[str], Scene]  # of the part of that name


# A widget that answers keeps its model, and so a launch's record, alive: the newest do, older ones let go.
MOST_ANSWERING = 24
_answering: deque[SceneWidget] = deque()


class SceneWidget(anywidget.AnyWidget):
    """``scene``: what to draw. ``selection``: what is picked in it, such as ``{"program": 3}``.

    The browser asks for further scenes with a `scenes.Question` and gets a `scenes.Answer` back.
    """

    scene = traitlets.Dict().tag(sync=True)
    selection = traitlets.Dict().tag(sync=True)
    answer: Maker | None = None

    def answers(self, answer: Maker) -> None:
        """Have ``answer`` make the parts."""
        self.answer = answer
        self.on_msg(self._asked)
        _answering.append(self)
        if len(_answering) > MOST_ANSWERING:
            _answering.popleft().answer = None

    def _asked(self, _: object, content: Mapping[str, Any], __: object) -> None:
        name = content.get("part")
        if not isinstance(name, str):
            return
        if self.answer is None:
            told = "This launch is no longer kept, since many have been shown after it. Run the cell again."
            self._tell(name, WordsScene(kind="words", text=told))
            return
        answer = self.answer
        self._tell(name, attempt(lambda: answer(name), lambda why: WordsScene(kind="words", text=why)))

    def _tell(self, name: str, scene: Scene) -> None:
        buffers: list[bytes] = []
        self.send(Answer(part=name, scene=packed(scene, buffers)), buffers)


def packed(value: Any, buffers: list[bytes]) -> Any:
    """``value`` with its bytes moved to ``buffers``."""
    if isinstance(value, bytes):
        buffers.append(value)
        return {"buffer": len(buffers) - 1}
    if isinstance(value, Mapping):
        return {key: packed(item, buffers) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [packed(item, buffers) for item in value]
    return value


@cache
def _widget_class() -> type[SceneWidget]:
    """Of this version: anywidget sends a class's ``_esm`` as the trait of each instance.

    A page keeps the first style sheet that it gets for a class's name. The name tells ours from that of another
    version, whose pictures may stand in the same notebook.
    """
    css = stylesheet()
    name = f"SceneWidget_{hashlib.sha256(css.encode()).hexdigest()[:8]}"
    return type(name, (SceneWidget,), {"__module__": __name__, "_esm": script(WIDGET), "_css": css})


def scene_widget(scene: Scene, answer: Maker | None = None) -> SceneWidget:
    """A widget that draws ``scene``; ``answer`` makes the parts that it asks for."""
    widget = _widget_class()(scene=dict(scene))
    if answer is not None:
        widget.answers(answer)
    return widget
