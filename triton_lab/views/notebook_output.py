"""A view as a notebook's output: the scene itself, HTML, a PNG and words, and a widget where nothing else can be live.

The scene is saved with the notebook, and JupyterLab's extension draws it without a running kernel. Other places show
the HTML, which draws the scene where scripts may run (see `html_output`). A widget's output only names a model that
dies with its kernel. So a widget is added only if the front end can show widgets, has not announced that it draws
scenes itself, and the HTML would lack a part; the extension removes it again before the notebook is saved.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from triton_lab.localization import ENGLISH, language
from triton_lab.views.comm_handlers import keep
from triton_lab.views.frontend_presence import announced, is_jupyter, kernel_runs, listen, widgets_are_shown
from triton_lab.views.missing_picture import attempt
from triton_lab.views.scene_packing import packed_within
from triton_lab.views.scenes import Saved, Scene

if TYPE_CHECKING:
    from triton_lab.views.view import View

SCENE = "application/vnd.triton-lab.scene.v1+json"
WIDGET = "application/vnd.jupyter.widget-view+json"
HTML = "text/html"
MOST_CHARACTERS = 256 * 1024  # of a packed scene in an output; the extension has the same limit


def bundle(view: View) -> tuple[dict[str, Any], dict[str, Any]]:
    """The output of ``view`` by MIME type, and its metadata, which give the PNG's size in CSS pixels."""
    data, metadata = at_once(view)
    return with_picture(with_rest(data, view), metadata, view)


def at_once(view: View) -> tuple[dict[str, Any], dict[str, Any]]:
    """The output for a front end that draws scenes itself, as fast as possible.

    It lacks the pictures behind tabs that are not open yet and the PNG, which takes longest; of the words it has only
    those that cost nothing.
    """
    data: dict[str, Any] = {SCENE: saved(view, view.scene() if view.grows else None)}
    metadata: dict[str, Any] = {}
    if _needs_widget(view, data[SCENE]):
        model = view.panel_id() if view.has_panel else view.widget.model_id
        data[WIDGET] = {"version_major": 2, "version_minor": 0, "model_id": model}
        # Colab shows a widget only if the output names its widget manager.
        metadata |= (view.widget._repr_mimebundle_() or ({}, {}))[1]
    return data | {"text/plain": view.brief()}, metadata


def _needs_widget(view: View, kept: Saved) -> bool:
    """Whether the front end shows widgets, and nothing else there is as live."""
    if not widgets_are_shown() or (announced() and not view.has_panel):
        return False
    whole = "scene" in kept and not view.follows and (view.grows or not view.has_parts)
    # The output of a Jupyter server's notebook is reopened there, where a widget without its kernel is an error.
    return view.has_panel or not (whole and is_jupyter())


def with_rest(data: Mapping[str, Any], view: View) -> dict[str, Any]:
    """The output of `at_once`, extended by everything that an output keeps of the scene."""
    return {**data, SCENE: saved(view)} if view.grows else dict(data)


def with_picture(
    data: Mapping[str, Any], metadata: Mapping[str, Any], view: View
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The output of `at_once`, extended by the PNG with its size, the HTML of both, and all words."""
    from triton_lab.views.drawing.png import png
    from triton_lab.views.html_output import html_of

    figure = view.figure()
    width, height = (round(inches * 96) for inches in figure.get_size_inches())
    # Words come last: a simple front end takes the first type that it can show.
    shown = {kind: value for kind, value in data.items() if kind != "text/plain"}
    still, words = png(figure), view.text()
    if kernel_runs() and (scene := data[SCENE].get("scene")):
        shown[HTML] = html_of(view, scene, still, words.partition("\n")[0], width)
    shown |= {"image/png": still, "text/plain": words}
    return shown, {"image/png": {"width": width, "height": height}, **metadata}


def saved(view: View, scene: Scene | None = None) -> Saved:
    """What the output keeps: the scene (by default the whole one) unless it is too large, and the view's id."""
    found: Saved = {"version": 1, "follows": view.follows, "panel": view.has_panel and widgets_are_shown()}
    text = _text(view.beginning if scene is None else scene)
    if text is None and view.saves_more:
        text = _text(view.live())
    if text is not None:
        found["scene"] = text
    if text is None or view.has_parts or view.follows or found["panel"]:
        found["view"] = keep(view)
        listen()
    if (own := language()) != ENGLISH:
        found["language"] = own
    annotations = attempt(view.annotations, lambda _: [])
    if annotations:
        found["annotations"] = annotations
    return found


def _text(scene: Scene) -> str | None:
    """The packed scene; None if it is too large, or has numbers that cannot be packed."""
    try:
        return packed_within(scene, MOST_CHARACTERS)
    except ValueError:
        return None
