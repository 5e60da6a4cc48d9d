"""What is seen of places of three coordinates from an angle, without perspective."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

Places = npt.NDArray[np.float64]  # (..., 3)


@dataclass(frozen=True)
class Orthographic:
    """An orthographic view: `middle`, a place of three coordinates, is seen at the pixel `centre`.

    The first coordinate goes up, the second to the right, the third towards the reader. `azimuth` and `elevation` are
    degrees, `unit` is CSS pixels.
    """

    middle: Places
    centre: tuple[float, float] = (0.0, 0.0)
    unit: float = 1.0
    azimuth: float = 28.0
    elevation: float = 22.0

    @cached_property
    def turn(self) -> Places:
        """The rotation (3, 3): rows right, up and towards the reader, over the coordinates."""
        a, e = np.radians(self.azimuth), np.radians(self.elevation)
        right = np.array([0.0, np.cos(a), -np.sin(a)])
        toward = np.array([np.sin(e), np.cos(e) * np.sin(a), np.cos(e) * np.cos(a)])
        return np.stack([right, np.cross(right, toward), toward])

    def place(self, places: npt.NDArray[np.float64] | npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """The pixels (..., 2) of places (..., 3)."""
        seen = (np.asarray(places, dtype=np.float64) - self.middle) @ self.turn.T
        placed: npt.NDArray[np.float64] = np.array(self.centre) + seen[..., :2] * np.array([self.unit, -self.unit])
        return placed

    def depth(self, places: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """How near to the reader places (..., 3) are."""
        away: npt.NDArray[np.float64] = places @ self.turn[2]
        return away
