"""Random kernels come out alike on both engines; `python -m tests.native.fuzz` runs thousands."""

from __future__ import annotations

import re

from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st

from tests.native.fuzz import Refused, check, check_recorded
from tests.native.kernels import Case, cases
from tests.native.writing import Writer
from tests.native.writing_control import control


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(cases())
def test_random_kernels_give_the_same_bits_and_the_same_errors(case: Case) -> None:
    try:
        check(case)
    except Refused:
        reject()


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(cases())
def test_recorded_random_kernels_have_the_same_accesses_and_findings(case: Case) -> None:
    try:
        check_recorded(case)
    except Refused:
        reject()


@st.composite
def loops(draw: st.DrawFn) -> str:
    """Lines of a kernel that has many loops with conditions."""

    class Looping(Writer):
        def pick(self, options):
            return "while" if "while" in options else super().pick(options)

    writer = Looping(draw, 4, 8, [("int32", 64, 4)], True)
    for _ in range(3):
        control(writer)
    return "\n".join(writer.lines)


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(loops())
def test_what_counts_the_rounds_of_a_loop_is_changed_by_nothing_else(source: str) -> None:
    counters = re.findall(r"while (v\d+) > 0", source)
    assert len(counters) >= 3
    for name in counters:
        assert len(re.findall(rf"^ *{name}(?: -)? ?= ", source, re.MULTILINE)) == 2
        assert re.search(rf"^ *{name} -= 1$", source, re.MULTILINE)
