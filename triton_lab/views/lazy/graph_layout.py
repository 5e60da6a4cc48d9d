"""The layout of a step's graph: where its boxes stand, and the ways that lines take between them.

Kernels stand in levels, each below the kernels that it waits for; the operations of a kernel stand in rows inside its
frame. A line that has to pass a level or a row gets a place of its own there, a *gate*, so it runs between boxes and
never behind them. Within a level, things are ordered by the places of their sources. A level or row wider than the page
continues in another one below. In a frame that would be tall, an operation with a single source stands to its right, so
that a chain uses the page's width.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TypeVar

GAP, ROW, LEVEL = 14.0, 24.0, 34.0  # between things side by side, rows in a frame, levels
GATE = 6.0
HEADING, PADDING = 20.0, 12.0
ROOM = 860.0  # CSS pixels across: about the width of a notebook
MOST_ROWS = 10  # of a frame, one below another; in a taller frame, chains run across


@dataclass
class Thing:
    """A box to be placed (`width` by `height`), a gate, or a chain of boxes side by side (its `links`)."""

    key: object
    width: float
    height: float
    x: float = 0.0
    y: float = 0.0
    gate: bool = False
    links: list[Thing] = field(default_factory=list)

    @property
    def middle(self) -> float:
        return self.x + self.width / 2

    @property
    def bottom(self) -> float:
        return self.y + self.height


@dataclass
class FramedRows:
    """A frame with rows of things; `level` counts from the top."""

    key: object
    rows: list[list[Thing]]
    title_width: float
    level: int
    x: float = 0.0
    y: float = 0.0
    width: float = 0.0
    height: float = 0.0


Item = TypeVar("Item", Thing, FramedRows)


@dataclass
class GraphLayout:
    """The finished layout: things by key, frames, and for each line the points that it passes from box to box."""

    things: dict[object, Thing]
    blocks: list[FramedRows]
    lines: list[list[tuple[float, float]]]
    width: float
    height: float


def lay_out(
    top: Sequence[Thing],
    blocks: Sequence[FramedRows],
    bottom: Sequence[Thing],
    edges: Iterable[tuple[object, object]],
    start: tuple[float, float] = (0.0, 0.0),
    first: Container[object] = (),
    last: Container[object] = (),
) -> GraphLayout:
    """Place inputs, kernels and outputs; `edges` are (source key, target key).

    Inputs whose keys are in `first` stand in the uppermost row, outputs whose keys are in `last` in the lowest.
    """
    tops = _shelves(top, _width, first)
    bottoms = _shelves(bottom[::-1], _width, last)
    return _Layout(tops, blocks, [row[::-1] for row in bottoms[::-1]], list(edges)).run(*start)


class _Layout:
    def __init__(
        self,
        tops: list[list[Thing]],
        blocks: Sequence[FramedRows],
        bottoms: list[list[Thing]],
        edges: list[tuple[object, object]],
    ):
        self.blocks, self.edges = blocks, edges
        for block in blocks:
            rows = block.rows if len(block.rows) <= MOST_ROWS else _chained(block.rows, edges)
            block.rows = [shelf for row in rows for shelf in _shelves(row, _width)]
        levels = 1 + max((block.level for block in blocks), default=-1)
        alike = ([block for block in blocks if block.level == level] for level in range(levels))
        frames = [shelf for level in alike for shelf in _shelves(level, _frames_width)]
        # Rows from the top down: the things that stand side by side, and the blocks between them.
        self.rows: list[list[Thing]] = [*tops, *([] for _ in frames), *bottoms]
        self.framed = {len(tops) + number: shelf for number, shelf in enumerate(frames)}
        self.things: dict[object, Thing] = {thing.key: thing for row in self.rows for thing in row}
        self.home: dict[object, tuple[int, FramedRows | None, int]] = {
            thing.key: (position, None, 0) for position, row in enumerate(self.rows) for thing in row
        }
        for position, shelf in self.framed.items():
            for block in shelf:
                for inner, things in enumerate(block.rows):
                    boxes = [box for thing in things for box in thing.links or [thing]]
                    self.home |= {thing.key: (position, block, inner) for thing in boxes}
                    self.things |= {thing.key: thing for thing in boxes}
        self.ways = [self._way(source, target) for source, target in edges]
        # For each thing or frame, what stands right above it on some line.
        self.above: dict[object, list[object]] = {}
        for way in self.ways:
            for upper, lower in pairwise(way):
                self.above.setdefault(lower, []).append(upper)
                frame = self.home[lower][1]
                if frame is not None and frame is not self.home[upper][1]:
                    self.above.setdefault(frame.key, []).append(upper)

    def run(self, x: float, y: float) -> GraphLayout:
        for block in self.blocks:
            block.width = max(block.title_width, *(_width(row) for row in block.rows)) + 2 * PADDING
            heights = [_tallest(row) for row in block.rows]
            block.height = HEADING + 2 * PADDING + sum(heights) + ROW * (len(heights) - 1)
        frames = {block.key: Thing(block.key, block.width, block.height) for block in self.blocks}
        rows = [
            [*(frames[block.key] for block in self.framed.get(position, ())), *row]
            for position, row in enumerate(self.rows)
        ]
        full = max(map(_width, rows))
        for position, row in enumerate(rows):
            ordered = self._ordered(row) if position else row
            tallest = self._set(ordered, x + (full - _width(row)) / 2, y)
            for block in self.framed.get(position, ()):
                self._fill(block, frames[block.key])
            y += tallest + LEVEL
        real = {key: thing for key, thing in self.things.items() if not thing.gate}
        return GraphLayout(real, list(self.blocks), self._lines(), x + full, y - LEVEL)

    def _way(self, source: object, target: object) -> list[object]:
        """The keys along a line: source, gates, target. Lines from one source share their gates."""
        level, block, row = self.home[source]
        to_level, to_block, to_row = self.home[target]
        if block is not None and block is to_block:
            return [source, *(self._gate(source, level, block, inner) for inner in range(row + 1, to_row)), target]
        way = [source]
        if block is not None:
            way += [self._gate(source, level, block, inner) for inner in range(row + 1, len(block.rows))]
        way += [self._gate(source, passed, None, 0) for passed in range(level + 1, to_level)]
        if to_block is not None:
            way += [self._gate(source, to_level, to_block, inner) for inner in range(to_row)]
        return [*way, target]

    def _gate(self, source: object, level: int, block: FramedRows | None, row: int) -> object:
        key = ("gate", source, level, block.key if block else None, row)
        if key not in self.things:
            self.things[key] = Thing(key, GATE, 0, gate=True)
            self.home[key] = (level, block, row)
            (block.rows[row] if block else self.rows[level]).append(self.things[key])
        return key

    def _ordered(self, things: list[Thing]) -> list[Thing]:
        """Things from left to right, in the order of what stands above them."""

        def wish(thing: Thing) -> float:
            above = [self.things[key].middle for box in thing.links or [thing] for key in self.above.get(box.key, [])]
            return sum(above) / len(above) if above else 0.0

        return sorted(things, key=wish)

    def _set(self, things: Sequence[Thing], x: float, y: float) -> float:
        """Place things side by side, each gate as high as the highest box; returns that height."""
        tallest = _tallest(things)
        for thing in things:
            thing.x, thing.y = x, y
            if thing.gate:
                thing.height = tallest
            self._set(thing.links, x, y)
            x += thing.width + GAP
        return tallest

    def _fill(self, block: FramedRows, frame: Thing) -> None:
        """Place the things in a frame."""
        block.x, block.y = frame.x, frame.y
        y = block.y + HEADING + PADDING
        for row in block.rows:
            y += self._set(self._ordered(row), block.x + (block.width - _width(row)) / 2, y) + ROW

    def _lines(self) -> list[list[tuple[float, float]]]:
        """The points of each line. A line leaves a box in the middle; lines that end in one box arrive side by side.

        Within a chain a line runs across.
        """
        lines = []
        ends: dict[object, list[list[tuple[float, float]]]] = {}
        for way in self.ways:
            start, *gates, end = (self.things[key] for key in way)
            if self.home[way[0]] == self.home[way[-1]]:
                across = start.y + start.height / 2
                lines.append([(start.x + start.width, across), (end.x, across)])
                continue
            points = [(start.middle, start.bottom)]
            for gate in gates:
                points += [(gate.middle, gate.y), (gate.middle, gate.bottom)]
            lines.append(points)
            ends.setdefault(way[-1], []).append(points)
        for key, arriving in ends.items():
            end = self.things[key]
            for place, points in enumerate(sorted(arriving, key=lambda points: points[-1][0]), start=1):
                points.append((end.x + end.width * place / (len(arriving) + 1), end.y))
        return lines


def _shelves(
    things: Sequence[Item], width: Callable[[Sequence[Item]], float], kept: Container[object] = ()
) -> list[list[Item]]:
    """Things in rows that fit the page, in their order; those whose keys are in ``kept`` are all in the first row."""
    first: list[Item] = [thing for thing in things if thing.key in kept]
    rows = [first]
    for thing in things:
        if thing.key in kept:
            continue
        if rows[-1] and width(rows[-1] + [thing]) > ROOM:  # mypy takes a starred list for an item
            rows.append([])
        rows[-1].append(thing)
    return rows


def _chained(rows: Sequence[Sequence[Thing]], edges: Iterable[tuple[object, object]]) -> list[list[Thing]]:
    """The things of a frame in fewer rows.

    A thing with one source in the row above moves to the right of that source if there is room, if no other thing has
    moved there, and if all its other sources stand higher up.
    """
    sources: dict[object, list[object]] = {}
    for source, target in edges:
        sources.setdefault(target, []).append(source)
    chains: dict[object, Thing] = {}  # by the things in it
    depth: dict[object, int] = {}  # by the thing that begins it
    for thing in (thing for row in rows for thing in row):
        above = [chains[source] for source in sources.get(thing.key, []) if source in chains]
        lowest = max((depth[chain.key] for chain in above), default=-1)
        near = [chain for chain in above if depth[chain.key] == lowest]
        if len(near) == 1 and near[0].links[-1].key in sources[thing.key] and near[0].width + GAP + thing.width <= ROOM:
            chain = near[0]
            chain.links.append(thing)
            chain.width, chain.height = _width(chain.links), _tallest(chain.links)
        else:
            chain = Thing(thing.key, thing.width, thing.height, links=[thing])
            depth[chain.key] = lowest + 1
        chains[thing.key] = chain
    found: list[list[Thing]] = [[] for _ in range(1 + max(depth.values()))]
    for key, place in depth.items():
        found[place].append(chains[key])
    return found


def _frames_width(blocks: Sequence[FramedRows]) -> float:
    """The width of frames side by side, before lines pass through them."""
    widths = [max(block.title_width, *map(_width, block.rows)) + 2 * PADDING for block in blocks]
    return sum(widths) + GAP * (len(widths) - 1)


def _width(things: Sequence[Thing]) -> float:
    return sum(thing.width for thing in things) + GAP * max(len(things) - 1, 0)


def _tallest(things: Sequence[Thing]) -> float:
    return max((thing.height for thing in things), default=0.0)
