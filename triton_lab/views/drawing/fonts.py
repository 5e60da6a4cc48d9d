"""The fonts of words, and how wide words are. Letters that our fonts lack come from an installed font that has them.

Names of variables, comments and docstrings may be Chinese, as in the course's Chinese edition. matplotlib takes each
letter from the first font in a list that has it, and warns of a font that is not installed.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from triton_lab.views.drawing import style

if TYPE_CHECKING:
    from matplotlib.ft2font import FT2Font

FIRST_WIDE = "\u2e80"  # most letters from here on are Chinese, Japanese or Korean
# The first of these that is installed is used.
WITH_CHINESE = (
    "Noto Sans CJK SC",
    "Noto Sans SC",
    "Source Han Sans SC",
    "WenQuanYi Micro Hei",
    "WenQuanYi Zen Hei",
    "PingFang SC",
    "Hiragino Sans GB",
    "Microsoft YaHei",
    "SimHei",
    "Noto Sans CJK JP",
    "Droid Sans Fallback",
    "Arial Unicode MS",
)


def family(words: str, mono: bool = False) -> list[str]:
    """The fonts for some words; each letter is drawn by the first font that has it."""
    own = style.MONO if mono else style.FONT
    return [own, *_with_chinese()] if _is_wide(words) else [own]


def weight(words: str, bold: bool) -> str:
    """The weight for some words: few Chinese fonts are bold. matplotlib would warn, and half a title would be bold."""
    return "bold" if bold and not _is_wide(words) else "normal"


def _is_wide(words: str) -> bool:
    return max(words, default="") >= FIRST_WIDE


@cache
def _with_chinese() -> list[str]:
    from matplotlib import font_manager

    installed = {font.name for font in font_manager.fontManager.ttflist}
    return [name for name in WITH_CHINESE if name in installed][:1]


def width_of(words: str, size: float = style.TEXT, mono: bool = False, bold: bool = False) -> float:
    """The width of one line of words in CSS pixels; ``size`` in points."""
    return size * 4 / 3 * sum(advance(letter, mono, bold) for letter in words)


@cache
def advance(letter: str, mono: bool, bold: bool) -> float:
    """The width of a letter in sizes of the font; one that our font lacks counts as wide as it is high."""
    from matplotlib.ft2font import LoadFlags

    font = _font(mono, bold)
    if not font.get_char_index(ord(letter)):
        return 1.0
    return float(font.load_char(ord(letter), LoadFlags.NO_SCALE).horiAdvance) / font.units_per_EM


@cache
def _font(mono: bool, bold: bool) -> FT2Font:
    from matplotlib import font_manager, ft2font

    wanted = font_manager.FontProperties(family=style.MONO if mono else style.FONT, weight="bold" if bold else "normal")
    return ft2font.FT2Font(font_manager.findfont(wanted))
