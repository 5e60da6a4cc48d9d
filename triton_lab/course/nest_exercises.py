"""Exercises about loop nests: loops to write, and orders to find. isl judges them for all sizes at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from triton_lab import messages
from triton_lab.course.answer_fault import AnswerFault
from triton_lab.course.cases import told
from triton_lab.course.exercise_answer import Answer
from triton_lab.course.exercise_kinds import Exercise
from triton_lab.localization import _

if TYPE_CHECKING:
    import islpy as isl

    from triton_lab.polyhedral import Cache, Schedule, Scop

Property = Callable[["Schedule"], str]
"""Says what a legal order lacks; "" if it lacks nothing."""

_SIZES = range(1, 7)  # of the parameters, tried in order to show a mistake


@dataclass(frozen=True, eq=False, repr=False)
class NestExercise(Exercise):
    """Loops to write, as a Python function or as text.

    They must write each element that ``reference`` (a text) writes exactly once, and no other, from the same elements.
    Only then are both run, and their numbers compared.
    """

    reference: str = field(kw_only=True)

    def judged(self, answer: Answer) -> AnswerFault | None:
        from triton_lab.polyhedral import NotAScop, TooHard, scop

        try:
            found = answer.scop()
        except (NotAScop, TooHard, TypeError, ValueError) as error:
            return AnswerFault(str(error))
        return _unlike(found, scop(self.reference))


@dataclass(frozen=True, eq=False, repr=False)
class OrderExercise(Exercise):
    """A function to write that makes another schedule of a nest.

    The schedule must be legal for all sizes, and have each ``asked`` property at ``values``.
    """

    nest: str = field(kw_only=True)
    values: Mapping[str, int] = field(kw_only=True)
    asked: tuple[Property, ...] = field(kw_only=True)

    def judged(self, answer: Answer) -> AnswerFault | None:
        from triton_lab.polyhedral import TooHard, schedule

        on = told(self.values)
        made = answer.order(schedule(self.nest, **self.values), on)
        try:
            if not made.is_legal:
                return AnswerFault(
                    _("This order is not legal. {violations}.").format(violations=made.legality.violations[0]),
                    on,
                    picture=made,
                )
            lacks = next(filter(None, (wanted(made) for wanted in self.asked)), "")
        except (TooHard, ValueError) as error:
            lacks = str(error)
        return (
            AnswerFault(_("The order is legal, but {lacks}.").format(lacks=lacks), on, picture=made) if lacks else None
        )


# --- Properties of orders -------------------------------------------------------------------------------


def steps(most: int) -> Property:
    """Require at most so many steps of a nest with one statement; all iterations of a parallel loop are one step."""

    def lacks(made: Schedule) -> str:
        found = _steps(made)
        if found <= most:
            return ""
        return _("it needs {steps} one after the other; {most} are enough").format(
            steps=messages.count(found, "step"), most=messages.number(most)
        )

    return lacks


def misses(most: int, cache: Cache) -> Property:
    """Require that at most so many accesses miss ``cache``."""

    def lacks(made: Schedule) -> str:
        found = made.cost(cache).misses
        if found <= most:
            return ""
        small = _("a cache of {lines} of {elements}").format(
            lines=messages.count(cache.lines, "line"), elements=messages.count(cache.line_size, "element")
        )
        return _("{miss} {small}; at most {most} may").format(
            miss=messages.count(found, "access misses", "accesses miss"), small=small, most=messages.number(most)
        )

    return lacks


def blocks(grid: Sequence[int], arrays: Mapping[str, tuple[int, ...]]) -> Property:
    """Require that the order can be written as a Triton kernel with this grid that computes the same."""

    def lacks(made: Schedule) -> str:
        import numpy as np

        kernel = made.to_triton()
        found = tuple(kernel.grid(made.scop))
        if found != tuple(grid):
            return _("its kernel has a grid of {found}, but it must be {grid}").format(found=found, grid=tuple(grid))
        rng = np.random.default_rng(0)
        inputs = {name: rng.random(shape, dtype=np.float32) for name, shape in arrays.items()}
        expected, result = made.run(inputs), kernel.run(inputs)
        wrong = [name for name in arrays if not np.allclose(result[name], expected[name], rtol=1e-5)]
        return _("its kernel computes a different {wrong}").format(wrong=wrong[0]) if wrong else ""

    return lacks


def _steps(made: Schedule) -> int:
    import islpy as isl

    from triton_lab.polyhedral.core.integer_points import count_points
    from triton_lab.polyhedral.core.loop_tree import path, time_text

    (statement,) = made.scop.statements
    times = isl.Map(time_text(made.tree, statement.name, statement.iterators, made.scop.parameters))
    times = times.intersect_domain(statement.domain.set)
    levels = path(made.tree, statement.name)
    for depth in reversed(range(len(levels))):
        loop = levels[depth].loop
        if loop is not None and loop.mark in ("parallel", "vectorize"):
            times = times.project_out(isl.dim_type.out, depth, 1)
    return count_points(made.scop.fixed(times).range())


# --- Comparing two nests ---------------------------------------------------------------------------------


def _unlike(found: Scop, asked: Scop) -> AnswerFault | None:
    """The difference between ``found`` and the nest that is ``asked``; None if they do the same."""
    strange = [name for name in found.parameters if name not in asked.parameters]
    if strange:
        return AnswerFault(
            _("The loops use {strange}, but only {parameters} is given.").format(
                strange=strange[0], parameters=", ".join(asked.parameters)
            )
        )
    mine, wanted = _writes(found), _writes(asked)
    return (
        _shown(wanted.range().subtract(mine.range()), found, _("{target} is not written, but must be"))
        or _shown(mine.range().subtract(wanted.range()), found, _("{target} is written, but must not be"))
        or _shown(_twice(mine), found, _("{target} is written more than once"))
        or _shown(_sources(asked).subtract(_sources(found)), found, _("{target} must depend on {source}, but does not"))
        or _shown(_sources(found).subtract(_sources(asked)), found, _("{target} depends on {source}, but must not"))
        or _other_numbers(found, asked)
    )


def _writes(scop: Scop) -> isl.UnionMap:
    return _union(access.relation for statement in scop.statements for access in statement.writes)


def _sources(scop: Scop) -> isl.UnionMap:
    """The map from each written element to the elements that are read for it."""
    reads = _union(access.relation for statement in scop.statements for access in statement.reads)
    return _writes(scop).reverse().apply_range(reads)


def _twice(writes: isl.UnionMap) -> isl.UnionSet:
    """The elements that several instances write."""
    pairs = writes.apply_range(writes.reverse())
    return writes.intersect_domain(pairs.subtract(pairs.domain().identity()).domain()).range()


def _union(maps: Any) -> isl.UnionMap:
    import islpy as isl

    total = isl.UnionMap("{ }")
    for one in maps:
        total = total.union(isl.UnionMap.from_map(one))
    return total


def _shown(wrong: isl.UnionSet | isl.UnionMap, scop: Scop, how: str) -> AnswerFault | None:
    """A fault that names one of the elements, or pairs of elements, in ``wrong``, at the smallest size that has any."""
    if wrong.is_empty():
        return None
    for size in _SIZES:
        values = dict.fromkeys(scop.parameters, size)
        elements = _first(wrong, values)
        if elements:
            return AnswerFault(
                f"{how.format(**dict(zip(('target', 'source'), elements, strict=False)))}.",
                told(values),
                picture=scop.bind(**values),
            )
    return AnswerFault(
        _("For sizes above {sizes} the nest writes or reads different elements.").format(sizes=_SIZES[-1])
    )


def _first(wrong: isl.UnionSet | isl.UnionMap, values: Mapping[str, int]) -> list[str]:
    """One of the elements or pairs in words, [] if there is none at ``values``."""
    import islpy as isl

    from triton_lab.polyhedral.core.integer_points import relation_points, set_points
    from triton_lab.polyhedral.core.iteration_domain import fix_parameters

    if isinstance(wrong, isl.UnionSet):
        listed = wrong.get_set_list()
        for one in (fix_parameters(listed.get_at(k), tuple(values), values) for k in range(listed.n_set())):
            if not one.is_empty():
                return [_element(one.get_tuple_name(), set_points(one)[0])]
        return []
    pairs = wrong.get_map_list()
    for pair in (fix_parameters(pairs.get_at(k), tuple(values), values) for k in range(pairs.n_map())):
        if not pair.is_empty():
            point, cut = relation_points(pair)[0], pair.dim(isl.dim_type.in_)
            sides = (isl.dim_type.in_, point[:cut]), (isl.dim_type.out, point[cut:])
            return [_element(pair.get_tuple_name(side), at) for side, at in sides]
    return []


def _element(array: str, at: Any) -> str:
    return f"{array}[{', '.join(map(str, at.tolist()))}]"


def _other_numbers(found: Scop, asked: Scop) -> AnswerFault | None:
    """The difference in numbers when both nests run; they are known to write the same elements."""
    import numpy as np

    size = _SIZES[-1]
    values = dict.fromkeys(asked.parameters, size)
    rng = np.random.default_rng(0)
    ranks = {array.name: array.ndim for array in asked.arrays}
    inputs = {name: rng.random((2 * size,) * rank) for name, rank in ranks.items()}
    mine, wanted = (one.bind(**values).schedule.run(inputs) for one in (found, asked))
    for name in ranks:
        if not np.allclose(mine[name], wanted[name]):
            at = np.argwhere(~np.isclose(mine[name], wanted[name]))[0]
            place = _element(name, at)
            numbers = _("{mine}, but must be {wanted}").format(
                mine=f"{mine[name][tuple(at)]:.6g}", wanted=f"{wanted[name][tuple(at)]:.6g}"
            )
            return AnswerFault(
                _("The right elements are written, but {place} is {numbers}.").format(place=place, numbers=numbers),
                told(values),
            )
    return None
