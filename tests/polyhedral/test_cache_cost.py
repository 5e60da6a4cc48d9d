"""What an order of execution costs, against the same accesses made one by one in plain Python."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.wordings import Wording
from triton_lab.polyhedral import scop
from triton_lab.polyhedral.cache_cost import Cache

NEST = """for (int i = 1; i < n; i++) for (int j = 0; j <= i; j++) {
    A[i][j + 2] = B[j - 3][i] + A[i - 1][j];
    C[2 * i] = A[i][j];
}"""
N = 6

Touched = tuple[str, tuple[int, ...]]


def touched(by_columns: bool) -> Iterator[Touched]:
    """What the nest reads and writes, in order."""
    pairs = [(i, j) for i in range(1, N) for j in range(i + 1)]
    for i, j in sorted(pairs, key=lambda pair: pair[::-1]) if by_columns else pairs:
        yield from (("B", (j - 3, i)), ("A", (i - 1, j)), ("A", (i, j + 2)))
        yield from (("A", (i, j)), ("C", (2 * i,)))


# Rows, columns and the least subscripts: B begins at row -3.
SHAPES: dict[str, tuple[int, ...]] = {"A": (N, N + 2), "B": (N, N), "C": (2 * N - 1,)}
FIRST: dict[str, tuple[int, ...]] = {"A": (0, 0), "B": (-3, 0), "C": (0,)}


def memory_lines(
    every: list[Touched], names: tuple[str, ...], size: int, shapes: dict[str, tuple[int, ...]]
) -> list[int]:
    """The line of each access: arrays row by row, each from a line of its own on."""
    begins, line = {}, 0
    for name in names:
        begins[name] = line
        line += -(-int(np.prod(shapes[name])) // size)
    found = []
    for name, index in every:
        place = np.ravel_multi_index([at - low for at, low in zip(index, FIRST[name], strict=True)], shapes[name])
        found.append(begins[name] + int(place) // size)
    return found


def misses(lines: list[int], cache: Cache) -> list[bool]:
    """Of each set the ways are a list, the line used last at its end."""
    ways = cache.ways or cache.lines
    sets: list[list[int]] = [[] for _ in range(cache.lines // ways)]
    found = []
    for line in lines:
        held = sets[line % len(sets)]
        found.append(line not in held)
        held[:] = [*(one for one in held if one != line), line][-ways:]
    return found


caches = st.sampled_from([(1, 1, None), (4, 2, None), (4, 3, 2), (6, 4, 1), (8, 8, 4), (64, 1, None)])


@pytest.mark.parametrize("by_columns", [False, True])
@pytest.mark.parametrize("given_shapes", [{}, {"A": (N + 1, N + 5), "C": (40,)}])
@pytest.mark.parametrize("sizes", [(1, 1, None), (4, 2, None), (4, 3, 2), (6, 4, 1), (8, 8, 4), (64, 1, None)])
def test_a_cost_is_what_the_cache_sees(
    sizes: tuple[int, int, int | None], given_shapes: dict[str, tuple[int, ...]], by_columns: bool
) -> None:
    cache = Cache(*sizes)
    order = scop(NEST, n=N).schedule
    order = order.interchange("i", "j") if by_columns else order
    cost = order.cost(cache, given_shapes)
    every = list(touched(by_columns))
    lines = memory_lines(every, cost.names, cache.line_size, SHAPES | given_shapes)
    assert [cost.names[k] for k in cost.arrays] == [name for name, _ in every]
    assert cost.missed.tolist() == misses(lines, cache)
    assert (cost.accesses, cost.misses) == (len(every), sum(misses(lines, cache)))
    assert cost.visit.tolist() == [k for k in range(len(every) // 5 * 2) for _ in range((3, 2)[k % 2])]
    by_array = {name: (sum(a == name for a, _ in every), 0) for name in cost.names}
    for (name, _), missed in zip(every, misses(lines, cache), strict=True):
        by_array[name] = (by_array[name][0], by_array[name][1] + missed)
    assert cost.by_array == by_array


@given(lines=st.lists(st.integers(0, 9), max_size=40), sizes=caches)
def test_the_cache_misses_what_it_does_not_hold(lines: list[int], sizes: tuple[int, int, int | None]) -> None:
    cache = Cache(*sizes)
    assert cache.misses(np.array(lines, dtype=np.int64)).tolist() == misses(lines, cache)


def test_a_cost_is_told_with_its_rate_and_without_one() -> None:
    cost = scop("for (int i = 0; i < n; i++) A[i] = B[i];", n=8).schedule.cost(Cache(4, 4))
    assert str(cost) == "4 misses of 16 accesses (25.0%): B 2/8, A 2/8"
    one = scop("for (int i = 0; i < n; i++) A[i] = 1;", n=1).schedule.cost(Cache(4, 4))
    assert str(one) == "1 miss of 1 access (100.0%): A 1/1"
    none = scop("for (int i = 0; i < n; i++) A[i] = 1;", n=0).schedule.cost(Cache(4, 4))
    assert str(none) == "0 misses of 0 accesses: A 0/0"


@pytest.mark.parametrize("sizes", [(0, 1, None), (1, 0, None), (4, 1, 0), (4, 1, 3), (4, 1, 8), (-1, 1, None)])
def test_a_cache_of_no_such_sizes_is_refused(sizes: tuple[int, int, int | None], wording: Wording) -> None:
    lines, size, ways = sizes
    ends = lines > 0 and size > 0
    with wording.raises(
        ValueError, "ways" if ends else "empty", **({"lines": f"{lines} lines", "ways": f"{ways} ways"} if ends else {})
    ):
        Cache(*sizes)
