"""A view as a notebook's output: the scene itself, a PNG and words, and a widget where nothing else can be live.

The scene is saved with the notebook, and JupyterLab's extension draws it with no kernel behind it. A widget's output
only names a model that dies with its kernel: it goes along where somebody can show it and has not said that it draws
scenes by itself, and the extension takes it out again before the notebook is saved.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from triton_lab.views.comm_handlers import keep
from triton_lab.views.frontend_presence import announced, widgets_are_shown
from triton_lab.views.missing_picture import attempt
from triton_lab.views.scene_packing import packed
from triton_lab.views.scenes import Saved, Scene
from triton_lab.views.view import View

SCENE = "application/vnd.triton-lab.scene.v1+json"
WIDGET = "application/vnd.jupyter.widget-view+json"
MOST_CHARACTERS = 256 * 1024  # of a packed scene in an output; the extension keeps to the same


def bundle(view: View) -> tuple[dict[str, Any], dict[str, Any]]:
    """What ``view`` is shown by, by MIME type; the metadata give the PNG's size in CSS pixels."""
    data, metadata = at_once(view)
    return with_picture(with_rest(data, view), metadata, view)


def at_once(view: View) -> tuple[dict[str, Any], dict[str, Any]]:
    """What a front end needs that draws scenes by itself: without the pictures behind tabs that are not open yet, the
    PNG, which takes longest to make, and with no more words than cost nothing.
    """
    data: dict[str, Any] = {SCENE: saved(view, view.scene() if view.grows else None)}
    metadata: dict[str, Any] = {}
    if widgets_are_shown() and (view.has_panel or not announced()):
        model = view.panel_id() if view.has_panel else view.widget.model_id
        data[WIDGET] = {"version_major": 2, "version_minor": 0, "model_id": model}
        # Colab shows a widget only where the output says which of its widget managers does.
        metadata |= (view.widget._repr_mimebundle_() or ({}, {}))[1]
    return data | {"text/plain": view.brief()}, metadata


def with_rest(data: Mapping[str, Any], view: View) -> dict[str, Any]:
    """What is shown `at_once`, with all that an output keeps of the scene."""
    return {**data, SCENE: saved(view)} if view.grows else dict(data)


def with_picture(
    data: Mapping[str, Any], metadata: Mapping[str, Any], view: View
) -> tuple[dict[str, Any], dict[str, Any]]:
    """What is shown `at_once`, with the PNG and its size, and all words."""
    from triton_lab.views.drawing.png import png

    figure = view.figure()
    width, height = (round(inches * 96) for inches in figure.get_size_inches())
    # Words stay last: what knows no better takes the first that it can show.
    shown = {kind: value for kind, value in data.items() if kind != "text/plain"}
    shown |= {"image/png": png(figure), "text/plain": view.text()}
    return shown, {"image/png": {"width": width, "height": height}, **metadata}


def saved(view: View, scene: Scene | None = None) -> Saved:
    """What the output keeps: the scene, all there is where none is given, unless that is too large; and by which id the
    kernel is asked for more.
    """
    found: Saved = {"version": 1, "follows": view.follows, "panel": view.has_panel and widgets_are_shown()}
    text = _text(view.beginning if scene is None else scene) or _text(view.live())
    if text is not None:
        found["scene"] = text
    if text is None or view.has_parts or view.follows or found["panel"]:
        found["view"] = keep(view)
    annotations = attempt(view.annotations, lambda _: [])
    if annotations:
        found["annotations"] = annotations
    return found


def _text(scene: Scene) -> str | None:
    """The scene packed; None where it is too large, or has numbers that cannot be packed."""
    try:
        text = packed(scene)
    except ValueError:
        return None
    return text if len(text) <= MOST_CHARACTERS else None
