"""The launch card with matplotlib, from top to bottom."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from triton_lab.views import style
from triton_lab.views.accesses import Accesses
from triton_lab.views.card import ROOM
from triton_lab.views.figure import MARGIN, Sheet, text_width
from triton_lab.views.pieces import WIDTH, Piece, lines, one_row, side_by_side, table, title
from triton_lab.views.reason import attempt
from triton_lab.views.storage_figure import storage_pieces

if TYPE_CHECKING:
    from triton_lab.views.card import Card

MOST_TILINGS = 6
MOST_LINES = 60

COLOURS = {"error": style.LIGHT.error, "warning": style.LIGHT.warning, "note": style.LIGHT.accent}


def card_pieces(card: Card) -> list[Piece]:
    """Everything that the card says and shows."""
    pieces = [_header(card), table([card.HEADINGS, *card.table()]), *_scalars(card), *_findings(card), *_configs(card)]
    makers: list[tuple[str, Callable[[Card], list[Piece]]]] = [("differences", _differences)]
    parts: Mapping[str, Callable[[Card], list[Piece]]] = {"tiling": _tilings, "storage": _storage, "source": _source}
    for name in card.show:
        if name != "findings":
            makers.append((name, parts.get(name) or partial(_pictured, name)))
    for name, make in makers:
        pieces += map(_safe, attempt(partial(make, card), partial(_missing, name)))
    return [*pieces, *([lines([(card.unchecked(), style.LIGHT.faint)])] if card.unchecked() else [])]


def _safe(piece: Piece) -> Piece:
    """The same piece; if it cannot be drawn, the reason stands in its place."""

    def draw(sheet: Sheet, y: float) -> None:
        attempt(lambda: piece.draw(sheet, y), lambda why: sheet.text(MARGIN, y + 8, why, colour=style.LIGHT.faint))

    return replace(piece, draw=draw)


def _missing(name: str, why: str) -> list[Piece]:
    return [lines([(f"{name}: {why}", style.LIGHT.faint)])]


def _differences(card: Card) -> list[Piece]:
    return [
        piece
        for difference in card.differences
        for piece in (title(difference.title()), one_row(difference.heatmaps, 8))
    ]


def _header(card: Card) -> Piece:
    def draw_header(sheet: Sheet, y: float) -> None:
        sheet.text(MARGIN, y + 8, card.title(), style.TITLE, bold=True, mono=True)
        x = MARGIN + text_width(card.title(), style.TITLE, mono=True) + 24
        sheet.text(x, y + 8, " · ".join(card.facts()), colour=style.LIGHT.faint)

    return Piece(30, draw_header)


def _scalars(card: Card) -> list[Piece]:
    wide = int(WIDTH / text_width("x"))
    words = [line for words in card.scalars() for line in textwrap.wrap(words, wide, subsequent_indent="    ")]
    return [lines([(line, style.LIGHT.faint) for line in words])] if words else []


def _findings(card: Card) -> list[Piece]:
    wide = int(WIDTH / text_width("x"))
    pieces = []
    if card.failure():
        pieces.append(lines([(line, style.LIGHT.error) for line in card.failure().splitlines()], mono=True))
    for one in card.findings()[: card.MOST_FINDINGS]:
        where = f"line {one['line']}: " if one["line"] is not None else ""
        words = textwrap.wrap(
            f"{one['icon']} {one['severity']}: {where}{one['message']}", wide, subsequent_indent="    "
        )
        mend = textwrap.wrap(one["hint"], wide, initial_indent="    ", subsequent_indent="    ")
        shown = [(line, COLOURS[one["severity"]]) for line in words] + [(line, style.LIGHT.faint) for line in mend]
        pieces.append(lines(shown))
    remarks = [*card.left_out(), *card.remarks()]
    if remarks:
        pieces.append(lines([(remark, style.LIGHT.faint) for remark in remarks]))
    return pieces


def _configs(card: Card) -> list[Piece]:
    tried = card.configs()
    rows = [(f"{seconds:>9}   {config}", style.LIGHT.ink) for config, seconds in tried]
    return [title("autotuned, fastest first"), lines(rows, mono=True)] if tried else []


def _tilings(card: Card) -> list[Piece]:
    """One tiling at full width, or several side by side."""
    shown = card.tilings[:MOST_TILINGS]
    if len(shown) > 1:
        shown = [tiling.within(ROOM) for tiling in shown]
    pieces = side_by_side([replace(tiling.heatmap, title=tiling.title()) for tiling in shown])
    left = len(card.tilings) - len(shown)
    return pieces + ([lines([(f"{left} more tensor arguments", style.LIGHT.faint)])] if left else [])


def _pictured(name: str, card: Card) -> list[Piece]:
    """A tab that has a view of its own."""
    views = card.pictured(name)
    small = [replace(one.heatmap, title=one.title()) for one in views if isinstance(one, Accesses)]
    whole = [piece for one in views if not isinstance(one, Accesses) for piece in one.pieces()]
    return side_by_side(small[:MOST_TILINGS]) + whole


def _storage(card: Card) -> list[Piece]:
    return storage_pieces(card.storage) if card.storage else []


def _source(card: Card) -> list[Piece]:
    source = card.source()
    numbered = []
    for number, (line, kinds, severity) in enumerate(source["lines"][:MOST_LINES], start=source["first"]):
        marks = "".join(kind[0].upper() for kind in kinds)
        numbered.append((f"{number:>5} {marks:<3} {line}", COLOURS[severity] if severity else style.LIGHT.ink))
    return [lines(numbered, mono=True)] if numbered else []
