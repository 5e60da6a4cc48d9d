"""`ScopeLeaves`: the values, numbers and conditions of which expressions in place of a value may be made."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from triton_lab.ir import Type, effects
from triton_lab.launch.comparison.mutations.added_operations import may_stand_for
from triton_lab.launch.comparison.mutations.ir_query import constant, source
from triton_lab.launch.comparison.mutations.kernel_scope import KernelScope
from triton_lab.launch.comparison.relations import numbers
from triton_lab.launch.comparison.replicas.argument_loads import ArgumentLoads
from triton_lab.launch.comparison.replicas.expression import (
    OWN,
    Expression,
    compared,
    folded,
    joined,
    of_number,
    of_value,
)
from triton_lab.launch.comparison.replicas.replaced_place import ReplacedPlace
from triton_lab.localization import N_, _, translated

_VALUES, _IN_PAIRS = 40, 8  # values in scope that are taken: the newest ones, and as many arguments
_MOST = 1 << 20
OVERWRITTEN = N_("a value that is overwritten")
TURNED = ("{} - {}", "{} / {}", "{} // {}", "{} % {}")
"""What is joined in a way that the order of operands counts."""


def rest(a: Any, b: Any) -> Any:
    """The remainder of integers, with the sign of the first."""
    return np.fmod(a, b)


def _is_joined(name: str) -> bool:
    """Whether an expression needs parentheses in another one."""
    try:
        return isinstance(ast.parse(name, mode="eval").body, (ast.BinOp, ast.UnaryOp, ast.Compare))
    except SyntaxError:  # words that stand for one
        return False


@dataclass(frozen=True)
class ScopeLeaf:
    """One value or number that may be taken, whether it is one number in all lanes, and a computed whole number."""

    told: Expression
    scalar: bool
    name: str
    whole: bool = False
    idle: bool = False  # nothing takes it


@dataclass
class ScopeLeaves:
    """What may be used in place of the value of ``place``."""

    scope: KernelScope
    place: ReplacedPlace
    idle: ArgumentLoads | None = None

    @cached_property
    def loads(self) -> list[Expression]:
        """Elements of tensors that the kernel does not load."""
        return list(self.idle.at(self.place.op, self.type)) if self.idle is not None else []

    @cached_property
    def type(self) -> Type:
        """The type of the value."""
        return self.scope.type(self.place.number)

    @cached_property
    def own(self) -> Expression:
        """The value itself."""
        named = self.scope.names.get(source(self.scope.made, self.place.number))
        name = self.scope.called(self.place.number)
        return replace(of_value(name, OWN), cost=1 if named else 1.1, joined=_is_joined(name))

    @cached_property
    def is_number(self) -> bool:
        """Whether a constant of the kernel stands there, the same in all uses."""
        alike = {op.operands[k] for op, k in self.place.uses} <= {self.place.number}
        return alike and constant(self.scope.made, self.place.number) is not None

    def leaves(self, element: str) -> list[ScopeLeaf]:
        """The values of the kind of numbers of ``element`` in scope, the newest of each name first, and constants."""
        lanes, found, names = replace(self.type, element=element), [], set()
        op = self.place.op
        for number in self.scope.scope.get(op.index, ()):
            given, name = self.scope.type(number), self.scope.names[number]
            if name in names or number in op.results:
                continue
            names.add(name)
            if number == self.place.number or given.is_pointer or given.is_opaque:
                continue
            if (given.bits == 1) != (lanes.bits == 1) or (given.is_float and not lanes.is_float):
                continue
            if lanes.is_float and given.is_integer and given.shape and name not in self.scope.unread:
                continue  # whole numbers that a kernel computes in lanes are indices
            if may_stand_for(given, lanes) and len(given.shape) in (0, len(lanes.shape)):
                whole = given.is_integer and number not in self.scope.function.arguments
                idle = not self.scope.users[number] or name in self.scope.unread
                found.append(ScopeLeaf(of_value(name, (number, None)), not given.shape, name, whole, idle))
            elif len(given.shape) == 1 and len(lanes.shape) == 2:
                for axis, told in ((0, f"{name}[None, :]"), (1, f"{name}[:, None]")):
                    if given.shape[0] == lanes.shape[1 - axis]:
                        found.append(ScopeLeaf(of_value(told, (number, axis)), False, name))
        del found[_VALUES:]
        known = numbers(self.scope.launch)
        if lanes.is_integer:
            known = {**known, **self._programs(), **self._strides(set(known.values()))}
        for name, value in known.items() if lanes.bits > 1 else ():
            if name not in names and value == int(value) and abs(value) < _MOST and value not in (0, 1):
                held = value if lanes.is_float else int(value)
                found.append(ScopeLeaf(of_number(held, name), True, name, idle=name in self.scope.unread))
        return found

    def _programs(self) -> dict[str, float]:
        """How many programs the grid has along each of its axes: what loops of a program step by, and little else."""
        loops = any(op.name == "scf.for" for op, _k in self.place.uses) or self.place.op.name == "scf.for"
        return {f"tl.num_programs({axis})": extent for axis, extent in enumerate(self.scope.launch.grid) if loops}

    def _strides(self, passed: Collection[float]) -> dict[str, float]:
        """The strides of the tensors that are not passed: a kernel may take an axis for the contiguous one."""
        tensors = [one for one in self.scope.launch.arguments if one.kind == "tensor"]
        every = {f"{one.name}.stride({k})": stride for one in tensors for k, stride in enumerate(one.strides)}
        return {name: stride for name, stride in every.items() if stride not in passed}

    def some(self, element: str) -> list[ScopeLeaf]:
        """The newest of them, and some of the arguments and constants."""
        every = self.leaves(element)
        known = {self.scope.names.get(number) for number in self.scope.function.arguments}
        known |= set(numbers(self.scope.launch))
        passed = [leaf for leaf in every if leaf.name in known]
        return [leaf for leaf in every if leaf.name not in known][:_IN_PAIRS] + passed[:_IN_PAIRS]

    def added_up(self, before: Expression) -> Expression:
        """The sum of the value and of what its variable was before."""
        name = "arith.addf" if self.type.is_float else "arith.addi"
        both = joined("{} + {}", np.add, name, before, self.own)
        title = _("{name} added up").format(name=self.own.name)
        return replace(both, cause=translated(OVERWRITTEN), title=title)

    def folds(self) -> Iterator[Expression]:
        """Sums and greatest numbers of the value itself and of blocks like it: of a row, or up to each lane."""
        rank = len(self.type.shape)
        add = "arith.addf" if self.type.is_float else "arith.addi"
        most = "arith.maxnumf" if self.type.is_float else "arith.maxsi"
        blocks = [
            leaf.told
            for leaf in (self.leaves(self.type.element) if rank and not self.is_number else ())
            if not leaf.scalar and "[" not in leaf.name
        ]
        counts = self.type.is_float or self._is_counted(self.place.number)
        for one in (self.own, *blocks) if rank and not self.is_number and counts else ():
            for axis in range(rank):
                at = f", axis={axis}" if rank > 1 else ""
                cause = _("a missing function") if one is self.own else ""
                for whole, fold, told in (
                    (False, add, "tl.cumsum"), (True, add, "tl.sum"), (True, most, "tl.max"),
                ):  # fmt: skip
                    yield folded(one, axis, fold, whole, f"{told}({{}}{at})", cause=cause)

    def _is_counted(self, number: int) -> bool:
        """Whether a whole number comes from memory or from conditions, and is no index."""
        maker = self.scope.made.get(number)
        if maker is None:
            return False
        if effects.is_access(maker) or any(self.scope.type(one).bits == 1 for one in maker.operands):
            return True
        return any(map(self._is_counted, maker.operands))

    def truths(self) -> list[Expression]:
        """The conditions in scope."""
        return [leaf.told for leaf in self.leaves("i1")]

    def unnamed_truths(self) -> list[Expression]:
        """What is compared on the lines before, and has no name."""
        found = {
            name: replace(of_value(name, (number, None)), cost=1.1, joined=True)
            for number in self.scope.unnamed.get(self.place.op.index, ())
            if self.scope.type(number).bits == 1 and self.scope.type(number).shape in ((), self.type.shape)
            and (name := self.scope.called(number))
        }  # fmt: skip
        return list(found.values())

    def _whole_lanes(self) -> Type:
        return replace(self.type, element="i32")

    def comparisons(self, likely: bool) -> Iterator[Expression]:
        """Of lanes with a scalar, or (not ``likely``) of two of any kind, of sums, and of remainders with zero."""
        lanes = self._whole_lanes()
        leaves = self.leaves("i32") if likely else self.some("i32")
        zero, one = of_number(0), of_number(1)
        for leaf in leaves:
            if leaf.scalar and likely:
                continue
            for other in leaves:
                if other.name == leaf.name or other.scalar is not likely:
                    continue
                for sign in ("<", ">=", "!=", "==") if other.scalar else ("<", "<=", ">", ">=", "==", "!="):
                    yield compared(sign, leaf.told, other.told, lanes)
            if likely:
                for sign in (">=", "==", "!="):
                    yield compared(sign, leaf.told, zero, lanes)
                yield compared(">=", leaf.told, one, lanes)
                continue
            for number in () if likely or not leaf.scalar else self.scope.unnamed.get(self.place.op.index, ()):
                if self.scope.type(number) == lanes:
                    told = of_value(self.scope.called(number), (number, None))
                    for sign in ("<", ">="):
                        yield compared(sign, told, leaf.told, lanes)
            for other in [each for each in leaves if each.scalar and each.name != leaf.name]:
                after = joined("{} + {}", np.add, "arith.addi", leaf.told, one)
                if not leaf.scalar:
                    yield compared("<", after, other.told, lanes)
                else:
                    yield compared("<", leaf.told, other.told, lanes)
                    yield compared("!=", leaf.told, other.told, lanes)
                yield compared("==", joined("{} % {}", rest, "arith.remsi", leaf.told, other.told), zero, lanes)
        if likely:
            return
        floats = replace(self.type, element="f32")
        for leaf in [each for each in self.leaves("f32") if not each.scalar]:
            for sign in (">", "<", "!="):
                yield compared(sign, leaf.told, of_number(0), floats)

    def conditions(self, truths: Iterable[Expression]) -> Iterator[Expression]:
        """Further conditions, others instead, and alternatives."""
        for truth in truths:
            yield replace(
                joined("{} & {}", np.logical_and, "arith.andi", self.own, truth),
                cause=_("a missing condition"),
                title=_("{other} as a further condition").format(other=truth.name),
            )
            yield replace(truth, cost=truth.cost + 1)
            yield replace(joined("{} | {}", np.logical_or, "arith.ori", self.own, truth), cost=truth.cost + 2)
