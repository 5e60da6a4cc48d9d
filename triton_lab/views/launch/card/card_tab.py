"""A tab of a launch's card: its row in the table (`launch_tabs.TABS`), and the panel that it opens."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, ClassVar, cast

from triton_lab.localization import _, translated
from triton_lab.views.launch.card.card_scenes import ItemScene

if TYPE_CHECKING:
    from triton_lab.views.drawing.drawing import Drawing
    from triton_lab.views.launch.card.card_contents import Contents
    from triton_lab.views.scenes import Scene
    from triton_lab.views.view import View

NUMBERS = 1 << 18  # the most numbers of a variable or of a program's steps that are sent to the browser together


@dataclass(frozen=True)
class Tab:
    """A tab: a row of the table of pictures.

    ``name`` is the word of ``--show`` and the method of `launch.plot`; ``label`` stands on the tab. ``help`` is the
    line of ``%%triton --help`` ("" for a tab that cannot be requested by name). ``home`` says which `Panel` the tab
    opens, as ``module:class`` ("" for what a card shows beside its tabs). ``when`` names the attribute of the card on
    which the tab depends ("" if the panel decides).

    Pictures have names such as ``tiling/x_ptr``: words between slashes, the first of them the tab's name or one of
    ``words``. With a ``window``, the picture follows the picked program, and is requested for so many programs at a
    time.
    """

    name: str
    label: str
    help: str
    home: str = ""
    when: str = "ran"
    words: tuple[str, ...] = ()
    window: int = 0

    def panel(self, card: Contents) -> Panel:
        """The panel of ``card``. Its module is imported only here, so that the table itself costs nothing."""
        module, _unused, name = self.home.partition(":")
        made: Panel = getattr(importlib.import_module(module), name)(card)
        return made


def listed(head: str, whole: str, tabs: Sequence[Tab]) -> str:
    """The text that a ``.plot`` shows of itself: its methods, and ``whole``, the result of calling it."""
    calls = [".plot()", *(f".plot.{tab.name}(...)" for tab in tabs)]
    width = max(map(len, calls))
    told = zip(calls, [whole, *(translated(tab.help) for tab in tabs)], strict=True)
    return "\n".join([head, *(f"  {call.ljust(width)} {what}" for call, what in told)])


class Tabbed:
    """An object with ``tabs``: the card of a launch, or of compilations without a launch."""

    tabs: Sequence[Tab]

    @cached_property
    def _made(self) -> dict[str, Panel]:
        return {}

    @property
    def panels(self) -> list[tuple[Tab, Panel]]:
        """Each tab with its panel."""
        return [(tab, self.panel(tab.name)) for tab in self.tabs]

    def tab(self, word: str) -> Tab:
        """The tab of that name, or of pictures whose names begin with it. Raises LookupError."""
        for tab in self.tabs:
            if word == tab.name or word in tab.words:
                return tab
        raise unknown([word])

    def panel(self, word: str) -> Panel:
        """The panel of that tab, made at the first request. Raises LookupError."""
        from triton_lab.views.missing_picture import attempt

        tab, card = self.tab(word), cast("Contents", self)  # as far as these panels look at it
        if tab.name not in self._made:
            self._made[tab.name] = attempt(partial(tab.panel, card), partial(Missing, card))
        return self._made[tab.name]


class Panel:
    """The panel of a tab of ``card``: one picture, or several to choose from; live and static."""

    waits: ClassVar[bool] = False  # whether its pictures take so long that they are made only once the tab is opened

    def __init__(self, card: Contents) -> None:
        self.card, self.launch = card, card.launch

    @property
    def there(self) -> bool:
        """Whether the tab has anything to show, if the table does not decide."""
        return True

    @property
    def absent(self) -> str:
        """The words for a tab that was requested but has nothing to show; "" if it needs none."""
        return ""

    # --- Live -----------------------------------------------------------------------------------------

    def items(self) -> list[ItemScene] | None:
        """The pictures to choose from, each an `item`; None if there is only one."""
        return None

    def view(self, path: Sequence[str], first: int = 0, numbers: int = NUMBERS) -> View:
        """The picture called ``path``, for the programs from ``first`` on, with at most so many ``numbers``.

        Raises LookupError if there is none of that name.
        """
        raise unknown(path)

    def scene(self, path: Sequence[str], first: int = 0, numbers: int = NUMBERS) -> Scene:
        """The scene of that picture."""
        return self.view(path, first, numbers).scene()

    # --- A page without a kernel ----------------------------------------------------------------------

    def others(self) -> Iterator[str]:
        """The names of the pictures that a page keeps besides the first."""
        yield from (full_name(one) for one in (self.items() or ())[1:])

    def many(self) -> Iterator[str]:
        """The names of pictures that come in large numbers; a page keeps those that fit."""
        yield from ()

    # --- Static ---------------------------------------------------------------------------------------

    def drawn(self) -> Sequence[View]:
        """The views in the card's PNG and words; empty if there is nothing to show."""
        return []

    def text(self) -> list[str]:
        """The lines in the card's words."""
        return [line for one in self.drawn() for line in one.text().splitlines()]

    def pieces(self) -> list[Drawing]:
        """The pieces in the card's PNG."""
        return [piece for one in self.drawn() for piece in one.pieces()]


class Missing(Panel):
    """The panel in place of one that could not be made; it says ``why``."""

    def __init__(self, card: Contents, why: str) -> None:
        super().__init__(card)
        self.why = why

    def view(self, path: Sequence[str], first: int = 0, numbers: int = NUMBERS) -> View:
        raise LookupError(self.why)

    def drawn(self) -> Sequence[View]:
        raise LookupError(self.why)


def item(name: str, label: str, lines: Sequence[int] = (), window: int = 0) -> ItemScene:
    """An item of a choice; ``lines`` of the source lead to it."""
    found = ItemScene(name=name, label=label, lines=list(lines))
    if window:
        found["window"] = window
    return found


def full_name(one: ItemScene) -> str:
    """The name of the part that is requested first for an item."""
    return f"{one['name']}@0" if "window" in one else one["name"]


def unknown(path: Sequence[str]) -> LookupError:
    """The error for a name that no picture has."""
    return LookupError(_("a card has no part {names}").format(names=repr("/".join(path))))
