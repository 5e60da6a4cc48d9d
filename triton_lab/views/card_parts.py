"""The pictures behind a card's tabs. Each has a name and is made when somebody asks for it.

A name is a path such as ``tiling/x_ptr``. A part of kind ``choice`` lists others. What depends on the
picked program is asked for with the first program of a window: ``steps@3``, ``value/acc/17@64``;
``origin/12/417`` is where element 417 of what access 12 stored came from.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from triton_lab.views.reason import attempt

if TYPE_CHECKING:
    from triton_lab.launch.access import Access
    from triton_lab.views.card import Card
    from triton_lab.views.view import View

WINDOW = 64  # programs whose values are fetched together
# What a page without a kernel keeps of pictures that come in large numbers.
KEPT_PROGRAMS, KEPT_ELEMENTS, KEPT_NUMBERS = 24, 120, 1 << 15
NUMBERS = 1 << 18  # of a variable or of a program's steps that go to the browser together


def tabs(card: Card) -> list[dict[str, Any]]:
    """The tabs in their order: ``name`` of the part, ``label``, and ``window`` where it has one."""
    launch = card.launch
    replayed = launch.programs > 0 and hasattr(launch, "trace")
    found = [
        (bool(card.differences), "differences", "GPU and CPU", None),
        (bool(card.touched), "tiling", "Tiling", None),
        (bool(card.touched), "accesses", "Accesses", None),
        (bool(card.tensors), "storage", "Storage", None),
        (launch.programs > 0, "grid", "Grid", None),
        (replayed, "values", "Values", None),
        (replayed, "steps", "Steps", 1),
        (replayed and bool(_stores(card)), "origins", "Origins", None),
    ]
    return [
        {"name": name, "label": label} | ({"window": window} if window else {})
        for there, name, label, window in found
        if there
    ]


def part(card: Card, name: str, numbers: int = NUMBERS) -> Mapping[str, Any]:
    """The scene called ``name``; where it cannot be made, one that says why."""
    return attempt(lambda: _part(card, name, numbers), words)


def _part(card: Card, name: str, numbers: int) -> Mapping[str, Any]:
    chosen = _choice(card, name)
    if chosen is not None:
        return chosen
    made = view(card, name, numbers)
    return made.part(name) if name.count("/") == 2 and name.startswith("origin/") else made.scene()


def words(text: str) -> Mapping[str, Any]:
    """A part that only says something."""
    return {"kind": "words", "text": text}


def opened(card: Card, name: str) -> dict[str, Mapping[str, Any]]:
    """What a tab needs to be drawn at first: the part, and where that is a choice, its first item."""
    return {each: part(card, each) for each in _first_of(card, name)}


def kept(card: Card) -> Iterator[str]:
    """What a page without a kernel keeps, as far as there is room, the most telling first."""
    found = [tab["name"] for tab in tabs(card)]
    for name in found:
        yield from _first_of(card, name)
    others = {name: list(_items(card, name))[1:] for name in found}
    variables = others.pop("values", [])
    for names in others.values():
        yield from names
    stores = _stores(card) if "origins" in found else []
    for access in stores:
        most = KEPT_ELEMENTS // len(stores)
        chosen = attempt(partial(_sample, card, access, most), _nothing)
        yield from (f"origin/{access.op}/{one}" for one in chosen)
    if "steps" in found:
        yield from (f"steps@{program}" for program in range(1, min(card.launch.programs, KEPT_PROGRAMS)))
    yield from variables


def _nothing(_: str) -> list[Any]:
    """Of what fails: its own part says why."""
    return []


def _sample(card: Card, access: Access, most: int) -> list[int]:
    """Each program's first element, and others from all over, about ``most``."""
    found = card.origins(access.op)
    first = found.stored.first[found.stored.first >= 0][: min(KEPT_PROGRAMS, most)]
    others = found.askable()
    # At random: every n-th would stand in lines.
    spread = np.random.default_rng(0).choice(others, min(len(others), most - len(first)), replace=False)
    return list(dict.fromkeys([*first.tolist(), *spread.tolist()]))


def view(card: Card, name: str, numbers: int = NUMBERS) -> View:
    """The view called ``name``, which is no choice. Raises LookupError where there is none."""
    from triton_lab.views.accesses import Accesses
    from triton_lab.views.grid import Grid
    from triton_lab.views.steps import Steps
    from triton_lab.views.touched_values import TouchedValues
    from triton_lab.views.variable import Variable

    launch = card.launch
    path, _, start = name.partition("@")
    first = int(start) if start.isdigit() else 0
    match path.split("/"):
        case ["differences", number] if number in map(str, range(len(card.differences))):
            return card.differences[int(number)]
        case ["tiling", argument]:
            return card.tiling(argument)
        case ["accesses", argument]:
            return Accesses(launch, argument)
        case ["storage"]:
            return card.touched_storage
        case ["grid"]:
            return Grid(launch)
        case ["value", variable, line]:
            window = range(first, min(first + WINDOW, launch.programs))
            return Variable(launch.values(variable, int(line), window), numbers=numbers)
        case ["touched", argument]:
            return TouchedValues(launch, argument)
        case ["steps"]:
            return Steps(launch, first, 0, numbers)
        case ["origin", op, *_]:
            return card.origins(int(op))
    raise LookupError(f"a card has no part {name!r}")


def _choice(card: Card, name: str) -> Mapping[str, Any] | None:
    """The part of a tab that has several pictures; None for others."""
    launch = card.launch
    match name:
        case "differences":
            items = [_item(f"differences/{k}", one.name) for k, one in enumerate(card.differences)]
        case "tiling" | "accesses":
            items = [_item(f"{name}/{argument}", argument, _lines(card, argument)) for argument in card.drawn]
        case "values":
            items = _values(card)
        case "origins":
            items = [
                _item(f"origin/{one.op}", f"{one.argument} · line {one.line}", [one.line] if one.line else [])
                for one in _stores(card)
            ]
        case _:
            return None
    if not items:
        return words(f"{launch.kernel} has no variables, and touches no argument")
    return {"kind": "choice", "items": items}


def _items(card: Card, name: str) -> Iterator[str]:
    """What a tab with several pictures chooses from, in full names."""
    chosen: Mapping[str, Any] | None = attempt(lambda: _choice(card, name), lambda _: None)
    for item in () if chosen is None else chosen.get("items", ()):
        yield item["name"] + ("@0" if "window" in item else "")


def _first_of(card: Card, name: str) -> list[str]:
    """A tab's part, and where that is a choice, the first item; where it has windows, the first of them."""
    if any(tab["name"] == name and "window" in tab for tab in tabs(card)):
        return [f"{name}@0"]
    return [name, *list(_items(card, name))[:1]]


def _item(name: str, label: str, lines: Sequence[int] = (), window: int = 0) -> dict[str, Any]:
    return {"name": name, "label": label, "lines": list(lines)} | ({"window": window} if window else {})


def _lines(card: Card, argument: str) -> list[int]:
    """The lines that touch an argument."""
    return sorted({one.line for one in card.accesses if one.argument == argument and one.line is not None})


def _stores(card: Card) -> list[Access]:
    """The stores whose values can be followed back."""
    drawn = {argument.name for argument in card.tensors}
    return [one for one in card.accesses if one.kind == "store" and one.argument in drawn]


def _values(card: Card) -> list[dict[str, Any]]:
    """Variables by line, then the kernel's parameters, then what each argument was loaded and stored with."""
    parameters = {one.name for one in card.launch.arguments}
    places = dict.fromkeys((one.name, one.line) for one in card.launch.variables)
    places = dict.fromkeys(sorted(places, key=lambda place: place[0] in parameters))
    found = [_item(f"value/{name}/{line}", f"{name} · line {line}", [line], WINDOW) for name, line in places]
    return found + [_item(f"touched/{name}", f"{name}: touched then", _lines(card, name)) for name in card.drawn]
