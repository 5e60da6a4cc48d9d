"""The table of operations and the functions that run them.

An operation's function takes the frame, the operation and its operands' values. It returns the value of its result: a
tuple if there are several, None if there is none. A name is bound once: a second function for one operation would
silently give wrong numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from triton_lab.ir import Op

Implementation = Callable[..., Any]
T = TypeVar("T")
F = TypeVar("F", bound=Implementation)


@dataclass(frozen=True, slots=True)
class RegisteredOp:
    """``control`` marks operations that run other operations, which report errors themselves."""

    run: Implementation
    control: bool


def bind(table: dict[str, T], name: str, value: T) -> None:
    """Enter ``value`` into a table. Raises ValueError if the name is bound to something else already."""
    if name in table and (_place(value) is None or _place(value) != _place(table[name])):
        raise ValueError(f"{name} is bound to {table[name]!r} already, and cannot be to {value!r}")
    table[name] = value


def _place(value: Any) -> tuple[str, int] | None:
    """Where a function is written. A module whose import was interrupted binds the same function again."""
    code = getattr(value.run if isinstance(value, RegisteredOp) else value, "__code__", None)
    return None if code is None else (code.co_filename, code.co_firstlineno)


def union(*tables: Mapping[str, T]) -> dict[str, T]:
    """All entries of tables that have no name in common. Raises ValueError if they do."""
    found: dict[str, T] = {}
    for table in tables:
        for name, value in table.items():
            bind(found, name, value)
    return found


REGISTRY: dict[str, RegisteredOp] = {}
# Checks of operations that cannot run in all forms: each function raises Unsupported for the others.
CHECKS: dict[str, Callable[[Op], None]] = {}


def impl(*names: str) -> Callable[[F], F]:
    """Register the decorated function for the operations called ``names``."""

    def register(function: F) -> F:
        for name in names:
            bind(REGISTRY, name, RegisteredOp(function, False))
        return function

    return register


def control(*names: str) -> Callable[[F], F]:
    """Register the decorated function for the control-flow operations called ``names``."""

    def register(function: F) -> F:
        for name in names:
            bind(REGISTRY, name, RegisteredOp(function, True))
        return function

    return register


def check(*names: str) -> Callable[[Callable[[Op], None]], Callable[[Op], None]]:
    """Have the decorated function check the operations called ``names`` when a kernel is bound."""

    def register(function: Callable[[Op], None]) -> Callable[[Op], None]:
        for name in names:
            bind(CHECKS, name, function)
        return function

    return register
