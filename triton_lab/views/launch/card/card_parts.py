"""The pictures behind a card's tabs. Each has a name and is made on request.

A name is a path such as ``tiling/x_ptr``; the panel whose tab or word comes first in it makes the picture. A part of
kind ``choice`` lists others. If a part depends on the picked program, its name ends in the first program of a window:
``steps@3``, ``value/acc/17@64``. ``origin/12/417`` is the origin of element 417 that access 12 stored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial

from triton_lab.localization import _, translated
from triton_lab.views.launch.card.card_scenes import ChoiceScene, TabScene
from triton_lab.views.launch.card.card_tab import NUMBERS, Tab, Tabbed, full_name
from triton_lab.views.missing_picture import attempt, in_words
from triton_lab.views.scenes import Scene

KEPT_NUMBERS = 1 << 15  # of a picture in a page without a running kernel


def tabs(card: Tabbed) -> list[TabScene]:
    """The tabs in order: ``name`` of the part, ``label``, and ``window`` if it has one."""
    return [
        TabScene(name=tab.name, label=translated(tab.label), window=tab.window)
        if tab.window
        else TabScene(name=tab.name, label=translated(tab.label))
        for tab in there(card)
    ]


def there(card: Tabbed) -> list[Tab]:
    """The tabs that have something to show; if that cannot be found out, the tab's part gives the reason."""

    def has(tab: Tab) -> bool:
        return bool(getattr(card, tab.when)) if tab.when else card.panel(tab.name).there

    return [tab for tab in card.tabs if attempt(partial(has, tab), lambda _: True)]


def part(card: Tabbed, name: str, numbers: int = NUMBERS) -> Scene:
    """The scene called ``name``; if it cannot be made, a scene with the reason."""
    return attempt(lambda: _part(card, name, numbers), in_words)


def _part(card: Tabbed, name: str, numbers: int) -> Scene:
    panel = card.panel(name.partition("@")[0].partition("/")[0])
    items = panel.items() if any(name == tab.name for tab in card.tabs) else None
    if items is not None:
        if items:
            return ChoiceScene(kind="choice", items=items)
        return in_words(_("{kernel} has no variables, and touches no argument").format(kernel=panel.launch.kernel))
    path, _unused, start = name.partition("@")
    return panel.scene(path.split("/"), int(start) if start.isdigit() else 0, numbers)


def opened(card: Tabbed, name: str) -> dict[str, Scene]:
    """The parts that a tab needs at first: its own part, and if that is a choice, its first item."""
    return {each: part(card, each) for each in _first_of(card, card.tab(name))}


def shown_first(card: Tabbed) -> Iterator[str]:
    """The names of the pictures that are seen first: the first part of each tab, then its other pictures."""
    first = [tab for tab in there(card) if not card.panel(tab.name).waits]
    for tab in first:
        yield from _first_of(card, tab)
    for tab in first:
        yield from _found(card.panel(tab.name).others)


def kept(card: Tabbed) -> Iterator[str]:
    """The names of the pictures that a page without a kernel keeps if they fit; the most important come first."""
    yield from shown_first(card)
    for tab in reversed(there(card)):
        yield from _found(card.panel(tab.name).many)


def _first_of(card: Tabbed, tab: Tab) -> list[str]:
    """The names of a tab's own part and, if that is a choice, of its first item; or of its first window."""
    if tab.window:
        return [f"{tab.name}@0"]
    return [tab.name, *_found(lambda: map(full_name, (card.panel(tab.name).items() or ())[:1]))]


def _found(names: Callable[[], Iterable[str]]) -> list[str]:
    """Names of pictures; empty if they cannot be found out: the part itself then gives the reason."""
    return attempt(lambda: list(names()), lambda _: [])
