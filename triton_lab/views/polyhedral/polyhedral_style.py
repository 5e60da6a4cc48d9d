"""The look of polyhedral pictures: that of the figures on Triton's related-work page, and a version for dark pages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal

from triton_lab.views.drawing import style
from triton_lab.views.drawing.scene_bounds import Sentence

# --- Colours --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Look:
    """The colours of a polyhedral picture. Lists of colours go to statements, rows or parts one after the other."""

    ground: str
    ink: str
    faint: str
    strong: str  # words and marks that stand out: black on white
    accent: str  # of sliders
    hover: str  # behind a button under the pointer, and behind a chosen line
    grid: str
    axis: str
    statements: tuple[str, ...]  # the first is for a single statement
    ring: str
    polygon: str
    border: str  # of the domain: its lines, their labels, and refusals
    tile: str
    violated: str
    legal: str
    lit: str  # a border under the pointer
    order: tuple[str, ...]  # from the first visit to the last
    read: str
    written: str
    was_read: str  # cells that earlier visits touched
    was_written: str
    reading: str  # the line from an instance to the cells that it touches
    writing: str
    rows: tuple[str, ...]  # ragged rows
    dense: str  # the dense matrix beside them
    parts: tuple[str, ...]  # of a program, for the bars beside its lines
    # Dependences by kind, in the colours of Okabe and Ito, which colour-blind readers can tell apart.
    arrows: Mapping[str, str] = field(hash=False)

    @property
    def statement(self) -> str:
        """The colour of a single statement."""
        return self.statements[0]


LIGHT = Look(
    ground=style.LIGHT.ground,
    ink=style.LIGHT.ink,
    faint=style.LIGHT.faint,
    strong="#000000",
    accent="#5b0f00",
    hover="#eeeeee",
    grid="#d9d9d9",
    axis="#595959",
    statements=("#eeeeee", "#fce5cd", "#d9ead3", "#d9d2e9", "#fff2cc"),
    ring="#595959",
    polygon="#9fc5e8",
    border="#990000",
    tile="#674ea7",
    violated="#d60000",
    legal="#38761d",
    lit="#ff0000",
    order=("#fff2cc", "#f6b26b", "#cc4125", "#5b0f00"),
    read="#a4c2f4",
    written="#f6b26b",
    was_read="#d6e4f7",
    was_written="#fce5cd",
    reading="#1155cc",
    writing="#b45f06",
    rows=("#cfe2f3", "#a4c2f4", "#6d9eeb", "#3c78d8"),
    dense="#cccccc",
    parts=("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00"),
    arrows={"flow": "#0072b2", "anti": "#e69f00", "output": "#009e73"},
)
DARK = Look(
    ground=style.DARK.ground,
    ink=style.DARK.ink,
    faint=style.DARK.faint,
    strong="#ffffff",
    accent="#f0953f",
    hover="#2b3138",
    grid="#30363d",
    axis="#9aa3ad",
    statements=("#3b424a", "#6b4a2c", "#3f5f3c", "#54466f", "#6b5f2a"),
    ring="#9aa3ad",
    polygon="#2f5f8c",
    border="#ff8a7a",
    tile="#b9a3f5",
    violated="#ff5252",
    legal="#7fcf6a",
    lit="#ff5252",
    order=("#5c3a1e", "#b45f24", "#f0953f", "#ffe9b0"),
    read="#4a78c8",
    written="#d98a3a",
    was_read="#2c4266",
    was_written="#5e432a",
    reading="#7fb7ff",
    writing="#f6b26b",
    rows=("#24415e", "#2f5f94", "#3f7fc8", "#6aa5f0"),
    dense="#3a4048",
    parts=("#4a9fd8", "#e69f00", "#2fbf92", "#dd96bd", "#7cc8f0", "#f07a30"),
    arrows={"flow": "#56b4e9", "anti": "#e69f00", "output": "#2fbf92"},
)


def _paired(light: Any, dark: Any) -> Any:
    if isinstance(light, Mapping):
        return {name: _paired(light[name], dark[name]) for name in light}
    return f"{light}/{dark}" if isinstance(light, str) else tuple(map(_paired, light, dark))


# The colours of drawings: each for a light page and for a dark one.
BOTH = Look(**{one.name: _paired(getattr(LIGHT, one.name), getattr(DARK, one.name)) for one in fields(Look)})


def order_colours(count: int) -> tuple[str, ...]:
    """``count`` colours from that of the first visit to that of the last."""
    light, dark = (style.ramp(look.order, max(count, 2))[:count].tolist() for look in (LIGHT, DARK))
    return tuple(f"{style.hexadecimal(one)}/{style.hexadecimal(other)}" for one, other in zip(light, dark, strict=True))


Tone = Literal["faint", "legal", "violated"]  # names of colours for words in a scene
Note = tuple[Sentence, Tone]  # words and their tone

# --- Sizes ------------------------------------------------------------------------------------------

POLYGON_OPACITY = 0.6
# Dashes of dependences (in CSS pixels), for readers who see no colours. If several kinds join two instances, their
# arrows run side by side.
DASHES: dict[str, tuple[float, ...]] = {"flow": (), "anti": (6.0, 3.0), "output": (1.5, 2.5)}
# Of dependences that data decides: long dashes, with the sign of their kind between them.
MAY_DASHES: dict[str, tuple[float, ...]] = {
    "flow": (10.0, 4.0),
    "anti": (10.0, 3.0, 4.0, 3.0),
    "output": (10.0, 3.0, 1.5, 3.0),
}
BESIDE = {"flow": 0.0, "anti": 4.0, "output": -4.0}  # CSS pixels

UNIT = 56.0  # CSS pixels between neighbours where there is room
SHIFT = 0.16  # units between statements on one point
RADIUS = 0.15  # of a statement's circle, in units
WIDTH = 620.0  # CSS pixels of the widest plot
HEIGHT = 520.0
MOST_ARROWS = 3000
