"""Pictures of kernels' iteration domains: the race in red, its element marked."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

import triton_lab as lab
from tests.polyhedral.races import CASES
from triton_lab.polyhedral.kernels.launch_scop import KernelScop
from triton_lab.views.drawing.cell_scenes import Buffer
from triton_lab.views.polyhedral import polyhedral_style as look
from triton_lab.views.polyhedral.kernel_view import KernelView
from triton_lab.views.polyhedral.legend_box import entries


@pytest.fixture(autouse=True)
def _on_cpu() -> Iterator[None]:
    with lab.target("cpu"):
        yield


def model(name: str) -> KernelScop:
    with lab.record() as launches:
        CASES[name].run()
    found = lab.polyhedral.scop(launches[0])
    assert isinstance(found, KernelScop)
    return found


def test_the_offending_pair_is_joined_by_a_red_arrow() -> None:
    view = KernelView(model("blocks_overlap"))
    assert view.picture.dims == ("pid", "lane")
    (arrows,) = view.picture.arrows
    assert arrows.violated
    told = [entry.text for entry in entries(view.picture, False)]
    assert "race" in told and "violated" not in told
    (source, target) = arrows.ends[0]
    # Blocks of 16 that begin every 12 elements: both touch one element.
    assert source[0] != target[0] and 12 * source[0] + source[1] == 12 * target[0] + target[1]
    assert any("out_ptr[12]" in text and tone == "violated" for text, tone in view.notes), view.notes
    canvas = FigureCanvasAgg(view.figure())
    canvas.draw()
    violated = [int(look.LIGHT.violated[k : k + 2], 16) for k in (1, 3, 5)]
    reds = np.asarray(canvas.buffer_rgba())[..., :3] == np.array(violated)
    assert reds.all(axis=-1).sum() > 100


def test_without_a_race_nothing_is_red() -> None:
    view = KernelView(model("blocks_side_by_side"))
    assert view.picture.arrows == ()
    assert "Race-free" in view.notes[0][0] and "Verified" in view.text()


def test_points_are_the_active_lanes() -> None:
    (layer,) = KernelView(model("blocks_side_by_side")).picture.layers
    assert len(layer.points) == 70


def test_lines_and_dimensions_can_be_chosen() -> None:
    scop = model("persistent")
    line = scop.kernel_statements[0].line
    view = KernelView(scop, line, dims=("block", "lane"), at={"pid": 1})
    assert {point[0] for point in view.picture.layers[0].points.tolist()} == {1, 4, 7}
    with pytest.raises(ValueError, match="no affine access"):
        KernelView(scop, 1)


def test_the_live_view_keeps_the_race_when_dimensions_change() -> None:
    view = KernelView(model("tiles_transposed_in_place"))
    again = view.again(view.schedule, ("pid_1", "i"), {})
    assert [arrow.violated for arrow in again.picture.arrows] == [True]


def test_the_live_view_links_the_racing_instance_with_the_contested_element() -> None:
    view = KernelView(model("tiles_transposed_in_place"))
    assert view.race is not None
    scene, links = view.scene(), view._links()
    assert links is not None

    def read(sent: Buffer) -> list[int]:
        return np.frombuffer(sent["bytes"], sent["type"]).tolist()

    times = view.picture.times[scene["chosen"]]
    linked = {
        (access["array"], cell)
        for access in scene["accesses"]
        for visit, cell in zip(read(access["visits"]), read(access["cells"]), strict=True)
        if visit in times
    }
    assert linked == {(array, cell) for array, cell, _kind, _may in links.marked}


def test_the_general_kernel_has_sliders() -> None:
    view = KernelView(model("blocks_side_by_side").general)
    controls = view.controls()["parameters"]
    assert controls["n"][0] == 70 and controls["grid"][0] == 5
