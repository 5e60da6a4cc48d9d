"""Loop nests node by node: what is in them, and programs of visits with something changed everywhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from triton_lab.polyhedral.core.loop_nest import (
    Assign,
    Assume,
    Compare,
    Declare,
    Expr,
    For,
    If,
    Load,
    Node,
    Visit,
    walk,
)


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
    """``nodes`` with every expression changed: bounds, conditions, arguments, targets and values."""
    out: list[Node] = []
    for node in nodes:
        match node:
            case Visit():
                out.append(replace(node, arguments=tuple(map(change, node.arguments))))
            case Assign():
                target = change(node.target)
                assert isinstance(target, Load)
                out.append(replace(node, target=target, value=change(node.value)))
            case Assume():
                out.append(replace(node, condition=change(node.condition)))
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


def assignments(nodes: tuple[Node, ...]) -> Iterator[Assign]:
    """The assignments below ``nodes``, in textual order."""
    for node in nodes:
        match node:
            case Assign():
                yield node
            case For():
                yield from assignments(node.body)
            case If():
                yield from assignments(node.body)
                yield from assignments(node.orelse)


def every_loop(nodes: tuple[Node, ...]) -> Iterator[For]:
    """The loops below ``nodes``, outer before inner."""
    for node in nodes:
        match node:
            case For():
                yield node
                yield from every_loop(node.body)
            case If():
                yield from every_loop((*node.body, *node.orelse))


def every_part(node: Assign) -> Iterator[Expr]:
    """The expressions in ``node``: its target, its value, and what is in them."""
    yield from walk(node.target)
    yield from walk(node.value)


def declared(nodes: tuple[Node, ...]) -> Iterator[tuple[str, str]]:
    """The scalars that are declared below ``nodes``, each with its type."""
    for node in nodes:
        match node:
            case Declare():
                yield node.name, node.type
            case For():
                yield from declared(node.body)
            case If():
                yield from declared((*node.body, *node.orelse))
