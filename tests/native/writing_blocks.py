"""Statements of a random kernel that work on whole blocks: reductions, scans, sorting, shapes, products."""

from __future__ import annotations

from hypothesis import strategies as st

from tests.native.writing import FLOATS, FP8, INTS, SHAPES, Statement, Var, Writer

# Associative functions: of those that are no sums of floats, all orders give the same bits.
COMBINED = {
    "times": ("x * y", "int32"),
    "either": ("x | y", "int64"),
    "least": ("tl.where(x < y, x, y)", "int16"),
    "added": ("(x + y) & 0xFFFF", "int32"),
}
PAIRED = """@triton.jit
def paired(a, i, b, j):
    first = (a > b) | ((a == b) & (i < j))
    return tl.where(first, a, b), tl.where(first, i, j)
"""
COMPOSED = """@triton.jit
def composed(a, b, c, d):
    return a * c, b * c + d
"""
LATEST = """@triton.jit
def latest(x, y):
    return tl.where(y != 0, y, x)
"""


def _block(w: Writer, ints: bool | None = None, axes: tuple[str, ...] = ("r", "c", "rc", "rc")) -> Var:
    return w.var(ints=ints, axes=w.pick(axes))


def _plain(w: Writer, var: Var) -> tuple[str, str]:
    """``var`` in a dtype that every operation takes, and which that is."""
    dtype = {"int1": "int32", **dict.fromkeys(FP8, "float16")}.get(var.dtype, var.dtype)
    return w.operand(var, dtype, var.axes), dtype


def _axis(w: Writer, var: Var) -> tuple[int, str]:
    """An axis, and those that are left."""
    axis = w.number(0, len(var.axes) - 1)
    return axis, var.axes[:axis] + var.axes[axis + 1 :]


def reduce(w: Writer) -> None:
    a = _block(w)
    axis, axes = _axis(w, a)
    x, dtype = _plain(w, a)
    how = w.pick(("max", "min", "sum", "xor_sum", "argmax", "argmin") if a.is_int else ("max", "min", "sum", "argmin"))
    if how == "sum":
        if not a.is_int:  # exact in any order
            x, dtype = f"{x}.to(tl.int8).to(tl.{w.pick(('float32', 'float64'))})", "float32"
        else:
            dtype = "int64"
    if how[:3] == "arg":
        w.let(f"tl.{how}({x}, axis={axis})", "int32", axes)
    elif how in ("max", "min") and w.often(4):
        best, where = w.name(), w.name()
        w.line(f"{best}, {where} = tl.{how}({x}, axis={axis}, return_indices=True)")
        w.let(f"{best}.to(tl.{dtype})", dtype, axes)
        w.let(f"{where} + 0", "int32", axes)
    elif how in ("max", "min") and w.often(4):
        w.let(f"({x} - tl.{how}({x}, axis={axis}, keep_dims=True)).to(tl.{dtype})", dtype, a.axes)
    elif w.often(5):
        w.let(f"tl.{how}({x}, axis=None).to(tl.{dtype})", dtype, "")
    else:
        w.let(f"tl.{how}({x}, axis={axis}).to(tl.{dtype})", dtype, axes)


def combined(w: Writer) -> None:
    """A reduction with a function of the user's."""
    if w.often(3):
        a, b = _block(w), w.var(ints=True)
        x, dtype = w.number_of(a, "float32", a.axes) if not a.is_int else _plain(w, a)[0], a.dtype
        dtype = "float32" if not a.is_int else "int32" if a.dtype == "int1" else a.dtype
        axis, axes = _axis(w, a)
        w.functions["paired"] = PAIRED
        if len(b.axes) > len(a.axes) or (b.axes and b.axes not in a.axes):
            b = Var("r" if a.axes[0] == "r" else "c", "int32", a.axes[0])
        y = f"tl.broadcast_to({w.operand(b, 'int32', a.axes)}, {SHAPES[a.axes]})"
        best, where = w.name(), w.name()
        w.line(f"{best}, {where} = tl.reduce(({x}, {y}), {axis}, paired)")
        w.let(f"{best}.to(tl.{dtype})", dtype, axes)
        w.let(f"{where} + 0", "int32", axes)
        return
    a = _block(w, ints=True)
    axis, axes = _axis(w, a)
    name = w.pick(tuple(COMBINED))
    text, dtype = COMBINED[name]
    w.functions[name] = f"@triton.jit\ndef {name}(x, y):\n    return {text}\n"
    keep = ", keep_dims=True" if w.often(4) else ""
    w.let(
        f"tl.reduce({w.operand(a, dtype, a.axes)}, {axis}, {name}{keep}){' + ' + a.name + ' * 0' if keep else ''}",
        dtype,
        a.axes if keep else axes,
    )
    if keep:
        w.lines[-1] = w.lines[-1].replace(f"{a.name} * 0", f"{w.operand(a, dtype, a.axes)} * 0")


def scan(w: Writer) -> None:
    a = _block(w)
    axis, _ = _axis(w, a)
    back = ", reverse=True" if w.often(3) else ""
    way = w.pick(("cumsum", "cumprod", "latest", "composed", "max"))
    if way in ("cumsum", "cumprod"):
        if a.is_int:
            dtype = w.pick(("int32", "int64", "uint32", "int8", "int16"))
            x = w.operand(a, dtype, a.axes)
        else:
            dtype = w.pick(("float32", "float64"))
            x = f"{_plain(w, a)[0]}.to(tl.int8).to(tl.{dtype})"
            if way == "cumprod":  # exact: powers of two, and not many
                x = f"tl.where({x} > 5, 2.0, -1.0).to(tl.{dtype})"
        w.let(f"tl.{way}({x}, axis={axis}{back}).to(tl.{dtype})", dtype, a.axes)
    elif way == "latest":
        dtype = w.pick(("int32", "int64", "int8", "float32", "float16"))
        w.functions[way] = LATEST
        w.let(f"tl.associative_scan({w.operand(a, dtype, a.axes)}, {axis}, latest{back})", dtype, a.axes)
    elif way == "max":
        dtype = w.pick(("int32", "int64", "uint8", "float32"))
        x = w.number_of(a, dtype, a.axes) if dtype == "float32" else w.operand(a, dtype, a.axes)
        w.functions["most"] = "@triton.jit\ndef most(x, y):\n    return tl.maximum(x, y)\n"
        w.let(f"tl.associative_scan({x}, {axis}, most{back})", dtype, a.axes)
    else:
        dtype = w.pick(("int32", "int64"))
        w.functions[way] = COMPOSED
        x = w.operand(a, dtype, a.axes)
        one, other = w.name(), w.name()
        w.line(f"{one}, {other} = tl.associative_scan(({x} | 1, {x} * 3), {axis}, composed{back})")
        w.let(f"{one} ^ {other}", dtype, a.axes)


def order(w: Writer) -> None:
    """What puts elements into another order."""
    a = _block(w)
    way = w.pick(("sort", "sort", "flip", "topk", "gather", "gather", "histogram"))
    if way == "sort":
        dtype = w.pick((*INTS, *FLOATS))
        x = w.number_of(a, dtype, a.axes) if dtype in FLOATS else w.operand(a, dtype, a.axes)
        w.let(f"tl.sort({x}{', descending=True' if w.often(2) else ''})", dtype, a.axes)
    elif way == "flip":
        x, dtype = _plain(w, a)
        w.let(f"tl.flip({x}, {w.number(0, len(a.axes) - 1)})", dtype, a.axes)
    elif way == "topk":
        dtype = w.pick(("int32", "float32", "int8"))
        x = w.number_of(a, dtype, a.axes) if dtype == "float32" else w.operand(a, dtype, a.axes)
        last = max(1, {"r": w.rows, "c": w.cols}[a.axes[-1]] // 2)
        best = f"tl.topk({x}, {last}).to(tl.int8).to(tl.int32)"
        w.let(f"tl.sum({best}, axis={len(a.axes) - 1})", "int32", a.axes[:-1])
    elif way == "gather":
        axis, _ = _axis(w, a)
        length = {"r": w.rows, "c": w.cols}[a.axes[axis]]
        b = w.var(ints=True)
        b = b if set(b.axes) <= set(a.axes) else a if a.is_int else w.literal(True, a.axes)
        index = f"({w.operand(b, 'int32', a.axes)} & {length - 1})"
        index = f"tl.broadcast_to({index}, {SHAPES[a.axes]})" if b.axes != a.axes else index
        x, dtype = _plain(w, a)
        w.let(f"tl.gather({x}, {index}, {axis})", dtype, a.axes)
    else:
        a = w.var(ints=True, axes=w.pick(("r", "c")))
        bins = w.pick(("r", "c"))
        mask = f", mask={a.axes} < cut" if w.often(2) else ""
        count = {"r": "R", "c": "C"}[bins]
        w.let(f"tl.histogram({w.operand(a, 'int32', a.axes)} & ({count} - 1), {count}{mask})", "int32", bins)


# From a block of (R, C) to one of (R, C), of which C is even.
SHAPED = (
    "tl.reshape(tl.trans({x}), (R, C))",
    "tl.reshape(tl.permute(tl.reshape({x}, (R, C // 2, 2)), (2, 0, 1)), (R, C))",
    "tl.reshape(tl.permute(tl.reshape({x}, (2, R, C // 2)), (1, 2, 0)), (R, C))",
    "tl.max(tl.reshape(tl.interleave({x}, {y}), (R, C, 2)), axis=2)",
    "tl.max(tl.join({x}, {y}), axis=2)",
    "tl.reshape(tl.ravel(tl.trans({x})), (R, C))",
    "tl.max(tl.trans(tl.join({x}, {y}), (2, 1, 0)), axis=0).trans()",
    "tl.min({x}[:, :, None] ^ c[None, None, :].to(tl.{dtype}), axis=1)",
    "tl.max({x}[:, None, :] | {y}[:, :, None], axis=2).to(tl.{dtype})",
)

# From a block of one axis to a number.
FLAT = (
    "tl.sum(tl.cat({z}, {z}, can_reorder=True).to(tl.int8).to(tl.int32), axis=0)",
    "tl.max(tl.ravel({z}), axis=0).to(tl.int32)",
)


def shape(w: Writer) -> None:
    a, b = w.var(axes="rc"), w.var()
    x, dtype = _plain(w, a)
    if w.often(4):
        flat = w.var(axes=w.pick(("r", "c")))
        z, kind = _plain(w, flat)
        text = w.pick(FLAT)
        if kind in FLOATS:
            z = w.number_of(flat, kind, flat.axes)
        w.let(text.format(z=z), "int32", "")
        return
    y = f"tl.broadcast_to({w.operand(b, dtype, 'rc')}, (R, C))"
    ways = SHAPED if a.is_int else SHAPED[:7]
    if w.cols < 2 or w.often(4):
        w.let(w.pick((SHAPED[0], SHAPED[5])).format(x=x), dtype, "rc")
    elif w.often(3):
        one, other = w.name(), w.name()
        w.line(f"{one}, {other} = tl.split(tl.reshape({x}, (R, C // 2, 2)))")
        w.let(w.pick((f"tl.reshape(tl.join({other}, {one}), (R, C))", f"tl.interleave({other}, {one})")), dtype, "rc")
    else:
        w.let(w.pick(ways).format(x=x, y=y, dtype=dtype), dtype, "rc")


def dot(w: Writer) -> None:
    """A product of matrices of small whole numbers, whose sums are exact in any order."""
    if min(w.rows, w.cols) < 16:
        return reduce(w)
    a, b = w.var(axes="rc"), w.var(axes="rc")
    dtype = w.pick(("float16", "float32", "bfloat16", "int8", "float8e5", "float64"))
    x, y = (f"({_plain(w, each)[0]}.to(tl.int8) & 3)" for each in (a, b))
    if dtype != "int8":
        x, y = (w.cast(each, "int8", dtype) for each in (x, y))
    total = {"int8": "int32", "float64": "float64"}.get(dtype, "float32")
    precision = w.pick(("", ", input_precision='ieee'", ", input_precision='tf32x3'")) if dtype == "float32" else ""
    if dtype == "float16" and w.often(3):
        total, precision = "float16", ", out_dtype=tl.float16"
    way = w.number(0, 3)
    if way == 0:
        start = f"tl.full((R, R), 3, tl.{total})"
        text = f"tl.dot({x}, tl.trans({y}), acc={start}{precision})"
    elif way == 1 and total != "float16":
        text = f"tl.dot({x}, tl.trans({y}){precision}) + r[None, :].to(tl.{total})"
    elif way == 2 and w.rows * w.cols >= 512 and dtype in ("float16", "float32"):
        x, y = (f"tl.reshape({each}, (R * C // 256, 16, 16))" for each in (x, y))
        w.let(f"tl.sum(tl.sum(tl.sum(tl.dot({x}, {y}{precision}), axis=0), axis=0), axis=0)", "float32", "")
        return None
    else:
        text = f"tl.dot({x}, tl.trans({y}){precision})"
    w.let(f"tl.sum({text}.to(tl.float32), axis={w.number(0, 1)})", "float32", "r")
    return None


def dot_scaled(w: Writer) -> None:
    """A product of small whole numbers, each with a power of two for thirty-two in a row."""
    if w.rows < 16 or w.cols < 32:
        return dot(w)
    a, b, scale = w.var(axes="rc"), w.var(axes="rc"), w.var(ints=True, axes="r")
    sides, formats = [], []
    for each in (a, b):
        dtype, name = w.draw(st.sampled_from((("float8e5", "e5m2"), ("float8e4nv", "e4m3"), ("bfloat16", "bf16"))))
        sides.append(w.cast(f"({_plain(w, each)[0]}.to(tl.int8) & 3)", "int8", dtype))
        formats.append(name)
    powers = f"(127 + tl.broadcast_to({w.operand(scale, 'int32', 'r')}[:, None] & 1, (R, C // 32))).to(tl.uint8)"
    left, right = (powers if w.often(2) else "None" for _ in range(2))
    text = f"tl.dot_scaled({sides[0]}, {left}, '{formats[0]}', tl.trans({sides[1]}), {right}, '{formats[1]}')"
    w.let(f"tl.sum({text}, axis={w.number(0, 1)})", "float32", "r")
    return None


BLOCKS: tuple[Statement, ...] = (reduce, reduce, combined, scan, scan, order, order, shape, shape, dot, dot_scaled)
