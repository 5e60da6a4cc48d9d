"""Mistakes as learners make them, and what a card must show of each."""

from tests.mistakes import bounds, refused, together, values
from tests.mistakes.mistake import Mistake

MISTAKES = [
    each for part in (bounds, together, values, refused) for each in vars(part).values() if isinstance(each, Mistake)
]
