"""The picture of a program's affine parts, still and live."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.polyhedral.test_maximal_parts import PROGRAM
from tests.views.polyhedral.test_iteration_view import at, near, pixels
from tests.views.polyhedral.test_live import Open, show  # noqa: F401 - `show` is a fixture
from tests.wordings import Wording
from triton_lab.polyhedral import scop
from triton_lab.polyhedral.related_work import page_nests
from triton_lab.views.drawing.drawing import MARGIN
from triton_lab.views.notebook_output import SCENE
from triton_lab.views.polyhedral import polyhedral_style as look
from triton_lab.views.polyhedral.maximal_view import BAR, ROW, maximal_view


def test_each_line_has_the_bar_of_its_part() -> None:
    import numpy as np

    view = maximal_view(scop(PROGRAM, maximal=True))
    figure = view.figure()
    image, scale = pixels(figure), figure.dpi / 96 / 2  # a wide figure has fewer dots to the inch
    y = MARGIN + 28
    for text, part, reasons in view.parts.marks():
        colour = look.LIGHT.ground if part is None else look.LIGHT.parts[part]
        assert near(at(image, scale * np.array([MARGIN + 3, y + ROW / 2])), colour), text
        y += ROW * (1 + len(reasons))
    assert BAR > 6


def test_it_is_live_a_picture_and_words(wording: Wording) -> None:
    view = maximal_view(scop(PROGRAM, maximal=True))
    data, _ = view._repr_mimebundle_()
    assert set(data) == {SCENE, "image/png", "text/plain"}
    assert view.title() == "5 affine parts, 3 things between"
    assert "part 2: 1 statement" in data["text/plain"]
    wording(maximal_view(scop(page_nests.PAGE, maximal=True)).title())
    assert [one is None for one in view.scene()["scenes"]] == [False, True, False, True, False]


def test_long_reasons_and_many_parts_fit() -> None:
    text = "\n".join(f"for (int i = 0; i < n; i++)\n  for (int j = i; j < K[i]; j++) A{k}[i][j] = 0;" for k in range(9))
    view = maximal_view(scop(text, maximal=True))
    image = pixels(view.figure())
    assert (image[:, -8:] == 255).all() and (image[-8:] == 255).all()


@pytest.mark.browser
def test_a_line_shows_the_domain_of_its_part(show: Open) -> None:  # noqa: F811
    page = show(maximal_view(scop(PROGRAM, maximal=True, n=4)))
    expect(page.locator(".tl-domain .tl-domain")).to_contain_text("part 0: ")
    page.get_by_text("C[j][k] = B[j]").first.click()
    expect(page.locator(".tl-domain .tl-domain")).to_contain_text("part 2: 4 instances at j = 2, i = 6")
    page.get_by_text("D[i] = B[i];").first.click()
    expect(page.locator(".tl-domain")).to_contain_text("part 3 has no loop: one instance")
    expect(page.locator(".tl-parts-reason").first).to_contain_text("bounds of while")
