"""A launch as one file: nothing from elsewhere, small, and something for every launch."""

from __future__ import annotations

import base64
import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest
import torch
import triton
import triton.language as tl

import triton_lab as lab
from triton_lab.examples import example
from triton_lab.launch.launch import Launch
from triton_lab.views.launch.gallery import launches_of, pictures


@triton.jit
def nothing(x_ptr, n):
    pass


@triton.jit
def doubled(x_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < n) * 2, mask=offsets < n)


def recorded(kernel: object, grid: tuple[int, ...], *arguments: object, **constants: object) -> Launch:
    with lab.target("cpu"), lab.record() as launches:
        kernel[grid](*arguments, **constants)  # type: ignore[index]
    return launches[0]


@pytest.mark.parametrize("name", ["vector_add", "matmul_float32", "attention_causal", "producer_consumer"])
def test_an_example_fits_into_one_small_file(name: str, tmp_path: Path) -> None:
    for launch in launches_of(example(name))[:1]:
        path = tmp_path / "launch.html"
        launch.to_html(path)
        text = path.read_text(encoding="utf-8")
        assert len(text) < 3_000_000
        code = re.sub(r"/\*\*.*?\*/", "", text, flags=re.DOTALL)  # comments name types in other modules
        assert not re.search(r"""(src|href)\s*=|@import|url\(|fetch\(|XMLHttpRequest|import\(""", code)
        absent = {"timeline"} if name == "vector_add" else set()  # each tensor is accessed at one instant
        assert set(TABS) - absent <= set(parts(text)) | {"steps@0"}


TABS = ("tiling", "accesses", "timeline", "storage", "grid", "values", "steps@0", "origins")


def parts(page: str) -> dict[str, Any]:
    """The pictures that a page carries."""
    packed = re.search(r'<script type="application/gzip">([^<]*)</script>', page)
    assert packed
    found: dict[str, Any] = json.loads(gzip.decompress(base64.b64decode(packed[1])))["parts"]
    return found


def test_a_page_answers_for_other_programs_and_elements(tmp_path: Path) -> None:
    x = torch.arange(40.0)[::2]
    launch = recorded(doubled, (3,), x, 20, BLOCK=8)
    launch.to_html(tmp_path / "launch.html")
    found = parts((tmp_path / "launch.html").read_text(encoding="utf-8"))
    assert {"steps@0", "steps@1", "steps@2"} <= set(found)
    (store,) = [access for access in launch.accesses if access.kind == "store"]
    asked = [name for name in found if re.fullmatch(rf"origin/{store.op}/\d+", name)]
    touched = store.element()[store.mask()]  # half of its places are no elements of the view
    assert sorted(int(name.rpartition("/")[2]) for name in asked) == sorted(touched[touched >= 0].tolist())
    assert all(part["kind"] != "words" for part in found.values())


def test_what_a_page_has_no_room_for_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("triton_lab.views.launch.card.launch_card.PAGE_BYTES", 6000)
    launch = recorded(doubled, (3,), torch.zeros(20), 20, BLOCK=8)
    launch.to_html(tmp_path / "launch.html")
    found = parts((tmp_path / "launch.html").read_text(encoding="utf-8"))
    assert found["tiling/x_ptr"]["kind"] == "tiling", "what opens comes first"
    assert any("too large" in part.get("text", "") for part in found.values())


@pytest.mark.parametrize(
    "make",
    [
        lambda: recorded(nothing, (2,), torch.zeros(3), 3),
        lambda: recorded(nothing, (0,), torch.zeros(3), 3),
        lambda: recorded(nothing, (1,), torch.zeros(()), 1),
        lambda: recorded(doubled, (2,), torch.zeros(0), 0, BLOCK=4),
        lambda: recorded(doubled, (2,), torch.full((10,), float("nan"))[::2], 5, BLOCK=4),
        lambda: recorded(doubled, (1,), torch.zeros(()), 1, BLOCK=1),
    ],
    ids=["no access", "no program", "0-d untouched", "empty", "NaN alone", "0-d"],
)
def test_odd_launches_have_pictures_or_say_why_not(make: object, tmp_path: Path) -> None:
    launch = make()  # type: ignore[operator]
    launch.to_html(tmp_path / "launch.html")
    assert "data:image/png" in pictures(launch)
