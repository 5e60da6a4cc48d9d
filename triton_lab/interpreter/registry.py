"""Which function runs which operation.

An operation's function takes the frame, the operation, and its operands' values, and returns
the value of its result (a tuple where there are several, None where there is none).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from triton_lab.ir import Op

Implementation = Callable[..., Any]
F = TypeVar("F", bound=Implementation)


@dataclass(frozen=True, slots=True)
class Entry:
    """``control`` marks operations that run others, which tell of errors themselves."""

    run: Implementation
    control: bool


REGISTRY: dict[str, Entry] = {}
# Operations of which some forms cannot be run: each function raises Unsupported for those.
CHECKS: dict[str, Callable[[Op], None]] = {}


def impl(*names: str) -> Callable[[F], F]:
    """Register the decorated function for the operations called ``names``."""

    def register(function: F) -> F:
        for name in names:
            REGISTRY[name] = Entry(function, False)
        return function

    return register


def control(*names: str) -> Callable[[F], F]:
    """Register the decorated function for the control-flow operations called ``names``."""

    def register(function: F) -> F:
        for name in names:
            REGISTRY[name] = Entry(function, True)
        return function

    return register


def check(*names: str) -> Callable[[Callable[[Op], None]], Callable[[Op], None]]:
    """Have the decorated function look at the operations called ``names`` when a kernel is bound."""

    def register(function: Callable[[Op], None]) -> Callable[[Op], None]:
        for name in names:
            CHECKS[name] = function
        return function

    return register
