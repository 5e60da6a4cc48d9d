"""The look: every colour, size and mark that a picture may use, for matplotlib and the browser.

A cell of a heatmap has a *style*: up to three palette indices and a pattern. The palette is one
numbered list, so that a style is four small integers in both worlds. Colours never stand alone:
programs carry numbers and borders, shared cells stripes, masked ones a hatch, untouched ones dots.

The colours of programs come from a search: the least distance (CIEDE2000) between any two of them, and from the grounds
of both themes, is as large as possible for full sight and for protanopia, deuteranopia and tritanopia alike; a test
checks that. The tensor hues are from Paul Tol's "bright" scheme, the ramps follow viridis and his "BuRd"
(https://personal.sron.nl/~pault/).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

# --- Themes -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Theme:
    """The colours that differ between light and dark. ``ink`` is for words, ``faint`` for small ones."""

    ground: str
    panel: str
    ink: str
    faint: str
    line: str
    accent: str
    untouched: str
    masked: str
    mark: str  # the colour of hatches and dots
    error: str
    warning: str
    good: str
    ghost: str  # where a missing mask would keep lanes out
    keyword: str  # of code; what this colour sets apart is spelled differently, too
    string: str
    number: str


LIGHT = Theme(
    ground="#ffffff",
    panel="#f6f8fa",
    ink="#1f2328",
    faint="#59636e",
    line="#d1d9e0",
    accent="#0b57b0",
    untouched="#f3f4f6",
    masked="#e2e4e8",
    mark="#9aa1a9",
    error="#b42318",
    warning="#8a5a00",
    good="#228833",
    ghost="#f7d9d4",
    keyword="#0b4fa3",
    string="#7a4b00",
    number="#6b2f86",
)
DARK = Theme(
    ground="#15181c",
    panel="#1e2227",
    ink="#e6e8ea",
    faint="#a3abb3",
    line="#3a4048",
    accent="#7fb7ff",
    untouched="#23272d",
    masked="#343a42",
    mark="#6c757f",
    error="#ff8a7a",
    warning="#e8b64c",
    good="#5fc56f",
    ghost="#5a2f2b",
    keyword="#8fc0ff",
    string="#e8b64c",
    number="#d6a8f0",
)

# --- Patterns: the last number of a style ---------------------------------------------------------

PLAIN, STRIPES, HATCH, DOTS, CROSS = range(5)

# --- The palette ----------------------------------------------------------------------------------

PROGRAM_COLOURS = ("#0469d2", "#915f09", "#64f7b7", "#dbbafd", "#6f7d7b", "#fbdd5d", "#00a66e", "#918afa", "#7a5a84",
                   "#276d4d", "#cb9eaa", "#90a421")  # fmt: skip
TENSOR_COLOURS = ("#4477aa", "#ee7733", "#228833", "#aa3377", "#66aacc", "#bbaa33")
VIRIDIS = ("#440154", "#482878", "#3e4989", "#31688e", "#26828e", "#1f9e89", "#35b779", "#6ece58",
           "#b5de2b", "#fde725")  # fmt: skip
BLUE_RED = ("#2166ac", "#4393c3", "#92c5de", "#d1e5f0", "#f7f7f7", "#fddbc7", "#f4a582", "#d6604d",
            "#b2182b")  # fmt: skip
NAN_COLOUR, PLUS_INFINITY_COLOUR, MINUS_INFINITY_COLOUR = "#ff33cc", "#ff7f00", "#00b7c7"

GROUND, UNTOUCHED, MASKED, ERROR, NAN, PLUS_INFINITY, MINUS_INFINITY, GHOST = range(8)
PROGRAM = 8  # one colour for each program of a small launch
LEVELS = 64  # of the sequential ramp, which colours the programs of a larger launch
SEQUENTIAL = PROGRAM + len(PROGRAM_COLOURS)
DARKEST_LEVELS = 12  # of the sequential ramp: a dark theme begins after them
DIVERGING_LEVELS = 65  # odd: the middle one is zero
DIVERGING = SEQUENTIAL + LEVELS
TENSOR_LEVELS = 16  # from pale at the storage's start to strong at its end
PALEST = 0.65  # of the ground in the palest level: with more, the first elements of a storage have no colour
TENSOR = DIVERGING + DIVERGING_LEVELS
PALETTE_SIZE = TENSOR + TENSOR_LEVELS * len(TENSOR_COLOURS)

DARKEST_UNDER_INK = (
    0.179  # a label on a darker ground (WCAG's relative luminance) is white, else black: contrast is 4.58 to 1 at least
)
DARK_LABEL, LIGHT_LABEL = "#000000", "#ffffff"

# --- Sizes ------------------------------------------------------------------------------------------

FONT = "DejaVu Sans"
MONO = "DejaVu Sans Mono"
WEB_FONT = "var(--jp-ui-font-family, system-ui, 'DejaVu Sans', sans-serif)"
WEB_MONO = "var(--jp-code-font-family, ui-monospace, 'DejaVu Sans Mono', monospace)"
TITLE, TEXT, SMALL = 11.0, 9.0, 7.5  # points; the browser uses the same numbers as 4/3 px
CHARACTER = SMALL * 4 / 3 * 0.64  # the width of a small digit, CSS pixels
LARGEST_CELL = 28.0  # CSS pixels
ROOM = (640.0, 512.0)  # width and height, CSS pixels, that one heatmap may take
PANEL_GAP_RIGHT, PANEL_GAP_DOWN = 12.0, 20.0  # between the slices of an N-d array; their names stand there


def program_colours(programs: npt.NDArray[np.int64], grid: Sequence[int]) -> npt.NDArray[np.int64]:
    """The palette index of each program of a launch of ``grid``, the same in every picture.

    Up to a dozen programs get a colour each. Programs of a larger launch lie on the sequential ramp by their numbers,
    which is the order in which they start.
    """
    count = prod(map(int, grid))
    if count <= len(PROGRAM_COLOURS):
        return PROGRAM + programs
    return SEQUENTIAL + (LEVELS - 1) * programs // (count - 1)


def tensor_colour(tensor: int, level: int = TENSOR_LEVELS - 1) -> int:
    """The palette index of the ``tensor``-th tensor's hue, ``level`` 0 (pale) to 15 (strong)."""
    return TENSOR + TENSOR_LEVELS * (tensor % len(TENSOR_COLOURS)) + level


def rgb(colour: str) -> tuple[int, int, int]:
    """``"#rrggbb"`` as three numbers from 0 to 255."""
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def hexadecimal(parts: Sequence[int]) -> str:
    """Three numbers from 0 to 255 as ``"#rrggbb"``."""
    return "#" + "".join(f"{part:02x}" for part in parts)


def dimmed(colours: npt.NDArray[Any], theme: Theme = LIGHT) -> npt.NDArray[Any]:
    """Colours (..., 3) of what is not chosen: halfway to the ground. Nearer to it, a dark picture would be black."""
    found: npt.NDArray[Any] = (colours.astype(np.int16) + np.array(rgb(theme.ground), np.int16)) // 2
    return found


def label_ground(look: Sequence[int], is_dimmed: bool = False, theme: Theme = LIGHT) -> tuple[int, int, int]:
    """The colour on which a label stands: a style's first, without its pattern."""
    own = palette(theme)[look[0]]
    red, green, blue = (dimmed(own, theme) if is_dimmed else own).tolist()
    return red, green, blue


def label_colour(ground: Sequence[int]) -> str:
    """Black or white, whichever is readable on a colour."""
    return DARK_LABEL if luminance(ground) >= DARKEST_UNDER_INK else LIGHT_LABEL


def luminance(colour: Sequence[int]) -> float:
    """WCAG's relative luminance, 0 to 1, of red, green and blue from 0 to 255."""
    parts = (part / 255 for part in colour)
    linear = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return sum(share * part for share, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def ramp(anchors: tuple[str, ...], levels: int) -> npt.NDArray[np.uint8]:
    """``levels`` colours, (levels, 3), evenly along the straight lines between the anchors."""
    known = np.array([rgb(anchor) for anchor in anchors], dtype=np.float64)
    at = np.linspace(0, len(anchors) - 1, levels)
    channels = [np.interp(at, np.arange(len(anchors)), known[:, c]) for c in range(3)]
    return np.rint(np.stack(channels, axis=1)).astype(np.uint8)


def _mixed(colour: str, other: str, share: float) -> str:
    return hexadecimal([round(a + (b - a) * share) for a, b in zip(rgb(colour), rgb(other), strict=True)])


@cache
def palette(theme: Theme = LIGHT) -> npt.NDArray[np.uint8]:
    """Every colour that a style can name, (PALETTE_SIZE, 3) uint8."""
    table = np.zeros((PALETTE_SIZE, 3), dtype=np.uint8)
    for index, colour in (
        (GROUND, theme.ground),
        (UNTOUCHED, theme.untouched),
        (MASKED, theme.masked),
        (ERROR, theme.error),
        (NAN, NAN_COLOUR),
        (PLUS_INFINITY, PLUS_INFINITY_COLOUR),
        (MINUS_INFINITY, MINUS_INFINITY_COLOUR),
        (GHOST, theme.ghost),
    ):
        table[index] = rgb(colour)
    for index, colour in enumerate(PROGRAM_COLOURS):
        table[PROGRAM + index] = rgb(colour)
    # The darkest colours cannot be told from a dark ground.
    skipped = DARKEST_LEVELS if theme == DARK else 0
    table[SEQUENTIAL : SEQUENTIAL + LEVELS] = ramp(VIRIDIS, LEVELS + skipped)[skipped:]
    table[DIVERGING : DIVERGING + DIVERGING_LEVELS] = ramp(BLUE_RED, DIVERGING_LEVELS)
    for index, hue in enumerate(TENSOR_COLOURS):
        start = TENSOR + TENSOR_LEVELS * index
        anchors = (_mixed(hue, theme.ground, PALEST), hue)
        table[start : start + TENSOR_LEVELS] = ramp(anchors, TENSOR_LEVELS)
    table.flags.writeable = False
    return table
