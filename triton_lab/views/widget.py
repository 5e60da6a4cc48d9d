"""The live form of a view: one anywidget that carries a scene, and the assembly of its script.

An anywidget's script is a single text. The modules in `front/` are plain ES modules that import
each other by relative name, so that a type checker and a test page can load them as they are;
`script` joins one of them with what it imports.
"""

from __future__ import annotations

import hashlib
import re
from collections import deque
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from triton_lab.views.drawing import style
from triton_lab.views.reason import attempt

FRONT = Path(__file__).parent / "front"

Answer = Callable[[str], Mapping[str, Any]]

_IMPORT = re.compile(r"""^import \{[^}]*\} from "\./([\w-]+\.js)";\n""", re.MULTILINE)
_EXPORT = re.compile(r"^export (?!default)", re.MULTILINE)


# A widget that answers keeps its model, and so a launch's record, alive: the newest do, older ones let go.
MOST_ANSWERING = 24
_answering: deque[SceneWidget] = deque()


class SceneWidget(anywidget.AnyWidget):
    """``scene``: what to draw. ``selection``: what is picked in it, such as ``{"program": 3}``.

    The browser asks for further scenes with the message ``{"part": name}`` and gets
    ``{"part": name, "scene": ...}`` back, in which ``{"buffer": k}`` stands for the k-th buffer.
    """

    scene = traitlets.Dict().tag(sync=True)
    selection = traitlets.Dict().tag(sync=True)
    answer: Answer | None = None

    def answers(self, answer: Answer) -> None:
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
            self.send({"part": name, "scene": {"kind": "words", "text": told}})
            return
        answer = self.answer
        scene: Mapping[str, Any] = attempt(lambda: answer(name), lambda why: {"kind": "words", "text": why})
        buffers: list[bytes] = []
        self.send({"part": name, "scene": packed(scene, buffers)}, buffers)


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


def module(name: str) -> str:
    """The text of a module in `front/`; ``style.js`` is made from the constants in `style`."""
    return style.javascript() if name == "style.js" else (FRONT / name).read_text(encoding="utf-8")


@cache
def script(name: str) -> str:
    """One ES module from ``name`` and all that it imports.

    Modules import each other as ``import { a, b } from "./c.js";`` with no renaming, and no name is
    declared in two of them; so leaving out the import lines and ``export`` words is enough.
    """
    seen: set[str] = set()
    parts: list[str] = []

    def add(part: str) -> None:
        if part in seen:
            return
        seen.add(part)
        text = module(part)
        for needed in _IMPORT.findall(text):
            add(needed)
        parts.append(_EXPORT.sub("", _IMPORT.sub("", text)))

    add(name)
    return "\n".join(parts)


@cache
def _widget_class(front: str) -> type[SceneWidget]:
    """A class per script: anywidget sends a class's ``_esm`` as the trait of each instance.

    A page keeps the first style sheet that it gets for a class's name. The name tells ours from that of another
    version, whose pictures may stand in the same notebook.
    """
    css = (FRONT / "view.css").read_text(encoding="utf-8")
    name = f"SceneWidget_{hashlib.sha256(css.encode()).hexdigest()[:8]}"
    return type(name, (SceneWidget,), {"__module__": __name__, "_esm": script(front), "_css": css})


def scene_widget(scene: Mapping[str, Any], front: str, answer: Answer | None = None) -> SceneWidget:
    """A widget that draws ``scene`` with the module ``front``; ``answer`` makes the parts that it asks for."""
    widget = _widget_class(front)(scene=dict(scene))
    if answer is not None:
        widget.answers(answer)
    return widget
