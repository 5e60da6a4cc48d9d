"""Finds values that are computed alike: a kernel with ``mask=i < n`` twice has two equal masks in its plan."""

from __future__ import annotations

from triton_lab.ir.dataflow import Flow, Value
from triton_lab.ir.effects import is_access


def same(flow: Flow, one: Value, other: Value) -> bool:
    """Whether two values are surely equal wherever both exist. Two different loads are never surely equal."""
    if one == other:
        return True
    maker, twin = flow.maker.get(one), flow.maker.get(other)
    if maker is None or twin is None or maker.name != twin.name or is_access(maker) or maker.regions:
        return False
    if maker.attributes != twin.attributes or maker.results.index(one.number) != twin.results.index(other.number):
        return False
    if len(maker.operands) != len(twin.operands):
        return False
    pairs = zip(maker.operands, twin.operands, strict=True)
    return all(same(flow, Value(one.function, a), Value(other.function, b)) for a, b in pairs)


def implies(flow: Flow, mask: Value, wider: Value) -> bool:
    """Whether all lanes of ``mask`` are lanes of ``wider``, judged by how the two are computed: an ``and`` narrows."""
    if same(flow, mask, wider):
        return True
    maker = flow.maker.get(mask)
    if maker is None or maker.name != "arith.andi":
        return False
    return any(implies(flow, Value(mask.function, number), wider) for number in maker.operands)
