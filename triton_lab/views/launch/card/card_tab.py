"""A tab of a launch's card: its row in the table (`plot.TABS`), and the panel that it opens."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, ClassVar, cast

from triton_lab.views.launch.launch_scenes import ItemScene

if TYPE_CHECKING:
    from triton_lab.views.drawing.figure_pieces import FigurePiece
    from triton_lab.views.launch.card.card_contents import Contents
    from triton_lab.views.scenes import Scene
    from triton_lab.views.view import View

NUMBERS = 1 << 18  # of a variable or of a program's steps that go to the browser together


@dataclass(frozen=True)
class Tab:
    """``name`` is the word of ``--show`` and of `launch.plot`, ``label`` stands on the tab, ``help`` is the line of
    ``%%triton --help`` ("" for what is never asked for by name), and ``home`` says which `Panel` opens, as
    ``module:class``; "" for what a card shows beside its tabs. ``when`` is what of the card there must be for the tab
    to be there; "" where the panel knows.

    Pictures have names such as ``tiling/x_ptr``: words between slashes, the first of them the tab's name or one of
    ``words``. With a ``window``, the picture follows the picked program, so many programs at a time.
    """

    name: str
    label: str
    help: str
    home: str = ""
    when: str = "ran"
    words: tuple[str, ...] = ()
    window: int = 0

    def panel(self, card: Contents) -> Panel:
        """The panel of ``card``. Its module is imported here: the table itself costs nothing."""
        module, _, name = self.home.partition(":")
        made: Panel = getattr(importlib.import_module(module), name)(card)
        return made


def listed(head: str, whole: str, tabs: Sequence[Tab]) -> str:
    """What a ``.plot`` shows of itself: its methods, and ``whole``, which it gives when it is called."""
    calls = [".plot()", *(f".plot.{tab.name}(...)" for tab in tabs)]
    width = max(map(len, calls))
    told = zip(calls, [whole, *(tab.help for tab in tabs)], strict=True)
    return "\n".join([head, *(f"  {call.ljust(width)} {what}" for call, what in told)])


class Tabbed:
    """What has ``tabs``: the card of a launch, or of what was compiled, perhaps without one."""

    tabs: Sequence[Tab]

    @cached_property
    def _made(self) -> dict[str, Panel]:
        return {}

    @property
    def panels(self) -> list[tuple[Tab, Panel]]:
        """Each tab with what it opens."""
        return [(tab, self.panel(tab.name)) for tab in self.tabs]

    def tab(self, word: str) -> Tab:
        """The tab called so, or whose pictures' names begin so. Raises LookupError."""
        for tab in self.tabs:
            if word == tab.name or word in tab.words:
                return tab
        raise unknown([word])

    def panel(self, word: str) -> Panel:
        """The panel of that tab, made when somebody asks for it. Raises LookupError."""
        from triton_lab.views.missing_picture import attempt

        tab, card = self.tab(word), cast("Contents", self)  # as far as these panels look at it
        if tab.name not in self._made:
            self._made[tab.name] = attempt(partial(tab.panel, card), partial(Missing, card))
        return self._made[tab.name]


class Panel:
    """What a tab of ``card`` opens: one picture, or several to choose from; live and static."""

    waits: ClassVar[bool] = False  # whether its pictures take so long that they are made for who opens the tab alone

    def __init__(self, card: Contents) -> None:
        self.card, self.launch = card, card.launch

    @property
    def there(self) -> bool:
        """Whether there is anything of the kind, where the table cannot say."""
        return True

    @property
    def absent(self) -> str:
        """What is told where the tab was asked for and is not there; "" where that says itself."""
        return ""

    # --- Live -----------------------------------------------------------------------------------------

    def items(self) -> list[ItemScene] | None:
        """The pictures to choose from, each an `item`; None where there is one alone."""
        return None

    def view(self, path: Sequence[str], first: int = 0, numbers: int = NUMBERS) -> View:
        """The picture called ``path``, of the programs from ``first`` on, with so many ``numbers`` at most.

        Raises LookupError where there is none of that name.
        """
        raise unknown(path)

    def scene(self, path: Sequence[str], first: int = 0, numbers: int = NUMBERS) -> Scene:
        """The same as data for the browser."""
        return self.view(path, first, numbers).scene()

    # --- A page without a kernel ----------------------------------------------------------------------

    def others(self) -> Iterator[str]:
        """What a page keeps besides the first picture."""
        yield from (full_name(one) for one in (self.items() or ())[1:])

    def many(self) -> Iterator[str]:
        """What it keeps of pictures that come in large numbers, if there is room for more."""
        yield from ()

    # --- Static ---------------------------------------------------------------------------------------

    def drawn(self) -> Sequence[View]:
        """What stands in the card's PNG and words; nothing where the launch has nothing of the kind."""
        return []

    def text(self) -> list[str]:
        """The lines in the card's words."""
        return [line for one in self.drawn() for line in one.text().splitlines()]

    def pieces(self) -> list[FigurePiece]:
        """The pieces in the card's PNG."""
        return [piece for one in self.drawn() for piece in one.pieces()]


class Missing(Panel):
    """Stands for a panel that could not be made, and says ``why``."""

    def __init__(self, card: Contents, why: str) -> None:
        super().__init__(card)
        self.why = why

    def view(self, path: Sequence[str], first: int = 0, numbers: int = NUMBERS) -> View:
        raise LookupError(self.why)

    def drawn(self) -> Sequence[View]:
        raise LookupError(self.why)


def item(name: str, label: str, lines: Sequence[int] = (), window: int = 0) -> ItemScene:
    """One of several pictures: ``lines`` of the source lead to it."""
    found = ItemScene(name=name, label=label, lines=list(lines))
    if window:
        found["window"] = window
    return found


def full_name(one: ItemScene) -> str:
    """An item's name as it is asked for at first."""
    return f"{one['name']}@0" if "window" in one else one["name"]


def unknown(path: Sequence[str]) -> LookupError:
    """What to raise for a name that no picture has."""
    return LookupError(f"a card has no part {'/'.join(path)!r}")
