"""Queries of a launch's plan for the switches: operations, their lines and shapes, and the origins of values."""

from __future__ import annotations

import ast
import math
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, Any

import numpy as np

from triton_lab.backend.source.kernel_source import KernelSource
from triton_lab.interpreter.dtypes import dtype_of
from triton_lab.ir import Op, Type, effects, predicates, traits
from triton_lab.ir.dataflow import Flow, Value
from triton_lab.ir.plan import Bits, Dense, Function, Location, Region
from triton_lab.ir.traits import Kind
from triton_lab.launch.checks.analysis.source_nodes import nodes_of
from triton_lab.launch.comparison.numerics import types_of
from triton_lab.localization import _, ngettext

if TYPE_CHECKING:
    from triton_lab.launch.launch import Launch


_SHORT = 2  # letters of names that are taken for any other such name
_SIGNED = 5  # the predicates of arith.cmpi up to this one


def lines_of(launch: Launch, *ops: Op) -> str:
    """`` (line 12)``; "" if the operations come from no line of the user.

    A helper may be right and what it is given wrong, so the line that calls it is told too; and alone, if other lines
    call the helper as well, since what is changed in one call is not the helper.
    """
    found = [line for op in ops if (line := launch.lines.get(op.index)) is not None]
    helped = {(line.line, line.call) for line in found if line.call is not None and line.alone}
    if len(helped) == 1 and len({line.line for line in found}) == 1:
        ((inner, call),) = helped
        return _called().format(line=inner, call=call)
    return on_lines([line.line if line.call is None else line.call for line in found])


def on_lines(numbers: Sequence[int]) -> str:
    """`` (lines 12 and 14)``; "" for none."""
    lines = sorted(set(numbers))
    return _on(len(lines)).format(numbers=_(" and ").join(map(str, lines))) if lines else ""


def _on(count: int) -> str:
    return ngettext(" (line {numbers})", " (lines {numbers})", count)


def _called() -> str:
    return _(" (line {line}, called on line {call})")


def split_at_lines(title: str) -> tuple[str, list[int]]:
    """A title without the lines that it ends with, and these; see `lines_of`."""
    number = r"(\d+)"
    ends = [re.sub(r"\\{\w+\\}", lambda _: number, re.escape(one)) for one in (_on(1), _called())]
    ends.append(re.escape(_on(2)).replace(r"\{numbers\}", number + re.escape(_(" and ")) + number))
    for end in ends:
        if (found := re.search(end + "$", title)) is not None:
            return title[: found.start()], list(map(int, found.groups()))
    return title, []


def ops_of(launch: Launch, *names: str) -> list[Op]:
    return [op for op in launch.executable.plan.walk() if op.name in names]


def shape_of(launch: Launch, op: Op) -> tuple[int, ...]:
    """The shape of the result of a load or a range, or of the first operand of other operations."""
    gives = bool(op.results) and traits.of(op.name).kind in (Kind.ACCESSES, Kind.CREATES)
    return types_of(launch.executable.plan, op, lambda one: one.results if gives else one.operands)[0].shape


def function_of(launch: Launch, op: Op) -> Function:
    """The function that contains the operation."""
    plan = launch.executable.plan
    return next(one for one in plan.functions.values() if any(op is inner for inner in one.walk()))


def makers(function: Function) -> dict[int, Op]:
    """The operation that computes each value."""
    return {number: op for op in function.walk() for number in op.results}


def users(function: Function) -> Mapping[int, Sequence[tuple[Op, int]]]:
    """The operands that take each value, in the order of the program; none for a value that nothing takes."""
    found: dict[int, list[tuple[Op, int]]] = defaultdict(list)
    for op in function.walk():
        for k, number in enumerate(op.operands):
            found[number].append((op, k))
    return found


# Moves of one operand, and casts that keep numbers up to rounding.
_HANDED_ON = traits.names(
    lambda trait: (
        (trait.kind is Kind.MOVES and trait.keeps)
        or (trait.kind is Kind.CASTS and not (trait.keeps or trait.wraps or trait.makes == "integer"))
    )
)


def source(made: Mapping[int, Op], number: int) -> int:
    """The origin of a value before conversions and broadcasts."""
    while number in made and made[number].name in _HANDED_ON and len(made[number].operands) == 1:
        number = made[number].operands[0]
    return number


def constant(made: Mapping[int, Op], number: int) -> float | int | None:
    """The number that a value has in all lanes, if it is a constant of the kernel; else None, as of infinities."""
    value = _written(made, number)
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def extended_constant(made: Mapping[int, Op], number: int, type: Type) -> float | int | None:
    """As `constant`, and infinities of a float ``type`` too, of which a kernel has the bits."""
    value = _written(made, number)
    if isinstance(value, Bits) and type.is_float:
        dtype = dtype_of(type)
        return float(np.array(value.pattern, f"u{dtype.itemsize}").view(dtype)[()])
    return constant(made, number)


def _written(made: Mapping[int, Op], number: int) -> Any:
    maker = made.get(source(made, number))
    value = maker.attributes.get("value") if maker is not None and maker.name == "arith.constant" else None
    return value.values[0] if isinstance(value, Dense) and len(value.values) == 1 else value


def cost_of_number(made: Mapping[int, Op], op: Op, position: int) -> float:
    """How much is written anew if an operand is another number.

    One that the kernel gives masked-off lanes, and that is none of the usual ones, is meant.
    """
    held = constant(made, op.operands[position])
    fills = effects.is_access(op) and effects.operands_of(op).other == position
    return 2 if fills and held is not None and abs(held) not in (0, 1, math.inf) else 1


def behind(flow: Flow, taken: Sequence[tuple[Op, int]]) -> set[Value]:
    """The values from which these operands of operations are computed."""
    return flow.behind(Value(flow.function_of[op.index], number) for op, number in taken)


def sign_of(op: Op) -> str:
    """How a comparison is written; "" for other operations."""
    trait, predicate = traits.of(op.name), op.attributes.get("predicate")
    if trait.kind is not Kind.COMPARES or not trait.numbers or predicate is None:
        return ""
    unsigned = trait.numbers == "integer" and predicate > _SIGNED
    return next((one for one, k in predicates.NUMBERS[trait.numbers].items() if k == predicate - 4 * unsigned), "")


def comes_of(made: Mapping[int, Op], number: int, start: int) -> bool:
    """Whether a value is computed from ``start``, as far as that is not carried by a loop."""
    seen, open_ = set(), [number]
    while open_:
        one = open_.pop()
        if one == start:
            return True
        maker = made.get(one)
        if maker is not None and one not in seen:
            seen.add(one)
            open_ += [each for inner in maker.walk() for each in inner.operands]
    return False


def visible(function: Function, op: Op) -> set[int]:
    """The values of the function that ``op`` may take: those computed before it, in its block or around it."""

    def within(region: Region, known: set[int]) -> set[int] | None:
        for block in region.blocks:
            here = {*known, *block.arguments}
            for one in block.ops:
                if one.index == op.index:
                    return here
                for inner in one.regions:
                    found = within(inner, here)
                    if found is not None:
                        return found
                here.update(one.results)
        return None

    return within(function.body, set()) or set()


def indices(ops: Sequence[Op]) -> frozenset[int]:
    """The indices of the operations, for a `Switch`."""
    return frozenset(op.index for op in ops)


def unused(launch: Launch) -> list[str]:
    """The names of the arguments that the kernel does not use; constexprs are not examined."""
    taken = {number for op in launch.executable.plan.walk() for number in op.operands}
    taken |= {each for op in launch.executable.plan.walk() for one in op.successors for each in one.operands}
    kernel = launch.executable.plan.kernel
    there = {kernel.names[number] for number in kernel.arguments}
    used = {kernel.names[number] for number in kernel.arguments if number in taken}
    return [one.name for one in launch.arguments if one.name in there - used]


def unread(launch: Launch) -> frozenset[str]:
    """The names of arguments and variables that the kernel's text gives a value and never reads."""
    nodes = nodes_of(launch.source)
    given = {node.arg for node in nodes if isinstance(node, ast.arg)}
    names = [node for node in nodes if isinstance(node, ast.Name)]
    given |= {node.id for node in names if isinstance(node.ctx, ast.Store)}
    return frozenset(given - {node.id for node in names if isinstance(node.ctx, ast.Load)})


def parameters_at(launch: Launch, place: Location) -> list[str]:
    """The parameters of the user's function that contains a place of the source; none where that is not known."""
    kernel = launch.compiled[0]
    function = None if kernel is None else KernelSource(kernel.fn, launch.executable.plan).function(place)
    return [] if function is None else list(function.arg_names)


def sound_alike(one: str, other: str) -> bool:
    """Whether two names are taken for each other: ``k`` and ``v``, ``stride_bk`` and ``stride_bn``."""
    longer = max(len(one), len(other))
    pairs = (zip(one, other, strict=False), zip(reversed(one), reversed(other), strict=False))
    same = sum(len(list(takewhile(lambda pair: pair[0] == pair[1], each))) for each in pairs)
    return longer <= _SHORT or 2 * same >= longer
