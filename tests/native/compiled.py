"""Functions on lanes, compiled and run over NumPy arrays."""

from __future__ import annotations

import ctypes

import llvmlite.binding as llvm
import numpy as np

from triton_lab.native.llvm.builder import FunctionBuilder, Reg
from triton_lab.native.llvm.counted_loop import counted

NARROW = {"float16": "i16", "bfloat16": "i16"}
_alive = []


def kind_of(dtype):
    """The kind of register that holds an element of a NumPy dtype."""
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return "i8"
    if dtype.itemsize == 1 or dtype.name in NARROW:
        return f"i{8 * dtype.itemsize}"
    return {"f4": "float", "f8": "double"}.get(f"{dtype.kind}{dtype.itemsize}", f"i{8 * dtype.itemsize}")


def compiled(build, inputs, output, lanes=8, features=None, halves=True):
    """``build(code, *regs) -> reg`` as a function of arrays of the dtypes ``inputs``, which gives one of ``output``.

    Lengths are multiples of ``lanes``; ``i1`` comes out as bytes. ``features`` limits the processor: ``-avx512f``;
    without ``halves`` it has no instructions that convert float16.
    """
    code = code_of(build, [kind_of(dtype) for dtype in inputs], lanes, halves)
    run = linked(code.text(), "run", len(inputs) + 1, features)

    def call(*arrays):
        arrays = [np.ascontiguousarray(array) for array in arrays]
        count = arrays[0].size
        assert count % lanes == 0, count
        for array, dtype in zip(arrays, inputs, strict=True):
            assert array.dtype == np.dtype(dtype), (array.dtype, dtype)
            assert array.size == count
        result = np.empty(arrays[0].shape, output)
        run(*(array.ctypes.data for array in (*arrays, result)), count)
        return result

    return call


def code_of(build, kinds, lanes, halves=True):
    """``build`` in a loop over arrays of registers of ``kinds``; the last pointer takes what it gives."""
    pointers = [Reg(f"%a{k}", "ptr") for k in range(len(kinds) + 1)]
    count = Reg("%n", "i64")
    code = FunctionBuilder("run", [*pointers, count], "i64", halves)

    def body(i, _):
        regs = [
            code.load(kind, code.offset(p, i, kind), lanes, align=1) for p, kind in zip(pointers, kinds, strict=False)
        ]
        result = build(code, *regs)
        if result.kind == "i1":
            result = code.cast("zext", result, "i8")
        code.store(result, code.offset(pointers[-1], i, result.kind), align=1)
        return ()

    counted(code, Reg("0", "i64"), count, lanes, body)
    code.leave(Reg("0", "i64"))
    return code


def linked(text, symbol, pointers, features=None):
    """The function ``symbol(pointers..., i64)`` of a module, ready to be called with addresses."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    module = llvm.parse_assembly(text)
    module.verify()
    own = llvm.get_host_cpu_features().flatten()
    machine = llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=f"{own},{features}" if features else own, opt=2, jit=True
    )
    module.triple, module.data_layout = machine.triple, str(machine.target_data)
    engine = llvm.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    _alive.append((engine, machine))
    return ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * pointers, ctypes.c_int64)(
        engine.get_function_address(symbol)
    )
