"""Where right answers that are functions are kept, by exercise and style."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

FUNCTIONS: list[tuple[str, str, Callable[..., Any]]] = []


def right(name: str, style: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The decorator of a right answer to ``name``, written in ``style``."""

    def kept(answer: Callable[..., Any]) -> Callable[..., Any]:
        FUNCTIONS.append((name, style, answer))
        return answer

    return kept
