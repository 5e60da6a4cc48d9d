"""Lists, tuples and several results where a kernel needs one value: how they are indexed, unpacked and passed."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from typing import Any

from triton_lab.localization import N_, _, translated
from triton_lab.messages import count
from triton_lab.notebook.mistakes.assignments import around, reaching
from triton_lab.notebook.mistakes.diagnostic import Rule, Told
from triton_lab.notebook.mistakes.front_end_error import Operand, Refusal, written
from triton_lab.notebook.mistakes.operand_words import members
from triton_lab.notebook.mistakes.type_names import constant, is_runtime, shape_of, value_told

# What else gives one block of the values of a function that gives several.
_ONE_OF = {
    "broadcast": N_("For one block alone, use tl.broadcast_to(x, shape)."),
    "max": N_("Without return_indices=True, only the value is returned."),
    "min": N_("Without return_indices=True, only the value is returned."),
    "split": N_("The first has the elements with last index 0, the second those with 1."),
}


def indexed(refusal: Refusal, found: re.Match[str]) -> Told | None:
    """``coef[k]`` of a Python list or tuple, where ``k`` is known only at run time."""
    node = refusal.node
    if not isinstance(node, ast.Subscript) or len(refusal.operands) != 2:
        return None
    held, index = refusal.operands
    kind = _kind(refusal, held)
    if not kind or not is_runtime(index.value):
        return None
    return Told(
        _("`{name}` is {kind}, which is indexed at compile time: `{index}` must be a constant, but is {value}").format(
            name=written(held.node), kind=kind, index=written(index.node), value=value_told(index.value)
        ),
        _unrolled(refusal, index.node)
        + _("To index at run time, put the numbers into a tensor and load them: tl.load(pointer + {index}).").format(
            index=written(index.node)
        ),
        (node, *_births(refusal, held)),
    )


def _unrolled(refusal: Refusal, index: ast.expr) -> str:
    """How the loop that counts ``index`` is unrolled; "" if none does, or its bounds are no constants."""
    loops = [each for each in around(refusal.kernel.tree.body, index) if isinstance(each, ast.For)]
    loop = next((each for each in loops if ast.unparse(each.target) == ast.unparse(index)), None)
    if loop is None or not isinstance(loop.iter, ast.Call):
        return ""
    names = [each.id for part in loop.iter.args for each in ast.walk(part) if isinstance(each, ast.Name)]
    if any(is_runtime(refusal.scope.get(name)) for name in names):
        return ""
    bounds = ", ".join(map(ast.unparse, loop.iter.args))
    return _("Write `for {index} in tl.static_range({bounds})`: then each iteration has its own constant. ").format(
        index=written(index), bounds=bounds
    )


def _kind(refusal: Refusal, held: Operand) -> str:
    """A container of Python's in words: as the kernel writes it, since Triton keeps all as tuples. "" for no other."""
    if isinstance(constant(held.value), str):
        return _("a text")
    if not members(held.value) and not isinstance(constant(held.value), (tuple, list, range)):
        return ""
    made = held.node
    if isinstance(made, ast.Name):
        born = reaching(refusal.kernel.tree.body, made.id, refusal.node or made)
        made = born.value if isinstance(born, ast.Assign) else made
    return _("a Python list") if isinstance(made, (ast.List, ast.ListComp)) else _("a Python tuple")


def _births(refusal: Refusal, held: Operand) -> Sequence[ast.stmt]:
    if not isinstance(held.node, ast.Name) or refusal.node is None:
        return ()
    born = reaching(refusal.kernel.tree.body, held.node.id, refusal.node)
    return () if born is None else (born,)


def beyond(refusal: Refusal, found: re.Match[str]) -> Told | None:
    """``coef[3]`` of a list with fewer members."""
    if not isinstance(refusal.node, ast.Subscript) or len(refusal.operands) != 2:
        return None
    held, index = refusal.operands
    size = len(members(held.value) or _plain(held.value))
    if not isinstance(constant(index.value), int):
        return None
    return Told(
        _("`{code}`: `{name}` has {members}, and no member {index}").format(
            code=refusal.code, name=written(held.node), members=count(size, "member"), index=constant(index.value)
        ),
        _("Members are counted from 0."),
        (refusal.node, *_births(refusal, held)),
    )


def _plain(value: Any) -> Sequence[Any]:
    inner = constant(value)
    return inner if isinstance(inner, (tuple, list)) else ()


def several_values(refusal: Refusal, found: re.Match[str]) -> Told | None:
    """The results of ``tl.broadcast``, ``tl.split`` or a helper, used as if they were one."""
    for operand in refusal.operands:
        if not (values := members(operand.value)):
            continue
        call = _call(refusal, operand.node)
        if call is None:
            continue
        name = written(call.func)
        names = ", ".join(_names(call, len(values)))
        last = name.rsplit(".", 1)[-1]
        return Told(
            _("`{call}` gives {values}, but one is needed here").format(
                call=written(call), values=count(len(values), "value")
            ),
            _("Unpack them first: {names} = {call}. {more}")
            .format(names=names, call=written(call), more=translated(_ONE_OF.get(last, "")))
            .rstrip(),
            _beside(refusal, operand, call),
        )
    return None


def _beside(refusal: Refusal, operand: Operand, call: ast.Call) -> tuple[ast.AST, ...]:
    """The piece and the place where the values were made, if that is elsewhere."""
    if refusal.node is None or call in ast.walk(refusal.node):
        return ()
    return (refusal.node, *_births(refusal, operand))


def _call(refusal: Refusal, node: ast.expr) -> ast.Call | None:
    """The call that gave an operand its value, also through a name."""
    if isinstance(node, ast.Name):
        born = reaching(refusal.kernel.tree.body, node.id, refusal.node or node)
        node = born.value if isinstance(born, ast.Assign) and isinstance(born.targets[0], ast.Name) else node
    return node if isinstance(node, ast.Call) else None


def _names(call: ast.Call, number: int) -> Sequence[str]:
    """Names for the values of a call: those of its arguments, if there are as many."""
    given = [each.id for each in call.args if isinstance(each, ast.Name)]
    if len(set(given)) == number and len(call.args) == number:
        return given
    return ("value", "index") if any(each.arg == "return_indices" for each in call.keywords) else "abcdefghij"[:number]


def unpacked(refusal: Refusal, found: re.Match[str]) -> Told | None:
    """``a, b, c = tl.split(x)``: another number of names than of values."""
    if not isinstance(refusal.node, ast.Assign) or not isinstance(refusal.node.targets[0], ast.Tuple):
        return None
    value = refusal.operands[0].value if refusal.operands else None
    names, values = len(refusal.node.targets[0].elts), members(value)
    if not values:
        return None
    return Told(
        _("`{code}` assigns {values} to {names}").format(
            code=refusal.code, names=count(names, "name"), values=count(len(values), "value")
        ),
        _("Write one name for each value."),
    )


def block_of_members(refusal: Refusal, found: re.Match[str]) -> Told | None:
    """``tl.load([a, b])`` or ``tl.store(p, (1, 2))``: a list is no block."""
    for operand in refusal.operands:
        if members(operand.value) and isinstance(operand.node, (ast.List, ast.Tuple)):
            return Told(
                _("`{node}` is {kind}, not a block").format(
                    node=written(operand.node), kind=_kind(refusal, operand) or _("a Python tuple")
                ),
                _(
                    "A block is made by tl.arange, tl.full, tl.join or tl.load. To work on each member, write "
                    "one line for each, or a loop over tl.static_range."
                ),
            )
    return None


def no_block(refusal: Refusal, found: re.Match[str]) -> Told | None:
    """``tl.sum(n)`` of a single number: functions that work along an axis need a block."""
    if not isinstance(refusal.node, ast.Call) or not refusal.operands:
        return None
    first = refusal.operands[0]
    if shape_of(first.value) or not (is_runtime(first.value) or shape_of(first.value) == []):
        return None
    name = written(refusal.node.func)
    two = {"min": "minimum", "max": "maximum"}.get(name.rsplit(".", 1)[-1])
    instead = (
        _("For the smaller or larger of two values, use tl.{two}(a, b).").format(two=two)
        if two and len(refusal.operands) > 1
        else _("Load a block first: tl.load(pointer + tl.arange(0, BLOCK)).")
    )
    return Told(
        _("{name} works on the elements of a block, but `{node}` is {value}").format(
            name=name, node=written(first.node), value=value_told(first.value)
        ),
        instead,
    )


_SEVERAL = (
    r"object has no attribute 'values'|language\.core\.tuple'> to tensor"
    r"|'tuple' object has no attribute|'\w+' is not in list|'tuple_type' object has no attribute"
)

RULES = (
    Rule(r"assert isinstance\(idx|indices must be integers|cannot be interpreted as an integer", indexed),
    Rule(r"IndexError: (?:list|tuple|string) index out of range", beyond),
    Rule(_SEVERAL, several_values),
    Rule(rf"(?:{_SEVERAL})", block_of_members),
    Rule(r"values to unpack|'NoneType' object is not iterable|list index out of range", unpacked),
    Rule(
        r"'(?:dtype|pointer_type|constexpr_type)' object has no attribute '(?:numel|shape|scalar)'"
        r"|list index out of range|invalid axis -?\d+\. Expected (?:-0|0) <= axis < 0|split requires a non-scalar"
        r"|assert \(?len\(a\.shape\) > 0",
        no_block,
    ),
)
