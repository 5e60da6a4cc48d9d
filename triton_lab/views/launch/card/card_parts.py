"""The pictures behind a card's tabs. Each has a name and is made when somebody asks for it.

A name is a path such as ``tiling/x_ptr``; the panel whose tab or word comes first in it makes the picture. A part of
kind ``choice`` lists others. What depends on the picked program is asked for with the first program of a window:
``steps@3``, ``value/acc/17@64``; ``origin/12/417`` is where element 417 of what access 12 stored came from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial

from triton_lab.views.launch.card.card_tab import NUMBERS, Tab, Tabbed, full_name
from triton_lab.views.launch.launch_scenes import ChoiceScene, TabScene
from triton_lab.views.missing_picture import attempt, in_words
from triton_lab.views.scenes import Scene

KEPT_NUMBERS = 1 << 15  # of a picture in a page without a kernel


def tabs(card: Tabbed) -> list[TabScene]:
    """The tabs in their order: ``name`` of the part, ``label``, and ``window`` where it has one."""
    return [
        TabScene(name=tab.name, label=tab.label, window=tab.window)
        if tab.window
        else TabScene(name=tab.name, label=tab.label)
        for tab in there(card)
    ]


def there(card: Tabbed) -> list[Tab]:
    """The tabs that have anything to show; one of which nobody can tell is there, where its part says why."""

    def has(tab: Tab) -> bool:
        return bool(getattr(card, tab.when)) if tab.when else card.panel(tab.name).there

    return [tab for tab in card.tabs if attempt(partial(has, tab), lambda _: True)]


def part(card: Tabbed, name: str, numbers: int = NUMBERS) -> Scene:
    """The scene called ``name``; where it cannot be made, one that says why."""
    return attempt(lambda: _part(card, name, numbers), in_words)


def _part(card: Tabbed, name: str, numbers: int) -> Scene:
    panel = card.panel(name.partition("@")[0].partition("/")[0])
    items = panel.items() if any(name == tab.name for tab in card.tabs) else None
    if items is not None:
        if items:
            return ChoiceScene(kind="choice", items=items)
        return in_words(f"{panel.launch.kernel} has no variables, and touches no argument")
    path, _, start = name.partition("@")
    return panel.scene(path.split("/"), int(start) if start.isdigit() else 0, numbers)


def opened(card: Tabbed, name: str) -> dict[str, Scene]:
    """What a tab needs to be drawn at first: the part, and where that is a choice, its first item."""
    return {each: part(card, each) for each in _first_of(card, card.tab(name))}


def shown_first(card: Tabbed) -> Iterator[str]:
    """What is looked at first: what each tab opens with, then the other pictures in it."""
    first = [tab for tab in there(card) if not card.panel(tab.name).waits]
    for tab in first:
        yield from _first_of(card, tab)
    for tab in first:
        yield from _found(card.panel(tab.name).others)


def kept(card: Tabbed) -> Iterator[str]:
    """What a page without a kernel keeps, as far as there is room, the most telling first."""
    yield from shown_first(card)
    for tab in reversed(there(card)):
        yield from _found(card.panel(tab.name).many)


def _first_of(card: Tabbed, tab: Tab) -> list[str]:
    """A tab's part, and where that is a choice, the first item; where it has windows, the first of them."""
    if tab.window:
        return [f"{tab.name}@0"]
    return [tab.name, *_found(lambda: map(full_name, (card.panel(tab.name).items() or ())[:1]))]


def _found(names: Callable[[], Iterable[str]]) -> list[str]:
    """Names of pictures; none where they cannot be made: the part itself says why."""
    return attempt(lambda: list(names()), lambda _: [])
