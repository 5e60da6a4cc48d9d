"""Of slips that people reported, a part that is quick to judge: the line is named, and what stands wrong there."""

from __future__ import annotations

import pytest

from tests.launch.comparison.judgement import Judgement, counted, uses
from tests.launch.comparison.reported_slips import SUBJECTS, Reported, agrees, reported

NAMED = {
    ("layer_norm", "mean = tl.sum(x, axis=0) / BLOCK"): "n instead of BLOCK",
    ("rms_norm_backward", "(weighted + normed * along)"): "- instead of +",
    ("running_statistics", "/ n"): "n - 1 instead of n",
    ("softmax_blocks", "other=0.0)"): "other=-inf",
    ("attention", "k_len - q_len > n[None, :])"): ">= instead of >",
    ("attention", "alpha = tl.exp(top - new)"): "exp2 instead of exp",
    ("attention_backward_keys", "(dp - delta[None, :])"): "along the other axis",
    ("int4_linear", "(nibble - zero - 1) * scale"): "0 instead of 1",
    ("expert_linear", "expert_ptr + pid_n)"): "pid_m instead of pid_n",
    ("expert_linear", "acc"): "weight",
    ("rotary", "left * cos + right * sin"): "- instead of +",
    ("causal_convolution", "at = t - WIDTH + j"): "instead of WIDTH",
}
CASES = {(one.subject.kernel.fn.__name__, one.slip.new): one for one in reported()}


@pytest.mark.parametrize("key", NAMED, ids=" ".join)
def test_the_line_of_a_reported_slip_is_named(key: tuple[str, str]) -> None:
    judgement = CASES[key].judged()
    assert judgement is not None
    assert judgement.said == "first"
    assert NAMED[key] in judgement.cause


def test_every_edit_stands_once_in_its_kernel() -> None:
    for one in reported():
        assert one.text != one.subject.kernel.src
        assert one.lines


@pytest.mark.parametrize("name", ["layer_norm", "merge_splits", "rotary", "running_sum", "sink_attention", "codebook"])
def test_the_right_kernel_gives_what_is_expected(name: str) -> None:
    (subject,) = (one for one in SUBJECTS if one.kernel.fn.__name__ == name)
    assert agrees(subject)


def test_answers_are_counted_by_class() -> None:
    answers = [("sign", Judgement("first", "", 1.0)), ("sign", Judgement("nothing", "", 3.0))]
    lines = counted([*answers, ("mask", Judgement("wrong", "", 2.0))]).splitlines()
    assert [line.split() for line in lines[1:4]] == [
        ["mask", *"0001000"],
        ["sign", *"1000010"],
        ["all", *"1001010"],
    ]
    assert "33%" in lines[4] and "median 2.00 s" in lines[4]


def test_the_lines_that_use_a_value_are_found() -> None:
    text = "def f(a, b):\n    c = a\n    d = c + b\n    for k in range(d):\n        c += d * k\n"
    assert uses(text, {2}) == {3}
    assert uses(text, {3}) == {4, 5}


def test_an_edit_that_stands_nowhere_is_refused() -> None:
    one = next(iter(reported()))
    with pytest.raises(ValueError, match="stands 0 times"):
        _ = Reported(SUBJECTS[-1], one.slip).text
