"""A launch under both engines, in the plainest way: compile, call, hand what guards refuse to NumPy."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import llvmlite.binding as llvm
import numpy as np

from triton_lab.interpreter.machine import Machine
from triton_lab.native.program import Generated, Guard, Signature, Unsupported, generate

llvm.initialize_native_target()
llvm.initialize_native_asmprinter()

_FEATURES = llvm.get_host_cpu_features()
VECTOR = 64 if _FEATURES.get("avx512f") else 32 if _FEATURES.get("avx2") else 16
_run_numpy = Machine.run


@dataclass
class Seen:
    """What the native engine did: launches, why it refused some, and which guards failed in how many programs."""

    launches: int = 0
    refused: list[str] = field(default_factory=list)
    failed: list[Guard] = field(default_factory=list)
    late: int = 0
    generated: list[Generated] = field(default_factory=list)


_compiled: dict[tuple[Any, Signature], tuple[Generated, Any, Any]] = {}


def compiled(plan: Any, signature: Signature) -> tuple[Generated, Any]:
    key = (plan, signature)
    if key not in _compiled:
        generated = generate(plan, signature)
        module = llvm.parse_assembly(generated.text)
        module.verify()
        target = llvm.Target.from_triple(llvm.get_process_triple())
        machine = target.create_target_machine(
            cpu=llvm.get_host_cpu_name(), features=_FEATURES.flatten(), opt=2, jit=True, reloc="pic"
        )
        engine = llvm.create_mcjit_compiler(module, machine)
        engine.finalize_object()
        pointers, number = ctypes.c_void_p, ctypes.c_int64
        kind = ctypes.CFUNCTYPE(number, pointers, number, number, pointers, pointers, pointers, pointers)
        _compiled[key] = generated, kind(engine.get_function_address(generated.symbol)), engine
    return _compiled[key][:2]


def run_native(machine: Machine, seen: Seen) -> None:
    """What `Machine.run` does, program by program where guards fail."""
    single, ids = {}, {}
    for op in machine.executable.plan.walk():
        reachable = machine._reachable.get(op.index)
        if reachable is not None and reachable.allowed is not None and len(reachable.allowed) == 1:
            (region,) = reachable.allowed
            single[op.index] = region
    groups = tuple((op, ids.setdefault(id(region), len(ids))) for op, region in sorted(single.items()))
    try:
        generated, function = compiled(machine.executable.plan, Signature(groups, VECTOR, 32 if VECTOR == 64 else 16))
        if any(slot.writes and not single[slot.op].writable for slot in generated.regions):
            raise Unsupported("read-only memory")
    except Unsupported as why:
        seen.refused.append(str(why))
        _run_numpy(machine)
        return
    seen.launches += 1
    seen.generated.append(generated)
    arguments = np.zeros(max(1, len(machine.arguments)), np.int64)
    for k, value in enumerate(machine.arguments):
        arguments[k : k + 1].view(np.asarray(value).dtype)[0] = np.asarray(value).reshape(-1)[0]
    grid = np.array(machine.grid, np.int64)
    table = np.array([[single[s.op].start, single[s.op].stop] for s in generated.regions] or [[0, 0]], np.int64)
    scratch = np.full(generated.scratch + 64, 0x5A, np.uint8)
    fault = np.zeros(2, np.int64)
    pid, end = 0, int(np.prod(machine.grid))
    where = (scratch.ctypes.data + 63) & ~63
    while pid < end:
        pid = function(arguments.ctypes.data, pid, end, grid.ctypes.data, table.ctypes.data, where, fault.ctypes.data)
        if pid < end:
            seen.failed.append(generated.guards[fault[0]])
            seen.late += int(fault[1])
            _run_numpy(machine, np.array([pid], np.int64))
            pid += 1


@contextmanager
def native() -> Iterator[Seen]:
    """Launches inside run natively where they can."""
    seen = Seen()

    def run(machine: Machine, programs: Any = None) -> None:
        if programs is not None or machine.observer or machine.access_observer or machine.executable.waiting_loops:
            _run_numpy(machine, programs)
        else:
            run_native(machine, seen)

    Machine.run = run  # type: ignore[method-assign]
    try:
        yield seen
    finally:
        Machine.run = _run_numpy  # type: ignore[method-assign]


def same_bits(a: Any, b: Any) -> bool:
    """Whether tensors are equal bit by bit, but that any NaN equals any other."""
    if a.dtype.is_floating_point and a.element_size() > 1:
        nan = a.isnan() & b.isnan()
        integers = {2: "int16", 4: "int32", 8: "int64"}[a.element_size()]
        import torch

        kind = getattr(torch, integers)
        return bool(((a.view(kind) == b.view(kind)) | nan).all())
    return bool((a == b).all())


def both(launch: Callable[[], Any], refused: bool = False) -> tuple[Any, Any, Seen]:
    """What ``launch`` gives under NumPy's engine and under the native one, which must not refuse it."""
    expected = launch()
    with native() as seen:
        found = launch()
    assert refused or not seen.refused, seen.refused
    assert seen.late == 0
    return expected, found, seen
