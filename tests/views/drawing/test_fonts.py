"""Which fonts draw words: letters that ours has not are taken from a font that is installed."""

from __future__ import annotations

import io
import logging
import unittest
import warnings
from collections.abc import Iterator
from types import SimpleNamespace

import pytest
import torch
from matplotlib import font_manager

import triton_lab as lab
from triton_lab.views.drawing import fonts, style
from triton_lab.views.drawing.fonts import width_of


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    """What was installed for another test."""
    fonts._with_chinese.cache_clear()
    yield
    fonts._with_chinese.cache_clear()


def installed(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    found = SimpleNamespace(ttflist=[SimpleNamespace(name=name) for name in names])
    monkeypatch.setattr(font_manager, "fontManager", found)


def test_the_first_known_font_that_is_installed_has_the_letters_that_ours_has_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    installed(monkeypatch, "SimHei", "DejaVu Sans", "WenQuanYi Micro Hei")
    assert fonts.family("x_ptr, ×3 → é, Ω") == [style.FONT]
    assert fonts.family("") == [style.FONT]
    assert fonts.family("存储 x") == [style.FONT, "WenQuanYi Micro Hei"]
    assert fonts.family("# 存储", mono=True) == [style.MONO, "WenQuanYi Micro Hei"]


def test_no_font_is_asked_for_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    installed(monkeypatch, "DejaVu Sans")
    assert fonts.family("存储") == [style.FONT]


def test_chinese_words_have_the_room_that_they_take() -> None:
    assert width_of("x" * 10) == pytest.approx(10 * width_of("x"), rel=0.1)
    assert width_of("存" * 10) >= 10 * style.TEXT * 4 / 3, "each is as wide as it is high"


def test_a_picture_with_chinese_names_has_no_boxes_in_their_place() -> None:
    if len(fonts.family("存")) == 1:
        pytest.skip("no font with Chinese letters is installed: Debian has fonts-wqy-microhei")
    view = lab.storage(torch.zeros(4, 6), torch.zeros(3), names=["矩阵", "偏置"])
    with warnings.catch_warnings(), unittest.TestCase().assertNoLogs(level=logging.WARNING):
        warnings.simplefilter("error")  # matplotlib warns of each letter that no font has
        view.figure().savefig(io.BytesIO())
