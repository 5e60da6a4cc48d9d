"""Lines around points: convex hulls, and the tiles of a schedule."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from triton_lab.polyhedral import Schedule
from triton_lab.polyhedral.visit_times import tile_of

Ints = NDArray[np.int64]
MOST_TILES = 400
_ROOM = 0.42  # units from the middles of a tile's outermost points to its outline


def outlines(schedule: Schedule, statement: str, instances: Ints, places: Ints) -> list[NDArray[np.float64]]:
    """The tiles of ``statement`` around ``places``, (count, 1 or 2), each as the corners of a polygon, (corners, 2)."""
    expressions = tile_of(schedule, statement)
    if not expressions or not len(instances) or places.shape[1] > 2:
        return []
    iterators = schedule.scop[statement].iterators
    known = {**schedule.scop.values, **{iterator: instances[:, k] for k, iterator in enumerate(iterators)}}
    keys = np.stack([np.broadcast_to(e.evaluate(known), len(instances)) for e in expressions], axis=1)
    _, tile = np.unique(keys, axis=0, return_inverse=True)
    tile = tile.reshape(-1)
    if tile.max() >= MOST_TILES:
        return []
    flat = [around(places[tile == k]) for k in range(int(tile.max()) + 1)]
    return list({outline.tobytes(): outline for outline in flat}.values())


def around(places: Ints) -> NDArray[np.float64]:
    """The outline, (corners, 2), of a tile with these points, (count, 1 or 2)."""
    flat = np.concatenate([np.zeros((len(places), 2 - places.shape[1])), places], axis=1)
    room = np.array([(a, b) for a in (-_ROOM, _ROOM) for b in (-_ROOM, _ROOM)])
    return hull((flat[:, None] + room).reshape(-1, 2))


def hull(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """The corners of the convex hull of (count, 2) points, around it (Andrew's monotone chain)."""
    ordered = sorted({(x, y) for x, y in points.astype(np.float64).tolist()})
    if len(ordered) < 3:
        return np.array(ordered).reshape(-1, 2)

    def half(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
        chain: list[tuple[float, float]] = []
        for x, y in points:
            while len(chain) > 1:
                (x1, y1), (x0, y0) = chain[-1], chain[-2]
                if (x1 - x0) * (y - y0) - (y1 - y0) * (x - x0) > 0:
                    break
                chain.pop()
            chain.append((x, y))
        return chain[:-1]

    return np.array(half(ordered) + half(ordered[::-1]))
