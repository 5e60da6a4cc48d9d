"""Every operation of the language as a line of a kernel, for every type of number: does a compiler take it?

In a line ``a``, ``b`` and ``c`` are blocks of the type, ``s`` and ``t`` scalars of it, ``A`` and ``B`` squares, ``P``
pointers to it and ``D`` its dtype; ``keep`` stores a value of any type.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from tests.interpreter.support import kernel_from

# The name that a signature has for a type -> the language's.
DTYPES = {
    **{"i1": "int1", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64"},
    **{"u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64"},
    **{"fp16": "float16", "bf16": "bfloat16", "fp32": "float32", "fp64": "float64"},
    **{"fp8e4nv": "float8e4nv", "fp8e5": "float8e5", "fp8e4b15": "float8e4b15"},
    **{"fp8e4b8": "float8e4b8", "fp8e5b16": "float8e5b16"},
}

_BINARY = ("+", "-", "*", "/", "//", "%", "&", "|", "^", "<<", ">>", "==", "!=", "<", "<=", ">", ">=")
_UNARY_FUNCTIONS = (
    "abs",
    "ceil",
    "floor",
    "exp",
    "exp2",
    "log",
    "log2",
    "sin",
    "cos",
    "sqrt",
    "sqrt_rn",
    "rsqrt",
    "erf",
)
_REDUCTIONS = ("sum", "max", "min", "argmax", "argmin", "xor_sum", "reduce_or")
_ATOMICS = ("add", "max", "min", "and", "or", "xor", "xchg")


def _operations() -> dict[str, str]:
    table = {
        **{f"a {op} b": f"keep(O, a {op} b)" for op in _BINARY},
        **{f"s {op} t": f"keep(O, s {op} t)" for op in _BINARY},
        **{f"a {op} 1": f"keep(O, a {op} 1)" for op in ("+", "*", "<", "==", "//", "&", "<<")},
        **{f"a {op} 1.5": f"keep(O, a {op} 1.5)" for op in ("+", "*", "<", "==", "/")},
        **{f"a {op} half": f"keep(O, a {op} tl.full((64,), 2, tl.float16))" for op in ("+", "*", "<", "/")},
        **{f"a {op} int": f"keep(O, a {op} tl.full((64,), 2, tl.int32))" for op in ("+", "*", "<", "/", "&")},
        **{f"{op}a": f"keep(O, {op}a)" for op in ("-", "+", "~")},
        **{f"{op}s": f"keep(O, {op}s)" for op in ("-", "~")},
        "not s": "keep(O, not s)",
        "logical_and": "keep(O, a.logical_and(b))",
        "logical_or": "keep(O, a.logical_or(b))",
        **{f"{name}(a)": f"keep(O, tl.{name}(a))" for name in _UNARY_FUNCTIONS},
        "sigmoid(a)": "keep(O, tl.sigmoid(a))",
        "softmax(a)": "keep(O, tl.softmax(a))",
        "softmax of float32": "keep(O, tl.softmax(a.to(tl.float32)))",
        "cdiv": "keep(O, tl.cdiv(a, b))",
        "fdiv": "keep(O, tl.fdiv(a, b))",
        "div_rn": "keep(O, tl.div_rn(a, b))",
        "umulhi": "keep(O, tl.umulhi(a, b))",
        "fma": "keep(O, tl.fma(a, b, c))",
        "clamp": "keep(O, tl.clamp(a, b, c))",
        "clamp to limits of one size": "keep(O, tl.clamp(a, -1.5, 1.5))",
        "clamp to limits of one size, NaN kept": "keep(O, tl.clamp(a, -1.5, 1.5, propagate_nan=tl.PropagateNan.ALL))",
        "clamp to a number and its negative": "keep(O, tl.clamp(a, -b, b))",
        "clamp, NaN kept": "keep(O, tl.clamp(a, b, c, propagate_nan=tl.PropagateNan.ALL))",
        "maximum": "keep(O, tl.maximum(a, b))",
        "minimum": "keep(O, tl.minimum(a, b))",
        "maximum, NaN kept": "keep(O, tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL))",
        "minimum, NaN kept": "keep(O, tl.minimum(a, b, propagate_nan=tl.PropagateNan.ALL))",
        "scalar maximum": "keep(O, tl.maximum(s, t))",
        "where": "keep(O, tl.where(i < 5, a, b))",
        "where, scalar": "keep(O, tl.where(i < 5, a, 0))",
        "where on the values": "keep(O, tl.where(a, b, c))",
        **{f"libdevice.{name}": f"keep(O, libdevice.{name}(a))" for name in ("tanh", "rint", "isnan", "abs", "popc")},
        "libdevice.pow": "keep(O, libdevice.pow(a, b))",
        "libdevice.mulhi": "keep(O, libdevice.mulhi(a, b))",
        # Casts.
        **{f"to {name}": f"keep(O, a.to(tl.{name}))" for name in DTYPES.values()},
        **{f"scalar to {name}": f"keep(O, s.to(tl.{name}))" for name in ("float32", "int32", "float8e5", "int1")},
        **{
            f"bits as {name}": f"keep(O, a.to(tl.{name}, bitcast=True))"
            for name in ("int8", "uint8", "int16", "float16", "int32", "float32", "int64", "float64", "float8e5")
        },
        **{
            f"to {name}, {way}": f"keep(O, a.to(tl.{name}, fp_downcast_rounding='{way}'))"
            for name in ("float8e4nv", "float8e5", "float16", "bfloat16", "float32")
            for way in ("rtz", "rtne")
        },
        # Reductions, scans, orders.
        **{f"{name} of a block": f"keep(O, tl.{name}(a, axis=0))" for name in _REDUCTIONS},
        "sum of a square": "keep(O, tl.sum(A, axis=1))",
        "sum in float32": "keep(O, tl.sum(a, axis=0, dtype=tl.float32))",
        "max with its index": "keep_two(O, tl.max(a, axis=0, return_indices=True))",
        "reduce by product": "keep(O, tl.reduce(a, 0, product))",
        "reduce by choice": "keep(O, tl.reduce(a, 0, first))",
        "cumsum": "keep(O, tl.cumsum(a, axis=0))",
        "cumprod": "keep(O, tl.cumprod(a, axis=0))",
        "cumsum, reversed": "keep(O, tl.cumsum(A, axis=1, reverse=True))",
        "scan by product": "keep(O, tl.associative_scan(a, 0, product))",
        "scan by choice": "keep(O, tl.associative_scan(a, 0, first))",
        "sort": "keep(O, tl.sort(tl.reshape(a, (4, 16))))",
        "topk": "keep(O, tl.topk(tl.reshape(a, (4, 16)), 4))",
        "flip": "keep(O, tl.flip(tl.reshape(a, (4, 16))))",
        "histogram": "keep(O, tl.histogram(a, 8))",
        "gather": "keep(O, tl.gather(a, i, 0))",
        "map_elementwise": "keep(O, tl.map_elementwise(product, a, b))",
        "map_elementwise of a choice": "keep(O, tl.map_elementwise(first, a, b))",
        # Shapes.
        "reshape": "keep(O, tl.reshape(a, (8, 8)))",
        "trans": "keep(O, tl.trans(A))",
        "permute": "keep(O, tl.permute(A, (1, 0)))",
        "join": "keep(O, tl.join(a, b))",
        "split": "keep_two(O, tl.split(tl.reshape(a, (32, 2))))",
        "cat": "keep(O, tl.cat(a, b, can_reorder=True))",
        "interleave": "keep(O, tl.interleave(a, b))",
        "broadcast": "keep(O, tl.broadcast_to(a[None, :], (4, 64)))",
        "splat": "keep(O, tl.broadcast_to(s, (64,)))",
        "full": "keep(O, tl.full((64,), 1, D))",
        "zeros": "keep(O, tl.zeros((64,), D))",
        "zeros_like": "keep(O, tl.zeros_like(a))",
        "ravel": "keep(O, tl.ravel(A))",
        # Products.
        "dot": "keep(O, tl.dot(A, B))",
        "dot by ieee": "keep(O, tl.dot(A, B, input_precision='ieee'))",
        "dot in float16": "keep(O, tl.dot(A, B, out_dtype=tl.float16))",
        "dot with a sum": "keep(O, tl.dot(A, B, acc=tl.zeros((32, 32), tl.float32)))",
        "dot with an integer sum": "keep(O, tl.dot(A, B, acc=tl.zeros((32, 32), tl.int32)))",
        "dot, cut by steps": "keep(O, tl.dot(A, B, max_num_imprecise_acc=32))",
        "dot_scaled e4m3": "keep(O, tl.dot_scaled(A, U, 'e4m3', B, U, 'e4m3'))",
        "dot_scaled e5m2": "keep(O, tl.dot_scaled(A, U, 'e5m2', B, U, 'e5m2'))",
        "dot_scaled bf16": "keep(O, tl.dot_scaled(A, U, 'bf16', B, U, 'bf16'))",
        # Memory.
        "load": "keep(O, tl.load(P + i))",
        "load with a mask": "keep(O, tl.load(P + i, mask=i < 5))",
        "load with other": "keep(O, tl.load(P + i, mask=i < 5, other=0))",
        "load with a real other": "keep(O, tl.load(P + i, mask=i < 5, other=1.5))",
        "load, cached": "keep(O, tl.load(P + i, cache_modifier='.cg'))",
        "load, evicted": "keep(O, tl.load(P + i, eviction_policy='evict_last'))",
        "load, volatile": "keep(O, tl.load(P + i, volatile=True))",
        "store": "tl.store(P + i, a)",
        "store with a mask": "tl.store(P + i, a, mask=i < 5)",
        "store of an integer": "tl.store(P + i, i)",
        "store of a real": "tl.store(P + i, 1.5)",
        "store of a scalar": "tl.store(P, s)",
        "store of float32": "tl.store(P + i, i.to(tl.float32))",
        "descriptor": "Q = tl.make_tensor_descriptor(P, [64, 64], [64, 1], [16, 32]); Q.store([0, 0], Q.load([16, 0]))",
        **{f"atomic_{name}": f"keep(O, tl.atomic_{name}(P + i, a))" for name in _ATOMICS},
        **{f"scalar atomic_{name}": f"keep(O, tl.atomic_{name}(P, s))" for name in ("add", "max", "xchg")},
        "atomic_add with a mask": "keep(O, tl.atomic_add(P + i, a, mask=i < 5, sem='relaxed', scope='sys'))",
        "atomic_cas": "keep(O, tl.atomic_cas(P + i, a, b))",
        "scalar atomic_cas": "keep(O, tl.atomic_cas(P, s, t))",
        # Control flow and the rest.
        "carried": "for _ in range(n):\n        a = tl.where(i < 5, b, a)\n    keep(O, a)",
        "a sum that is carried": "for _ in range(n):\n        a += b\n    keep(O, a)",
        "if on a scalar": "if s:\n        keep(O, a)",
        "if on a comparison": "if s > t:\n        keep(O, a)",
        "either": "keep(O, a if i.shape[0] > 4 else b)",
        "either of scalars": "keep(O, s if n > 4 else t)",
        "while": "while s < t:\n        s = s + t\n    keep(O, s)",
        "range": "for k in range(s):\n        keep(O, k)",
        "device_print": "tl.device_print('v', a)",
        "device_print in hexadecimal": "tl.device_print('v', a, hex=True)",
        "device_assert": "tl.device_assert(a == b, 'differs')",
        "static": "tl.static_assert(D == a.dtype)",
        "max_contiguous": "keep(O, tl.max_contiguous(tl.multiple_of(a, 4), 4))",
        "swizzle2d": "keep_two(O, tl.swizzle2d(s, t, 4, 4, 2))",
        "a pointer plus it": "keep(O, tl.load(P + a))",
        "a mask of it": "keep(O, tl.load(P + i, mask=a))",
    }  # fmt: skip
    if hasattr(tl, "atomic_load"):
        table["atomic_load"] = "keep(O, tl.atomic_load(P + i))"
        table["atomic_store"] = "tl.atomic_store(P + i, a)"
    for kind in ("add", "min", "max", "and", "or", "xor"):
        made = "Q = tl.make_tensor_descriptor(P, [64, 64], [64, 1], [16, 32])"
        table[f"descriptor {kind}"] = f"{made}; Q.atomic_{kind}([0, 0], Q.load([16, 0]))"
    return table


OPERATIONS = _operations()

_HEAD = """
@triton.jit
def product(x, y):
    return x * y

@triton.jit
def first(x, y):
    return x

@triton.jit
def keep(O, v):
    tl.store(O.to(tl.pointer_type(v.dtype), bitcast=True) + tl.full(v.shape, 0, tl.int32), v)

@triton.jit
def keep_two(O, both):
    keep(O, both[0])
    keep(O, both[1])
"""
# What a line may name, and how it comes about; in order.
_VALUES = {
    "i": "tl.arange(0, 64)",
    "k": "tl.arange(0, 32)",
    "a": "tl.load(P + tl.arange(0, 64))",
    "b": "tl.load(P + tl.arange(0, 64) + 64)",
    "c": "tl.load(P + tl.arange(0, 64) + 128)",
    "s": "tl.load(P + n)",
    "t": "tl.load(P + n + 1)",
    "A": "tl.load(P + tl.arange(0, 32)[:, None] * 32 + tl.arange(0, 32)[None, :])",
    "B": "tl.load(P + tl.arange(0, 32)[:, None] + tl.arange(0, 32)[None, :] * 32)",
    "U": "tl.full((32, 1), 127, tl.uint8)",
}


def _function(number: int, line: str) -> str:
    words = set(re.findall(r"\w+", line))
    made = [f"{name} = {value}" for name, value in _VALUES.items() if name in words]
    body = "\n    ".join([*made, *(["D: tl.constexpr = P.dtype.element_ty"] if "D" in words else []), line])
    return f"@triton.jit\ndef operation_{number}(P, O, n):\n    {body}\n"


def kernel_of(operations: Sequence[str]) -> Any:
    """A kernel of the given operations, each in a function of its own."""
    functions = "".join(_function(number, OPERATIONS[name]) for number, name in enumerate(operations))
    calls = "".join(f"    operation_{number}(P, O, n)\n" for number in range(len(operations)))
    return kernel_from(f"{_HEAD}{functions}@triton.jit\ndef kernel(P, O, n):\n{calls}")


def compiled(operations: Sequence[str], dtype: str, target: GPUTarget) -> Any:
    """The operations, compiled for ``target``; raises what the compiler raises."""
    source = ASTSource(kernel_of(operations), {"P": f"*{dtype}", "O": "*i8", "n": "i32"}, {})
    return triton.compile(source, target=target, options={"enable_fp_fusion": True})
