"""Runs a kernel once on symbols: the addresses it accesses, under which conditions, in which loops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import islpy as isl

from triton_lab.ir import Function, Op, Plan, effects
from triton_lab.localization import _
from triton_lab.polyhedral.core.affine_conditions import FALSE, TRUE, Formula
from triton_lab.polyhedral.core.affine_expr import isl_name
from triton_lab.polyhedral.core.isl_effort import TooHard, effort
from triton_lab.polyhedral.core.iteration_domain import formula_text
from triton_lab.polyhedral.kernels.symbolic import operation_rules, shape_rules  # noqa: F401 - register their rules
from triton_lab.polyhedral.kernels.symbolic.control_path import Path
from triton_lab.polyhedral.kernels.symbolic.rule_table import Scene, apply
from triton_lab.polyhedral.kernels.symbolic.symbolic_access import SymbolicAccess, touches
from triton_lab.polyhedral.kernels.symbolic.symbolic_loops import Environment, run_for, run_while
from triton_lab.polyhedral.kernels.symbolic.symbolic_values import (
    SymbolicNumber,
    Truth,
    Unknown,
    Value,
    both,
    choose,
    negation,
    stand_in,
)

# (the path of a branch, the values it passes)
Arrival = tuple[Path, tuple[Value, ...]]


class Walk:
    """One pass through a kernel. ``found`` are its accesses in the order of the text."""

    def __init__(self, plan: Plan, grid: tuple[SymbolicNumber, SymbolicNumber, SymbolicNumber]) -> None:
        self.plan = plan
        self.grid = grid
        self.found: list[SymbolicAccess] = []
        self.symbols = 0

    def new_symbol(self) -> int:
        self.symbols += 1
        return self.symbols - 1

    def function(self, function: Function, arguments: Sequence[Value], path: Path) -> tuple[Value, ...]:
        """Run a function whose blocks are connected by forward branches."""
        environment: Environment = {}
        arriving: dict[int, list[Arrival]] = {0: [(path, tuple(arguments))]}
        returned: list[Arrival] = []
        for number, block in enumerate(function.body.blocks):
            if number not in arriving:
                continue
            here, brought = self._joined(path, arriving.pop(number))
            environment.update(zip(block.arguments, brought, strict=True))
            end = self.ops(function, block.ops, environment, here)
            handed = tuple(environment[value] for value in end.operands)
            if end.name == "tt.return":
                returned.append((here, handed))
                continue
            for branch, successor in zip(_branches(here, end, handed), end.successors, strict=True):
                if branch is not None:
                    values = tuple(environment[value] for value in successor.operands)
                    arriving.setdefault(successor.block, []).append((branch, values))
        return self._joined(path, returned)[1] if returned else ()

    def _joined(self, entry: Path, arrivals: list[Arrival]) -> Arrival:
        """The path and the values of a block with several incoming branches."""
        path, values = arrivals[0]
        for other, brought in arrivals[1:]:
            truth = Truth(path.formula, path.unknown)
            values = tuple(choose(truth, one, two, entry.facts) for one, two in zip(values, brought, strict=True))
            formula = (*path.formula, *other.formula)
            if _same(formula, entry.formula):
                path = entry
            else:
                unknown = path.unknown or other.unknown
                path = replace(entry, facts=entry.facts.under(formula), formula=formula, unknown=unknown)
        return path, values

    def ops(self, function: Function, ops: Sequence[Op], environment: Environment, path: Path) -> Op:
        """Run all operations except the last, which is returned."""
        for op in ops[:-1]:
            operands = [environment[value] for value in op.operands]
            results = self.op(function, op, operands, environment, path)
            environment.update(zip(op.results, results, strict=True))
        return ops[-1]

    def op(
        self, function: Function, op: Op, operands: list[Value], environment: Environment, path: Path
    ) -> tuple[Value, ...]:
        if op.name == "scf.for":
            return run_for(self, function, op, operands, environment, path)
        if op.name == "scf.while":
            return run_while(self, function, op, environment, path)
        if op.name == "scf.if":
            return self._if(function, op, operands[0], environment, path)
        if op.name == "tt.call":
            return self.function(self.plan.functions[op.attributes["callee"]], operands, path)
        scene = Scene(function, path.facts, self.grid)
        touched = touches(scene, op, operands)
        if touched is None:
            return apply(scene, op, operands)
        if not path.rehearsal:
            self.found.append(replace(touched, path=path))
        return tuple(self._loaded(scene, touched, operands, number) for number in op.results)

    def _loaded(self, scene: Scene, touched: SymbolicAccess, operands: list[Value], number: int) -> Value:
        """What an access reads. What is assumed of a tensor's contents holds in lanes that the mask lets through."""
        op, type, facts = touched.op, scene.type(number), scene.facts
        kind = Unknown(_("a value loaded from memory"), op.index)
        held = stand_in(kind, type, facts, touched.root)
        limited = facts.unknown is not None and touched.root is not None and touched.root in facts.unknown.contents
        if not limited or touched.mask == Truth(TRUE):
            return held
        at = effects.operands_of(op)
        off: Value = stand_in(kind, type, facts)
        if at.other is not None:
            off = operands[at.other]
        elif at.coordinates:  # outside the tensor of a descriptor
            off = Truth(FALSE) if type.element == "i1" else SymbolicNumber.of(0)
        lanes = facts.block(type.shape)
        known = touched.mask.unknown is None and isinstance(off, (SymbolicNumber, Truth))
        chosen = choose(touched.mask, held, off, lanes) if known else kind
        return stand_in(kind, type, facts) if isinstance(chosen, Unknown) else chosen

    def region(
        self, function: Function, op: Op, number: int, arguments: Sequence[Value], environment: Environment, path: Path
    ) -> tuple[Value, ...]:
        """Run one region of ``op``; returns the values of its terminator."""
        (block,) = op.regions[number].blocks
        environment.update(zip(block.arguments, arguments, strict=True))
        end = self.ops(function, block.ops, environment, path)
        return tuple(environment[value] for value in end.operands)

    def _if(
        self, function: Function, op: Op, condition: Value, environment: Environment, path: Path
    ) -> tuple[Value, ...]:
        assert isinstance(condition, Truth)
        there = both(Truth(TRUE), condition, path.facts)
        sides = [there, negation(there, path.facts)]
        results: list[tuple[Value, ...]] = []
        for number, side in enumerate(sides[: len([r for r in op.regions if r.blocks])]):
            if side.cases:
                results.append(self.region(function, op, number, (), environment, path.under(side)))
            else:
                results.append(())
        if not op.results:
            return ()
        if not results[0] or not results[1]:
            return results[0] or results[1]
        return tuple(choose(there, yes, no, path.facts) for yes, no in zip(*results, strict=True))


def _branches(path: Path, end: Op, operands: tuple[Value, ...]) -> list[Path | None]:
    """The path along each branch; None for a branch that is never taken."""
    if end.name == "cf.br":
        return [path]
    condition = operands[0]
    assert isinstance(condition, Truth)
    sides = (both(Truth(TRUE), condition, path.facts), negation(condition, path.facts))
    return [path.under(side) if side.cases else None for side in sides]


def _same(one: Formula, other: Formula) -> bool:
    """Whether the formulas are equivalent; False if isl cannot tell."""
    names = sorted({n for formula in (one, other) for case in formula for c in case for n in c.expression.names})
    head = f"{{ [{', '.join(isl_name(n) for n in names)}] : "
    first, second = (isl.Set(f"{head}{formula_text(formula)} }}") for formula in (one, other))
    try:
        with effort(_("whether two conditions are one")):
            return first.is_equal(second)
    except TooHard:
        return False
