"""Random nests: points, order, dependences, legality and programs against plain Python."""

from __future__ import annotations

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tests.polyhedral.random_nests import RandomNest, random_nests, trace
from tests.polyhedral.terms import run_terms
from triton_lab.polyhedral import Dependence, Schedule, Scop, scop
from triton_lab.polyhedral.core.affine_conditions import value_at
from triton_lab.polyhedral.core.loop_tree import path

_SETTINGS = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))


def _read(nest: RandomNest, n: int) -> Scop:
    found = scop(nest.text)
    return found.bind(n=n) if "n" in found.parameters else found


def _pairs(found: Scop, dependences: tuple[Dependence, ...]) -> dict[tuple[str, str, str], set[tuple[int, ...]]]:
    pairs: dict[tuple[str, str, str], set[tuple[int, ...]]] = {}
    for dependence in dependences:
        own = set(map(tuple, dependence.pairs(found).tolist()))
        if own:
            key = (dependence.kind, dependence.source, dependence.target)
            pairs[key] = pairs.get(key, set()) | own
    return pairs


def _visits(schedule: Schedule) -> list[tuple[str, tuple[int, ...]]]:
    sizes = {s.name: len(s.iterators) for s in schedule.scop.statements}
    return [(name, tuple(point[: sizes[name]])) for name, point in schedule.order().pairs]


@_SETTINGS
@given(random_nests(), st.integers(0, 5))
def test_points_and_order_are_those_of_python(nest: RandomNest, n: int) -> None:
    found = _read(nest, n)
    expected = trace(nest, n).visits
    assert _visits(found.schedule) == expected
    for statement in found.statements:
        own = sorted(point for name, point in expected if name == statement.name)
        assert list(map(tuple, found.points(statement.name).tolist())) == own
        assert statement.domain.count(found.values) == len(own)


@_SETTINGS
@given(random_nests(), st.integers(0, 4))
def test_dependences_are_those_of_python(nest: RandomNest, n: int) -> None:
    found = _read(nest, n)
    seen = trace(nest, n)
    assume(len(seen.visits) < 200)
    assert _pairs(found, found.dependences) == seen.memory_pairs()
    assert _pairs(found, found.value_dependences) == seen.value_pairs()


@_SETTINGS
@given(random_nests(), st.integers(1, 4), st.data())
def test_a_legal_order_computes_the_same(nest: RandomNest, n: int, data: st.DataObject) -> None:
    found = _read(nest, n)
    schedule = _random_schedule(found.schedule, data)
    assert sorted(_visits(schedule)) == sorted(_visits(found.schedule))
    if schedule.is_legal:
        assert run_terms(schedule) == run_terms(found.schedule)


@_SETTINGS
@given(random_nests(), st.integers(1, 4), st.data())
def test_a_printed_program_read_again_visits_the_same(nest: RandomNest, n: int, data: st.DataObject) -> None:
    found = _read(nest, n)
    schedule = _random_schedule(found.schedule, data)
    places = _elements(schedule)
    for language in ("c", "python"):
        again = scop(schedule.program(language)) if places else None
        if again is not None:
            values = {p: found.values[p] for p in again.parameters}
            assert _elements(again.bind(**values).schedule) == places


def _elements(schedule: Schedule) -> list[tuple[str, tuple[int, ...]]]:
    """The elements that are written, in order."""
    places = []
    for name, point in _visits(schedule):
        statement = schedule.scop[name]
        values = {**schedule.scop.values, **dict(zip(statement.iterators, point, strict=True))}
        (write,) = statement.writes
        places.append((write.array, tuple(value_at(s, values) for s in write.subscripts)))
    return places


def _random_schedule(schedule: Schedule, data: st.DataObject) -> Schedule:
    """Up to three random transformations; those that do not fit are left out."""
    for _ in range(data.draw(st.integers(0, 3))):
        statement = data.draw(st.sampled_from([s.name for s in schedule.scop.statements]))
        names = [step.loop.name for step in path(schedule.tree, statement) if step.loop]
        if not names:
            continue
        name = data.draw(st.sampled_from(names))
        other = data.draw(st.sampled_from(names))
        step = data.draw(st.sampled_from(["split", "interchange", "skew", "reverse", "distribute", "fuse"]))
        try:
            match step:
                case "split":
                    schedule = schedule.split(name, data.draw(st.integers(1, 3)), statement=statement)
                case "interchange":
                    schedule = schedule.interchange(name, other, statement=statement)
                case "skew":
                    schedule = schedule.skew(name, other, data.draw(st.integers(-1, 2)), statement=statement)
                case "reverse":
                    schedule = schedule.reverse(name, statement=statement)
                case "distribute":
                    schedule = schedule.distribute(name, statement=statement)
                case "fuse":
                    schedule = schedule.fuse(schedule.scop.statements[0].name, statement)
        except ValueError:
            continue
    return schedule
