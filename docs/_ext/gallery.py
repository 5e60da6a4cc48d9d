"""The gallery: each picture of the lab once, live, with the lines that draw it."""

from __future__ import annotations

import ast
import base64
import html
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from triton_lab.views.drawing.png import png
from triton_lab.views.html_output import picture
from triton_lab.views.scene_packing import packed
from triton_lab.views.view import View

PAGE = "gallery.md"


@dataclass(frozen=True)
class Shown:
    """One picture: its heading, what it answers, and code whose last value it is."""

    title: str
    words: str
    code: str


BEFORE = """\
import torch
import triton_lab as lab
from triton_lab.examples.matmul import matmul
from triton_lab.examples.softmax import softmax_forward
from triton_lab.examples.vector_add import add

with lab.record() as launches:
    add(torch.rand(1000), torch.rand(1000), block=128)
    softmax_forward(torch.randn(6, 200))
    matmul(torch.randn(96, 64), torch.randn(64, 80))
added, rows, product = launches
"""

PICTURES = (
    Shown("Card", "A launch on one panel: what `%%triton` shows below a cell.", "added"),
    Shown("Tiling", "Which program stores which element.", "product.plot.tiling('c_ptr')"),
    Shown("Accesses", "Who touches each element, and how often.", "product.plot.accesses('a_ptr', 'reuse')"),
    Shown("Storage", "Where the elements lie in memory, with strides and what lies between.", "product.plot.storage()"),
    Shown("Grid", "Which programs there are, and what two of them share.", "product.plot.grid('shared', program=0)"),
    Shown("Values", "The blocks of one program, as numbers.", "rows.plot.values()"),
    Shown("Steps", "The same program line by line.", "rows.plot.steps()"),
    Shown("Origins", "From one stored element back to all that it was made of.", "rows.plot.origins()"),
    Shown(
        "Tiles of a product",
        "What a tile of a matrix product loads, and what its size costs: drag the tile, or its corner.",
        "lab.tiled_product(torch.empty(512, 256), torch.empty(256, 512), tile=(64, 64), program=(2, 5))",
    ),
    Shown(
        "Layout",
        "Which lane of which warp holds an element.",
        "lab.layout('blocked', (16, 16), size_per_thread=[1, 2], threads_per_warp=[8, 4], warps_per_cta=[2, 2]).plot()",
    ),
    Shown(
        "Iteration domain",
        "A loop nest as a set of points, with its dependences.",
        """\
lab.polyhedral.scop('''
for (int i = 0; i < n; i++)
  for (int j = 0; j <= i; j++)
    A[i][j] = A[i][j - 1] + 1;''', n=6).plot()""",
    ),
    Shown(
        "Schedule",
        "The same loops in another order, and whether that order is legal.",
        """\
lab.polyhedral.scop('''
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++)
    A[i][j] = A[i - 1][j] + A[i][j - 1];''', n=6).schedule.skew('j', 'i').plot()""",
    ),
)


def page() -> str:
    """The page as Markdown; its code is run. Raises what a picture's code raises."""
    names: dict[str, Any] = {}
    exec(BEFORE, names)
    parts = [
        "# Gallery\n\nEvery picture is live: point at it, click, use the arrow keys. All come from three launches:\n",
        f"```python\n{BEFORE}```\n",
    ]
    for shown in PICTURES:
        view = _view(_last_value(shown.code, names))
        image = base64.b64encode(png(view.figure())).decode("ascii")
        shown_live = picture(packed(view.standalone()), image, html.unescape(view.title()))
        parts.append(
            f"## {shown.title}\n\n{shown.words}\n\n```python\n{textwrap.dedent(shown.code)}\n```\n\n"
            f"```{{raw}} html\n{shown_live}\n```\n"
        )
    return "\n".join(parts)


def _view(value: Any) -> View:
    if isinstance(value, View):
        return value
    from triton_lab.views.launch.card.launch_card import Card

    return Card(value)


def _last_value(code: str, names: dict[str, Any]) -> Any:
    return eval(compile(ast.Expression(ast.parse(code).body[-1].value), PAGE, "eval"), names)


def put_page(app: Sphinx) -> None:
    (Path(app.srcdir) / PAGE).write_text(page(), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("builder-inited", put_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
