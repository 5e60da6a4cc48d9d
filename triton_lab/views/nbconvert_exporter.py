"""nbconvert with live pictures: ``jupyter nbconvert --to triton-lab notebook.ipynb`` writes one HTML page.

nbconvert itself shows the HTML of an output, but notebooks that an earlier version saved, and those of the course, have
scenes alone. `LivePictures` adds their HTML, also to a notebook: ``jupyter nbconvert --to notebook
--Exporter.preprocessors triton_lab.views.nbconvert_exporter.LivePictures``.
"""

from __future__ import annotations

import copy
from typing import Any

from nbconvert import HTMLExporter
from nbconvert.preprocessors import Preprocessor
from nbformat import NotebookNode

from triton_lab.localization import N_
from triton_lab.views.html_output import output
from triton_lab.views.notebook_output import HTML, SCENE, WIDGET


def with_live_pictures(notebook: NotebookNode) -> NotebookNode:
    """Give each picture of ``notebook`` its HTML, in place; the first one carries the code for all."""
    carried = False
    for each in (each for cell in notebook.cells for each in cell.get("outputs", ())):
        data = each.get("data", {})
        kept = data.get(SCENE)
        scene = kept.get("scene") if isinstance(kept, dict) else None
        if not isinstance(scene, str) or not _is_base64(scene):
            continue
        # The widget's kernel is gone, and nbconvert would prefer it to the picture.
        data.pop(WIDGET, None)
        png, words = ("".join(data.get(kind, "")) for kind in ("image/png", "text/plain"))
        size = each.get("metadata", {}).get("image/png", {}).get("width")
        png = png.replace("\n", "")
        width = size if isinstance(size, int) else None
        data[HTML] = output(scene, png if _is_base64(png) else "", words.partition("\n")[0], width, not carried)
        carried = True
    return notebook


class LivePictures(Preprocessor):
    """`with_live_pictures` for any exporter of nbconvert."""

    enabled = True

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
        return with_live_pictures(nb), resources


class LiveHTMLExporter(HTMLExporter):
    """HTML as nbconvert makes it, with live pictures."""

    export_from_notebook = N_("HTML with live pictures")

    def from_notebook_node(  # type: ignore[override]  # nbconvert declares one type for all exporters
        self, nb: NotebookNode, resources: Any = None, **options: Any
    ) -> tuple[str, dict[str, Any]]:
        """The page, and what nbconvert keeps beside it; ``nb`` stays as it is."""
        return super().from_notebook_node(with_live_pictures(copy.deepcopy(nb)), resources, **options)


def _is_base64(text: str) -> bool:
    """Whether the text can stand in HTML as it is: a notebook's data comes from outside."""
    return text.isascii() and not text.translate(_BASE64)


_BASE64 = str.maketrans("", "", "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=")
