"""Statements of a random kernel that touch memory: loads, stores and atomics in every form."""

from __future__ import annotations

from hypothesis import strategies as st

from tests.native.writing import BITS, FP8, INTS, SHAPES, Statement, Var, Writer, truth

SIZES = {"": "1", "r": "R", "c": "C", "rc": "R * C"}
LANES = {"": "0", "r": "r", "c": "c", "rc": "(r[:, None] * C + c[None, :])"}


def size_of(w: Writer, axes: str) -> int:
    return {"": 1, "r": w.rows, "c": w.cols, "rc": w.rows * w.cols}[axes]


def offsets(w: Writer, number: int) -> tuple[str, str, str]:
    """Offsets into an input, what keeps them there, and the axes of both."""
    count = w.inputs[number][1]
    kind = w.pick(("affine", "affine", "affine", "gather", "wrapping", "narrow", "wide", "affine scalar", "careless"))
    var = w.var(ints=True)
    as_int = w.operand(var, "int32", var.axes)
    inside = "({0} >= 0) & ({0} < {1})".format
    if kind == "affine":
        rows, cols = (w.draw_stride() for _ in range(2))
        text = f"({w.number(-40, 80)} + p * {w.cols} + r[:, None] * {rows} + c[None, :] * {cols})"
        axes = "rc"
        if w.often(2):
            axes = w.pick(("r", "c", "rc"))
            lanes = f"{axes} * {rows or 1}" if axes != "rc" else LANES[axes]
            text = f"({w.number(-9, 40)} + p * {w.number(0, 40)} + {lanes})"
            w.places.append((number, text, inside(text, count), axes))
        return text, inside(text, count), axes
    if kind == "affine scalar":
        text = f"({w.number(-3, 9)} + p * {w.number(0, 40)})"
        return text, inside(text, count), ""
    if kind == "gather":
        return f"(({as_int} & 1023) % {count})", "", var.axes
    if kind == "wrapping":
        by = w.pick(("s", "s", "b.to(tl.int32)"))
        text = f"({as_int} * {by} + {w.number(-2, 2)})"
        return text, inside(text, count), var.axes
    if kind == "narrow":  # wraps around at 127, or is never negative
        dtype = w.pick(("int8", "uint8", "int16", "uint32"))
        text = f"({w.operand(var, dtype, var.axes)} * {w.number(1, 3)})"
        return text, inside(text, min(count, 127)), var.axes
    if kind == "wide":
        text = f"({w.operand(var, 'int64', var.axes)} * b + {w.number(0, 5)})"
        return text, inside(text, count), var.axes
    return f"({as_int} % {count})", "", var.axes  # may be negative


def mask_of(w: Writer, axes: str) -> str:
    """A mask for a block with these axes: a box, or none."""
    kind = w.pick(("box", "truth", "truth", "parity", "corner", "scalar"))
    if kind == "truth":
        var = truth(w)
        if set(var.axes) <= set(axes):
            return w.at(var, axes)
    if kind == "scalar" or not axes:
        return w.pick(("(p < 2)", "(n > 7)", "(p != 1)"))
    lane = LANES[axes]
    if kind == "parity":
        return f"(({lane}) % {w.number(2, 3)} == {w.number(0, 1)})"
    if kind == "corner" and axes == "rc":
        join = w.pick(("&", "|", "^"))
        low, high = w.number(0, w.rows), w.number(0, w.cols)
        return f"((r[:, None] < {low}) {join} (c[None, :] >= {high}))"
    return f"({lane} < cut)"


def load(w: Writer) -> None:
    number = w.number(0, len(w.inputs) - 1)
    dtype, count, _ = w.inputs[number]
    text, mask, axes = offsets(w, number)
    hints = w.pick(("", "", "", ", cache_modifier='.cg'", ", eviction_policy='evict_first'", ", volatile=True"))
    far = w.pick(("", "", "", " + 5 - 5", f" + p * {w.cols} - p * {w.cols}", " + b - b"))
    where = f"P{number}{far} + {text}"
    if axes == "rc" and w.often(4):  # the pointer comes in two steps
        rows, cols = (w.draw_stride() for _ in range(2))
        text = f"({w.number(0, 40)} + r[:, None] * {rows} + c[None, :] * {cols})"
        mask = f"({text} >= 0) & ({text} < {count})"
        first, _, rest = text[1:-1].partition(" + ")
        where = f"(P{number} + {first} + {rest.partition(' + ')[0]}) + {rest.partition(' + ')[2]}"
    elif w.often(6):
        var = truth(w)
        if set(var.axes) <= set(axes):
            where = f"tl.where({w.at(var, axes)}, {where}, P{number} + {w.number(0, 9)} % {count})"
    if mask and w.often(60):
        mask = ""  # nothing keeps it inside
    if mask or (axes and w.often(2)):
        mask = mask or mask_of(w, axes)
        if w.often(3):
            mask = f"{mask} & {mask_of(w, axes)}"
        other = "0.0" if dtype in FP8 else "0"
        if w.often(2):
            var = w.var(ints=dtype in INTS or dtype == "int1")
            fits = set(var.axes) <= set(axes) and dtype not in (*FP8, "int1")
            other = w.operand(var, dtype, axes) if fits else w.pick(("0.0", "1.0") if dtype in FP8 else ("0", "1"))
        filled = f"tl.load({where}, mask={mask}, other={other}{hints})"
    else:
        filled = f"tl.load({where}{hints})"
    w.let(filled, dtype, axes)


def new_output(w: Writer, dtype: str, size: int) -> str:
    w.outputs.append((dtype, size))
    return f"O{len(w.outputs) - 1}"


def place_of(w: Writer, axes: str, size: int) -> tuple[str, int]:
    """Where each element of a block goes, each to a place of its own; and how many places that takes."""
    lane = LANES[axes]
    if not axes:
        return "0", 1
    way = w.pick(("row", "row", "back", "mixed", "apart", "column", "odd"))
    if way == "back":
        return f"({size - 1} - {lane})", size
    if way == "mixed":
        return f"({lane} ^ {w.number(0, size - 1)})", size
    if way == "odd":
        return f"(({lane} * {2 * w.number(0, 9) + 1}) & {size - 1})", size
    if way == "apart":
        return f"({lane} * 3 + 1)", 3 * size + 1
    if way == "column" and axes == "rc":
        return "(c[None, :] * R + r[:, None])", size
    return lane, size


def store(w: Writer, var: Var | None = None) -> None:
    """To the program's own part of an output; sometimes it is read again."""
    again = var is None and w.often(2)
    var = var or w.var()
    if var.name == "p" or not w.shown:
        again = False
    place, size = place_of(w, var.axes, size_of(w, var.axes))
    dtype = "int8" if var.dtype == "int1" and w.often(2) else var.dtype
    name = new_output(w, dtype, size)
    mask = f", mask={mask_of(w, var.axes)}" if w.often(2) else ""
    value = f"{var.name}.to(tl.int8)" if dtype != var.dtype else var.name
    w.line(f"tl.store({name} + p * {size} + {place}, {value}{mask})")
    if again:
        axes = w.pick((var.axes, ""))
        place = place if axes else str(w.number(0, size - 1))
        w.let(f"tl.load({name} + p * {size} + {place})", dtype, axes)


def store_back(w: Writer) -> None:
    """To where something was read, in the one program that there is."""
    if not (w.alone and w.places):
        return store(w)
    number, place, mask, axes = w.draw(st.sampled_from(w.places))
    dtype = w.inputs[number][0]
    var = w.var(axes=w.pick((axes, axes, "")))
    kind = "int8" if dtype == "int1" else dtype
    value = f"tl.broadcast_to({w.operand(var, kind, axes)}, {SHAPES[axes]})"
    if dtype == "int1":
        value = f"({value} > 0)"
    if w.often(2):
        mask = f"({mask}) & {mask_of(w, axes)}"
    w.line(f"tl.store(P{number} + {place}, {value}, mask={mask})")
    return None


def atomic(w: Writer) -> None:
    """On bins that all programs share; what was there before is looked at where there is one program."""
    var, at = w.var(), w.var(ints=True)
    if w.often(2):
        at = Var("r", "int32", "r") if var.axes in ("r", "rc") else Var("c", "int32", "c")
    axes = w.joined(var, at)
    index = f"({w.operand(at, 'int32', axes)} & 15)"
    index = f"tl.broadcast_to({index}, {SHAPES[axes]})" if axes else index
    mask = f", mask={mask_of(w, axes)}" if w.often(2) else ""
    sem = w.pick(("", "", ", sem='relaxed'", ", scope='cta'"))
    if var.is_int:
        how = w.pick(("add", "max", "min", "and", "or", "xor"))
        dtype = w.pick(("int32", "int64", "uint32", "uint64"))
        value = w.operand(var, dtype, axes)
    else:
        how, dtype = w.pick(("add", "max", "min")), w.pick(("float32", "float64", "float16"))
        if how != "add":
            dtype = "float32"
        value = f"{w.operand(var, 'float32', axes)}.to(tl.int8).to(tl.{dtype})"
        if dtype == "float16":
            value = f"({w.operand(var, 'float32', axes)}.to(tl.int8) & 1).to(tl.float16)"
    if w.alone and w.often(3):
        how = w.pick(("xchg", "cas"))
        dtype = "int32" if var.is_int else "float32"
        value = w.operand(var, dtype, axes) if var.is_int else w.number_of(var, dtype, axes)
    name = new_output(w, dtype, -16)
    value = f"tl.broadcast_to({value}, {SHAPES[axes]})" if axes else value
    if how == "cas":
        if not var.is_int:
            return
        text = f"tl.atomic_cas({name} + {index}, {value} & 1, {value}{sem})"
    else:
        text = f"tl.atomic_{how}({name} + {index}, {value}{mask}{sem})"
    if w.alone and w.often(2):
        if mask and how != "cas":  # lanes that do nothing bring nothing that anybody may rely on
            w.let(f"tl.where({mask.removeprefix(', mask=')}, {text}, 0)", dtype, axes)
        else:
            w.let(text, dtype, axes)
    else:
        w.line(text)


def walk(w: Writer) -> None:
    """A loop that carries a block of pointers."""
    number = w.number(0, len(w.inputs) - 1)
    dtype, count, _ = w.inputs[number]
    axes = w.pick(("r", "c", "rc", ""))
    kind = "int32" if dtype in INTS or dtype == "int1" else "float32"
    pointer, place, total = w.name(), w.name(), w.name()
    step, turns = w.draw_stride(), w.pick(("3", "n % 5", "(n & 3)"))
    w.line(f"{place} = {w.number(0, 9)} + {LANES[axes]} * {w.draw_stride()}")
    w.line(f"{pointer} = P{number} + {place}")
    w.line(f"{total} = tl.zeros({SHAPES[axes] if axes else '()'}, tl.{kind})")
    w.line(f"for j in range({w.pick(('0', '1', 'p'))}, {turns}):")
    mask = f"({place} >= 0) & ({place} < {count})"
    nothing = "0.0" if dtype in FP8 else "0"
    kept = f", mask={mask}, other={nothing}" if not w.often(12) else ""
    found = f"tl.load({pointer}{kept})"
    w.line(f"    {total} {w.pick(('^=', '+=', '-=')) if kind == 'int32' else '='} {w.cast(found, dtype, kind)}")
    w.line(f"    {pointer} += {step}")
    w.line(f"    {place} += {step}")
    w.shown.append(Var(total, kind, axes))
    w.shown.append(Var(place, "int32", axes))


def descriptor(w: Writer) -> None:
    """A block that is named by its corner."""
    if not w.often(3):
        return load(w)
    number = w.number(0, len(w.inputs) - 1)
    dtype, count, before = w.inputs[number]
    step = 128 // max(8, BITS[dtype])
    rows = count // (2 * step)
    name = w.name()
    if w.often(2):
        var = w.var(axes="rc")
        if var.dtype == "int1" or w.cols * BITS[var.dtype] < 128:
            return store(w, var)
        out = new_output(w, var.dtype, w.rows * w.cols)
        shape = f"[p * R + {w.number(1, w.rows)}, {w.number(1, w.cols)}]"
        w.line(f"{name} = tl.make_tensor_descriptor({out}, shape={shape}, strides=[C, 1], block_shape=[R, C])")
        w.line(f"{name}.store([p * R, 0], {var.name})")
        return None
    if before or dtype == "int1" or not rows or w.cols * BITS[dtype] < 128:
        return load(w)
    shape = f"[{w.number(1, rows)}, {w.number(1, 2 * step)}]"
    w.line(f"{name} = tl.make_tensor_descriptor(P{number}, shape={shape}, strides=[{2 * step}, 1], block_shape=[R, C])")
    corner = f"[p * {w.number(0, 3)} - {w.number(0, 2)}, {w.number(-2, 3)}]"
    w.let(f"{name}.load({corner})", dtype, "rc")
    return None


MEMORY: tuple[Statement, ...] = (*(load, load, load, load, load), *(store, store, store_back), atomic, walk, descriptor)
