"""The program of a schedule: isl's loops around the source's statements."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from itertools import chain

import islpy as isl

from triton_lab.localization import _
from triton_lab.polyhedral.core.affine_expr import isl_name
from triton_lab.polyhedral.core.isl_codegen import loops
from triton_lab.polyhedral.core.isl_effort import answered
from triton_lab.polyhedral.core.loop_nest import Assign, Expr, If, Load, Name, Node, Visit, rebuild, substitute
from triton_lab.polyhedral.core.loop_tree import Loop, Tree, path, statements, time_text, times
from triton_lab.polyhedral.core.nest_maps import map_visits
from triton_lab.polyhedral.core.nest_printer import CPrinter, Printer, PythonPrinter
from triton_lab.polyhedral.core.schedule_visits import Ordered
from triton_lab.polyhedral.core.statement import Statement
from triton_lab.polyhedral.core.static_part import StaticPart

# More copies of a loop's body are unreadable, and isl's time grows with their square.
MOST_COPIES = 1024


def schedule_map(schedule: Ordered) -> isl.UnionMap:
    """The map from instances to times, on the statements' domains."""
    scop = schedule.scop
    total = isl.UnionMap("{}")
    for s in scop.statements:
        total = total.union(isl.UnionMap.from_map(_time(scop, schedule.tree, s)))
    return total


def _time(scop: StaticPart, tree: Tree, statement: Statement) -> isl.Map:
    text = time_text(tree, statement.name, statement.iterators, scop.parameters)
    return isl.Map(text).intersect_domain(statement.domain.set)


def program(schedule: Ordered, values: Mapping[str, int] | None = None) -> tuple[Node, ...]:
    """The loops, with a visit for each statement; ``values`` are inserted for the parameters."""
    scop = schedule.scop
    depth = len(times(schedule.tree, scop.statements[0].name))
    paths = {s.name: path(schedule.tree, s.name) for s in scop.statements}

    def describe(at: int, inside: frozenset[str], taken: frozenset[str]) -> tuple[str, str]:
        if at >= depth:
            tied = [scop[name].iterators for name in sorted(inside)]
            # Use the iterator itself, unless a time dimension has its name; then a fresh one.
            own = [iterators[at - depth] for iterators in tied if at - depth < len(iterators)]
            return next((n for n in (*own, *chain(*tied)) if n not in taken), f"t{at}"), ""
        step = next(paths[name][at] for name in sorted(inside) if at < len(paths[name]))
        return (step.loop.name, step.loop.mark) if step.loop else (f"t{at}", "")

    context = None
    if values is not None:
        known = " and ".join(f"{isl_name(p)} = {values[p]}" for p in scop.parameters) or "0 = 0"
        context = isl.Set(f"[{', '.join(isl_name(p) for p in scop.parameters)}] -> {{ : {known} }}")
    return loops(schedule_map(schedule), depth, describe, context, _unrolled(schedule, depth))


def _unrolled(schedule: Ordered, depth: int) -> isl.UnionMap | None:
    """isl's option for the loops marked unroll, ``{ [t0, t1] -> unroll[1] }``; None without such loops."""
    options: list[str] = []
    names = [f"t{k}" for k in range(depth)]
    for s in schedule.scop.statements:
        steps = path(schedule.tree, s.name)
        for at, step in enumerate(steps):
            if step.loop is None or step.loop.mark != "unroll":
                continue
            _refuse_endless_copies(schedule, s, at, step.loop.name)
            # The positions in the sequences around it distinguish this loop from others at the same depth.
            where = [f"t{k} = {e.expression.constant}" for k, e in enumerate(steps[:at]) if e.loop is None]
            condition = f" : {' and '.join(where)}" if where else ""
            options.append(f"[{', '.join(names)}] -> unroll[{at}]{condition}")
    return isl.UnionMap(f"{{ {'; '.join(dict.fromkeys(options))} }}") if options else None


def _refuse_endless_copies(schedule: Ordered, statement: Statement, at: int, loop: str) -> None:
    """Raise ValueError if time dimension ``at`` of ``statement`` has no constant number of values, or a huge one."""
    copies = answered(
        _("how many iterations of {loop} are to be written out").format(loop=loop),
        partial(_copies, schedule, statement, at),
    )
    advice = _("split {loop} and unroll the inner loop").format(loop=loop)
    if copies is None:
        raise ValueError(
            _("{loop} cannot be unrolled: its number of iterations is not a constant; {advice}").format(
                loop=loop, advice=advice
            )
        )
    if copies > MOST_COPIES:
        raise ValueError(
            _("{loop} cannot be unrolled: {copies} copies are more than {most_copies}; {advice}").format(
                loop=loop, copies=copies, most_copies=MOST_COPIES, advice=advice
            )
        )


def _copies(schedule: Ordered, statement: Statement, at: int) -> int | None:
    """The number of values of a time dimension, from first to last, for fixed outer ones; None without a constant."""
    when = _time(schedule.scop, schedule.tree, statement).range()
    when = when.project_out(isl.dim_type.set, at + 1, when.dim(isl.dim_type.set) - at - 1)
    inner = isl.Map.from_domain(when).move_dims(isl.dim_type.out, 0, isl.dim_type.in_, at, 1)
    apart = inner.reverse().apply_range(inner).deltas()
    apart = apart.project_out(isl.dim_type.param, 0, apart.dim(isl.dim_type.param))
    if apart.is_empty():
        return 0
    most = apart.dim_max_val(0)
    return int(most.to_python()) + 1 if most.is_int() else None


def extent(scop: StaticPart, tree: Tree, loop: Loop) -> tuple[int, int] | None:
    """The least value of ``loop`` and its span, for all parameters; None where no number bounds it."""
    inside = [scop[name] for name in statements(loop)]
    at = {s.name: next(k for k, e in enumerate(path(tree, s.name)) if e.loop is loop) for s in inside}
    question = _("the range of {name}").format(name=loop.name)
    every = [e for s in inside for e in answered(question, partial(_range, scop, tree, s, at[s.name]))]
    if any(end is None for end in every):
        return None
    ends = [end for end in every if end is not None]
    return (min(ends), max(ends) - min(ends) + 1) if ends else (0, 1)


def _range(scop: StaticPart, tree: Tree, statement: Statement, at: int) -> tuple[int | None, ...]:
    """The bounds of a time dimension; empty if the statement never runs."""
    values = _time(scop, tree, statement).range()
    values = values.project_out(isl.dim_type.set, at + 1, values.dim(isl.dim_type.set) - at - 1)
    values = values.project_out(isl.dim_type.set, 0, at)
    values = values.project_out(isl.dim_type.param, 0, values.dim(isl.dim_type.param))
    if values.is_empty():
        return ()
    ends = values.dim_min_val(0), values.dim_max_val(0)
    return tuple(int(end.to_python()) if end.is_int() else None for end in ends)


def with_bodies(schedule: Ordered, nodes: tuple[Node, ...]) -> tuple[Node, ...]:
    """The ``nodes`` with the source's statements in place of visits."""

    def body(visit: Visit) -> Node:
        statement = schedule.scop[visit.statement]
        if statement.body is None:
            return visit
        assign = instance(statement, visit.arguments)
        return assign if assign.guard is None else If(assign.guard, (replace(assign, guard=None),))

    return map_visits(nodes, body)


def instance(statement: Statement, arguments: tuple[Expr, ...]) -> Assign:
    """The assignment of ``statement``, with expressions in place of its iterators."""
    if statement.body is None:
        raise ValueError(
            _("{name} has no body, so its program can be shown but not generated").format(name=statement.name)
        )
    values = dict(zip(statement.iterators, arguments, strict=True))
    target = rebuild(statement.body.target, lambda e: e)
    moved = substitute(target, values)
    assert isinstance(moved, Load)
    guard = None if statement.body.guard is None else substitute(statement.body.guard, values)
    return replace(statement.body, target=moved, value=substitute(statement.body.value, values), guard=guard)


def program_text(schedule: Ordered, language: str) -> str:
    """The program as text in ``language``: "c" or "python"."""
    return "\n".join(_printer(language).statement_lines(with_bodies(schedule, schedule.nodes)))


def lines_of_statements(schedule: Ordered, language: str) -> list[str]:
    """For each line of `program_text`, the statement that it runs; "" for the others."""
    printer, found = _printer(language), []
    lines = {}
    for statement in schedule.scop.statements:
        visit = Visit(statement.name, tuple(map(Name, statement.iterators)))
        lines[statement.name] = len(printer.statement_lines(with_bodies(schedule, (visit,))))
    for line in printer.statement_lines(schedule.nodes):
        match = re.match(r"\s*(\w+)\(", line)
        name = match[1] if match and match[1] in lines else ""
        found += [name] * lines.get(name, 1)
    return found


def _printer(language: str) -> Printer:
    printers: dict[str, Printer] = {"c": CPrinter(), "python": PythonPrinter()}
    if language not in printers:
        raise ValueError(_("there is no language {language}; choose c or python").format(language=repr(language)))
    return printers[language]
