"""The launch card as drawings, from top to bottom."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from triton_lab.localization import all_translated
from triton_lab.messages import noun
from triton_lab.views.drawing import style
from triton_lab.views.drawing.drawing import Drawing, DrawnText
from triton_lab.views.drawing.drawing_pieces import WIDTH, lines, paragraphs, spaced, table, wrapped
from triton_lab.views.launch.card.card_scenes import FindingScene
from triton_lab.views.launch.card.findings_text import excerpt_lines, fix_lines
from triton_lab.views.missing_picture import attempt

if TYPE_CHECKING:
    from triton_lab.views.launch.card.launch_card import Card

MOST_LINES = 60
INDENT = "    "
COLOURS = {"error": "error", "warning": "warning", "note": "accent"}


def card_pieces(card: Card) -> list[Drawing]:
    """All pieces of the card, from top to bottom."""
    pieces = [
        _header(card),
        table([all_translated(card.HEADINGS), *card.table()]),
        *paragraphs(card.scalars()),
        *_findings(card),
    ]
    makers: dict[str, Callable[[], list[Drawing]]] = {name: panel.pieces for name, panel in card.printed}
    makers["source"] = partial(_source, card)
    for name in card.looked_at:
        if name in makers:
            pieces += attempt(makers[name], lambda why, name=name: paragraphs([f"{name}: {why}"]))  # type: ignore[misc]
    return pieces


def _header(card: Card) -> Drawing:
    name = DrawnText(0, 8, card.title(), style.TITLE, bold=True, mono=True)
    facts = DrawnText(name.right + 24, 8, " · ".join(card.facts()), colour="faint")
    return spaced(Drawing(WIDTH, 16, [name, facts]).fitted())


def _findings(card: Card) -> list[Drawing]:
    pieces = []
    if card.failure() and not card.told():
        pieces.append(lines([(line, "error") for line in card.failure().splitlines()], mono=True))
    for one in card.findings()[: card.MOST_FINDINGS]:
        pieces += _finding(one)
    return [*pieces, *paragraphs([*card.left_out(), *card.remarks()])]


def _finding(one: FindingScene) -> list[Drawing]:
    """What is wrong; for an error that stopped the launch its lines and their mended form, else what to do."""
    where = f"{one['where']}: " if one["where"] else ""
    told = [
        *wrapped(f"{one['icon']} {noun(1, one['severity'])}: {where}{one['message']}"),
        *(INDENT + w for w in one["orders"]),
    ]
    said = [(line, COLOURS[one["severity"]]) for line in told]
    todo = [(INDENT + line, "faint") for line in wrapped(one["hint"], WIDTH - 30, "")]
    shown = excerpt_lines(one["excerpt"], one["stopped"])
    excerpt, fix = ([(INDENT + line, "ink") for line in some] for some in (shown, fix_lines(one["fix"])))
    if not one["stopped"]:
        return [lines(said), lines(excerpt, mono=True), lines(todo)] if excerpt else [lines(said + todo)]
    return [lines(said), lines(excerpt, mono=True), lines(todo), *([lines(fix, mono=True)] if fix else [])]


def _source(card: Card) -> list[Drawing]:
    source = card.source()
    numbered = []
    for number, (line, kinds, severity) in enumerate(source["lines"][:MOST_LINES], start=source["first"]):
        marks = "".join(kind[0].upper() for kind in kinds)
        numbered.append((f"{number:>5} {marks:<3} {line}", COLOURS[severity] if severity else "ink"))
    return [lines(numbered, mono=True)] if numbered else []
