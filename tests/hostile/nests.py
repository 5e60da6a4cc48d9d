"""Loop nests that break something: C and Python text from a grammar without measure, and programs with damaged text.

Each must be a scop, whose dependences, program, points and picture are asked for in turn, or be refused in words, at a
place, and in time.
"""

from __future__ import annotations

import signal
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import thread_time
from typing import Any

from tests.hostile.nest_texts import texts
from tests.hostile.outcome import Outcome, Try
from triton_lab.polyhedral import NoAnswer, NotAScop, Scop, TooHard, scop
from triton_lab.polyhedral.core.isl_effort import SECONDS

# Reading is one question; what is asked of the scop may be two (the picture wants an order as well).
MOST_SECONDS = 2 * SECONDS + 1
# Of a machine that is busy with other things, for what ends by no rule of ours.
_ALARM = 60


def tries(seed: int) -> Iterator[Try]:
    """One `Try` for each text."""
    for number, (name, text) in enumerate(texts(seed)):
        yield tried(name, text, QUESTIONS[number % len(QUESTIONS)])


def tried(name: str, text: str, question: Callable[[Scop], Any]) -> Try:
    """What becomes of ``text``, and of ``question`` where it is a scop."""
    start = thread_time()
    outcome, seen = _outcome(text, question)
    took = thread_time() - start
    if outcome != "wrong" and took > MOST_SECONDS:
        outcome, seen = "hung", f"{took:.1f} s"
    return Try(name, outcome, seen if outcome in ("survived", "refused") else f"{seen} for {text[:300]!a}")


def _outcome(text: str, question: Callable[[Scop], Any]) -> tuple[Outcome, str]:
    found = None
    try:
        with _alarm(), warnings.catch_warnings():
            warnings.simplefilter("error")
            found = scop(text)
            repr(found)
            question(found)
    except NotAScop as refused:
        placed = refused.line >= 1 and refused.column >= 1 and bool(str(refused).encode())
        return ("refused", "") if placed else ("wrong", f"no place: {refused!r}")
    except TooHard as hard:
        placed = found is not None or (hard.line or 0) >= 1
        return ("refused", "") if placed else ("wrong", f"no place: {hard!r}")
    except TimeoutError:
        return "hung", f"{_ALARM} s"
    except (NoAnswer, ValueError) as error:
        words = found is not None and type(error) in (NoAnswer, ValueError) and "isl_" not in str(error)
        return ("refused", "") if words else ("wrong", repr(error)[:300])
    except Exception as error:
        return "wrong", repr(error)[:300]
    return "survived", ""


def _bound(found: Scop) -> Scop:
    return found.bind(**dict.fromkeys(found.parameters, 4))


# In words alone, in most cases: asking costs more than reading.
QUESTIONS: tuple[Callable[[Scop], Any], ...] = (
    lambda found: None,
    lambda found: repr(found.dependences),
    lambda found: found.schedule.program(),
    lambda found: found.latex,
    lambda found: _bound(found).count(),
    lambda found: repr(found.schedule),
    lambda found: _bound(found)._refuse_many() or _bound(found).plot(order=True).title(),
    lambda found: found.value_dependences,
    lambda found: found.schedule.automatic(),
    lambda found: _bound(found).points() if len(found.statements) == 1 else None,
)


@contextmanager
def _alarm() -> Iterator[None]:
    def ring(*_: object) -> None:
        raise TimeoutError

    usual = signal.signal(signal.SIGALRM, ring)
    signal.alarm(_ALARM)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, usual)
