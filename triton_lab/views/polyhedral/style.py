"""The look of the polyhedral pictures: that of the figures on Triton's related-work page."""

from __future__ import annotations

GROUND = "#ffffff"
GRID = "#d9d9d9"
AXIS = "#595959"
STATEMENT = "#eeeeee"
STATEMENTS = (STATEMENT, "#fce5cd", "#d9ead3", "#d9d2e9", "#fff2cc")  # where several share a picture
RING = "#595959"
POLYGON = "#9fc5e8"
POLYGON_OPACITY = 0.6
BORDER = "#990000"
INK = "#1f2328"
FAINT = "#59636e"

# Ragged rows, one colour per row, and the dense matrix beside them.
ROWS = ("#cfe2f3", "#a4c2f4", "#6d9eeb", "#3c78d8")
DENSE = "#cccccc"

# Dependences by kind, and those that a schedule breaks. Okabe and Ito's colours, which the colour-blind tell apart, and
# dashes (in CSS pixels) for those who see none. Where several kinds join two instances, they run side by side.
ARROWS = {"flow": "#0072b2", "anti": "#e69f00", "output": "#009e73"}
DASHES: dict[str, tuple[float, ...]] = {"flow": (), "anti": (6.0, 3.0), "output": (1.5, 2.5)}
BESIDE = {"flow": 0.0, "anti": 4.0, "output": -4.0}  # CSS pixels
VIOLATED = "#ff0000"

TILE = "#674ea7"
# Parts of a program, for bars beside its lines.
PARTS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00")

# From the first visit to the last.
ORDER = ("#fff2cc", "#f6b26b", "#cc4125", "#5b0f00")
READ = "#a4c2f4"
WRITTEN = "#f6b26b"

UNIT = 56.0  # CSS pixels between neighbours where there is room
SHIFT = 0.16  # units between statements that share a point
RADIUS = 0.15  # of a statement's circle, in units
WIDTH = 620.0  # CSS pixels that a plot may take
HEIGHT = 520.0
MOST_ARROWS = 3000
