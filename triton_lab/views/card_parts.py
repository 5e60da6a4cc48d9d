"""The pictures behind a card's tabs. Each has a name and is made when somebody asks for it.

A name is a path such as ``tiling/x_ptr``. A part of kind ``choice`` lists others. What depends on the
picked program is asked for with the first program of a window: ``steps@3``, ``value/acc/17@64``.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from triton_lab.launch.replay import CannotReplay

if TYPE_CHECKING:
    from triton_lab.views.card import Card

WINDOW = 64  # programs whose values are fetched together
log = logging.getLogger(__name__)


def tabs(card: Card, live: bool) -> list[dict[str, Any]]:
    """The tabs in their order: ``name`` of the part, ``label``, and ``window`` where it has one.

    Without a kernel behind it the card leaves out what needs a replay.
    """
    launch = card.launch
    replayed = live and launch.programs > 0 and hasattr(launch, "trace")
    found = [
        (bool(card.differences), "differences", "GPU and CPU", None),
        (bool(card.touched), "tiling", "Tiling", None),
        (bool(card.touched), "accesses", "Accesses", None),
        (bool(card.tensors), "storage", "Storage", None),
        (launch.programs > 0, "grid", "Grid", None),
        (replayed, "values", "Values", None),
        (replayed, "steps", "Steps", 1),
    ]
    return [
        {"name": name, "label": label} | ({"window": window} if window else {})
        for there, name, label, window in found
        if there
    ]


def part(card: Card, name: str) -> Mapping[str, Any]:
    """The scene called ``name``; where it cannot be made, one that says why."""
    try:
        return _made(card, name)
    except (LookupError, ValueError, CannotReplay) as error:
        return words(str(error.args[0] if error.args else error))
    except Exception as error:  # a picture that fails must not take the card along
        log.exception("part %s of the card of %s", name, card.launch.kernel)
        return words(f"This picture could not be made: {type(error).__name__}: {error}")


def words(text: str) -> Mapping[str, Any]:
    """A part that only says something."""
    return {"kind": "words", "text": text}


def choice(items: Sequence[Mapping[str, Any]], empty: str = "") -> Mapping[str, Any]:
    """A part that lets choose between others."""
    return {"kind": "choice", "items": list(items)} if items else words(empty)


def opened(card: Card, name: str) -> dict[str, Mapping[str, Any]]:
    """What a tab needs to be drawn at first: the part, and where that is a choice, its first item."""
    found = {name: part(card, name)}
    if found[name]["kind"] == "choice":
        first = found[name]["items"][0]["name"]
        found[first] = part(card, first)
    return found


def everything(card: Card) -> dict[str, Mapping[str, Any]]:
    """All parts that need no replay."""
    found: dict[str, Mapping[str, Any]] = {}
    for tab in tabs(card, live=False):
        found[tab["name"]] = part(card, tab["name"])
        for item in found[tab["name"]].get("items", ()) if found[tab["name"]]["kind"] == "choice" else ():
            found[item["name"]] = part(card, item["name"])
    return found


def _made(card: Card, name: str) -> Mapping[str, Any]:
    from triton_lab.views.accesses import Accesses
    from triton_lab.views.grid import Grid
    from triton_lab.views.steps import Steps
    from triton_lab.views.storage import Storage
    from triton_lab.views.touched_values import TouchedValues

    launch = card.launch
    path, _, first = name.partition("@")
    match path.split("/"):
        case ["differences"]:
            return choice([_item(f"differences/{k}", one.name) for k, one in enumerate(card.differences)])
        case ["differences", number]:
            return card.differences[int(number)].scene()
        case ["tiling" | "accesses" as tab]:
            return choice([_item(f"{tab}/{argument}", argument, _lines(card, argument)) for argument in card.drawn])
        case ["tiling", argument]:
            return card.tiling(argument).scene()
        case ["accesses", argument]:
            return Accesses(launch, argument).scene()
        case ["storage"]:
            return Storage(card.tensors[: card.MOST_ARGUMENTS]).scene()
        case ["grid"]:
            return Grid(launch).scene()
        case ["values"]:
            return choice(_values(card), f"{launch.kernel} has no variables, and touches no argument")
        case ["value", variable, line]:
            return _variable(card, variable, int(line), int(first or 0))
        case ["touched", argument]:
            return TouchedValues(launch, argument).scene()
        case ["steps"]:
            return Steps(launch, int(first or 0), 0).scene()
    raise LookupError(f"a card has no part {name!r}")


def _item(name: str, label: str, lines: Sequence[int] = (), window: int = 0) -> dict[str, Any]:
    return {"name": name, "label": label, "lines": list(lines)} | ({"window": window} if window else {})


def _lines(card: Card, argument: str) -> list[int]:
    """The lines that touch an argument."""
    return sorted({one.line for one in card.launch.accesses if one.argument == argument and one.line is not None})


def _values(card: Card) -> list[dict[str, Any]]:
    """Variables by line, then what was loaded from and stored to each argument."""
    places = dict.fromkeys((one.name, one.line) for one in card.launch.variables)
    found = [_item(f"value/{name}/{line}", f"{name} · line {line}", [line], WINDOW) for name, line in places]
    return found + [_item(f"touched/{name}", f"{name}: touched then", _lines(card, name)) for name in card.drawn]


def _variable(card: Card, name: str, line: int, first: int) -> Mapping[str, Any]:
    from triton_lab.views.variable import Variable

    window = range(first, min(first + WINDOW, card.launch.programs))
    return Variable(card.launch.values(name, line, window)).scene()
