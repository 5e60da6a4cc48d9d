"""A name is bound once: a second function for an operation would silently take the first one's place."""

from __future__ import annotations

import importlib
from collections.abc import Callable

import pytest

from triton_lab import examples
from triton_lab.interpreter import ops
from triton_lab.interpreter.libdevice import (
    FUNCTIONS,
    directed_rounding,
    elementary_functions,
    integer_functions,
    min_max_functions,
)
from triton_lab.interpreter.op_registry import CHECKS, REGISTRY, check, control, impl, union
from triton_lab.interpreter.ops import memory
from triton_lab.polyhedral.kernels.symbolic import operation_rules
from triton_lab.polyhedral.kernels.symbolic.rule_table import RULES

ops.load_all()


@pytest.mark.parametrize(
    ("register", "name", "table"),
    [
        (impl, "tt.load", REGISTRY),
        (impl, "scf.if", REGISTRY),
        (control, "scf.if", REGISTRY),
        (control, "tt.load", REGISTRY),
        (check, "tt.extern_elementwise", CHECKS),
        (operation_rules.rule, "tt.addptr", RULES),
    ],
)
def test_a_name_that_is_taken_is_refused(register: Callable, name: str, table: dict):
    before = dict(table)
    with pytest.raises(ValueError, match=rf"{name} is bound"):
        register(name)(lambda *_: None)
    assert table == before


def test_tables_with_a_name_in_common_are_refused():
    with pytest.raises(ValueError, match="is bound"):
        union({"a": abs}, {"b": abs, "a": max})


def test_a_module_that_is_imported_again_binds_the_same():
    """An import that was interrupted has bound some names already."""
    before = dict(REGISTRY)
    try:
        importlib.reload(memory)
        assert REGISTRY["tt.load"].run is memory.load
    finally:
        REGISTRY.update(before)


def test_no_library_function_is_lost():
    assert len(FUNCTIONS) == sum(
        len(each.FUNCTIONS) for each in (elementary_functions, directed_rounding, integer_functions, min_max_functions)
    )


def test_no_two_examples_have_one_name(monkeypatch):
    page = importlib.import_module(f"{examples.__name__}.softmax")
    monkeypatch.setattr(page, "EXAMPLES", page.EXAMPLES * 2)
    with pytest.raises(ValueError, match=r"'softmax.*softmax.py"):
        examples.all_examples()
