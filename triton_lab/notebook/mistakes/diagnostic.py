"""A mistake in a kernel, as it is told: what is wrong, what to do, and where."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass

from triton_lab.notebook.mistakes.front_end_error import Refusal


@dataclass(frozen=True)
class Told:
    """``message`` says what is wrong and ``advice`` what to do; ``at`` are the places, where it went wrong first.

    Without places it is where Triton stopped.
    """

    message: str
    advice: str = ""
    at: tuple[ast.AST, ...] = ()


Tell = Callable[[Refusal, re.Match[str]], Told | None]


@dataclass(frozen=True)
class Rule:
    """``tell`` words what ``pattern`` is found in: ``Kind: text`` of a refusal. It may pass by giving None."""

    pattern: str
    tell: Tell

    def __call__(self, refusal: Refusal) -> Told | None:
        found = re.search(self.pattern, f"{refusal.kind}: {refusal.text}", re.DOTALL)
        return None if found is None else self.tell(refusal, found)


def says(pattern: str, message: str, advice: str = "") -> Rule:
    """A rule whose words are always the same, but for ``{0}``, what the pattern found, and ``{code}``."""

    def tell(refusal: Refusal, found: re.Match[str]) -> Told:
        said, what_to_do = (text.format(*found.groups(), code=refusal.code) for text in (message, advice))
        return Told(said, what_to_do)

    return Rule(pattern, tell)
