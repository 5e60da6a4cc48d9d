"""Which lanes of an operation's results really depend on which lanes of its operands, by trying: brute force.

An operation is run in the interpreter on random operands, then once for each lane of one operand with another value
in that lane. All runs are the programs of one frame.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.interpreter.support import kernel_from
from triton_lab.backend.compiler import TARGET
from triton_lab.interpreter.bound_plan import Executable
from triton_lab.interpreter.dtypes import dtype_of
from triton_lab.interpreter.frame import Environment, Frame
from triton_lab.interpreter.op_registry import REGISTRY
from triton_lab.interpreter.runtime_values import elements
from triton_lab.ir import Op, Plan, Type, parse_plan


def plan_of(source: str, signature: dict[str, str]) -> Plan:
    """The plan of the kernel that ``source`` defines last."""
    import triton
    from triton.compiler import ASTSource

    kernel = triton.compile(ASTSource(kernel_from(source), signature, {}), target=TARGET)
    return parse_plan(kernel.asm["plan"].decode())


class _Machine:
    """As much of a machine as an operation without memory asks for."""

    observer = None
    access_observer = None
    steps = 0

    def __init__(self, executable: Executable) -> None:
        self.executable = executable

    def tick(self, loop: Op, frame: Frame) -> None:
        pass


def places(plan: Plan) -> Iterator[tuple[Op, Any]]:
    """Each operation of the kernel outside of functions of elements, with the routine that runs it."""
    executable = Executable.of(plan)
    for function in plan.functions.values():
        inside = {each.index for op in function.walk() for each in list(op.walk())[1:]}
        for op in function.walk():
            if op.index not in inside:
                yield op, (executable, executable.routines[function.name])


@dataclass(frozen=True)
class Trial:
    """Operands of shape ``(1, *block)``, and for each result the lanes that changed ``(operand's lanes, *block)``."""

    operands: list[np.ndarray]
    changed: list[np.ndarray]


def trial(op: Op, place: Any, position: int, random: np.random.Generator) -> Trial:
    """Change each lane of operand ``position`` in turn."""
    executable, routine = place
    types = routine.types
    size = int(random.integers(3))
    base = [_random(op, k, types, random, size) for k in range(len(op.operands))]
    lanes = base[position].size
    other = _random(op, position, types, random, size)
    given: list[Any] = [np.repeat(array, lanes + 1, axis=0) for array in base]
    rows = np.arange(lanes)
    given[position].reshape(lanes + 1, lanes)[rows + 1, rows] = other.reshape(-1)
    frame = Frame(_Machine(executable), routine, np.zeros(lanes + 1, np.int64), Environment())
    # Functions of elements may use constants from outside.
    for each in routine.function.walk():
        if each.name == "arith.constant":
            frame.environment[each.results[0]] = REGISTRY[each.name].run(frame, each)
    with np.errstate(all="ignore"):
        result = REGISTRY[op.name].run(frame, op, *given)
    found = result if isinstance(result, tuple) else (result,)
    changed = []
    for number, value in zip(op.results, found, strict=True):
        array = np.broadcast_to(elements(value, types[number]), (lanes + 1, *types[number].shape))
        bits = np.ascontiguousarray(array).view(f"u{array.dtype.itemsize}")
        changed.append(bits[1:] != bits[:1])
    return Trial(base, changed)


def _random(op: Op, position: int, types: Any, random: np.random.Generator, size: int) -> np.ndarray:
    """Values of the operand's type that the operation takes."""
    type: Type = types[op.operands[position]]
    shape = (1, *type.shape)
    if op.name == "tt.gather" and position == 1:
        extent = types[op.operands[0]].shape[op.attributes["axis"]]
        return random.integers(0, extent, shape).astype(dtype_of(type))
    if op.name == "tt.histogram" and position == 0:
        return random.integers(0, types[op.results[0]].shape[0] + 2, shape).astype(dtype_of(type))
    dtype = dtype_of(type)
    if type.element == "i1":
        return random.integers(0, 2, shape).astype(np.bool_)
    if type.is_integer or type.is_pointer:
        if op.name == "tt.dot_scaled":
            low, high = (120, 134) if position > 2 else (0, 256)
        else:
            low, high = [(1, 4), (1, 20), (-(1 << min(type.bits - 1, 40)), 1 << min(type.bits - 1, 40) - 1)][size]
            if op.name.startswith("arith.sh") and position == 1:
                low, high = 0, 8
            if position == 1 and re.search("div|rem", op.name):
                low, high = 1, [4, 20, 100][size]
        return random.integers(low, high, shape).astype(np.int64).astype(dtype)
    scale = [0.3, 2.0, 40.0][size]
    return (random.standard_normal(shape) * scale).astype(dtype)
