"""The fonts of words in figures: ours, and for letters that it lacks, an installed font that has them.

Names of variables, comments and docstrings may be Chinese, as in the course's Chinese edition. matplotlib takes each
letter from the first font in a list that has it, and warns of a font that is not installed.
"""

from __future__ import annotations

import unicodedata
from functools import cache

from matplotlib import font_manager

from triton_lab.views.drawing import style

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
    installed = {font.name for font in font_manager.fontManager.ttflist}
    return [name for name in WITH_CHINESE if name in installed][:1]


def letters(words: str) -> float:
    """The width of words in letters: a Chinese letter is as wide as it is high, others a little more than half."""
    if words.isascii():
        return len(words)
    return len(words) + 0.75 * sum(unicodedata.east_asian_width(letter) in "WF" for letter in words)
