"""The explanation of a mistake in a kernel: what is wrong, what to do, and where."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass

from triton_lab.localization import translated
from triton_lab.notebook.mistakes.front_end_error import Refusal
from triton_lab.notebook.mistakes.operand_words import operands_told


@dataclass(frozen=True)
class Told:
    """An explanation: ``message`` says what is wrong, ``advice`` what to do; ``at`` are the places, the cause first.

    Without places it concerns the place where Triton stopped.
    """

    message: str
    advice: str = ""
    at: tuple[ast.AST, ...] = ()


Tell = Callable[[Refusal, re.Match[str]], Told | None]


@dataclass(frozen=True)
class Rule:
    """A rule: ``tell`` words a refusal whose ``Kind: text`` has the ``pattern``; it may decline by returning None."""

    pattern: str
    tell: Tell

    def __call__(self, refusal: Refusal) -> Told | None:
        found = re.search(self.pattern, f"{refusal.kind}: {refusal.text}", re.DOTALL)
        return None if found is None else self.tell(refusal, found)


def says(pattern: str, message: str, advice: str = "") -> Rule:
    """A rule whose words are fixed, except for ``{code}``, ``{operands}`` and what the pattern found:
    ``{first}``, ``{second}`` and ``{third}``. They are marked with `N_`. ``{operands}`` says what each operand is."""

    def tell(refusal: Refusal, found: re.Match[str]) -> Told:
        groups = dict(zip(("first", "second", "third"), found.groups(), strict=False))
        given = {"code": refusal.code, "operands": operands_told(refusal), **groups}
        said, what_to_do = (translated(text).format(**given) for text in (message, advice))
        return Told(said.replace(" ()", ""), what_to_do)

    return Rule(pattern, tell)
