"""The elements of an argument that each program accesses, found by enumerating all instances."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import islpy as isl
import numpy as np

from triton_lab.launch.access import elements_at
from triton_lab.localization import _
from triton_lab.polyhedral.kernels.access_instances import absolute, instances
from triton_lab.polyhedral.kernels.access_statement import KernelStatement
from triton_lab.polyhedral.kernels.program_footprint import Footprint, Ints
from triton_lab.polyhedral.kernels.symbolic.symbolic_values import SymbolicNumber

if TYPE_CHECKING:
    from triton_lab.launch.argument import Argument
    from triton_lab.polyhedral.kernels.launch_scop import KernelScop


def footprint(scop: KernelScop, name: str, kind: str) -> Footprint:
    """Compute a `Footprint`. Raises LookupError for a name that is no argument's."""
    launch = scop.launch
    assert launch is not None
    if scop.parameters:
        raise ValueError(_("a footprint needs numbers: use the scop of the launch"))
    argument = launch.argument(name)
    chosen = [s for s in scop.kernel_statements if kind in ("any", s.kind)]
    pairs = [pair for s in chosen for pair in _touched(s, scop, argument)]
    size = int(np.prod(argument.shape)) + 1
    keys = _distinct(np.concatenate([p * size + e + 1 for p, e in pairs])) if pairs else np.zeros(0, np.int64)
    mine = [s for s in chosen if any(a.array == name for a in s.accesses)]
    relations = [_by_program(a.relation, scop) for s in mine for a in s.accesses if a.array == name]
    missing = tuple(
        str(g) for g in scop.gaps if g.what == "address" and g.argument in (name, None) and kind in ("any", g.kind)
    )
    at_most = any(not s.exact for s in mine)
    programs, elements = keys // size, keys % size - 1
    return Footprint(name, kind, launch.grid, argument.shape, programs, elements, at_most, tuple(relations), missing)


def _distinct(keys: Ints) -> Ints:
    """The distinct keys, sorted. (NumPy's `unique` hashes, which for such keys takes ten times as long.)"""
    ordered = np.sort(keys)
    first: Ints = ordered[np.concatenate([[True], ordered[1:] != ordered[:-1]])] if len(ordered) else ordered
    return first


def _by_program(relation: isl.Map, scop: KernelScop) -> isl.Map:
    count = len(scop.programs)
    relation = relation.project_out(isl.dim_type.in_, count, relation.dim(isl.dim_type.in_) - count)
    return relation.set_tuple_name(isl.dim_type.in_, "program")


def _touched(statement: KernelStatement, scop: KernelScop, argument: Argument) -> Iterator[tuple[Ints, Ints]]:
    """Programs and elements, in parts; a pair may occur more than once."""
    touch, launch = statement.touch, scop.launch
    assert touch is not None and launch is not None and isinstance(touch.pointer, SymbolicNumber)
    roots = {k for k, a in enumerate(launch.plan_arguments) if a.name == argument.name}
    if not roots & {piece.root for piece in touch.pointer.pieces}:
        return
    pointer = absolute(touch.pointer, launch)
    every = np.arange(launch.programs, dtype=np.int64)
    step = max(1, _PROGRAMS // max(1, *(int(r.most) for r in touch.path.rounds), 1)) if touch.path else _PROGRAMS
    for start in range(0, len(every), step):
        for part in instances(touch, launch.grid, every[start : start + step]).parts():
            active = part.active() & part.into(roots)
            elements = elements_at(part.evaluate(pointer)[active] - argument.address, argument).astype(np.int64)
            lanes = active.reshape(len(part), -1).sum(axis=1)
            size = int(np.prod(argument.shape)) + 1
            keys = _distinct(np.repeat(part.programs, lanes) * size + elements + 1)
            yield keys // size, keys % size - 1


_PROGRAMS = 1 << 16
