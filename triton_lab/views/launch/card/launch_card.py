"""The launch card: what ran, on which target, the findings, and the requested pictures."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, ClassVar

from triton_lab.launch.recording.last_launch import is_last
from triton_lab.localization import _, all_translated
from triton_lab.messages import count, noun
from triton_lab.views.drawing.drawing_text import table_lines
from triton_lab.views.frontend_presence import is_imported, widgets_are_shown
from triton_lab.views.launch.card.card_head import CardHead
from triton_lab.views.launch.card.card_parts import KEPT_NUMBERS, kept, opened, part, shown_first, tabs, there
from triton_lab.views.launch.card.card_scenes import CardScene, FindingScene, MarkedSource
from triton_lab.views.launch.card.card_tab import NUMBERS, Panel
from triton_lab.views.launch.card.findings_text import excerpt_lines, finding_scene, fix_lines
from triton_lab.views.launch.card.launch_tabs import COMPILED_SHOWN, SHOWN
from triton_lab.views.launch.card.line_annotations import annotated, marked_source
from triton_lab.views.launch.finding_marks import by_program
from triton_lab.views.missing_picture import attempt, in_words
from triton_lab.views.scene_packing import fitting, is_drawable, size
from triton_lab.views.scenes import NotedSource, Scene
from triton_lab.views.view import View

if TYPE_CHECKING:
    from triton_lab.launch.launch import Launch
    from triton_lab.views.drawing.drawing import Drawing

SAVED_BYTES = 230_000  # all pictures in a notebook's output, in `size`'s count: `output` limits the whole
ALL_BYTES, PACKED_BYTES = 900_000, 250_000  # if all tabs are saved: in `size`'s count, and packed
SAVED_LANES = 1 << 16  # of a launch whose tabs are all computed for its first display, in some milliseconds each
SAVED_PARTS = 32
PAGE_BYTES = 2_700_000  # all pictures in a page; script and style bring it close to 3 MB


def saves_all() -> bool:
    """Whether outputs keep every picture of a card that fits, however long that takes: for notebooks to be handed out.

    ``TRITON_LAB_SAVE=all`` in the environment says so.
    """
    return os.environ.get("TRITON_LAB_SAVE") == "all"


_IMPORT = "import triton_lab as lab\n"


class Card(CardHead, View):
    """A launch as one panel. ``show`` names what the static forms draw, in order.

    The names are any of `SHOWN`, and for a launch that was compiled of `COMPILED_SHOWN`.

    The live card has a tab for everything and opens the first that ``show`` names; a tab's picture is made when it is
    opened. ``both``: the comparison of GPU and CPU is shown first, if both ran. ``raised`` is the launch's error as a
    cell shows it without a card: with the lines that led to the launch.
    """

    MOST_FINDINGS: ClassVar[int] = 8  # findings in the static forms

    def __init__(
        self,
        launch: Launch,
        show: Sequence[str] = ("tiling",),
        both: bool = False,
        raised: str = "",
    ) -> None:
        super().__init__(launch)
        known = (*SHOWN, *(COMPILED_SHOWN if self.compiled else ()))
        for name in show:
            if name not in known:
                when = " before its launch.compile(...)" if name in COMPILED_SHOWN else ""
                raise ValueError(
                    _("a card has no {name}{when}; it shows {names}").format(
                        name=repr(name), when=when, names=", ".join(known)
                    )
                )
        self.show = tuple(dict.fromkeys(show))
        self.both, self.raised = both, raised

    # --- Words ----------------------------------------------------------------------------------------

    def findings(self) -> list[FindingScene]:
        """The findings in plain words: the one that stopped the launch, then errors, then the rest."""
        return list(map(finding_scene, self.gravest))

    def source(self) -> MarkedSource:
        """The kernel's lines, each with its accesses and its worst finding."""
        return marked_source(self.launch, self.accesses, self.gravest)

    def annotations(self) -> list[NotedSource]:
        from triton_lab.launch.recording.launch_record import Recorded

        # A card may show less than a recorded launch, without counts of how often lines ran.
        return annotated(self.launch, self.accesses, self.gravest) if isinstance(self.launch, Recorded) else []

    def failure(self) -> str:
        """The message of the launch's error, "" if there is none."""
        return str(self.launch.error) if self.launch.error else ""

    def told(self) -> bool:
        """Whether a finding says what the error says: then the card shows it only once, at the finding."""
        return any(one["stopped"] for one in self.findings())

    def left_out(self) -> list[str]:
        """The number of findings that the static forms leave out, in words."""
        more = len(self.launch.findings) - self.MOST_FINDINGS
        return [_("{findings}: see launch.findings").format(findings=count(more, "more finding"))] if more > 0 else []

    def remarks(self) -> list[str]:
        """The remarks: what was not checked, and what the pictures leave out."""
        unchecked = [str(each) for each in getattr(self.launch, "unchecked", ())]
        dropped = getattr(self.launch, "dropped", "")
        # Dropped data is mostly the reason why something was not checked: say it once.
        remarks = unchecked + [part for part in dropped.split("; ") if part and part not in "\n".join(unchecked)]
        left = len(self.touched) - self.MOST_ARGUMENTS
        if "tiling" in self.show and left > 0:
            remarks.append(
                _("{arguments} not drawn here; launch.plot.tiling(name) draws one").format(
                    arguments=count(left, "more tensor argument")
                )
            )
        asked = () if set(SHOWN) <= set(self.show) else self.show  # showing all means all that exist
        missing = set(self.tabs) - set(there(self))
        missed = [self.panel(tab.name).absent for tab in self.tabs if tab in missing and tab.name in asked]
        return remarks + [why for why in missed if why] + self.troubles

    # --- Pictures -------------------------------------------------------------------------------------

    @property
    def tilings(self) -> Sequence[View]:
        """A tiling for each tensor argument that is drawn, if tilings are requested."""
        return self.panel("tiling").drawn() if "tiling" in self.show else []

    @property
    def printed(self) -> list[tuple[str, Panel]]:
        """The panels that the static forms draw, in order."""
        names = {tab.name for tab in there(self)}
        return [(name, self.panel(name)) for name in self.looked_at if name in names]

    @cached_property
    def looked_at(self) -> tuple[str, ...]:
        """The tabs to show, in order. Only the grid shows findings that concern programs and no argument."""
        plain = self.show == ("tiling",)  # the default: no tab was requested
        compiled = ("compiled",) if self.compiled else ()
        first = ("comparison",) if self.both else ()
        grid = ("grid",) if plain and by_program(self.launch) else ()
        every = (*first, *grid, *(compiled if plain else ()), *self.show, *(() if plain else compiled))
        return tuple(dict.fromkeys(every))

    @property
    def first(self) -> str | None:
        """The name of the tab that opens, if there is one."""
        there = [tab["name"] for tab in tabs(self)]
        return next((name for name in self.looked_at if name in there), None)

    def scene(self) -> CardScene:
        """The card with the tab that it opens; `part` has the rest."""
        return self._scene(self._opened)

    @cached_property
    def _opened(self) -> dict[str, Scene]:
        """The pictures shown first."""
        return opened(self, self.first) if self.first else {}

    def standalone(self, room: int | None = None) -> CardScene:
        """The card with all pictures that fit into ``room`` bytes of a page, by default `PAGE_BYTES`."""
        parts: dict[str, Scene] = {}
        left = PAGE_BYTES if room is None else room
        for name in kept(self) if self.show or self.both else ():
            made = part(self, name, KEPT_NUMBERS)
            needed = size(made)
            if needed > left:
                made = in_words(_("Left out: the page would be too large. A running kernel makes this picture."))
                needed = size(made)
            parts[name] = made
            left -= needed
        found = self._scene(parts)
        found.pop("compare", None)  # a page has no kernel in which to compare
        return found

    def saved(self) -> CardScene:
        """The card with the pictures of every tab, if there is little to compute, as far as they fit."""
        if not self.grows:
            return self.scene()
        if saves_all() and is_drawable(whole := self._saved(ALL_BYTES, kept(self)), PACKED_BYTES):
            return whole
        return self._saved(SAVED_BYTES, islice(shown_first(self), SAVED_PARTS))

    def _saved(self, room: int, names: Iterable[str]) -> CardScene:
        """The card with those of the named pictures that fit into so many bytes, in `size`'s count."""
        # If no front end is connected, nothing more can be requested later.
        numbers = NUMBERS if widgets_are_shown() else KEPT_NUMBERS
        parts = self._opened
        left = room - sum(map(size, parts.values()))
        others = (name for name in names if name not in parts)
        # A missing picture is requested from the kernel, so that no note about it is needed here.
        return self._scene({**parts, **fitting(others, lambda name: part(self, name, numbers), left)})

    @property
    def grows(self) -> bool:
        return bool(self.show or self.both) and (saves_all() or self.lanes() <= SAVED_LANES)

    def lanes(self) -> int:
        """The number of lanes of all programs that accessed memory: the pictures are computed from them."""
        events = (event for access in self.accesses for event in access.events)
        return sum(len(event.programs) * math.prod(event.shape) for event in events)

    def part(self, name: str) -> Scene:
        """The scene of one tab, or of one picture in it."""
        return part(self, name)

    def comparing(self) -> str:
        """A call that compares this launch with a result that the user fills in; "" if ``lab.last`` is another one.

        It imports ``lab`` first in a notebook that has not.
        """
        if not is_last(self.launch) or self.launch.error is not None:
            return ""
        names = [access.argument for access in self.accesses if access.kind == "load" and access.argument]
        given = [name for name in dict.fromkeys(names) if name.isidentifier()]
        call = f"lab.compare(lab.last, lambda {', '.join([*given, '**_'])}: ...)"
        return call if is_imported("triton_lab", "lab") else _IMPORT + call

    def _scene(self, parts: Mapping[str, Scene]) -> CardScene:
        scene: CardScene = {
            "kind": "card",
            "title": self.title(),
            "facts": self.facts(),
            "grid": list(self.launch.grid),
            "headings": list(all_translated(self.HEADINGS)),
            "table": [list(row) for row in self.table()],
            "scalars": self.scalars(),
            "findings": self.findings(),
            # If a finding has the same message, this is folded away.
            "failure": self.raised if self.raised and self.told() else self.failure(),
            "told": self.told(),
            "remarks": self.remarks(),
            "show": list(self.show),
            "source": self.source(),
            "unchecked": self.unchecked(),
            "tabs": tabs(self) if self.show or self.both else [],
            "opened": self.first,
            "parts": dict(parts),
        }
        if self.comparing():
            scene["compare"] = self.comparing()
        return scene

    def text(self) -> str:
        pictures = [line for _unused, panel in self.printed for line in _told(panel)]
        return "\n".join([self.brief(), *(f"  {line}" for line in pictures)])

    def brief(self) -> str:
        """The card in words without its pictures: facts, arguments and findings."""
        table = table_lines([all_translated(self.HEADINGS), *self.table()])
        lines = [" · ".join([self.title(), *self.facts()])]
        lines += [f"  {line}" for line in (*table, *self.scalars())]
        if not self.told():
            lines += [f"  {line}" for line in self.failure().splitlines()]
        for one in self.findings()[: self.MOST_FINDINGS]:
            where = f"{one['where']}: " if one["where"] else ""
            lines.append(f"  {one['icon']} {noun(1, one['severity'])}: {where}{one['message']}")
            lines += [f"      {line}" for line in one["orders"]]
            lines += [f"    {line}" for line in excerpt_lines(one["excerpt"], one["stopped"])] + [
                f"      {one['hint']}"
            ]
            lines += [f"      {line}" for line in fix_lines(one["fix"])]
        lines += [f"  {remark}" for remark in (*self.left_out(), *self.remarks())]
        return "\n".join(lines)

    def pieces(self) -> list[Drawing]:
        from triton_lab.views.launch.card.card_figure import card_pieces

        return card_pieces(self)


def _told(panel: Panel) -> list[str]:
    """A panel in words, or the reason why it is empty."""
    return attempt(panel.text, lambda why: [why])
