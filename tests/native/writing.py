"""Writes the body of a random kernel line by line: its variables, and statements that work element by element."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from hypothesis import strategies as st

INTS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOATS = ("float16", "bfloat16", "float32", "float64")
FP8 = ("float8e5", "float8e4nv")
BITS = {"int1": 1, "bfloat16": 16} | {name: int("".join(filter(str.isdigit, name))) for name in (*INTS, *FLOATS[:1])}
BITS |= {"float32": 32, "float64": 64, "float8e5": 8, "float8e4nv": 8}
SHAPES = {"": "()", "r": "(R,)", "c": "(C,)", "rc": "(R, C)"}


@dataclass(frozen=True)
class Var:
    """A variable of the kernel's: its name, Triton's dtype, and its axes: "" for a scalar, "r", "c" or "rc"."""

    name: str
    dtype: str
    axes: str

    @property
    def is_int(self) -> bool:
        return self.dtype in INTS or self.dtype == "int1"


@dataclass
class Writer:
    """What has been written so far. ``shown`` are the variables that exist, ``inputs`` the dtypes and elements of what
    may be read, ``outputs`` those of one program's part of what is written; ``functions`` stand before the kernel."""

    draw: st.DrawFn
    rows: int
    cols: int
    inputs: Sequence[tuple[str, int, int]]
    alone: bool  # one program in the grid
    waits: bool = False  # programs may wait for one another
    lines: list[str] = field(default_factory=list)
    indent: int = 1
    shown: list[Var] = field(default_factory=list)
    count: int = 0
    outputs: list[tuple[str, int]] = field(default_factory=list)
    functions: dict[str, str] = field(default_factory=dict)
    # Where elements were read, no two of them in one place: the input, the place, its mask, the axes.
    places: list[tuple[int, str, str, str]] = field(default_factory=list)

    def pick(self, options: Sequence[str]) -> str:
        return self.draw(st.sampled_from(options))

    def draw_from(self, numbers: Sequence[int]) -> int:
        return self.draw(st.sampled_from(numbers))

    def often(self, of: int) -> bool:
        """Once in so many times."""
        return self.draw(st.integers(0, of - 1)) == 0

    def number(self, low: int, high: int) -> int:
        return self.draw(st.integers(low, high))

    def draw_stride(self) -> int:
        return self.draw(st.sampled_from((0, 1, 1, 1, 2, 3, -1, -1, -2, 8, 17, -33, self.cols)))

    def line(self, text: str) -> None:
        self.lines.append("    " * self.indent + text)

    def name(self) -> str:
        self.count += 1
        return f"v{self.count - 1}"

    def let(self, text: str, dtype: str, axes: str) -> Var:
        var = Var(self.name(), dtype, axes)
        self.line(f"{var.name} = {text}")
        self.shown.append(var)
        return var

    def var(self, *, ints: bool | None = None, axes: str | None = None) -> Var:
        """A variable that exists; a new one from a literal where none is as wanted."""
        fits = [
            each for each in self.shown if (ints is None or each.is_int == ints) and (axes is None or each.axes == axes)
        ]
        return self.draw(st.sampled_from(fits[-8:])) if fits else self.literal(bool(ints), axes or "")

    def literal(self, ints: bool, axes: str) -> Var:
        dtype = self.pick(INTS if ints else FLOATS)
        value = self.number(-3 if dtype[0] == "i" else 0, 9)
        if not axes:
            return self.let(f"tl.full((1,), {value}, tl.{dtype}).max(0).to(tl.{dtype})", dtype, axes)
        return self.let(f"tl.full({SHAPES[axes]}, {value}, tl.{dtype})", dtype, axes)

    def at(self, var: Var, axes: str) -> str:
        """``var`` as an operand of a block with these axes."""
        if axes == "rc" and var.axes in ("r", "c"):
            return f"{var.name}[:, None]" if var.axes == "r" else f"{var.name}[None, :]"
        return var.name

    def filling(self, var: Var, axes: str) -> str:
        """``var`` as a block that has all of these axes."""
        return f"tl.broadcast_to({self.at(var, axes)}, {SHAPES[axes]})" if var.axes != axes else var.name

    def joined(self, *many: Var) -> str:
        """The axes of what is computed from all of them."""
        return "".join(axis for axis in "rc" if any(axis in each.axes for each in many))

    def cast(self, text: str, source: str, target: str) -> str:
        """``text`` of one dtype as another: to and from fp8 by way of float32, which has all of both."""
        if FP8.count(target) and source != "float32" and source != target:
            return f"{text}.to(tl.float32).to(tl.{target})"
        if FP8.count(source) and target != source:
            return f"{text}.to(tl.float32)" + (f".to(tl.{target})" if target != "float32" else "")
        return f"{text}.to(tl.{target})"

    def operand(self, var: Var, dtype: str, axes: str) -> str:
        return self.cast(self.at(var, axes), var.dtype, dtype)

    def number_of(self, var: Var, dtype: str, axes: str) -> str:
        """``var`` as a float of which nobody can tell which NaN it is: 0 instead of one."""
        x = self.operand(var, dtype, axes)
        return f"tl.where({x} == {x}, {x}, 0.0).to(tl.{dtype})"


def arithmetic(w: Writer) -> None:
    a = w.var()
    b = w.var(ints=a.is_int)
    axes = w.joined(a, b)
    dtype = w.pick(INTS if a.is_int else FLOATS)
    x, y = w.operand(a, dtype, axes), w.operand(b, dtype, axes)
    if w.often(6) and b.dtype not in (*FP8, "int1"):
        y = w.at(b, axes)  # the front end chooses the type of the result
    if a.is_int:
        op = w.pick(("+", "-", "*", "&", "|", "^", "//", "%", "<<", ">>", "min", "max"))
    else:
        op = w.pick(("+", "-", "*", "/", "%", "min", "max"))
    if op in ("<<", ">>"):
        y = f"({w.operand(b, dtype, axes)} & {BITS[dtype] - 1})"
    if op in ("min", "max"):
        nans = w.pick(("", ", propagate_nan=tl.PropagateNan.ALL", ", propagate_nan=tl.PropagateNan.NONE"))
        text = f"tl.{op}imum({x}, {y}{'' if a.is_int else nans})"
    else:
        text = f"{x} {op} {y}"
    w.let(w.cast(f"({text})", "", dtype), dtype, axes)


def unary(w: Writer) -> None:
    a = w.var()
    if a.is_int:
        dtype = a.dtype if a.dtype != "int1" else w.pick(("int1", "int32"))
        x = w.operand(a, dtype, a.axes)
        ways = ("~{x}",) if dtype == "int1" else ("-{x}", "tl.abs({x})", "{x} * {x}", "~{x}")
    else:
        dtype = w.pick((a.dtype, "float32", "float64")) if a.dtype not in FP8 else "float32"
        x = w.operand(a, dtype, a.axes)
        ways = ("-{x}", "tl.abs({x})", "{x} * {x}", "1 / {x}")
        if dtype == "float64":
            ways = (*ways, "tl.floor({x})", "tl.ceil({x})", "libdevice.rint({x})", "libdevice.trunc({x})")
        if dtype == "float32":
            ways = (*ways, "tl.floor({x})", "tl.ceil({x})", "tl.sqrt_rn({x})", "libdevice.rint({x})")
            ways = (*ways, "libdevice.trunc({x})", "libdevice.nearbyint({x})", "libdevice.round({x})")
    w.let(f"({w.pick(ways).format(x=x)}).to(tl.{dtype})", dtype, a.axes)


def ternary(w: Writer) -> None:
    """Functions of several operands whose results are exact."""
    a, b = w.var(ints=False), w.var(ints=False)
    c = w.var(ints=False)
    axes = w.joined(a, b, c)
    dtype = w.pick(("float32", "float64", "float16"))
    x, y, z = (w.operand(each, dtype, axes) for each in (a, b, c))
    way = w.pick(("fma", "clamp", "div_rn", "copysign", "cdiv", "umulhi", "nextafter"))
    if way in ("cdiv", "umulhi"):
        a, b = w.var(ints=True), w.var(ints=True)
        axes, dtype = w.joined(a, b), w.pick(("int32", "uint32", "int64", "uint64"))
        x, y = w.operand(a, dtype, axes), w.operand(b, dtype, axes)
        w.let(f"(tl.{way}({x}, {y})).to(tl.{dtype})", dtype, axes)
    elif way == "fma":
        w.let(f"tl.fma({x}, {y}, {z}).to(tl.{dtype})", dtype, axes)
    elif way == "clamp":
        low, high = (
            w.pick((("-1.0", "2.5"), ("-0.0", "0.0"), ("0.0", "1e30"))) if dtype != "float16" else ("-2.0", "3.0")
        )
        nans = w.pick(("", ", propagate_nan=tl.PropagateNan.ALL"))
        w.let(f"tl.clamp({x}, {low}, {high}{nans}).to(tl.{dtype})", dtype, axes)
    elif way == "div_rn":
        axes = w.joined(a, b)
        w.let(f"tl.div_rn({w.operand(a, 'float32', axes)}, {w.operand(b, 'float32', axes)})", "float32", axes)
    else:
        axes, dtype = w.joined(a, b), "float32"
        x, y = w.number_of(a, dtype, axes), w.number_of(b, dtype, axes)
        w.let(f"libdevice.{way}({x}, {y})", dtype, axes)


def cast(w: Writer) -> None:
    a = w.var()
    dtype = w.pick((*INTS, *FLOATS, *FP8))
    text = w.operand(a, dtype, a.axes)
    if dtype in ("float16", "bfloat16", "float8e5") and w.often(3):
        text = f"{w.operand(a, 'float32', a.axes)}.to(tl.{dtype}, fp_downcast_rounding='rtz')"
    w.let(text, dtype, a.axes)


def bitcast(w: Writer) -> None:
    a = w.var()
    source = a.dtype if a.dtype != "int1" else "int32"
    x = w.number_of(a, source, a.axes) if source in FLOATS else w.operand(a, source, a.axes)
    alike = [each for each in (*INTS, *FLOATS, *FP8) if BITS[each] == BITS[source] and each != source]
    if source in FP8:  # which NaN it is could be seen
        source, alike = "float32", ["int32", "uint32"]
        x = w.number_of(a, source, a.axes)
    target = w.pick(alike)
    w.let(f"{x}.to(tl.{target}, bitcast=True)", target, a.axes)


def compare(w: Writer) -> None:
    a = w.var()
    b = w.var(ints=a.is_int)
    axes = w.joined(a, b)
    op = w.pick(("<", "<=", ">", ">=", "==", "!="))
    dtypes = [each.dtype if each.dtype not in (*FP8, "int1") else "float32" for each in (a, b)]
    if a.is_int:
        dtypes = [each.dtype if each.dtype != "int1" else "int32" for each in (a, b)]
    if w.often(2):
        dtypes[1] = dtypes[0]
    w.let(f"{w.operand(a, dtypes[0], axes)} {op} {w.operand(b, dtypes[1], axes)}", "int1", axes)


def truth(w: Writer) -> Var:
    """A variable that is true or false; a new one where there is none."""
    known = [each for each in w.shown if each.dtype == "int1"]
    if not known or w.often(3):
        compare(w)
        return w.shown[-1]
    return w.draw(st.sampled_from(known[-5:]))


def logic(w: Writer) -> None:
    a, b = truth(w), truth(w)
    axes = w.joined(a, b)
    op = w.pick(("&", "|", "^", "==", "!="))
    inverted = "~" if w.often(3) else ""
    w.let(f"{inverted}({w.at(a, axes)} {op} {w.at(b, axes)})", "int1", axes)


def where(w: Writer) -> None:
    a = w.var()
    b, c = w.var(ints=a.is_int), truth(w)
    axes = w.joined(a, b, c)
    dtype = w.pick(INTS if a.is_int else (*FLOATS, *FP8))
    if a.is_int and w.often(6):
        dtype = "int1"
    x, y = (w.operand(each, dtype, axes) for each in (a, b))
    w.let(f"tl.where({w.at(c, axes)}, {x}, {y})", dtype, axes)


def random_number(w: Writer) -> None:
    a = w.var(ints=True)
    seed = w.number(0, 99)
    if w.often(2):
        w.let(f"tl.randint({seed}, {w.operand(a, 'int32', a.axes)})", "int32", a.axes)
    else:
        w.let(f"tl.rand({seed}, {w.operand(a, 'int32', a.axes)})", "float32", a.axes)


MAPPED = """@triton.jit
def mapped(x, y):
    return x * 3 - y if CHOOSES and x > y else (x ^ y) & 0xFFFF
"""
CALLED = """@triton.jit
def called(x, y):
    z = x + y * 0
    for _ in range(2):
        z = z * 3 + y
    return z
"""


def function(w: Writer) -> None:
    """A function of the user's: one for each element, or one that is called."""
    a, b = w.var(ints=True), w.var(ints=True)
    axes = w.joined(a, b)
    dtype = w.pick(("int32", "int64"))
    x, y = w.operand(a, dtype, axes), w.operand(b, dtype, axes)
    if axes and w.often(2):
        w.functions["mapped"] = MAPPED.replace("CHOOSES", str(w.often(4)))
        w.let(f"tl.map_elementwise(mapped, tl.broadcast_to({x}, {SHAPES[axes]}), {y})", dtype, axes)
    else:
        w.functions["called"] = CALLED if axes else CALLED.replace("jit", "jit(noinline=True)")
        w.let(f"called({x}, {y})", dtype, axes)


Statement = Callable[[Writer], None]
ELEMENTS: tuple[Statement, ...] = (
    *(arithmetic, arithmetic, arithmetic, unary, unary, ternary, cast, cast, bitcast),
    *(compare, logic, where, where),
)
RARER: tuple[Statement, ...] = (random_number, function)
