"""Questions that are too hard for isl: it gives up, and the process lives."""

from __future__ import annotations

import subprocess
import sys
import threading
from contextlib import suppress
from time import process_time

import islpy as isl
import pytest

import triton_lab as lab
from tests.wordings import Wording
from triton_lab.polyhedral.core import isl_effort
from triton_lab.polyhedral.core.isl_effort import NoAnswer, TooHard

# For which sizes do the programs of a tiled copy meet? (The complement of this set says: for which do they not.)
MEET = """
[rows, grid] -> { : exists (e0, e1, e2, e3, e4, e5: e0 >= 0 and 0 <= e2 <= 3 and 4 + 4e0 <= e3 < 4grid and
4e5 > -rows + 2e4 and -e0 - 6e1 - 9e2 + 9e3 - 105e4 <= 6e5 <= 2 - e0 - 6e1 - 9e2 + 9e3 - 105e4 and
-23 + e3 <= 24e5 <= e3 and 148e5 > -rows - 24e0 - 144e1 - 222e2 + 222e3 - 2590e4 and
-5 - 35e0 - 210e1 - 324e2 + 324e3 - 3780e4 <= 216e5 <= -35e0 - 210e1 - 324e2 + 324e3 - 3780e4) }
"""
SIZES = "[rows, grid] -> { : rows >= 0 and grid > 0 }"

IN_A_SMALL_STACK = f"""
import threading
import islpy as isl
from triton_lab.polyhedral.core.isl_effort import TooHard, effort

def ask():
    try:
        with effort("the question"):
            isl.Set({SIZES!r}).subtract(isl.Set({MEET!r}))
    except TooHard as answer:
        print(answer)

threading.stack_size(1 << 20)
thread = threading.Thread(target=ask)
thread.start()
thread.join()
"""


def test_the_stack_does_not_run_out(wording: Wording) -> None:
    """isl recurses for this one until its operations are spent; with ten times as many, a megabyte is not enough."""
    done = subprocess.run([sys.executable, "-c", IN_A_SMALL_STACK], capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr
    wording(done.stdout, question="the question")


def test_other_errors_are_told_with_the_question() -> None:
    with pytest.raises(NoAnswer, match=r"^a question: .*'syntax error'$"), isl_effort.effort("a question"):
        isl.Set("{ [i : }")


def test_a_question_is_given_time_and_not_a_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """isl needs more than the first count, and a fraction of a second."""
    monkeypatch.setattr(isl_effort, "OPERATIONS", 50)
    assert not isl_effort.answered("whether programs meet", lambda: isl.Set(MEET).is_empty())
    assert isl.DEFAULT_CONTEXT.get_max_operations() == 0


def test_the_time_for_a_question_ends(wording: Wording) -> None:
    start = process_time()
    with wording.raises(TooHard):
        isl_effort.answered("a question", lambda: isl.Set(SIZES).subtract(isl.Set(MEET)))
    assert process_time() - start < 1.5 * isl_effort.SECONDS


def test_a_question_within_an_answered_one_waits_for_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isl_effort, "OPERATIONS", 50)

    def ask() -> bool:
        isl.Set(MEET)
        with isl_effort.effort("inside", 100_000):
            return bool(isl.Set(MEET).is_empty())

    assert isl_effort.answered("outside", ask) is False


def test_the_limit_ends_with_the_question(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isl_effort, "OPERATIONS", 50)
    with pytest.raises(TooHard, match=r"^a question: "), isl_effort.effort("a question"):
        isl.Set(MEET)
    assert not isl.Set(MEET).is_empty()


def test_a_question_within_another_has_its_own_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isl_effort, "OPERATIONS", 50)
    with isl_effort.effort("outside", 100_000):
        with pytest.raises(TooHard, match="inside"), isl_effort.effort("inside"):
            isl.Set(MEET)
        assert not isl.Set(MEET).is_empty()


def test_threads_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """A question that ends in one thread lifts no limit in another."""

    def other() -> None:
        with isl_effort.effort("other", 50):
            pass

    thread = threading.Thread(target=other)
    with isl_effort.effort("mine"):
        thread.start()
        thread.join(0.2)
        assert thread.is_alive()
        assert isl.DEFAULT_CONTEXT.get_max_operations() == isl_effort.OPERATIONS
    thread.join()
    assert isl.DEFAULT_CONTEXT.get_max_operations() == 0


# Everything that a subscript may have, at once.
TANGLED = """
for (int i = 0; i < n; i += 1)
  if ((3*m - 2) / 5 >= (2*i - 2*m - 3) % 5)
    A[(5*n + 4*i + 4) / 3][(3*m - 3*n + 5*i - 2) / 2] =
      A[(m + i + 4*n + 5) % 5][(3*i + 3) / 7] + A[(4*i + 5*m - 2*n - 1) / 4][(4*i - 3*n + 1) / 8];
"""


def test_a_nest_that_is_too_hard_is_refused_with_the_access(wording: Wording) -> None:
    nest = lab.polyhedral.scop(TANGLED, n=5, m=7)
    with wording.raises(TooHard):
        _ = nest.value_dependences
    assert "for" in nest.schedule.program()


def test_a_schedule_that_is_too_hard_to_judge_still_prints(monkeypatch: pytest.MonkeyPatch, wording: Wording) -> None:
    schedule = lab.schedule("for (int i = 1; i < n; i++) A[i] = A[i-1];")
    monkeypatch.setattr(isl_effort, "OPERATIONS", 50)
    monkeypatch.setattr(isl_effort, "SECONDS", 0.0)
    *_, told = str(schedule.reverse("i")).splitlines()
    wording(told)


def test_a_number_that_isl_gives_up_on_is_too_hard() -> None:
    """islpy has no error for it: the text of the number is None."""
    value = isl.Val("7")

    def ask() -> int:
        with suppress(isl.Error):
            while True:
                isl.Set("{ [i] : 0 <= i < 10 }").union(isl.Set("{ [i] : 20 <= i < 30 }"))
        return int(value.to_python())

    with pytest.raises(isl_effort.TooHard), isl_effort.effort("a question", 100):
        ask()
    with pytest.raises(TypeError), isl_effort.effort("a question"):
        int(None)  # type: ignore[call-overload]
