"""The lane maps of `ir.traits`, against what changes when one lane of an operand changes: brute force.

Soundness: each change is in the map. Precision: of an exact map, each lane makes a difference at some time.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.launch.propagation.lane_truth import places, plan_of, trial
from triton_lab.interpreter.op_registry import REGISTRY
from triton_lab.ir import parse_plan, traits
from triton_lab.ir.traits import Kind
from triton_lab.launch.propagation import lane_sets

HEAD = """
@triton.jit
def least(a, b):
    return tl.where(a < b, a, b)

@triton.jit
def both(a, i, b, j):
    return tl.where(a < b, a, b), tl.where(a < b, i, j)

@triton.jit
def turned(a, b):
    return b - a, a * 2 + b

@triton.jit
def kernel(F, H, I, L, B, C, n, s):
    k = tl.arange(0, 16)
    f = tl.load(F + k); g = tl.load(F + 16 + k); i = tl.load(I + k); j = tl.load(I + 16 + k); m = tl.load(B + k)
    X = tl.load(F + tl.arange(0, 8)[:, None] * 4 + tl.arange(0, 4)[None, :])
    T = tl.reshape(tl.load(I + tl.arange(0, 32)), (4, 2, 4))
"""
LINES = {
    "integers": """
    L32 = (i + j) * (i - j) & i | j ^ i
    tl.store(I + k, L32 + (i << (j & 7)) + (i >> (j & 7)) + tl.minimum(i, j) + tl.maximum(i, j) + tl.abs(i))
    tl.store(I + k, i // j + i % j + tl.umulhi(i.to(tl.uint32), j.to(tl.uint32)).to(tl.int32))
    u = i.to(tl.uint32); v = j.to(tl.uint32)
    tl.store(I + k, (u // v + u % v + (u >> (v & 7)) + tl.minimum(u, v) + tl.maximum(u, v)).to(tl.int32))
    tl.store(L + k, i.to(tl.int64) + u.to(tl.int64))
    tl.store(I + k, tl.load(L + k).to(tl.int32))
    tl.store(B + k, i < j)
    tl.store(I + k, tl.where(m, i, j) + tl.where(s > 3, i, j))
    tl.store(L + k, (I + i).to(tl.int64))
    tl.store(tl.load(L + k).to(tl.pointer_type(tl.int64)), 3)
    tl.store(F + k, i.to(tl.float32) + u.to(tl.float32) + i.to(tl.float32, bitcast=True))
    """,
    "floats": """
    tl.store(F + k, (f + g) * (f - g) / g + f % g)
    tl.store(F + k, -f)
    tl.store(F + k, tl.minimum(f, g) + tl.maximum(f, g) + tl.clamp(f, g, g + 3))
    tl.store(F + k, tl.minimum(f, g, tl.PropagateNan.ALL) + tl.maximum(f, g, tl.PropagateNan.ALL))
    tl.store(F + k, tl.exp(f) + tl.exp2(f) + tl.log(f) + tl.log2(f) + tl.sin(f) + tl.cos(f) + tl.sqrt(f))
    tl.store(F + k, tl.rsqrt(f) + tl.erf(f) + tl.floor(f) + tl.ceil(f) + tl.abs(f) + tl.fma(f, g, f))
    tl.store(F + k, tl.sqrt_rn(f) + tl.div_rn(f, g) + tl.fdiv(f, g) + libdevice.atan2(f, g))
    tl.store(H + k, f.to(tl.float16))
    tl.store(F + k, tl.load(H + k).to(tl.float32))
    tl.store(I + k, f.to(tl.int32) + f.to(tl.uint32).to(tl.int32))
    tl.store(B + k, f < g)
    tl.store(C + k, f.to(tl.float8e5).to(tl.uint8, bitcast=True))
    """,
    "moves": """
    tl.store(F + tl.arange(0, 32), tl.reshape(tl.trans(X), (32,)))
    tl.store(I + tl.arange(0, 32), tl.reshape(tl.permute(T, (2, 0, 1)), (32,)))
    tl.store(I + tl.arange(0, 32), tl.reshape(tl.permute(T, (1, 2, 0)) + s, (32,)))
    tl.store(I + tl.arange(0, 32), tl.reshape(tl.join(i, j), (32,)))
    tl.store(I + tl.arange(0, 32), tl.cat(i, j, can_reorder=True))
    a, b = tl.split(tl.reshape(T, (4, 4, 2)))
    tl.store(I + tl.arange(0, 16), tl.reshape(a - b, (16,)))
    c, d = tl.split(tl.load(F + tl.arange(0, 2)))
    tl.store(F, c + d)
    tl.store(F + tl.arange(0, 256), tl.reshape(f[:, None] * g[None, :], (256,)))
    q = tl.load(F + tl.arange(0, 4))
    tl.store(F + tl.arange(0, 128), tl.reshape(tl.expand_dims(X, 1) + q[None, :, None], (128,)))
    """,
    "gathers": """
    tl.store(F + k, tl.gather(f, i, 0))
    rows = tl.load(I + tl.arange(0, 16)[:, None] * 4 + tl.arange(0, 4)[None, :])
    tl.store(F + tl.arange(0, 64), tl.reshape(tl.gather(X, rows, 0), (64,)))
    columns = tl.load(I + tl.arange(0, 8)[:, None] * 2 + tl.arange(0, 2)[None, :])
    tl.store(F + tl.arange(0, 16), tl.reshape(tl.gather(X, columns, 1), (16,)))
    tl.store(I + tl.arange(0, 8), tl.histogram(i, 8))
    tl.store(I + tl.arange(0, 4), tl.histogram(i, 4, mask=m))
    """,
    "reductions": """
    tl.store(F, tl.sum(f, 0))
    tl.store(F + tl.arange(0, 4), tl.sum(X, 0))
    tl.store(F + tl.arange(0, 8), tl.max(X, 1))
    tl.store(I + tl.arange(0, 16), tl.reshape(tl.sum(T, 1), (16,)))
    tl.store(I + tl.arange(0, 8), tl.reshape(tl.min(T, 2), (8,)))
    tl.store(I + tl.arange(0, 8), tl.argmin(X, 1))
    r, q = tl.reduce((X, tl.reshape(tl.load(I + tl.arange(0, 32)), (8, 4))), 0, both)
    tl.store(F + tl.arange(0, 4), r + q)
    tl.store(F + tl.arange(0, 32), tl.reshape(tl.cumsum(X, 0) + tl.cumsum(X, 1, reverse=True), (32,)))
    tl.store(F + k, tl.associative_scan(f, 0, least, reverse=True) + tl.cumprod(g, 0))
    """,
    "products": """
    p = tl.load(F + tl.arange(0, 16)[:, None] * 16 + k[None, :])
    h = tl.load(H + tl.arange(0, 16)[:, None] * 16 + k[None, :])
    tl.store(F + tl.arange(0, 16)[:, None] * 16 + k[None, :], tl.dot(h, h, p))
    q = tl.reshape(tl.load(F + tl.arange(0, 512)), (2, 16, 16))
    tl.store(F + tl.arange(0, 512), tl.reshape(tl.dot(q, q, q, input_precision="ieee"), (512,)))
    """,
    "scaled products": """
    e = tl.reshape(tl.load(C + tl.arange(0, 512)), (16, 32))
    w = tl.reshape(tl.load(C + tl.arange(0, 512)), (32, 16))
    s = tl.reshape(tl.load(C + tl.arange(0, 16)), (16, 1))
    t = tl.reshape(tl.load(C + tl.arange(0, 32)), (32, 1))
    x = tl.reshape(tl.load(C + tl.arange(0, 1024)), (32, 32))
    y = tl.reshape(tl.load(C + tl.arange(0, 256)), (16, 16))
    out = tl.arange(0, 16)[:, None] * 16 + k[None, :]
    tl.store(F + out, tl.dot_scaled(e, s, "e4m3", w, s, "e5m2"))
    tl.store(F + tl.arange(0, 16)[:, None] * 32 + tl.arange(0, 32)[None, :],
             tl.dot_scaled(y, s, "e2m1", x, t, "e4m3"))
    """,
    "maps": """
    tl.store(I + k, tl.map_elementwise(least, i, j))
    a, b = tl.map_elementwise(turned, i, j)
    tl.store(I + k, a + b)
    tl.store(I + k, tl.inline_asm_elementwise("add.s32 $0, $1, $2;", "=r,r,r", [i, j], tl.int32, True, 1))
    """,
}
SIGNATURE = {"F": "*fp32", "H": "*fp16", "I": "*i32", "L": "*i64", "B": "*i1", "C": "*u8", "n": "i32", "s": "i32"}
# Operations of one form with those that the kernels have; no front end makes them, or not each version's.
ALIKE = {
    "math.absf": ("arith.negf", "ttg.convert_layout"),
    "arith.divf": ("tt.approx_divf",),
    "arith.divsi": ("arith.ceildivsi", "arith.floordivsi"),
    "arith.divui": ("arith.ceildivui",),
    "tt.bitcast": ("arith.bitcast",),
}
# Until each lane has made a difference, but no more than the second.
FEWEST, MOST = 20, 400


# An operation that only a GPU's passes make.
UNPACKED = """
"builtin.module"() ({
  "tt.func"() <{function_type = (tensor<4x3xi8>) -> (), sym_name = "kernel", sym_visibility = "public"}> ({
  ^bb0(%x: tensor<4x3xi8>):
    %0 = "ttg.fp4_to_fp"(%x) <{axis = 0 : i32}> : (tensor<4x3xi8>) -> tensor<8x3xf16>
    %1 = "ttg.fp4_to_fp"(%x) <{axis = 1 : i32}> : (tensor<4x3xi8>) -> tensor<4x6xf16>
    "tt.return"() : () -> ()
  }) {noinline = false} : () -> ()
}) : () -> ()
"""
SUBJECTS = [*LINES, "numbers of four bits"]


def chances(op: Any, place: Any, position: int, random: np.random.Generator) -> list[tuple[np.ndarray, np.ndarray]]:
    """For each result the lanes (operand's, result's) that changed in any trial, and those that the maps allow."""
    types = place[1].types
    shape = types[op.operands[position]].shape
    found = []
    for count in range(MOST):
        if count >= FEWEST and all(not (may & ~did).any() for did, may in found):
            break
        one = trial(op, place, position, random)
        lanes = int(np.prod(shape))
        singly = np.eye(lanes, dtype=np.bool_).reshape(lanes, *shape)
        maps = traits.lanes(op, types)
        for number, changed in enumerate(one.changed):
            rule, result = maps[number][position], types[op.results[number]].shape
            forward = lane_sets.results(rule, singly, shape, result, one.operands.__getitem__)
            forward = np.broadcast_to(forward, (lanes, *result)).astype(np.bool_)
            missed = changed & ~forward
            assert not missed.any(), f"{op.name}, operand {position}: {np.argwhere(missed)[:3].tolist()}"
            each = int(np.prod(result))
            needs = np.eye(each, dtype=np.bool_).reshape(each, *result)
            back = lane_sets.operands(rule, needs, shape, result, one.operands.__getitem__)
            backward = back.reshape(each, lanes).T.reshape(lanes, *result)
            assert np.array_equal(forward, backward), f"{op.name}: the two directions differ"
            if len(found) <= number:
                found.append((changed, forward))
            else:
                found[number] = found[number][0] | changed, found[number][1] | forward
    return found


def tried_operations(subject):
    """Each operation of a kernel of ``LINES`` that computes from operands, once for each of its types."""
    plan = plan_of(HEAD + LINES[subject], SIGNATURE) if subject in LINES else parse_plan(UNPACKED)
    seen = set()
    for op, place in places(plan):
        types = place[1].types
        key = (op.name, repr(op.attributes), tuple(map(str, (types[v] for v in (*op.operands, *op.results)))))
        if key in seen or not op.operands or not traits.of(op.name).is_pure:
            continue
        seen.add(key)
        yield op, place


@pytest.mark.filterwarnings("ignore:tl.cat")
@pytest.mark.parametrize("subject", SUBJECTS)
def test_the_maps_are_what_a_changed_lane_changes(subject):
    random = np.random.default_rng(SUBJECTS.index(subject))
    for op, place in tried_operations(subject):
        types = place[1].types
        for name, position in itertools.product((op.name, *ALIKE.get(op.name, ())), range(len(op.operands))):
            op = replace(op, name=name)
            for (changed, allowed), maps in zip(
                chances(op, place, position, random), traits.lanes(op, types), strict=True
            ):
                if maps[position].exact:
                    idle = allowed & ~changed
                    assert not idle.any(), (
                        f"{op.name}, operand {position}: {np.argwhere(idle)[:3].tolist()} never matter"
                    )


@pytest.mark.filterwarnings("ignore:tl.cat")
def test_every_operation_that_computes_is_tried():
    """Of what is pure, has operands and is run here, nothing is missing in the kernels above."""
    tried = {
        name
        for subject in SUBJECTS
        for op, _ in tried_operations(subject)
        for name in (op.name, *ALIKE.get(op.name, ()))
    }
    computes = {name for name in REGISTRY if traits.of(name).is_pure and traits.of(name).kind is not Kind.CREATES}
    # Parts of shared memory have no lanes, and Gluon's product reads them: tests/gluon runs these.
    shared = {name for name in computes if name.startswith(("ttg.memdesc_", "ttng."))}
    assert computes - tried - shared == set()
