"""Switches for wrong operations.

They change comparisons, the order of operands, operators, functions and divisors, apply numbers that are passed but not
used, and add what a formula needs to stay finite.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from triton_lab.ir import Op, traits
from triton_lab.ir.plan_edits import (
    Edit,
    Editor,
    exchanged,
    followed_by,
    renamed,
    with_attributes,
    with_computed,
    with_constant,
)
from triton_lab.ir.traits import Accuracy
from triton_lab.launch.comparison.mutations.ir_query import (
    constant,
    function_of,
    indices,
    lines_of,
    makers,
    ops_of,
    shape_of,
    source,
    unused,
)
from triton_lab.launch.comparison.mutations.row_reductions import spread_reduction
from triton_lab.launch.comparison.numerics import Switch
from triton_lab.launch.comparison.relations import numbers
from triton_lab.localization import N_, _, translated

if TYPE_CHECKING:
    from triton_lab.ir.plan import Function
    from triton_lab.launch.launch import Launch

# --- Comparisons --------------------------------------------------------------------------------------

# Predicates of arith.cmpi by number: strict and not strict exchanged, and the direction reversed.
_STRICT = {2: 3, 3: 2, 4: 5, 5: 4, 6: 7, 7: 6, 8: 9, 9: 8}
_TURNED = {2: 4, 3: 5, 4: 2, 5: 3, 6: 8, 7: 9, 8: 6, 9: 7}
_SPELLED = {2: "<", 3: "<=", 4: ">", 5: ">=", 6: "<", 7: "<=", 8: ">", 9: ">="}


def comparisons(launch: Launch) -> Iterator[Switch]:
    """Switches for integer comparisons: strict or not, then in the other direction."""
    for table in (_STRICT, _TURNED):
        for op in ops_of(launch, "arith.cmpi"):
            predicate = op.attributes["predicate"]
            if predicate in table and launch.lines.get(op.index) is not None:
                meant = table[predicate]
                name = _("{SPELLED} instead of {SPELLED_2}{lines_of}").format(
                    SPELLED=_SPELLED[meant], SPELLED_2=_SPELLED[predicate], lines_of=lines_of(launch, op)
                )
                made = switch_of(name, "a comparison", op, with_attributes(predicate=meant))
                # Ranges of numbers begin at what is compared, and end before it.
                yield replace(made, unusual=_SPELLED[meant] in ("<=", ">"))


def switch_of(name: str, cause: str, op: Op | Sequence[Op], edit: Edit) -> Switch:
    """A switch that edits one operation, or each of several."""
    ops = [op] if isinstance(op, Op) else op
    return Switch(name, cause, edits=tuple((one.index, edit) for one in ops), ops=indices(ops))


# --- Functions and operators --------------------------------------------------------------------------

_FUNCTIONS = {
    name: trait.siblings[0]
    for name, trait in traits.TRAITS.items()
    if trait.dialect == "math" and trait.rounding.accuracy is Accuracy.APPROXIMATE and trait.siblings
}


def functions(launch: Launch) -> Iterator[Switch]:
    """Switches for functions: the other base of powers and logarithms, root or reciprocal root, sine or cosine.

    All calls of one kind are changed at once, then each alone.
    """
    for base, meant in _FUNCTIONS.items():
        found = ops_of(launch, base)
        cause = _("the base of a power or logarithm") if traits.of(base).inverse else _("the function called")
        for group in ([found] if len(found) > 1 else []) + [[op] for op in found]:
            name = _("{meant} instead of {base}{lines_of}").format(
                meant=meant[5:], base=base[5:], lines_of=lines_of(launch, *group)
            )
            yield switch_of(name, cause, group, renamed(meant))


_FLOATS = {name: trait for name, trait in traits.TRAITS.items() if trait.numbers == "float"}
_EXTREMES = {1: "maximum", -1: "minimum"}
_OPERATORS = {
    **{
        name: (trait.inverse, trait.symbol, traits.of(trait.inverse).symbol)
        for name, trait in _FLOATS.items()
        if trait.symbol and trait.inverse
    },
    **{
        name: (opposite, _EXTREMES[trait.extreme], _EXTREMES[-trait.extreme])
        for name, trait in _FLOATS.items()
        for opposite in trait.siblings
        if trait.extreme and traits.of(opposite).extreme == -trait.extreme
    },
}


def operators(launch: Launch) -> Iterator[Switch]:
    """Switches that exchange ``+`` and ``-``, ``*`` and ``/``, maximum and minimum."""
    for op in _outside(launch, *_OPERATORS):
        meant, old, new = _OPERATORS[op.name]
        yield switch_of(
            _("{new} instead of {old}{lines_of}").format(new=new, old=old, lines_of=lines_of(launch, op)),
            "an operator",
            op,
            renamed(meant),
        )


def _outside(launch: Launch, *names: str) -> list[Op]:
    """The operations of these names outside of reductions and scans."""
    folds = {inner.index for op in ops_of(launch, *traits.FOLDS) for inner in op.walk()}
    return [op for op in ops_of(launch, *names) if op.index not in folds]


_ORDERED = {
    "arith.subf": N_("the order of a difference"), "arith.divf": N_("the order of a quotient"),
    "arith.select": N_("the order of the arguments of tl.where"),
}  # fmt: skip


def orders(launch: Launch) -> Iterator[Switch]:
    """Switches that exchange the operands of a difference, a quotient or ``tl.where``."""
    for op in _outside(launch, *_ORDERED):
        noun = (
            _("the two values of tl.where")
            if op.name == "arith.select"
            else "both sides of " + "-/"[op.name == "arith.divf"]
        )
        yield switch_of(f"{noun} exchanged{lines_of(launch, op)}", translated(_ORDERED[op.name]), op, _last_two(op))


def _last_two(op: Op) -> Edit:
    return exchanged(len(op.operands) - 2, len(op.operands) - 1)


# --- Numbers ------------------------------------------------------------------------------------------


def divisors(launch: Launch) -> Iterator[Switch]:
    """Switches for divisions by a number of the launch: by another number, or by one less."""
    known = numbers(launch)
    for function in launch.executable.plan.functions.values():
        made = makers(function)
        for op in [op for op in made.values() if op.name == "arith.divf"]:
            held = held_by(function, made, op.operands[1], known)
            if held is None:
                continue
            name, value = held
            others = {**known, **{f"{one} - 1": value - 1 for one, value in known.items()}}
            for other, meant in sorted(others.items(), key=lambda each: each[0] not in known):
                if meant not in (0.0, value) and (
                    other in known or other.startswith(name) or name == "what stands there"
                ):
                    title = _("{other} instead of {name} as divisor{lines_of}").format(
                        other=other, name=name, lines_of=lines_of(launch, op)
                    )
                    yield switch_of(title, _("the divisor"), op, with_constant(1, meant))


def held_by(
    function: Function, made: Mapping[int, Op], number: int, known: Mapping[str, float]
) -> tuple[str, float] | None:
    """The name and value of the launch's number that a value equals; sums of such numbers have no name and NaN."""
    number = source(made, number)
    if number not in made:
        name = function.names[number]
        return (name, known[name]) if name in known else None
    value = constant(made, number)
    if value is not None:
        return next(((name, one) for name, one in known.items() if one == value), None)
    if traits.of(made[number].name).symbol in ("+", "-"):
        parts = [(constant(made, each), held_by(function, made, each, known)) for each in made[number].operands]
        if all(part != (None, None) for part in parts):
            return ("what stands there", math.nan)
    return None


_MOVED = {"tt.store": N_("the stored value"), "tt.load": N_("the loaded value")}
_SIGNED = {"math.exp": N_("the argument of exp"), "math.exp2": N_("the argument of exp2"), **_MOVED}
_SCALED = {"tt.dot": N_("tl.dot"), **_MOVED}


def signs(launch: Launch) -> Iterator[Switch]:
    """Switches for the other sign in the operand of exp, and in stored or loaded values."""
    for op in [op for name in _SIGNED for op in ops_of(launch, name)]:
        if _of_floats(launch, op):
            title = _("{NOUNS} with the other sign{lines_of}").format(
                NOUNS=translated(_SIGNED[op.name]), lines_of=lines_of(launch, op)
            )
            yield switch_of(title, _("a missing minus sign"), op, _through(op, "arith.negf"))


def _through(op: Op, name: str, other: float | None = None) -> Edit:
    """What a function takes, or a store stores, passed through an operation; of a load or a dot, what it gives."""
    if op.results and not traits.of(op.name).is_lane_by_lane:
        return followed_by(name, other=other)
    return with_computed(1 if op.name == "tt.store" else 0, name, other=other)


def scales(launch: Launch) -> Iterator[Switch]:
    """Switches that multiply a dot, or stored or loaded values, by a number that is not used; dots also by 1 / sqrt."""
    known = numbers(launch)
    idle = {name: known[name] for name in unused(launch) if name in known}
    roots = {f"1 / sqrt({name})": value**-0.5 for name, value in known.items() if value > 1}
    for op in [op for name in _SCALED for op in ops_of(launch, name)]:
        if not _of_floats(launch, op):
            continue
        for name, value in {**idle, **(roots if op.name == "tt.dot" else {})}.items():
            if value not in (0.0, 1.0):
                title = _("{NOUNS} multiplied by {name}{lines_of}").format(
                    NOUNS=translated(_SCALED[op.name]), name=name, lines_of=lines_of(launch, op)
                )
                yield switch_of(title, _("a missing factor"), op, _through(op, "arith.mulf", value))


def _of_floats(launch: Launch, op: Op) -> bool:
    """Whether the operation loads, stores or multiplies floats."""
    return function_of(launch, op).types[(op.results or op.operands[1:])[0]].is_float


_POWERS = traits.names(lambda trait: trait.rounding.unit == "exp2")
_ROOTS = traits.names(lambda trait: trait.rounding.unit == "square root") | {"tt.precise_sqrt"}
_TINY = (1e-5, 1e-6, 1e-8, 1e-12)


def guards(launch: Launch) -> Iterator[Switch]:
    """Switches for exp with the maximum of each row subtracted first, and for roots with an epsilon added."""
    for op in ops_of(launch, *_POWERS):
        if shape_of(launch, op):
            title = _("the maximum of each row subtracted first{lines_of}").format(lines_of=lines_of(launch, op))
            yield switch_of(title, "powers that overflow", op, _taken_off)
    known = numbers(launch)
    for op in ops_of(launch, *_ROOTS):
        idle = {name: known[name] for name in unused(launch) if 0 < known.get(name, 0) < 0.1}
        for name, value in (idle or {f"{one:g}": one for one in _TINY}).items():
            title = _("{name} added under the root{lines_of}").format(name=name, lines_of=lines_of(launch, op))
            yield switch_of(title, _("a missing epsilon"), op, _through(op, "arith.addf", value))


def _taken_off(editor: Editor, op: Op) -> Sequence[Op]:
    """The function of what its operand is above the greatest of its row."""
    (x,) = op.operands
    greatest = spread_reduction(editor, op, x, "arith.maxnumf")
    apart = editor.op(op, "arith.subf", (x, *greatest[-1].results), editor.type(x))
    return [*greatest, apart, replace(op, operands=apart.results)]
