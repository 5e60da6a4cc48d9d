"""What is generated calls nothing: LLVM has instructions for all of it, on every processor that is asked for."""

from __future__ import annotations

import re

import llvmlite.binding as llvm
import pytest

from tests.native.compiled import code_of
from triton_lab.native.llvm import jit
from triton_lab.native.math import FUNCTIONS, number_conversions
from triton_lab.native.math.libdevice_symbols import SYMBOLS, library

TARGETS = {
    "avx512": jit.host(),
    "avx2": jit.host().without(("avx512", "avx10", "amx")),
    "arm64": jit.ARM64,
}
# A register's worth of float64 on arm64 is two: more lanes only take longer to compile.
LANES = 4


def assembly(build, kinds, target):
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    module = llvm.parse_assembly(code_of(build, kinds, LANES).text())
    machine = llvm.Target.from_triple(target.triple).create_target_machine(
        cpu=target.cpu, features=target.features, opt=2, reloc="pic"
    )
    module.triple, module.data_layout = target.triple, str(machine.target_data)
    return machine.emit_assembly(module)


def calls(text):
    return re.findall(r"^\s+(?:callq?|blr?)\s+(.*)", text, re.MULTILINE)


@pytest.mark.parametrize("target", TARGETS)
def test_elementary_functions_call_nothing(target):
    def all_of_them(code, x):
        total = x
        for function in FUNCTIONS.values():
            total = code.op("fadd", total, function(code, x))
        return total

    for kind in ("float", "double"):
        assert calls(assembly(all_of_them, [kind], TARGETS[target])) == []


@pytest.mark.parametrize("target", TARGETS)
def test_the_library_calls_nothing(target):
    """Of float32, in one function."""
    names = [f"__nv_{name}f" for name in ("tanh", "pow", "fmod", "atan2", "log1p", "expm1", "sinh", "round", "rint")]
    assert set(names) <= SYMBOLS

    def all_of_them(code, x, y):
        total = x
        for name in names:
            operands = (x, y) if name[5:-1] in ("pow", "fmod", "atan2") else (x,)
            total = code.op("fadd", total, library(code, name, operands, "float"))
        return total

    assert calls(assembly(all_of_them, ["float", "float"], TARGETS[target])) == []


FLOATS = ("f16", "bf16", "f8E4M3FN", "f8E5M2", "f32", "f64")
KINDS = {"f16": "i16", "bf16": "i16", "f8E4M3FN": "i8", "f8E5M2": "i8", "f32": "float", "f64": "double"}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("source", FLOATS)
def test_conversions_call_nothing(source, target):
    def all_of_them(code, x):
        total = code.constant("i64", 0, LANES)
        for to in FLOATS:
            for towards_zero in (False, True):
                found = number_conversions.float_to_float(code, x, source, to, towards_zero)
                bits = code.cast("bitcast", found, {"float": "i32", "double": "i64"}.get(found.kind, found.kind))
                total = code.op("xor", total, code.cast("zext", bits, "i64"))
        for to in ("i8", "i16", "i32", "i64"):
            for signed in (False, True):
                found = number_conversions.float_to_integer(code, x, source, to, signed)
                total = code.op("xor", total, code.cast("zext", found, "i64"))
        return total

    assert calls(assembly(all_of_them, [KINDS[source]], TARGETS[target])) == []


def test_a_call_would_be_seen():
    for target in TARGETS.values():
        assert calls(assembly(lambda code, x, y: code.op("frem", x, y), ["float", "float"], target))
