"""Cost as a picture: the scene says what the model says, and every form can be made."""

from __future__ import annotations

import pytest
import torch

import triton_lab as lab
from triton_lab.compiled.cost import GPUS
from triton_lab.examples.vector_add import add


def compiled(target="sm_90"):
    with lab.record() as launches:
        add(torch.zeros(1000), torch.zeros(1000), block=128)
    return launches[0].compile(target)


def test_shares_of_lines_add_up_to_one():
    scene = compiled().plot.cost().scene()
    for k, name in enumerate(scene["shares"]):
        assert sum(shares[k] for _, _, shares in scene["listing"]) == pytest.approx(1), name
    assert scene["totals"][0] == "12 kB"


def test_every_gpu_has_a_roof():
    scene = compiled().plot.cost("RTX 4090").scene()
    assert [roof["name"] for roof in scene["roofs"]] == [one.name for one in GPUS]
    assert scene["roofs"][scene["shown"]]["name"] == "RTX 4090"
    for roof in scene["roofs"]:
        assert roof["rate"] == pytest.approx(min(roof["peak"], scene["intensity"] * roof["memory"]))
        assert roof["source"].startswith("Figures: ")


@pytest.mark.parametrize("target", ["sm_80", "gfx942", "gfx1200"])
def test_every_form_for_every_maker(target):
    view = compiled(target).plot.cost()
    view.figure()
    assert view.text().startswith(f"add_kernel for {target}: what it costs\nbytes, each once")
    listing = view.scene()["listing"]
    assert (listing[0][2][2] is None) == target.startswith("gfx")


def test_a_gpu_that_is_not_known_is_told():
    with pytest.raises(LookupError, match="no figures are known of 'TPU'"):
        compiled().plot.cost("TPU")
