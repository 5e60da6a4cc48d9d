"""What a plane of a nest shows, against the nest run in plain Python: points, visits in order, and dependences."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator

import numpy as np
import pytest

from tests.wordings import Wording
from triton_lab.polyhedral import scop
from triton_lab.views.polyhedral import plane_axes
from triton_lab.views.polyhedral.iteration_picture import picture

N = 3
NEST = """for (int i = 0; i < n; i++) for (int j = i; j < 4; j++) {
    C[i][j] = 0;
    for (int k = 0; k < 3; k++) C[i][j] += A[i][k] * B[j];
    B[j] = C[i][j];
}"""
ITERATORS = {"S0": ("i", "j"), "S1": ("i", "j", "k"), "S2": ("i", "j")}

Instance = tuple[str, tuple[int, ...]]


def executed() -> Iterator[tuple[Instance, list[tuple[str, ...]], list[tuple[str, ...]]]]:
    """Each instance in order, with what it reads and writes."""
    for i in range(N):
        for j in range(i, 4):
            c, b = ("C", str(i), str(j)), ("B", str(j))
            yield ("S0", (i, j)), [], [c]
            for k in range(3):
                yield ("S1", (i, j, k)), [c, ("A", str(i), str(k)), b], [c]
            yield ("S2", (i, j)), [c], [b]


EVERY = [instance for instance, _, _ in executed()]


def dependent(values: bool) -> dict[tuple[str, str, str], set[tuple[Instance, Instance]]]:
    """By kind, source and target. ``values``: from the last write to each read alone."""
    found = defaultdict(set)
    done: list[tuple[Instance, list[tuple[str, ...]], list[tuple[str, ...]]]] = []
    for instance, reads, writes in executed():
        for before, its_reads, its_writes in done:
            kinds = (("flow", its_writes, reads), ("anti", its_reads, writes), ("output", its_writes, writes))
            for kind, first, then in kinds:
                for place in set(first) & set(then):
                    between = [
                        one for one, _, written in done if place in written and EVERY.index(one) > EVERY.index(before)
                    ]
                    if not values or (kind == "flow" and not between):
                        found[kind, before[0], instance[0]].add((before, instance))
        done.append((instance, reads, writes))
    return found


PLANES: list[tuple[tuple[str, ...], dict[str, int]]] = [
    *((dims, {}) for dims in (("i", "j", "k"), ("i", "j"), ("j", "i"), ("k", "j"), ("i",), ("k",))),
    *((dims, at) for dims, at in ((("i", "j"), {"k": 1}), (("j", "k"), {"i": 2}), (("k",), {"i": 0, "j": 2}))),
    *((dims, at) for dims, at in ((("i",), {"j": 3}), (("j",), {"i": 7}), (("i", "k"), {"j": 1}))),
]


@pytest.mark.parametrize("dependences", [None, "value", "memory"])
@pytest.mark.parametrize(("dims", "at"), PLANES)
def test_a_plane_has_the_instances_in_it_and_what_leads_from_one_to_another(
    dims: tuple[str, ...], at: dict[str, int], dependences: str | None
) -> None:
    shown = picture(scop(NEST, n=N).schedule, dims, at, dependences)
    drawn = [name for name, iterators in ITERATORS.items() if set(dims) <= set(iterators)]

    def seen(instance: Instance) -> tuple[int, ...] | None:
        values = dict(zip(ITERATORS[instance[0]], instance[1], strict=True))
        inside = all(values.get(name, value) == value for name, value in at.items())
        return tuple(values[name] for name in dims) if inside and instance[0] in drawn else None

    visited = [(time, one[0], point) for time, one in enumerate(EVERY) if (point := seen(one)) is not None]
    assert [layer.statement for layer in shown.layers] == drawn
    for layer in shown.layers:
        expected = [point for _, name, point in visited if name == layer.statement]
        points = list(map(tuple, layer.points.tolist()))
        assert sorted(points) == sorted(set(expected))
    told = [(shown.layers[k].statement, tuple(shown.layers[k].points[p].tolist())) for k, p in shown.visits.tolist()]
    assert told == [(name, point) for _, name, point in visited]
    assert shown.times.tolist() == [time for time, _, _ in visited]
    every = [point for _, _, point in visited] + [(0,) * len(dims)]
    assert (shown.low, shown.high) == (
        tuple(map(min, zip(*every, strict=True))),
        tuple(map(max, zip(*every, strict=True))),
    )
    for point in set(every):
        assert shown.visits_at(point).tolist() == [k for k, (_, _, at_point) in enumerate(visited) if at_point == point]

    wanted = {} if dependences is None else dependent(dependences == "value")
    arrows = {(one.kind, one.source, one.target): one for one in shown.arrows}
    assert not any(one.violated for one in shown.arrows)
    for key, pairs in wanted.items():
        ends = {(a, b) for one, other in pairs if (a := seen(one)) and (b := seen(other)) and a != b}
        made = arrows.pop(key, None)
        if made is None:
            assert not ends, key
            continue
        assert set(map(_both, made.ends.tolist())) == ends and made.total == len(ends)
        assert made.instances is not None
        inside = {(one[1], other[1]) for one, other in pairs if seen(one) is not None and seen(other) is not None}
        width = len(ITERATORS[key[1]])
        assert {(tuple(row[:width]), tuple(row[width:])) for row in made.instances.tolist()} == inside
    assert not arrows


def _both(ends: list[list[int]]) -> tuple[tuple[int, ...], ...]:
    return tuple(map(tuple, ends))


def test_what_leaves_out_a_statement_says_so_and_what_does_not_exist_is_refused(wording: Wording) -> None:
    schedule = scop(NEST, n=N).schedule
    assert picture(schedule).dims == ("i", "j", "k")
    for told, name in zip(picture(schedule).left_out, ("S0", "S2"), strict=True):
        wording(told, "left out", instances=9, statement=name, loop="k")
    for dims in ((), ("i", "i"), ("x",), ("i", "j", "k", "i")):
        with pytest.raises(ValueError, match="others as dims"):
            picture(schedule, dims)
    with pytest.raises(ValueError, match="not 'all'"):
        picture(schedule, dependences="all")


def test_instants_rise_and_fronts_are_what_happens_at_once() -> None:
    text = "for (int i = 0; i < 4; i++) for (int j = 0; j < 3; j++) A[i][j] = i;"
    plain, parallel = scop(text).schedule, scop(text).schedule.parallel("i")
    assert picture(plain).fronts == ()
    shown = picture(parallel)
    assert (np.diff(shown.instants) >= 0).all()
    points = shown.layers[0].points[shown.visits[:, 1]]
    fronts = [sorted(map(tuple, points[front].tolist())) for front in shown.fronts]
    assert fronts == [sorted((i, j) for i in range(4)) for j in range(3)]


@pytest.mark.parametrize(("rows", "columns"), list(itertools.product((1, 2, 5), (1, 4))))
def test_polygons_have_their_corners(rows: int, columns: int) -> None:
    text = f"for (int i = 1; i < {rows + 1}; i++) for (int j = -2; j < {columns - 2}; j++) A[i][j + 2] = i;"
    (layer,) = picture(scop(text).schedule).layers
    expected = set(itertools.product((1.0, float(rows)), (-2.0, float(columns - 3))))
    assert {tuple(corner) for polygon in layer.corners for corner in polygon.tolist()} == expected


def test_an_axis_has_no_zero_below_zero() -> None:
    assert [plane_axes._number(float(place)) for place in np.ceil(np.array([-0.5, -10.5, 9.5]) / 10) * 10] == [
        "0",
        "-10",
        "10",
    ]
