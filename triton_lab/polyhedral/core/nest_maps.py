"""Programs of visits with something changed everywhere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from triton_lab.polyhedral.core.loop_nest import Compare, Expr, For, If, Node, Visit


def map_visits(nodes: tuple[Node, ...], make: Callable[[Visit], Node]) -> tuple[Node, ...]:
    """``nodes`` with every visit replaced."""
    out: list[Node] = []
    for node in nodes:
        match node:
            case Visit():
                out.append(make(node))
            case For():
                out.append(replace(node, body=map_visits(node.body, make)))
            case If():
                out.append(replace(node, body=map_visits(node.body, make), orelse=map_visits(node.orelse, make)))
            case _:
                out.append(node)
    return tuple(out)


def map_expressions(nodes: tuple[Node, ...], change: Callable[[Expr], Expr]) -> tuple[Node, ...]:
    """A program of visits with every expression changed: bounds, conditions and arguments."""
    out: list[Node] = []
    for node in nodes:
        match node:
            case Visit():
                out.append(replace(node, arguments=tuple(map(change, node.arguments))))
            case For():
                conditions = tuple(c for c in map(change, node.conditions) if isinstance(c, Compare))
                body = map_expressions(node.body, change)
                out.append(replace(node, start=change(node.start), conditions=conditions, body=body))
            case If():
                bodies = map_expressions(node.body, change), map_expressions(node.orelse, change)
                out.append(If(change(node.condition), *bodies, node.span))
            case _:
                out.append(node)
    return tuple(out)
