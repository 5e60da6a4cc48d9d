"""Every operation that is run, emitted or read has a row in `ir.traits`, and the rows agree with one another."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re

import pytest

from tests import sources
from tests.interpreter.test_ops_table import ALWAYS, TABLE
from triton_lab.interpreter import ops
from triton_lab.interpreter.op_registry import REGISTRY
from triton_lab.ir import Op, Type, effects, traits
from triton_lab.ir.traits import Accuracy, Kind
from triton_lab.ir.value_flow import HANDS_ON, TERMINATORS
from triton_lab.native import lowering
from triton_lab.native.lowering.emitter import ELEMENTS, EMITS
from triton_lab.native.lowering.pure_operations import PURE

ops.load_all()
for module in pkgutil.iter_modules(lowering.__path__, f"{lowering.__name__}."):
    importlib.import_module(module.name)
DIALECTS = sorted({trait.dialect for trait in traits.TRAITS.values()} - {"llvm", "gpu", "builtin"})
NAME = re.compile(rf"(?:{'|'.join(DIALECTS)})\.[a-z_0-9]+(?:\.[a-z_0-9]+)*")
# Attributes of arguments and of layouts, and MLIR's prefixes, that look like names of operations.
NO_OPERATIONS = re.compile(
    r"tt\.(?:divisibility|pointer_range)|(?:tt|ttg|ttng)\.\w+_|ttn?g\.\w*(?:shared|mma|mfma|wmma|slice|linear|blocked|dot_op)"
    r"|ttng\.tensor_memory\w*|ttng\.async_tma"
)


def an_op(name: str) -> Op:
    return Op(name, (0, 1), (2,), {}, (), (), None, 0)


def test_both_engines_run_nothing_that_is_not_declared():
    assert len(REGISTRY) > 100 and len(EMITS) > 30
    assert not {name for name in [*REGISTRY, *ELEMENTS, *EMITS, *PURE] if not traits.known(name)}


def test_all_that_the_front_ends_emit_is_declared():
    """The front ends of Triton 3.6 to 3.9: the table has a line for each method of their builders."""
    made = {name for names in TABLE.values() for name in names} | ALWAYS
    assert not {name for name in made | TERMINATORS | HANDS_ON if not traits.known(name)}


def test_all_that_the_package_names_is_declared():
    read = {
        node.value
        for file in sources.python()
        for node in file.nodes
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and NAME.fullmatch(node.value)
    }
    assert len(read) > 90
    assert not {name for name in read if not traits.known(name) and not NO_OPERATIONS.fullmatch(name)}


def test_an_unknown_operation_depends_on_all_lanes_and_says_so():
    types = [Type("f32", (4, 8)), Type("i32"), Type("f32", (8,))]
    ((block, scalar),) = traits.lanes(an_op("my.operation"), types)
    assert not traits.known("my.operation") and not traits.of("my.operation").is_pure
    assert block.axes == (traits.All(), traits.All()) and scalar.axes == ()
    assert not block.exact


def test_inverses_and_siblings_are_declared():
    for trait in traits.TRAITS.values():
        for other in (*trait.siblings, *([trait.inverse] if trait.inverse else [])):
            assert traits.known(other), f"{trait.name} names {other}"
        assert trait.name not in trait.siblings


@pytest.mark.parametrize("name", sorted(effects.ACCESSES))
def test_what_touches_global_memory_is_an_access(name):
    assert traits.of(name).kind is Kind.ACCESSES and not traits.of(name).is_pure


def test_moves_and_integers_do_not_round():
    for trait in traits.TRAITS.values():
        if trait.keeps or (trait.numbers == "integer" and not trait.makes) or trait.kind is Kind.COMPARES:
            assert trait.rounding.accuracy is Accuracy.EXACT, trait.name


def test_control_flow_is_what_the_flow_of_values_says():
    control = traits.names(lambda trait: trait.kind is Kind.CONTROL)
    assert control >= HANDS_ON | TERMINATORS
