"""What a kernel named at its launch is what a later question sees: given back where it can be, refused where not."""

from __future__ import annotations

import itertools
import linecache
from typing import Any

import pytest
import torch
import triton
import triton.language as tl

import triton_lab as lab
from triton_lab.launch.launch import Launch
from triton_lab.launch.recording.replay_error import CannotReplay
from triton_lab.launch.replay.instrumented_copy import Surroundings

_numbers = itertools.count()


def define(text: str) -> dict[str, Any]:
    """The globals of ``text``, as a notebook's cell would leave them; they may be changed."""
    file = f"<probes {next(_numbers)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    space: dict[str, Any] = {"triton": triton, "tl": tl, "__name__": __name__}
    exec(compile(text, file, "exec"), space)
    return space


CELL = """
FACTOR = tl.constexpr(3)
DEEP = tl.constexpr(10)

@triton.jit
def helper(x):
    return x + DEEP

@triton.jit
def other(x):
    return x - 1

@triton.jit
def kernel(out):
    value = helper(tl.program_id(0) * FACTOR)
    tl.store(out + tl.program_id(0), value)
"""


def recorded(kernel: Any) -> Launch:
    with lab.record() as launches:
        kernel[(2,)](torch.zeros(2))
    return launches[0]


def test_a_global_that_has_changed_since_is_given_back() -> None:
    space = define(CELL)
    launch = recorded(space["kernel"])
    space["FACTOR"] = tl.constexpr(100)
    assert launch.values("value").at().tolist() == [10, 13]


def test_a_helper_that_another_took_the_place_of_is_given_back() -> None:
    space = define(CELL)
    launch = recorded(space["kernel"])
    space["helper"] = space["other"]
    assert launch.values("value").at().tolist() == [10, 13]


def test_what_a_helper_used_cannot_be_given_back() -> None:
    space = define(CELL)
    launch = recorded(space["kernel"])
    space["DEEP"] = tl.constexpr(20)
    with pytest.raises(CannotReplay, match=r"^helper, .* kernel kernel "):
        launch.values("value")


CLOSURE = """
def make():
    step = tl.constexpr(5)

    def change(value):
        nonlocal step
        step = value

    @triton.jit
    def kernel(out):
        value = tl.program_id(0) * step
        tl.store(out + tl.program_id(0), value)

    return kernel, change

kernel, change = make()
"""


def test_a_closures_variable_is_refused_if_it_has_changed_and_only_then() -> None:
    space = define(CLOSURE)
    known = Surroundings.of(space["kernel"])
    assert known.restore(space["kernel"])["tl"] is tl
    space["change"](tl.constexpr(6))
    with pytest.raises(CannotReplay, match=r"^step, .* kernel kernel "):
        known.restore(space["kernel"])
    space["change"](tl.constexpr(5))
    known.restore(space["kernel"])
