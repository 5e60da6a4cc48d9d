"""Reads a program of loops back into the sets that it visits: a proof that the text matches the sets."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from triton_lab.localization import _
from triton_lab.polyhedral.core.affine_expr import isl_name
from triton_lab.polyhedral.core.loop_nest import (
    Binary,
    Call,
    Choose,
    Compare,
    Expr,
    For,
    If,
    Logic,
    Name,
    Node,
    Number,
    Unary,
    Visit,
)


def visited(nodes: tuple[Node, ...], parameters: Sequence[str]) -> dict[str, isl.Set]:
    """Statement -> the instances that ``nodes`` visit.

    Raises NotImplementedError for an expression that isl never generates.
    """
    found: dict[str, isl.Set] = {}
    head = f"[{', '.join(map(isl_name, parameters))}] -> "
    for visit, names, conditions in _visits(nodes, (), ()):
        places = [f"out{k}__" for k in range(len(visit.arguments))]
        equal = [f"{place} = {_text(a)}" for place, a in zip(places, visit.arguments, strict=True)]
        condition = " and ".join([*conditions, *equal]) or "0 = 0"
        inside = f"exists ({', '.join(map(isl_name, names))} : {condition})" if names else condition
        own = isl.Set(f"{head}{{ {visit.statement}[{', '.join(places)}] : {inside} }}")
        found[visit.statement] = found[visit.statement].union(own) if visit.statement in found else own
    return found


def _visits(
    nodes: tuple[Node, ...], names: tuple[str, ...], conditions: tuple[str, ...]
) -> list[tuple[Visit, tuple[str, ...], tuple[str, ...]]]:
    found: list[tuple[Visit, tuple[str, ...], tuple[str, ...]]] = []
    for node in nodes:
        match node:
            case Visit():
                found.append((node, names, conditions))
            case If():
                holds = _truth(node.condition)
                found += _visits(node.body, names, (*conditions, holds))
                found += _visits(node.orelse, names, (*conditions, f"not ({holds})"))
            case For():
                start, name = _text(node.start), isl_name(node.iterator)
                bounds = [f"{name} >= {start}", *map(_truth, node.conditions)]
                if node.step != 1:
                    bounds.append(f"({name} - ({start})) mod {node.step} = 0")
                found += _visits(node.body, (*names, node.iterator), (*conditions, *bounds))
            case _:
                raise NotImplementedError(_("{type} in a program of visits").format(type=type(node).__name__))
    return found


def _truth(expression: Expr) -> str:
    match expression:
        case Compare(op=op, left=left, right=right):
            return f"({_text(left)} {'=' if op == '==' else op} {_text(right)})"
        case Logic(op=op, operands=operands):
            return f"({f' {op} '.join(map(_truth, operands))})"
        case Unary(op="not", operand=operand):
            return f"not {_truth(operand)}"
    raise NotImplementedError(_("{expression} as a condition").format(expression=expression))


def _text(expression: Expr) -> str:
    match expression:
        case Number(value=value):
            return str(value)
        case Name(id=name):
            return isl_name(name)
        case Unary(op="-", operand=operand):
            return f"(-{_text(operand)})"
        case Binary(op=("+" | "-" | "*") as op, left=left, right=right):
            return f"({_text(left)} {op} {_text(right)})"
        case Binary(op="//", left=left, right=right):
            return f"floor({_text(left)}/{_text(right)})"
        case Binary(op="%", left=left, right=right):
            return f"({_text(left)} mod {_text(right)})"
        case Call(function=("min" | "max") as function, arguments=arguments):
            return _nested(function, [_text(a) for a in arguments])
        case Choose(condition=condition, yes=yes, no=no):
            return f"({_truth(condition)} ? {_text(yes)} : {_text(no)})"
    raise NotImplementedError(_("{expression} as a number").format(expression=expression))


def _nested(function: str, arguments: list[str]) -> str:
    """Nested calls, because isl's ``min`` and ``max`` take two arguments."""
    total = arguments[0]
    for argument in arguments[1:]:
        total = f"{function}({total}, {argument})"
    return total
