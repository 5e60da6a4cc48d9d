"""The line of %%triton."""

from __future__ import annotations

import contextlib
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triton_lab.notebook.cell.magic_options import FLAGS, TARGETS, USAGE, VIEWS, Options, UsageError, parse
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
    ("line", "message"),
    [
        ("tpu", "no target 'tpu'; there is gpu,"),
        ("--shwo tiling", "no option '--shwo'; there is --show,"),
        ("--show tilling", "no view 'tilling'; there is tiling,"),
        ("--show", "--show needs a view: tiling"),
        ("cpu gpu", "takes one target, not 'cpu' and 'gpu'"),
        ("--compile sm90", "no target 'sm90' to compile for: choose sm_90,"),
        ("--limit many", "takes a number of loop iterations, not 'many'"),
        ("--show 'tiling", "No closing quotation"),
        ("cpu --show tiling,stages", "--show stages is of what a GPU's compiler makes of the kernels: --compile sm_90"),
    ],
)
def test_a_mistake_is_answered_with_what_exists_nearest_first(line: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse(line)


@given(st.text())
def test_no_line_breaks_the_parser(line: str) -> None:
    with contextlib.suppress(UsageError):
        parse(line)


def test_the_help_has_a_line_for_each_option_target_and_view_and_its_examples_are_right() -> None:
    described = {line.split()[0] for line in USAGE.splitlines() if re.match(r" +\S+ {2,}\S", line)}
    assert {flag.names[0] for flag in FLAGS} | set(TARGETS) | set(VIEWS) <= described
    examples = re.findall(r"^  %%triton(.*?)(?: {2,}|$)", USAGE, re.MULTILINE)
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
