"""The launch card with matplotlib, from top to bottom."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from triton_lab.views.drawing import style
from triton_lab.views.drawing.drawing import Drawing, DrawnText
from triton_lab.views.drawing.figure import MARGIN, Sheet, text_width
from triton_lab.views.drawing.figure_pieces import WIDTH, FigurePiece, drawn, lines, table
from triton_lab.views.launch.card.findings_text import fix_lines
from triton_lab.views.missing_picture import attempt

if TYPE_CHECKING:
    from triton_lab.views.launch.card.launch_card import Card

MOST_LINES = 60

COLOURS = {"error": style.LIGHT.error, "warning": style.LIGHT.warning, "note": style.LIGHT.accent}


def card_pieces(card: Card) -> list[FigurePiece]:
    """All pieces of the card, from top to bottom."""
    pieces = [_header(card), table([card.HEADINGS, *card.table()]), *_scalars(card), *_findings(card)]
    makers: dict[str, Callable[[], list[FigurePiece]]] = {name: panel.pieces for name, panel in card.printed}
    makers["source"] = partial(_source, card)
    for name in card.looked_at:
        if name in makers:
            pieces += map(_safe, attempt(makers[name], partial(_missing, name)))
    return pieces


def _safe(piece: FigurePiece) -> FigurePiece:
    """The same piece; if it cannot be drawn, the reason in its place."""

    def draw(sheet: Sheet, y: float) -> None:
        attempt(lambda: piece.draw(sheet, y), lambda why: sheet.text(MARGIN, y + 8, why, colour=style.LIGHT.faint))

    return replace(piece, draw=draw)


def _missing(name: str, why: str) -> list[FigurePiece]:
    return [lines([(f"{name}: {why}", style.LIGHT.faint)])]


def _header(card: Card) -> FigurePiece:
    made = Drawing(WIDTH, 16)
    x = text_width(card.title(), style.TITLE, mono=True) + 24
    made.add(DrawnText(0, 8, card.title(), style.TITLE, bold=True, mono=True))
    made.add(DrawnText(x, 8, " · ".join(card.facts()), colour="faint"))
    return drawn(made)


def _scalars(card: Card) -> list[FigurePiece]:
    wide = int(WIDTH / text_width("x"))
    words = [line for words in card.scalars() for line in textwrap.wrap(words, wide, subsequent_indent="    ")]
    return [lines([(line, style.LIGHT.faint) for line in words])] if words else []


def _findings(card: Card) -> list[FigurePiece]:
    wide = int(WIDTH / text_width("x"))
    pieces = []
    if card.failure() and not card.told():
        pieces.append(lines([(line, style.LIGHT.error) for line in card.failure().splitlines()], mono=True))
    for one in card.findings()[: card.MOST_FINDINGS]:
        where = f"{one['where']}: " if one["where"] else ""
        words = textwrap.wrap(
            f"{one['icon']} {one['severity']}: {where}{one['message']}", wide, subsequent_indent="    "
        )
        mend = textwrap.wrap(one["hint"], wide, initial_indent="    ", subsequent_indent="    ")
        words += [f"    {line}" for line in one["orders"]]
        said, todo = [(line, COLOURS[one["severity"]]) for line in words], [(line, style.LIGHT.faint) for line in mend]
        if one["stopped"]:
            excerpt = [(f"    {line}", style.LIGHT.ink) for line in one["excerpt"]]
            pieces += [lines(said), lines(excerpt, mono=True), lines(todo)]
            fix = [(f"    {line}", style.LIGHT.ink) for line in fix_lines(one["fix"])]
            pieces += [lines(fix, mono=True)] if fix else []
        else:
            pieces.append(lines(said + todo))
    remarks = [*card.left_out(), *card.remarks()]
    if remarks:
        pieces.append(lines([(remark, style.LIGHT.faint) for remark in remarks]))
    return pieces


def _source(card: Card) -> list[FigurePiece]:
    source = card.source()
    numbered = []
    for number, (line, kinds, severity) in enumerate(source["lines"][:MOST_LINES], start=source["first"]):
        marks = "".join(kind[0].upper() for kind in kinds)
        numbered.append((f"{number:>5} {marks:<3} {line}", COLOURS[severity] if severity else style.LIGHT.ink))
    return [lines(numbered, mono=True)] if numbered else []
