"""Which fonts draw words in a figure: ours, and where it has no such letters, one of this machine's that has.

Names of variables, comments and docstrings may be Chinese, as those of the course's Chinese edition are. matplotlib
takes each letter from the first font of a list that has it; it warns of a font that is not there.
"""

from __future__ import annotations

import unicodedata
from functools import cache

from matplotlib import font_manager

from triton_lab.views.drawing import style

FIRST_WIDE = "\u2e80"  # from here on letters are Chinese, Japanese or Korean, mostly
# Of these the first that is installed is taken.
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
    """The fonts for some words, the first that has a letter draws it."""
    own = style.MONO if mono else style.FONT
    return [own, *_with_chinese()] if _is_wide(words) else [own]


def weight(words: str, bold: bool) -> str:
    """Few of these fonts have bold letters, which matplotlib complains of, and half of a title would be bold."""
    return "bold" if bold and not _is_wide(words) else "normal"


def _is_wide(words: str) -> bool:
    return max(words, default="") >= FIRST_WIDE


@cache
def _with_chinese() -> list[str]:
    installed = {font.name for font in font_manager.fontManager.ttflist}
    return [name for name in WITH_CHINESE if name in installed][:1]


def letters(words: str) -> float:
    """How many letters wide words are: a Chinese one is as wide as it is high, and others a little more than half."""
    if words.isascii():
        return len(words)
    return len(words) + 0.75 * sum(unicodedata.east_asian_width(letter) in "WF" for letter in words)
