"""The colours of elements and places: the hue is the warp, the shade the lane; in memory, a ramp over banks or rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from triton_lab.localization import _
from triton_lab.views.drawing import style
from triton_lab.views.drawing.heatmap import Key
from triton_lab.views.layouts.layout_positions import LINE, Ints, LayoutPositions

HUES = len(style.TENSOR_COLOURS)
MOST_KEYS = 8  # warps that have an entry of their own in the legend


@dataclass(frozen=True)
class Looks:
    """The looks of elements or places: ``levels`` (n,) index ``styles`` (looks, 4); look 0 means nothing is there.

    ``groups`` (n,) are the warps and ``threads`` the threads that hold them; a dark line parts those that differ.
    ``words`` makes the text for each cell, where there is room.
    """

    levels: Ints
    styles: npt.NDArray[np.uint16]
    groups: Ints | None = None
    threads: Ints | None = None
    legend: Sequence[Key] = ()
    ramp: tuple[int, int, float, float] | None = None
    ramp_name: str = ""
    words: Callable[[], Sequence[str]] = tuple


def of_elements(places: LayoutPositions) -> Looks:
    """The looks of elements, in the colour of the warp and lane that hold them; striped where several warps do."""
    if places.layout.where == "registers":
        return _held(places)
    if places.layout.where == "shared memory":
        banks = banks_of(places, places.first)
        return _ramp(banks, int(banks.max()), _("bank"), lambda: list(map(str, banks.tolist())))
    rows = places.part("row", places.first)
    return _ramp(rows, places.size("row") - 1, "row", lambda: [f"r{row}" for row in rows.tolist()])


def of_places(places: LayoutPositions) -> Looks:
    """The looks of places: each has the colours of its element on the tensor's side.

    In memory the colour follows the last coordinate, which shows where neighbours went.
    """
    if places.layout.where != "registers":
        last = places.layout.shape[-1]
        found = _ramp(places.held % last, last - 1, _("last index"), lambda: _coordinates(places))
        found.levels[places.held < 0] = 0
        return found
    every = np.arange(len(places.held))
    warp = every // (places.size("lane") * places.size("register"))
    styles, levels = _distinct(_coloured(warp, places.part("lane", every), places.size("lane")))
    return Looks(levels, styles, words=lambda: _coordinates(places))


def banks_of(places: LayoutPositions, positions: Ints) -> Ints:
    """The bank of shared memory in which the element at each position begins."""
    column = places.part("column", positions)
    return column * max(8, places.layout.bits) // 8 % LINE // 4


def warp_name(places: LayoutPositions, number: int) -> str:
    """``warp 2``; in a cluster ``CTA 1, warp 2``."""
    block, warp = divmod(number, places.size("warp"))
    name = _("CTA {block}, warp {warp}") if places.size("block") > 1 else _("warp {warp}")
    return name.format(block=block, warp=warp)


def _held(places: LayoutPositions) -> Looks:
    holders = places.holders
    lane = places.part("lane", places.first)
    looks = np.zeros((len(holders), 4), dtype=np.int64)
    looks[:, :3] = _coloured(holders[:, 0], lane, places.size("lane"))[:, :1]
    for place in (1, 2):  # a stripe needs two more colours
        other = holders[:, min(place, holders.shape[1] - 1)]
        looks[:, place] = _coloured(other, lane, places.size("lane"))[:, 0]
    looks[:, 3] = style.STRIPES if holders.shape[1] > 1 else style.PLAIN
    styles, levels = _distinct(looks)
    register = places.part("register", places.first)
    return Looks(
        levels,
        styles,
        holders[:, 0],
        holders[:, 0] * places.size("lane") + lane,
        legend=_legend(places),
        ramp=(style.tensor_colour(0, 0), style.TENSOR_LEVELS, 0, places.size("lane") - 1),
        ramp_name=_("thread"),
        words=lambda: [f"r{number}" for number in register.tolist()],
    )


def _legend(places: LayoutPositions) -> list[Key]:
    """The legend: an entry for each warp; if there are many, one for the warps of each hue."""
    warps = places.size("block") * places.size("warp")
    hues = [style.tensor_colour(number) for number in range(min(warps, HUES))]
    if warps <= MOST_KEYS:
        names = [warp_name(places, number) for number in range(warps)]
    else:
        names = [_("warps {first}, {second}, …").format(first=one, second=one + HUES) for one in range(HUES)]
    looks = [(hues[number % HUES],) * 3 + (style.PLAIN,) for number in range(len(names))]
    found = [Key(look, name) for look, name in zip(looks, names, strict=True)]
    if places.holders.shape[1] > 1:
        striped = (hues[0], hues[1 % len(hues)], hues[2 % len(hues)], style.STRIPES)
        found.append(Key(striped, _("held by several warps")))
    return found


def _coloured(warp: Ints, lane: Ints, lanes: int) -> Ints:
    """Styles (n, 4) of one colour each."""
    level = lane * (style.TENSOR_LEVELS - 1) // max(1, lanes - 1)
    colour = style.TENSOR + style.TENSOR_LEVELS * (warp % HUES) + level
    return np.stack([colour, colour, colour, np.full_like(colour, style.PLAIN)], axis=1)


def _ramp(numbers: Ints, most: int, name: str, words: Callable[[], Sequence[str]]) -> Looks:
    """Looks on the sequential ramp, from 0 to ``most``."""
    level = np.zeros_like(numbers) if most == 0 else numbers * (style.LEVELS - 1) // most
    colours = np.arange(style.SEQUENTIAL, style.SEQUENTIAL + style.LEVELS)
    styles = np.stack([colours, colours, colours, np.full_like(colours, style.PLAIN)], axis=1)
    blank = np.zeros((1, 4), dtype=np.int64)
    return Looks(
        level + 1,
        np.concatenate([blank, styles]).astype(np.uint16),
        ramp=(style.SEQUENTIAL, style.LEVELS, 0, most),
        ramp_name=name,
        words=words,
    )


def _distinct(looks: Ints) -> tuple[npt.NDArray[np.uint16], Ints]:
    """The different styles, preceded by that of nothing, and the index of each item's style."""
    return distinct_styles(np.concatenate([np.zeros((1, 4), np.int64), looks]).astype(np.uint16), keep=1)


def distinct_styles(styles: npt.NDArray[np.uint16], keep: int = 0) -> tuple[npt.NDArray[np.uint16], Ints]:
    """The different styles among ``styles`` (n, 4), the first one first, and the index of each item's style.

    The first ``keep`` items get no index.
    """
    packed = np.ascontiguousarray(styles, dtype="<u2").view("<u8").reshape(-1)
    _, first, number = np.unique(packed, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return styles[np.sort(first)], rank[number.reshape(-1)][keep:]


def _coordinates(places: LayoutPositions) -> list[str]:
    """The element at each place as text: ``2,5``."""
    shape = places.layout.shape
    there = np.unravel_index(np.maximum(places.held, 0), shape)
    joined = (",".join(map(str, each)) for each in zip(*(axis.tolist() for axis in there), strict=True))
    return [word if held >= 0 else "" for word, held in zip(joined, places.held.tolist(), strict=True)]
