"""A matplotlib figure measured in CSS pixels from its upper left corner, with the few shapes that pictures need."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.figure import Figure
from matplotlib.patches import Polygon
from numpy.typing import ArrayLike, NDArray

from triton_lab.views.drawing import style
from triton_lab.views.drawing.fonts import family, weight
from triton_lab.views.drawing.png import blank
from triton_lab.views.polyhedral.polyhedral_style import LIGHT, Look

POINTS = 0.75  # points to a CSS pixel


class Canvas:
    """One axes over the whole figure; later shapes lie over earlier ones."""

    def __init__(self, width: float, height: float, look: Look = LIGHT) -> None:
        self.width, self.height, self.look = width, height, look
        self._figure = blank(width, height, look.ground)
        self._axes = self._figure.add_axes((0, 0, 1, 1))
        self._axes.set_xlim(0, width)
        self._axes.set_ylim(height, 0)
        self._axes.axis("off")
        self._order = 1

    def _above(self) -> int:
        self._order += 1
        return self._order

    def lines(self, ends: ArrayLike, colour: str, width: float = 1.0, dashes: tuple[float, ...] | None = None) -> None:
        """Draw segments, (count, 2, 2) as (x, y); ``dashes`` are in widths of the line."""
        segments = list(np.asarray(ends, dtype=np.float64))
        style_ = (0, dashes) if dashes else "solid"
        lines = LineCollection(segments, colors=colour, linewidths=width * POINTS, linestyles=[style_])
        lines.set_zorder(self._above())
        self._axes.add_collection(lines)

    def path(self, points: ArrayLike, colour: str, width: float = 1.0, opacity: float = 1.0) -> None:
        """Draw a line through points, (count, 2)."""
        places = np.asarray(points, dtype=np.float64)
        self._axes.plot(
            places[:, 0], places[:, 1], color=colour, linewidth=width * POINTS, alpha=opacity,
            solid_joinstyle="round", zorder=self._above(),
        )  # fmt: skip

    def polygon(
        self, points: ArrayLike, fill: str, opacity: float = 1.0, edge: str = "none", width: float = 1.0
    ) -> None:
        patch = Polygon(np.asarray(points, dtype=np.float64), closed=True, facecolor=fill, edgecolor=edge)
        patch.set_linewidth(width * POINTS)
        patch.set_alpha(opacity)
        patch.set_zorder(self._above())
        self._axes.add_patch(patch)

    def rectangle(
        self, x: float, y: float, width: float, height: float, fill: str, edge: str = "none", line: float = 1.0
    ) -> None:
        self.polygon([(x, y), (x + width, y), (x + width, y + height), (x, y + height)], fill, 1.0, edge, line)

    def circles(
        self, centres: NDArray[np.float64], radius: float, fill: str | NDArray[np.float64], ring: str, width: float
    ) -> None:
        """Draw circles of one size; ``fill`` is one colour, or one per circle as (count, 3)."""
        if not len(centres):
            return
        if isinstance(fill, str):
            # `plot` draws one marker many times, in a tenth of the time that `scatter` takes.
            self._axes.plot(
                centres[:, 0], centres[:, 1], "o", markersize=2 * radius * POINTS, markerfacecolor=fill,
                markeredgecolor=ring, markeredgewidth=width * POINTS, zorder=self._above(), linestyle="none",
            )  # fmt: skip
            return
        # In the middle of pixels all circles have the same pixels, as markers do, and equal pixels compress well.
        pixels = self._figure.dpi / 96
        centres = np.round(centres * pixels) / pixels
        self._axes.scatter(
            centres[:, 0], centres[:, 1], s=(2 * radius * POINTS) ** 2, c=fill, edgecolors=ring,
            linewidths=width * POINTS, zorder=self._above(),
        )  # fmt: skip

    def pixels(self, x: float, y: float, width: float, height: float, image: NDArray[np.float64]) -> None:
        """Draw an RGBA image, (rows, columns, 4) from 0 to 1, row 0 on top."""
        self._axes.imshow(
            image, extent=(x, x + width, y + height, y), interpolation="nearest", aspect="auto", zorder=self._above()
        )
        self._axes.set_xlim(0, self.width)
        self._axes.set_ylim(self.height, 0)

    def arrows(
        self,
        ends: NDArray[np.float64],
        colour: str,
        width: float,
        head: float,
        gap: float,
        dashes: tuple[float, ...] = (),
        beside: float = 0.0,
    ) -> None:
        """Draw arrows, (count, 2, 2), which start and end ``gap`` before the centres they join.

        ``beside`` shifts them sideways. ``dashes`` and all other lengths are in CSS pixels.
        """
        along = ends[:, 1] - ends[:, 0]
        length = np.hypot(along[:, 0], along[:, 1])[:, None]
        unit = along / np.maximum(length, 1e-9)
        aside = np.stack([-unit[:, 1], unit[:, 0]], axis=1) * beside
        start, tip = ends[:, 0] + unit * gap + aside, ends[:, 1] - unit * gap + aside
        neck = tip - unit * head
        side = np.stack([-unit[:, 1], unit[:, 0]], axis=1) * head * 0.42
        self.lines(np.stack([start, neck], axis=1), colour, width, tuple(d / width for d in dashes) or None)
        heads = PolyCollection(list(np.stack([tip, neck + side, neck - side], axis=1)), facecolors=colour)
        heads.set_edgecolor("none")
        heads.set_zorder(self._above())
        self._axes.add_collection(heads)

    def text(
        self,
        x: float,
        y: float,
        words: str,
        size: float = style.TEXT,
        colour: str | None = None,
        align: str = "left",
        bold: bool = False,
        mono: bool = False,
        italic: bool = False,
        ground: bool = False,
    ) -> None:
        """Draw one line of words, by default in ink, centred vertically at y; ``ground`` hides what lies under it."""
        box = {"facecolor": self.look.ground, "edgecolor": "none", "pad": 1.0, "alpha": 0.8} if ground else None
        self._axes.text(
            x, y, words, fontsize=size, color=colour or self.look.ink, ha=align, va="center_baseline", parse_math=False,
            family=family(words, mono), weight=weight(words, bold),
            style="italic" if italic else "normal", zorder=self._above(), bbox=box,
        )  # fmt: skip

    def finish(self) -> Figure:
        return self._figure


def mixed(anchors: Sequence[str], count: int) -> NDArray[np.float64]:
    """``count`` colours along ``anchors``, (count, 3) from 0 to 1."""
    return style.ramp(tuple(anchors), max(count, 2))[:count] / 255.0
