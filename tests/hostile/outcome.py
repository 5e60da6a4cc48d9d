"""What became of one hostile input."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

# survived: nothing was lost, and what is said is right; refused: an error in words that names the input's fault;
# wrong: a wrong answer, a raw traceback, a lost file, a dead process; hung: it took longer than its subject allows.
Outcome = Literal["survived", "refused", "wrong", "hung"]
OUTCOMES: tuple[Outcome, ...] = ("survived", "refused", "wrong", "hung")


@dataclass(frozen=True)
class Try:
    """One input by its name, its outcome, and what was seen where the outcome is wrong or hung."""

    name: str
    outcome: Outcome
    seen: str = ""
