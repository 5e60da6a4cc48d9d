"""The line of %%triton."""

from __future__ import annotations

import contextlib
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.wordings import Wording
from triton_lab.notebook.cell.magic_options import FLAGS, TARGETS, VIEWS, Options, UsageError, parse, usage
from triton_lab.views.launch.card.launch_card import SHOWN


@pytest.mark.parametrize(
    ("line", "options"),
    [
        ("", Options()),
        ("cpu", Options(target="cpu")),
        ("both --show tiling,storage", Options(target="both", show=("tiling", "storage"))),
        ("--show=source gpu", Options(target="gpu", show=("source",))),
        ("cpu --show stages,tiling --compile sm_90", Options("cpu", ("stages", "tiling"), gpus=("sm_90",))),
        ("--limit 100", Options(steps=100)),
        ("--help", Options(help=True)),
        ("cpu --compile sm_90,gfx942", Options(target="cpu", gpus=("sm_90", "gfx942"))),
        ("--compile=sm_80 cpu", Options(target="cpu", gpus=("sm_80",))),
        ("--compile cpu", Options(target="cpu", gpus=("sm_90",))),
    ],
)
def test_a_line_says_where_and_what_to_show(line: str, options: Options) -> None:
    assert parse(line) == options


@pytest.mark.parametrize(
    ("line", "facts"),
    [
        ("tpu", {"word": "'tpu'", "nearest": "gpu"}),
        ("--shwo tiling", {"word": "'--shwo'", "nearest": "--show"}),
        ("--show tilling", {"word": "'tilling'", "nearest": "tiling"}),
        ("--show", {}),
        ("cpu gpu", {"first": "'cpu'", "second": "'gpu'"}),
        ("--compile sm90", {"word": "'sm90'", "nearest": "sm_90"}),
        ("--limit many", {"word": "'many'"}),
        ("--show 'tiling", {}),
        ("cpu --show tiling,stages", {"view": "stages"}),
    ],
)
def test_a_mistake_is_answered_with_what_exists_nearest_first(
    line: str, facts: dict[str, str], wording: Wording
) -> None:
    with wording.raises(UsageError, line, **facts):
        parse(line)


@given(st.text())
def test_no_line_breaks_the_parser(line: str) -> None:
    with contextlib.suppress(UsageError):
        parse(line)


def test_the_help_has_a_line_for_each_option_target_and_view_and_its_examples_are_right() -> None:
    described = {line.split()[0] for line in usage().splitlines() if re.match(r" +\S+ {2,}\S", line)}
    assert {flag.names[0] for flag in FLAGS} | set(TARGETS) | set(VIEWS) <= described
    examples = re.findall(r"^  %%triton(.*?)(?: {2,}|$)", usage(), re.MULTILINE)
    assert len(examples) >= 4
    for example in examples:
        parse(example)


def test_every_flag_of_the_table_is_understood() -> None:
    values = {"VIEW,...": "tiling", "STEPS": "10", "GPU,...": "sm_80", "": None}
    for flag in FLAGS:
        for name in flag.names:
            value = values[flag.value]
            assert parse(name if value is None else f"{name} {value}") != Options() or value == "tiling"


def test_what_can_be_shown_is_what_a_card_shows() -> None:
    assert (*SHOWN, "none") == VIEWS
