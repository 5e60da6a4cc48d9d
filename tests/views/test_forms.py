"""Every view in every static form: PNG, SVG and words; and a live form that goes into a page."""

from __future__ import annotations

import io
import xml.etree.ElementTree
from collections.abc import Callable

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from PIL import Image

import triton_lab as lab
from tests.wordings import Wording
from triton_lab.launch.launch import Launch
from triton_lab.views.drawing.drawing import Pixels
from triton_lab.views.html_page import page
from triton_lab.views.launch.benchmark.interact import interact
from triton_lab.views.launch.card.launch_card import SHOWN, Card
from triton_lab.views.launch.card.launch_table import LaunchTable
from triton_lab.views.launch.storage.storage_view import storage
from triton_lab.views.launch.values.program_variables import ProgramVariables
from triton_lab.views.view import View

SVG = "{http://www.w3.org/2000/svg}"


@triton.jit
def sums(x_ptr, y_ptr, columns, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, columns, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + row + offsets * stride, mask=offsets < columns, other=0.0)
    tl.store(y_ptr + row, tl.sum(total))


def run(block: int = 8) -> Launch:
    x = torch.arange(120.0).reshape(20, 6).t()
    with lab.record() as launches:
        sums[(6,)](x, torch.zeros(6), 20, x.stride(1), BLOCK=block)
    return launches[0]


@pytest.fixture(scope="module")
def launch() -> Launch:
    return run()


def store_of(launch: Launch) -> object:
    return next(access for access in launch.accesses if access.kind == "store")


VIEWS: dict[str, Callable[[Launch], View]] = {
    "card": lambda one: Card(one, SHOWN),
    "launches": lambda one: LaunchTable([one] * 20),
    "tiling": lambda one: one.tiling("x_ptr", program=2),
    "storage": lambda one: one.storage(),
    "storage of tensors": lambda one: storage(*torch.arange(24.0).reshape(4, 6).split(3, dim=1), names=["a", "b"]),
    **{
        f"heatmap by {by}": lambda one, by=by: one.heatmap("x_ptr", by)
        for by in ("count", "program", "iteration", "reuse", "order", "values")
    },
    "heatmap over storage": lambda one: one.heatmap("x_ptr", over="storage"),
    "timeline": lambda one: one.plot.timeline("x_ptr", program=2),
    "grid": lambda one: one.grid_view("shared", program=1),
    "variable": lambda one: one.values("total").view(),
    "held": lambda one: ProgramVariables(one),
    "steps": lambda one: one.steps(2),
    "origins": lambda one: one.origins_view(store_of(one), program=3),
    "two programs": lambda one: one.values("total").compare(programs=(1, 3)),
    "interact": lambda one: interact(lambda block: run(block), block=[4, 8], draw=Card),
}


@pytest.mark.parametrize("name", VIEWS)
def test_every_view_prints_png_svg_and_words(name: str, launch: Launch) -> None:
    view = VIEWS[name](launch)
    data, metadata = view._repr_mimebundle_()
    image = Image.open(io.BytesIO(data["image/png"]))
    size = metadata["image/png"]
    assert image.size == pytest.approx((2 * size["width"], 2 * size["height"]), abs=3)
    assert len(np.unique(np.asarray(image.convert("L")))) > 4, "something is drawn"
    assert data["text/plain"].strip() and "0x" not in data["text/plain"]

    out = io.BytesIO()
    view.figure().savefig(out, format="svg")
    root = xml.etree.ElementTree.fromstring(out.getvalue())
    assert root.tag == f"{SVG}svg"
    assert float(root.get("width", "0pt").removesuffix("pt")) == pytest.approx(size["width"] * 0.75, abs=2)
    assert root.findall(f".//{SVG}g[@id]")
    images = any(isinstance(item, Pixels) for item in view.drawing().items)
    assert bool(root.findall(f".//{SVG}image")) == images
    assert b"<script" not in out.getvalue()

    whole = page(view)
    assert whole.startswith("<!doctype html>") and "src=" not in whole


def test_what_cannot_be_drawn_says_why_in_a_line_and_a_fault_is_no_such_thing(wording: Wording) -> None:
    nest = lab.polyhedral.scop("for (int i = 0; i < N; i++) A[i] = 0;")
    data, _ = nest.plot()._repr_mimebundle_()
    assert list(data) == ["text/plain"]
    wording(data["text/plain"], size="N", example="scop(..., N=8)", other=".bind(N=8)")
    broken = nest.plot()
    broken.schedule = None  # type: ignore[assignment]
    with pytest.raises(AttributeError):
        broken._repr_mimebundle_()
