"""Linear algebra over GF(2) on integers: an int is a vector, its bits are the entries, and addition is XOR."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Echelon:
    """A matrix, given by its columns, in echelon form: it finds the inputs that lead to an output.

    Each row of ``pivots`` is (leading bit, vector, inputs whose columns add up to it). ``kernel`` holds the inputs
    that lead to zero, one for each dependent column.
    """

    pivots: tuple[tuple[int, int, int], ...]
    kernel: tuple[int, ...]

    @property
    def rank(self) -> int:
        return len(self.pivots)

    def reduce(self, vector: int) -> tuple[int, int]:
        """The remainder of a vector after subtracting the columns' span, and the inputs that were used."""
        used = 0
        for lead, pivot, inputs in self.pivots:
            if vector >> lead & 1:
                vector ^= pivot
                used ^= inputs
        return vector, used

    def solve(self, vector: int) -> int | None:
        """The inputs that lead to a vector, dependent ones left at zero; None without a solution."""
        rest, used = self.reduce(vector)
        return None if rest else used

    def spans(self, vector: int) -> bool:
        return self.reduce(vector)[0] == 0


def echelon(columns: Iterable[int]) -> Echelon:
    """Gaussian elimination in the order of the columns, so that a solution uses the first of equal columns."""
    pivots: list[tuple[int, int, int]] = []
    kernel: list[int] = []
    for number, column in enumerate(columns):
        vector, inputs = column, 1 << number
        for lead, pivot, used in pivots:
            if vector >> lead & 1:
                vector ^= pivot
                inputs ^= used
        if not vector:
            kernel.append(inputs)
            continue
        lead = vector.bit_length() - 1
        pivots = [
            (at, pivot ^ vector, used ^ inputs) if pivot >> lead & 1 else (at, pivot, used)
            for at, pivot, used in pivots
        ]
        pivots.append((lead, vector, inputs))
    return Echelon(tuple(pivots), tuple(kernel))


def combine(columns: Sequence[int], inputs: int) -> int:
    """The sum of the columns whose bits are set in ``inputs``."""
    vector = 0
    while inputs:
        low = inputs & -inputs
        vector ^= columns[low.bit_length() - 1]
        inputs ^= low
    return vector


def span(vectors: Sequence[int]) -> list[int]:
    """All 2**len(vectors) sums of the vectors, in the order of the number whose bits choose them."""
    sums = [0]
    for vector in vectors:
        sums += [each ^ vector for each in sums]
    return sums
