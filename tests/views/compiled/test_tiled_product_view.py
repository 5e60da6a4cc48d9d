"""A product by tiles in words and as a figure; `tests/browser/test_product_page.py` drags its tile."""

from __future__ import annotations

import re

import torch

import triton_lab as lab
from tests.wordings import Wording
from triton_lab.compiled.cost.tiled_product import TiledProduct
from triton_lab.views.compiled.roofline import LEFT, WIDE
from triton_lab.views.compiled.tiled_product_view import tiled_product
from triton_lab.views.drawing.drawing import DrawnText, Line
from triton_lab.views.drawing.fonts import width_of
from triton_lab.views.drawing.style import SMALL


def test_an_accumulator_that_takes_all_registers_is_told() -> None:
    a, b = torch.empty(1024, 64), torch.empty(64, 1024)
    fits, full = tiled_product(a, b, tile=(128, 256)), tiled_product(a, b, tile=(256, 256))
    assert fits.says["full"] not in fits.told()[2] and full.told()[2].endswith(full.says["full"])
    assert tiled_product(a, b, tile=(256, 256), gpu="MI300X").registers == 512 << 10


def test_the_words_say_what_the_model_says() -> None:
    a, b = torch.empty(100, 70), torch.empty(70, 90)
    one = tiled_product(a, b, (32, 16), (3, 5))
    one.figure()
    assert one.product == TiledProduct(100, 90, 70, 4, "float32", (32, 16))
    title, tile, again, *_rest = one.text().splitlines()
    assert title == one.title()
    # Rows 96 to 99 and columns 80 to 89 along all of k; six columns and four rows of tiles.
    assert [int(each) for each in re.findall(r"\b\d+\b(?! KiB)(?!\.)", tile)] == [3, 5, 96, 99, 80, 89]
    assert tile.endswith("3.83 KiB.") and round(14 * 70 * 4 / 1024, 2) == 3.83
    assert re.findall(r"\d+ programs", again) == ["6 programs", "4 programs"]
    assert lab.tiled_product is tiled_product


def test_each_label_under_the_roof_begins_at_its_own_line() -> None:
    view = tiled_product(torch.empty(1024, 512), torch.empty(512, 1024), tile=(16, 256))
    lines = [item for item in view.under_roof() if isinstance(item, Line)]
    labels = [item for item in view.under_roof() if isinstance(item, DrawnText)]
    assert len(lines) == len(labels) == 3
    for line, label in zip(lines, labels, strict=True):
        assert label.align == "left" and label.x - line.points[0][0] == 7
        assert label.x + width_of(label.text, SMALL) <= LEFT + WIDE


def test_what_is_no_product_is_refused(wording: Wording) -> None:
    a = torch.empty(8, 6)
    with wording.raises(TypeError):
        tiled_product(a, torch.empty(6))
    with wording.raises(TypeError):
        tiled_product(a, torch.empty(6, 8, dtype=torch.float16))
    with wording.raises(ValueError, columns=6, rows=8):
        tiled_product(a, torch.empty(8, 2))
    with wording.raises(LookupError, gpu="TPU"):
        tiled_product(a, torch.empty(6, 2), gpu="TPU")
