"""What a kernel means beyond its own text: everything that it names, however deep, and an end to circles."""

from __future__ import annotations

import types
from typing import Any

import pytest
import triton
import triton.language as tl

from triton_lab.backend.source.kernel_dependencies import fingerprint, used

DEEP = tl.constexpr(1)
PLAIN = 2
SETTINGS = types.ModuleType("settings")
SETTINGS.SCALE = 3


@triton.jit
def innermost(x):
    return x * DEEP


@triton.jit
def inner(x):
    return innermost(x) + SETTINGS.SCALE


@triton.jit
def even(x):
    return x if x == 0 else odd(x - 1)


@triton.jit
def odd(x):
    return x if x == 1 else even(x - 1) + DEEP


@triton.jit
def kernel(out):
    tl.store(out, inner(tl.program_id(0)) + PLAIN)


@triton.jit
def circular(out):
    tl.store(out, even(tl.program_id(0)))


@pytest.mark.parametrize("name", ["DEEP", "PLAIN"])
def test_what_is_named_at_any_depth_is_part_of_the_meaning(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = fingerprint(kernel)
    assert fingerprint(kernel) == before
    monkeypatch.setitem(globals(), name, tl.constexpr(7))
    assert fingerprint(kernel) != before
    monkeypatch.undo()
    assert fingerprint(kernel) == before


def test_a_modules_attribute_is_too(monkeypatch: pytest.MonkeyPatch) -> None:
    before = fingerprint(kernel)
    monkeypatch.setattr(SETTINGS, "SCALE", 4)
    assert fingerprint(kernel) != before


def test_helpers_that_name_each_other_come_to_an_end_and_what_they_name_counts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = fingerprint(circular)
    monkeypatch.setitem(globals(), "DEEP", tl.constexpr(7))
    assert fingerprint(circular) != before


def test_a_type_is_told_from_an_equal_value_of_another(monkeypatch: pytest.MonkeyPatch) -> None:
    before = fingerprint(kernel)
    monkeypatch.setitem(globals(), "PLAIN", 2.0)
    assert fingerprint(kernel) != before


def test_names_are_followed_into_comprehensions_and_closures() -> None:
    depth = 3

    def function(out: Any) -> Any:
        return [PLAIN + depth for _ in out]

    stands_in = types.SimpleNamespace(fn=function)
    assert dict(used(stands_in)) == {"PLAIN": 2, "depth": 3}
