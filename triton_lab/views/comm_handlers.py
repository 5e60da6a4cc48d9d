"""Answers for views that are already shown: they serve the parts that a widget or a comm asks for later.

A view that can answer keeps its launch's record alive. So only the newest views answer; older ones say that they no
longer can.
"""

from __future__ import annotations

import itertools
import uuid
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, Protocol, cast

from triton_lab.localization import _
from triton_lab.views.missing_picture import attempt, in_words
from triton_lab.views.scene_packing import beside
from triton_lab.views.scenes import Picked, Scene, ViewAnswer, WordsScene

MOST_KEPT = 24
WHOLE = ""  # the part that stands for the whole picture

_SESSION = uuid.uuid4().hex
_numbers = itertools.count()


class Answering(Protocol):
    """What a view does when a part of it is requested."""

    def live(self) -> Scene: ...

    def part(self, name: str) -> Scene: ...

    def follow(self, picked: Picked) -> Scene | None: ...

    def panel_id(self) -> str | None: ...


_kept: OrderedDict[str, Answering] = OrderedDict()


def keep(view: Answering) -> str:
    """Let ``view`` answer from now on; returns its id, which is unique among all kernels."""
    known = next((name for name, one in _kept.items() if one is view), None)
    name = known or f"{_SESSION}-{next(_numbers)}"
    _kept[name] = view
    _kept.move_to_end(name)
    if len(_kept) > MOST_KEPT:
        _kept.popitem(last=False)
    return name


def succeed(before: Answering, after: Answering) -> None:
    """Replace a view: ``after`` answers the questions that are sent to ``before``'s id from now on."""
    for name, one in _kept.items():
        if one is before:
            _kept[name] = after


def part(view: str, name: str) -> Scene:
    """The part called ``name``, or the reason why there is none."""
    one = _kept.get(view)
    if one is None:
        return _gone(view, "to see this")
    return attempt(lambda: one.part(name) if name != WHOLE else one.live(), in_words)


def _gone(view: str, purpose: str) -> WordsScene:
    """A scene that says why the view does not answer, and what to do."""
    if not view.startswith(_SESSION):
        return in_words(_("Run the cell again {purpose}. The kernel that ran it is gone.").format(purpose=purpose))
    return in_words(
        _("Run the cell again {purpose}. Its data is no longer stored, because many pictures followed.").format(
            purpose=purpose
        )
    )


def asked(comm: Any, data: Mapping[str, Any]) -> None:
    """Answer a message: a `ViewQuestion` gets the part; a `ViewPicked` gets the picture that it leads to, if any."""
    view, name, picked = data.get("view"), data.get("part"), data.get("picked")
    if not isinstance(view, str):
        return
    one = _kept.get(view)
    if isinstance(name, str):
        _tell(comm, view, name, part(view, name), one)
    elif isinstance(picked, Mapping):
        wanted = cast(Picked, picked)
        if one is None:
            scene: Scene | None = _gone(view, _("to change this picture"))
        else:
            scene = attempt(lambda: one.follow(wanted), in_words)
        if scene is not None:
            _tell(comm, view, WHOLE, scene, one)


def _tell(comm: Any, view: str, name: str, scene: Scene, one: Answering | None) -> None:
    buffers: list[bytes] = []
    panel = one.panel_id() if one is not None else None
    comm.send(ViewAnswer(view=view, part=name, scene=beside(scene, buffers), panel=panel), buffers=buffers)
