"""`launch.plot`: the pictures of a launch by their names; called itself, it makes the card with all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from triton_lab.views.html_page import page
from triton_lab.views.launch.card.launch_card import Card
from triton_lab.views.launch.card.launch_plot import Pictures
from triton_lab.views.launch.card.launch_tabs import SHOWN

if TYPE_CHECKING:
    from triton_lab.launch.launch import Launch


class LaunchPlot(Pictures):
    """The pictures of a launch, named as in ``%%triton --show``; called itself, it makes the card.

    Each is live, a PNG and words, and shows itself as the last value of a cell. Programs are linear numbers, x fastest.

    >>> launch.plot("grid", "steps").show
    ('grid', 'steps')
    >>> launch.plot.tiling("x_ptr", program=2).title()
    'x_ptr (1000): which program loads each element'
    """

    def __call__(self, *show: str) -> Card:
        """The launch's card.

        ``show`` are words of ``--show``: the static forms draw these, and the first of them is the tab that opens; the
        default is the tiling. Raises ValueError for another word.

        >>> launch.plot("grid", "steps").title()
        'add_kernel[8, 1, 1]'
        """
        return Card(self._launch, show or ("tiling",))


def page_of(launch: Launch) -> str:
    """Everything there is to see of a launch, as one page that needs no network."""
    return page(Card(launch, SHOWN))
