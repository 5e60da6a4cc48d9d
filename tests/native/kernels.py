"""Random Triton kernels and arguments for them, on which two engines have to agree bit by bit.

What a kernel computes has one right answer, whatever the order: sums and products of blocks are of small whole numbers,
and programs write nothing that others read. So the order is free, and the bits are not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from hypothesis import strategies as st

INTS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32")
FLOATS = ("float16", "bfloat16", "float32", "float64")
_TORCH = {name: getattr(torch, name) for name in (*INTS, *FLOATS)} | {"int1": torch.int8}


@dataclass(frozen=True)
class Var:
    """A variable of the kernel's: its name, Triton's dtype, and its axes: "" for a scalar, "r", "c" or "rc"."""

    name: str
    dtype: str
    axes: str

    @property
    def is_int(self) -> bool:
        return self.dtype in INTS or self.dtype == "int1"


@dataclass(frozen=True)
class Case:
    """A kernel as source, and what it is launched with. ``outputs`` are dtypes and elements of one program each,
    ``inputs`` dtypes, elements, and how many elements of the storage lie before the first."""

    source: str
    grid: tuple[int, int]
    rows: int
    cols: int
    inputs: tuple[tuple[str, int, int], ...]
    outputs: tuple[tuple[str, int], ...]
    scalars: tuple[int, int]
    real: float
    seed: int
    cut: int = 0
    # Where the first output's storage is an input's: which, and from which byte on.
    shared: tuple[int, int] | None = None


@dataclass
class Writer:
    """Writes a body line by line; ``shown`` are the variables that exist so far."""

    draw: st.DrawFn
    rows: int
    cols: int
    inputs: Sequence[tuple[str, int, int]]
    lines: list[str] = field(default_factory=list)
    indent: int = 1
    shown: list[Var] = field(default_factory=list)
    count: int = 0

    def pick(self, options: Sequence[str]) -> str:
        return self.draw(st.sampled_from(options))

    def line(self, text: str) -> None:
        self.lines.append("    " * self.indent + text)

    def let(self, text: str, dtype: str, axes: str) -> Var:
        var = Var(f"v{self.count}", dtype, axes)
        self.count += 1
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
        shape = {"": "()", "r": "(R,)", "c": "(C,)", "rc": "(R, C)"}[axes]
        value = self.draw(st.integers(-3 if dtype[0] == "i" else 0, 9))
        if not axes:
            return self.let(f"tl.full((1,), {value}, tl.{dtype}).max(0).to(tl.{dtype})", dtype, axes)
        return self.let(f"tl.full({shape}, {value}, tl.{dtype})", dtype, axes)

    def at(self, var: Var, axes: str) -> str:
        """``var`` as an operand of a block with these axes."""
        if axes == "rc" and var.axes in ("r", "c"):
            return f"{var.name}[:, None]" if var.axes == "r" else f"{var.name}[None, :]"
        return var.name

    def joined(self, a: Var, b: Var) -> str:
        """The axes of what is computed from both."""
        return "rc" if {"r", "c"} <= {*a.axes, *b.axes} else max(a.axes, b.axes, key=len)

    # Statements.

    def arithmetic(self) -> None:
        a = self.var()
        b = self.var(ints=a.is_int)
        axes = self.joined(a, b)
        x, y = self.at(a, axes), self.at(b, axes)
        if a.is_int:
            dtype = self.pick(INTS)
            x, y = f"{x}.to(tl.{dtype})", f"{y}.to(tl.{dtype})"
            op = self.pick(("+", "-", "*", "&", "|", "^", "//", "%", "<<", ">>", "min", "max"))
        else:
            dtype = self.pick(FLOATS)
            x, y = f"{x}.to(tl.{dtype})", f"{y}.to(tl.{dtype})"
            op = self.pick(("+", "-", "*", "/", "min", "max"))
        if op in ("<<", ">>"):
            y = f"({y} & 7)"
        text = f"tl.{op}imum({x}, {y})" if op in ("min", "max") else f"{x} {op} {y}"
        self.let(f"({text}).to(tl.{dtype})", dtype, axes)

    def unary(self) -> None:
        a = self.var()
        dtype = a.dtype if a.dtype != "int1" else "int32"
        x = f"{a.name}.to(tl.{dtype})"
        text = self.pick(
            (f"-{x}", f"tl.abs({x})", f"{x} * {x}", f"~{x}" if a.is_int else f"tl.sqrt_rn({x}.to(tl.float32))")
        )
        self.let(f"({text}).to(tl.{dtype})", dtype, a.axes)

    def cast(self) -> None:
        a = self.var()
        dtype = self.pick((*INTS, *FLOATS))
        self.let(f"{a.name}.to(tl.{dtype})", dtype, a.axes)

    def compare(self) -> None:
        a = self.var()
        b = self.var(ints=a.is_int)
        axes = self.joined(a, b)
        op = self.pick(("<", "<=", ">", ">=", "==", "!="))
        self.let(f"{self.at(a, axes)} {op} {self.at(b, axes)}", "int1", axes)

    def where(self) -> None:
        a = self.var()
        b = self.var(ints=a.is_int)
        c = self.var(ints=True)
        axes = self.joined(a, b)
        axes = self.joined(Var("", "", axes), c)
        dtype = self.pick(INTS if a.is_int else FLOATS)
        x, y = (f"{self.at(each, axes)}.to(tl.{dtype})" for each in (a, b))
        self.let(f"tl.where({self.at(c, axes)} > 0, {x}, {y})", dtype, axes)

    def reduce(self) -> None:
        a = self.var(axes="rc") if self.draw(st.booleans()) else self.var(axes=self.pick(("r", "c")))
        axis = self.draw(st.integers(0, len(a.axes) - 1))
        axes = a.axes[:axis] + a.axes[axis + 1 :]
        how = self.pick(("max", "min", "sum", "xor_sum", "argmax") if a.is_int else ("max", "min", "sum", "argmin"))
        x = a.name
        if a.dtype == "int1":
            x = f"{x}.to(tl.int32)"
        if how == "sum" and not a.is_int:  # exact in any order
            x = f"{x}.to(tl.int8).to(tl.float32)"
        dtype = {"sum": "int64" if a.is_int else "float32", "argmax": "int32", "argmin": "int32"}.get(how, a.dtype)
        dtype = "int32" if dtype == "int1" else dtype
        self.let(f"tl.{how}({x}, axis={axis}).to(tl.{dtype})", dtype, axes)

    def scan(self) -> None:
        a = self.var(axes=self.pick(("r", "rc")))
        x = f"{a.name}.to(tl.int8).to(tl.{'int32' if a.is_int else 'float32'})"
        text = self.pick(("tl.cumsum({}, axis=0)", "tl.sort({})", "tl.flip({})"))
        dtype = "int32" if a.is_int else "float32"
        self.let(f"({text.format(x)}).to(tl.{dtype})", dtype, a.axes)

    def dot(self) -> None:
        if min(self.rows, self.cols) < 16:
            return self.reduce()
        a, b = self.var(axes="rc"), self.var(axes="rc")
        dtype = self.pick(("float16", "float32", "bfloat16"))
        x, y = (f"({each.name}.to(tl.int8) & 7).to(tl.{dtype})" for each in (a, b))
        self.let(f"tl.sum(tl.dot({x}, tl.trans({y})), axis=1)", "float32", "r")

    def offsets(self, count: int) -> tuple[str, str, str]:
        """Offsets into so many elements, what keeps them there, and the axes of both."""
        kind = self.pick(("affine", "affine", "gather", "wrapping", "careless"))
        var = self.var(ints=True)
        if kind == "affine":
            rows, cols, first = (self.draw(st.integers(-2, 40)) for _ in range(3))
            text = f"({first} + p * {self.cols} + r[:, None] * {rows} + c[None, :] * {cols})"
            return text, f"({text} >= 0) & ({text} < {count})", "rc"
        if kind == "gather":
            return f"(({var.name}.to(tl.int32) & 1023) % {count})", "", var.axes
        if kind == "wrapping":
            text = f"({var.name}.to(tl.int32) * s)"
            return text, f"({text} >= 0) & ({text} < {count})", var.axes
        return f"({var.name}.to(tl.int32) % {count})", "", var.axes  # may be negative

    def load(self) -> None:
        number = self.draw(st.integers(0, len(self.inputs) - 1))
        dtype, count, _ = self.inputs[number]
        text, mask, axes = self.offsets(count)
        if mask or (axes and self.draw(st.booleans())):
            mask = mask or f"{text} > 3"
            other = self.pick(("", ", other=0", ", other=1"))
            filled = f"tl.load(P{number} + {text}, mask={mask}{other or ', other=0'})"
        else:
            filled = f"tl.load(P{number} + {text})"
        self.let(filled, dtype, axes)

    def block(self, statements: int) -> None:
        kinds = (self.arithmetic, self.arithmetic, self.unary, self.cast, self.compare, self.where, self.load)
        rarer = (self.reduce, self.scan, self.dot, self.control, self.load)
        for _ in range(statements):
            kind = self.draw(st.sampled_from((*kinds, *rarer) if self.indent < 3 else kinds))
            kind()

    def control(self) -> None:
        """A loop or a branch that gives a variable that exists another value of its type."""
        carried = [self.var() for _ in range(self.draw(st.integers(1, 2)))]
        carried = list(dict.fromkeys(each for each in carried if each.dtype != "int1")) or [self.literal(True, "rc")]
        head = self.pick(("for", "for", "if", "while"))
        limit = self.var(ints=True, axes="")
        if head == "while":
            turns = self.let(f"({limit.name}.to(tl.int32) & 7)", "int32", "")
            self.line(f"while {turns.name} > 0:")
        elif head == "for":
            bound = self.pick(("4", "n % 5", f"({limit.name}.to(tl.int32) & 3)"))
            self.line(f"for j{self.indent} in range({self.pick(('0', '1'))}, {bound}):")
        else:
            self.line(f"if {limit.name} > {self.draw(st.integers(-1, 4))}:")
        outside = len(self.shown)
        self.indent += 1
        if head == "for":
            self.let(f"j{self.indent - 1} + 0", "int32", "")
        self.block(self.draw(st.integers(1, 3)))
        for each in carried:
            value = self.shown[-1]
            if self.joined(each, value) != each.axes:
                value = self.var(axes=self.draw(st.sampled_from(("", each.axes))))
            x = f"{self.at(value, each.axes)}.to(tl.{each.dtype})"
            self.line(f"{each.name} = ({each.name} + {x}).to(tl.{each.dtype})")
        if head == "while":
            self.line(f"{turns.name} -= 1")
        self.indent -= 1
        del self.shown[outside:]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """A kernel of some ten statements, with loads in every form, in loops and branches, and what it is given."""
    rows, cols = (draw(st.sampled_from((1, 2, 4, 8, 16, 32))) for _ in range(2))
    wide = [*INTS, *FLOATS]
    inputs = tuple(
        (draw(st.sampled_from(wide)), draw(st.integers(1, 300)), draw(st.integers(0, 3)))
        for _ in range(draw(st.integers(1, 3)))
    )
    writer = Writer(draw, rows, cols, inputs)
    writer.shown += [Var("p", "int32", ""), Var("n", "int32", ""), Var("s", "int32", ""), Var("f", "float32", "")]
    writer.shown += [Var("r", "int32", "r"), Var("c", "int32", "c")]
    writer.load()
    writer.block(draw(st.integers(2, 10)))
    outputs = []
    sizes = {"": 1, "r": rows, "c": cols, "rc": rows * cols}
    for var in dict.fromkeys(reversed(writer.shown[6:])):
        if len(outputs) == 4:
            break
        size = sizes[var.axes]
        lane = {"": "0", "r": "r", "c": "c", "rc": "(r[:, None] * C + c[None, :])"}[var.axes]
        mask = f", mask={lane} < cut" if var.axes and draw(st.booleans()) else ""
        writer.line(f"tl.store(O{len(outputs)} + p * {size} + {lane}, {var.name}{mask})")
        outputs.append((var.dtype, size))
    names = [f"P{k}" for k in range(len(inputs))] + [f"O{k}" for k in range(len(outputs))]
    head = [
        "@triton.jit",
        f"def kernel({', '.join(names)}, n, s, f, cut, R: tl.constexpr, C: tl.constexpr):",
        "    p = tl.program_id(0) + tl.program_id(1) * tl.num_programs(0)",
        "    r = tl.arange(0, R)",
        "    c = tl.arange(0, C)",
    ]
    grid = (draw(st.integers(1, 5)), draw(st.integers(1, 3)))
    shared = None
    if outputs and draw(st.integers(0, 3)) == 0:  # one program: what several would read of it rests on their order
        grid = (1, 1)
        shared = (draw(st.integers(0, len(inputs) - 1)), draw(st.integers(0, 40)))
    return Case(
        source="\n".join([*head, *writer.lines]) + "\n",
        grid=grid,
        rows=rows,
        cols=cols,
        inputs=inputs,
        outputs=tuple(outputs),
        scalars=(draw(st.integers(1, 40)), draw(st.sampled_from((1, 3, -1, 2**22 + 3, 2**31 - 1)))),
        real=draw(st.sampled_from((0.5, -1.75, 1e30, 0.0))),
        seed=draw(st.integers(0, 2**32 - 1)),
        cut=draw(st.integers(0, rows * cols)),
        shared=shared,
    )


class Arguments:
    """The tensors of a case, whose memory is filled anew before each launch: addresses in messages stay the same."""

    def __init__(self, case: Case) -> None:
        self.case = case
        numbers = np.random.default_rng(case.seed)
        programs = case.grid[0] * case.grid[1]
        self._storages: list[torch.Tensor] = []
        self.tensors: list[torch.Tensor] = []
        for dtype, count, before in case.inputs:
            self._storages.append(_filled(numbers, dtype, count + before))
            self.tensors.append(self._storages[-1][before:])
        for number, (dtype, count) in enumerate(case.outputs):
            kind = _TORCH[dtype]
            room = self._room(kind, count * programs) if number == 0 else None
            if room is None:
                self._storages.append(torch.zeros(count * programs, dtype=kind))
            self.tensors.append(self._storages[-1] if room is None else room)
        self._saved = [storage.clone() for storage in self._storages]

    def _room(self, kind: torch.dtype, count: int) -> torch.Tensor | None:
        """A tensor in the storage of the input that the case names, if it is long enough."""
        if self.case.shared is None:
            return None
        number, first = self.case.shared
        raw = self._storages[number].view(torch.uint8)[first // kind.itemsize * kind.itemsize :]
        fits = len(raw) >= count * kind.itemsize
        return raw[: count * kind.itemsize].view(kind) if fits else None

    def anew(self) -> list[torch.Tensor]:
        """The tensors as they were at the start."""
        for storage, saved in zip(self._storages, self._saved, strict=True):
            storage.copy_(saved)
        return self.tensors

    def held(self) -> Iterator[np.ndarray]:
        """What all memory holds now, NaN in one form."""
        for storage in self._storages:
            if storage.is_floating_point():
                storage = torch.where(storage.isnan(), torch.full_like(storage, torch.nan), storage)
            yield storage.view(torch.uint8).numpy().copy()


def _filled(numbers: np.random.Generator, dtype: str, count: int) -> torch.Tensor:
    """Small numbers, and the ends of the type among them."""
    kind = _TORCH[dtype]
    small = torch.from_numpy(numbers.integers(-20, 20, count) / (1 if dtype in INTS else 4))
    filled = small.abs().to(kind) if dtype[0] == "u" else small.to(kind)
    where = torch.from_numpy(numbers.random(count) < 0.1)
    if dtype in INTS:
        limits = torch.iinfo(kind)
        special = torch.tensor([limits.min, limits.max, 0, 1], dtype=torch.int64).to(kind)
    else:
        info = torch.finfo(kind)
        special = torch.tensor([torch.nan, torch.inf, -torch.inf, -0.0, info.tiny / 4, info.max], dtype=torch.float64)
        special = special.to(kind)
    chosen = special[torch.from_numpy(numbers.integers(0, len(special), count))]
    return torch.where(where, chosen, filled)
