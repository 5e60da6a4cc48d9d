"""A question in the browser: its controls stand out from the panel that they lie on, in the colours of each host."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page

import triton_lab as lab
from tests.browser.test_accessible import JUPYTER_THEMES
from triton_lab.examples import example
from triton_lab.views.drawing import style
from triton_lab.views.launch.gallery import launches_of

# The colours of a control's border, of its ground, and of what it lies on, as the eye gets them: over what is behind.
_SEEN = """control => {
  const context = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const over = colours => {
    for (const colour of colours) { context.fillStyle = colour; context.fillRect(0, 0, 1, 1); }
    return [...context.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const grounds = at => (at ? [...grounds(at.parentElement), getComputedStyle(at).backgroundColor] : ["white"]);
  const below = grounds(control.parentElement);
  const { borderTopColor, backgroundColor } = getComputedStyle(control);
  return [over([...below, backgroundColor, borderTopColor]), over([...below, backgroundColor]), over(below)];
}"""


def contrast(one: list[int], other: list[int]) -> float:
    """WCAG's ratio of two colours."""
    low, high = sorted([style.luminance(one), style.luminance(other)])
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", [style.LIGHT, style.DARK], ids=["light", "dark"])
@pytest.mark.parametrize("host", ["page", "jupyterlab"])
@pytest.mark.parametrize("choices", [[], ["0", "1", "2"]], ids=["number", "choices"])
def test_what_takes_an_answer_has_a_border_and_a_ground(
    show: Callable[..., Page], choices: list[str], host: str, theme: style.Theme
) -> None:
    picture = launches_of(example("softmax"))[0].plot.grid()
    right = choices[0] if choices else 1.0
    page = show(lab.course.predict("How many?", choices, right=right, picture=picture), theme)
    if host == "jupyterlab":
        name = "dark" if theme is style.DARK else "light"
        page.add_style_tag(path=JUPYTER_THEMES / f"theme-{name}-extension" / "index.css")
        page.add_style_tag(content="body { background: var(--jp-layout-color0) !important }")
    controls = page.locator(".tl-asked").locator("button:not(.tl-link), input").all()
    assert len(controls) == (len(choices) or 2)
    for control in controls:
        border, ground, panel = control.evaluate(_SEEN)
        assert contrast(border, panel) >= 3 and contrast(border, ground) >= 3
        assert ground != panel
