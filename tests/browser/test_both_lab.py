"""A launch that ran on a GPU elsewhere, in JupyterLab: the two results, and causes that are tried when asked for."""

from __future__ import annotations

import torch
from playwright.sync_api import expect

from tests.browser.lab import Lab
from tests.browser.test_card_lab import opened
from tests.launch.comparison.kernels import quotient, recorded
from tests.launch.on_both import on_both

SHOWN = """import triton_lab as lab
from triton_lab.views.launch.card.launch_card import Card
launch = lab.load("both.launch")
launch.interpreted = 9.0  # as if it took the interpreter long
Card(launch, both=True)"""


def test_causes_are_tried_when_somebody_asks(lab: Lab) -> None:
    a, b = (torch.rand(64, generator=torch.Generator().manual_seed(seed)) + 0.5 for seed in (1, 2))
    launch = on_both(recorded(lambda: quotient[(2,)](a, b, torch.empty(64), BLOCK=32)))
    launch.save(lab.folder / "both.launch")
    card = opened(lab, SHOWN).cell(1).locator(".tl-card")
    expect(card.get_by_role("tab", name="GPU and CPU")).to_have_attribute("aria-selected", "true")
    expect(card).to_contain_text("quotient (GPU) and quotient (CPU) are equal up to rounding")
    expect(card).not_to_contain_text("removes the difference?")
    card.get_by_role("button", name="find the cause").click()
    expect(card).to_contain_text("removes the difference?")
    expect(card).to_contain_text("division")
    expect(card.get_by_role("button", name="find the cause")).to_have_count(0)
