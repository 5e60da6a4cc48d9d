"""The page's irregular nest: the data decide the number of iterations of each row. A set of points, not a scop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from triton_lab.localization import _
from triton_lab.polyhedral.display_mixin import Pictured
from triton_lab.providers import provided

if TYPE_CHECKING:
    from triton_lab.views.polyhedral.ragged_view import RaggedView


@dataclass(frozen=True)
class Ragged(Pictured):
    """``for i, for k < lengths[i]: ... A[i][columns[i][k]]`` over a matrix of ``width`` columns."""

    columns: tuple[tuple[int, ...], ...]
    width: int

    def __post_init__(self) -> None:
        for i, row in enumerate(self.columns):
            if len(set(row)) != len(row) or any(not 0 <= c < self.width for c in row):
                raise ValueError(
                    _("row {i}: columns {row} must be different and below {width}").format(
                        i=i, row=row, width=self.width
                    )
                )

    @property
    def lengths(self) -> tuple[int, ...]:
        """The page's K: how many entries each row has."""
        return tuple(len(row) for row in self.columns)

    @property
    def points(self) -> NDArray[np.int64]:
        """All (i, k), in order."""
        pairs = [(i, k) for i, row in enumerate(self.columns) for k in range(len(row))]
        return np.array(pairs, dtype=np.int64).reshape(len(pairs), 2)

    @property
    def bounding_box(self) -> int:
        """How many (i, k) a nest with constant bounds must visit to reach all of them."""
        return len(self.columns) * max(self.lengths, default=0)

    def padded(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """K and col as arrays, with col padded with 0."""
        col = np.zeros((len(self.columns), max(1, max(self.lengths, default=0))), dtype=np.int32)
        for i, row in enumerate(self.columns):
            col[i, : len(row)] = row
        return np.array(self.lengths, dtype=np.int32), col

    def mask(self) -> NDArray[np.bool_]:
        """Which entries of A are used, (rows, width)."""
        used = np.zeros((len(self.columns), self.width), dtype=bool)
        for i, row in enumerate(self.columns):
            used[i, list(row)] = True
        return used

    def plot(self) -> RaggedView:
        """The rows beside a dense matrix, and why the nest is no scop."""
        view: RaggedView = provided("Ragged.plot")(self)
        return view

    def run(self, a: NDArray[np.float32], b: NDArray[np.float32]) -> NDArray[np.float32]:
        """C = A B over the entries that are used, instance by instance."""
        c = np.zeros((len(self.columns), b.shape[1]), dtype=np.float32)
        for i, row in enumerate(self.columns):
            for column in row:
                c[i] += a[i, column] * b[column]
        return c


# The page's K = 4, 2, 5, 1; the columns are those of its figure.
PAGE_RAGGED = Ragged(((0, 2, 3, 4), (1, 6), (0, 4, 5, 6, 7), (3,)), 8)
