"""The iteration domain of the Triton documentation's related-work page, whose code and figure disagree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from triton_lab.localization import _
from triton_lab.messages import count as counted
from triton_lab.polyhedral.display_mixin import Pictured
from triton_lab.polyhedral.related_work.page_nests import PAGE, PAGE_FIGURE
from triton_lab.polyhedral.scop import Scop
from triton_lab.polyhedral.to_scop import scop
from triton_lab.providers import provided

if TYPE_CHECKING:
    from triton_lab.views.polyhedral.page_view import PageFigures


@dataclass(frozen=True)
class PageDomain(Pictured):
    """The domain twice: ``code``, from the page's code, and ``drawn``, from its figure."""

    code: Scop
    drawn: Scop

    @property
    def remarks(self) -> tuple[str, ...]:
        """The contradictions on the page."""
        return (
            _("The loops and the constraint matrix have i ≤ 2 and j ≤ 4: {instances}.").format(
                instances=counted(self.code.count(), "instance")
            ),
            _("The figure beside them has i ≤ 3 and j ≤ 7: {instances}.").format(
                instances=counted(self.drawn.count(), "instance")
            ),
            _("Its label i < j stands where i > j: the diagonal is the border of j − i ≥ 0, beyond it i > j."),
        )

    def plot(self) -> PageFigures:
        """Both side by side, with the remarks."""
        view: PageFigures = provided("PageDomain.plot")(self)
        return view


def page_domain() -> PageDomain:
    """The nest of the page's code, and the nest that its figure shows.

    >>> page_domain().code.count(), page_domain().drawn.count()
    (12, 26)
    """
    return PageDomain(scop(PAGE), scop(PAGE_FIGURE))
