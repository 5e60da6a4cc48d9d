"""``break`` and ``continue`` that depend on data, as flags: scalars that say whether the rest still runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from triton_lab.polyhedral.core.loop_nest import (
    Assign,
    Assume,
    Binary,
    Call,
    Compare,
    Declare,
    For,
    If,
    Jump,
    Load,
    Name,
    Node,
    Number,
    walk,
)
from triton_lab.polyhedral.core.source_text import Span


def without_jumps(loop: For, fresh: Callable[[str], str]) -> tuple[Node, ...]:
    """Nodes that run as ``loop`` does, and jump nowhere; ``fresh`` gives names for flags.

    ``for (...) { if (A[i]) break; S; }`` becomes ``go = 1; for (...) { if (go && A[i]) go = 0; if (go) S; }``, and the
    iterations after a break run nothing.
    """
    kinds = _kinds(loop.body)
    flags: dict[str, str] = {kind: fresh(kind) for kind in ("break", "continue") if kind in kinds}
    body = _lowered(loop.body, flags)
    if "continue" in flags:
        body = (*_set(flags["continue"], 1, loop.span), *body)
    if "break" not in flags:
        return (replace(loop, body=body),)
    go = flags["break"]
    return (*_set(go, 1, loop.span), replace(loop, body=tuple(_while_set([go], node) for node in body)))


def jumps(nodes: tuple[Node, ...]) -> bool:
    """Whether ``nodes`` may leave an iteration of the loop around."""
    return bool(_kinds(nodes))


def _kinds(nodes: tuple[Node, ...]) -> set[str]:
    """The jumps in ``nodes`` that belong to the loop around them."""
    found: set[str] = set()
    for node in nodes:
        match node:
            case Jump(kind=kind):
                found.add(kind)
            case If():
                found |= _kinds((*node.body, *node.orelse))
    return found


def _lowered(nodes: tuple[Node, ...], flags: dict[str, str]) -> tuple[Node, ...]:
    """``nodes`` with flags set in place of jumps; what follows one asks for its flag."""
    out: list[Node] = []
    asked: list[str] = []
    for node in nodes:
        kinds = _kinds((node,))
        match node:
            case Jump(kind=kind):
                change = Assign(Load(flags[kind], (), node.span), Number(0, node.span), "", node.span)
                out.append(_while_set(asked, change))
                break  # nothing after it runs
            case If() if kinds:
                node = replace(node, body=_lowered(node.body, flags), orelse=_lowered(node.orelse, flags))
        out.append(_while_set(asked, node))
        asked = [flags[kind] for kind in ("break", "continue") if kind in kinds or flags.get(kind) in asked]
    return tuple(out)


def _while_set(flags: list[str], node: Node) -> Node:
    if isinstance(node, Declare | Assume) or _is_harmless(node):
        return node
    span = _span(node)
    for flag in reversed(flags):
        node = If(Compare("!=", Name(flag, span), Number(0, span), span), (node,), (), span)
    return node


def _is_harmless(node: Node) -> bool:
    """Whether ``node`` may run in vain: it gives a scalar a number that it computes from names alone."""
    if not isinstance(node, Assign) or node.target.indices or node.op or not node.initial:
        return False
    return not any(isinstance(e, Call | Load) or (isinstance(e, Binary) and e.op in "//%") for e in walk(node.value))


def _set(flag: str, value: int, span: Span) -> tuple[Node, ...]:
    return Declare(flag, "int32", span), Assign(Load(flag, (), span), Number(value, span), "", span)


def _span(node: Node) -> Span:
    return getattr(node, "span", Span(0, 0, 0))
