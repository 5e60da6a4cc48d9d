"""The marks of instants: one line or one outline around all visits that happen at once."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from triton_lab.views.polyhedral.iteration_picture import Picture
from triton_lab.views.polyhedral.outlines import hull

MOST_COMPARED = 300  # instants that are compared with each other

_AROUND = np.array([(np.cos(a), np.sin(a)) for a in np.arange(16) * np.pi / 8])


def marked(picture: Picture) -> tuple[NDArray[np.int64], ...]:
    """The visits of each instant that gets a mark: of all instants, or of the first where their marks would overlap."""
    fronts = picture.fronts
    if len(picture.dims) > 2:
        return ()
    places = np.zeros((len(picture.visits), len(picture.dims)), dtype=np.float64)
    for k, layer in enumerate(picture.layers):
        own = picture.visits[:, 0] == k
        places[own] = layer.points[picture.visits[own, 1]]
    flat = np.concatenate([np.zeros((len(places), 2 - places.shape[1])), places], axis=1)
    shapes = [hull(flat[front]) for front in fronts]
    if len(fronts) > MOST_COMPARED or any(_overlap(a, b) for a, b in combinations(shapes, 2)):
        return fronts[:1]
    return fronts


def outline(places: NDArray[np.float64], room: float) -> NDArray[np.float64]:
    """The mark of visits at ``places``, (count, 2) pixels: the ends of a line, or corners ``room`` away from them."""
    corners = hull(places)
    return corners if len(corners) < 3 else hull((corners[:, None] + room * _AROUND).reshape(-1, 2))


def _overlap(one: NDArray[np.float64], other: NDArray[np.float64]) -> bool:
    """Whether two marks would lie on each other: two lines only where they share more than a point."""
    if len(one) < 2 or len(other) < 2:
        return False
    apart = (one.min(axis=0) > other.max(axis=0)) | (other.min(axis=0) > one.max(axis=0))
    if apart.any():
        return False
    if len(one) > 2 or len(other) > 2:
        return True
    along = one[1] - one[0]
    away = other - one[0]
    return bool((along[0] * away[:, 1] == along[1] * away[:, 0]).all())
