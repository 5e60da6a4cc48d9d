"""The graph in two forms: linked values of the user's program, and numbered plain data.

Tracing builds `LazyValue`s: promises of tensors, linked to their operands. A `StepTrace` is the same, numbered in
execution order, without buffers or Python objects: two programs that do the same have traces of equal form. A `Graph`
has its operations as objects. All are immutable. There are no in-place operations: writing to a tensor makes a new
value, and writing through a view is an `update` of the base (`operations/handle` translates them).
"""

from __future__ import annotations

import functools
import linecache
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import torch

from triton_lab import messages
from triton_lab.lazy.buffer import ValueBuffer
from triton_lab.lazy.index_maps import Map
from triton_lab.localization import _


@dataclass(frozen=True)
class Constant:
    """A Python number as text: 1, 1.0 and True are equal in Python but not here, nor are 0.0 and -0.0."""

    text: str

    def number(self) -> float | int | bool:
        """The number that the text represents."""
        if self.text in ("True", "False"):
            return self.text == "True"
        try:
            return int(self.text)
        except ValueError:
            return float(self.text)

    @classmethod
    @functools.lru_cache(maxsize=4096)
    def of(cls, text: str) -> Constant:
        """The constant of this text, once: the comparison of traces is then one of identities."""
        return cls(text)


@dataclass(frozen=True)
class Dims:
    """The dimensions of its operand that a reduction reduces."""

    dims: tuple[int, ...]

    def __str__(self) -> str:
        return f"dims {self.dims}"


@dataclass(frozen=True)
class JoinedAxis:
    """The dimension along which "cat" joins its operands, "cumsum" sums, or "gather" looks up."""

    dim: int

    def __str__(self) -> str:
        return f"dim {self.dim}"


Attribute = Map | Constant | Dims | JoinedAxis | None


INSIDE = ("triton_lab.lazy", "torch", "numpy", "<string>")  # calls from these modules are not the user's


@dataclass(frozen=True)
class ProgramLine:
    """A line of a program."""

    file: str
    line: int

    def __str__(self) -> str:
        text = linecache.getline(self.file, self.line).strip()
        if messages.cell(self.file):  # a cell's file name has no meaning for the user
            place = messages.place(self.file, self.line)
        else:
            place = (
                _("line {number}").format(number=self.line)
                if self.file.startswith("<")
                else f"{Path(self.file).name}:{self.line}"
            )
        return place + (f": {text}" if text else "")


@functools.lru_cache(maxsize=1024)
def _is_inside(module: object) -> bool:
    return any(str(module) == room or str(module).startswith(room + ".") for room in INSIDE)


def here() -> ProgramLine | None:
    """The user's line that called into this package; None without one."""
    frame = sys._getframe(1)
    while frame is not None:
        if not _is_inside(frame.f_globals.get("__name__", "")):
            return ProgramLine(frame.f_code.co_filename, frame.f_lineno)
        frame = frame.f_back  # type: ignore[assignment]  # None above the outermost
    return None


@dataclass(slots=True, eq=False)  # never changed, though not frozen: that would double the time of making one
class LazyValue:
    """A promise of a tensor. `buffer` is set if the value is already computed (op "input").

    `origin` is the line of the user's program that made it.
    """

    op: str
    operands: tuple[LazyValue, ...]
    shape: tuple[int, ...]
    dtype: torch.dtype
    attribute: Attribute = None
    buffer: ValueBuffer | None = None
    origin: ProgramLine | None = field(default_factory=here)


def kept(buffer: ValueBuffer, shape: tuple[int, ...]) -> LazyValue:
    """The value that a buffer holds."""
    return LazyValue("input", (), shape, buffer.dtype, buffer=buffer, origin=None)


@dataclass(frozen=True)
class GraphOp:
    """One numbered operation; `operands` are the numbers of earlier ones. Its source line does not affect equality."""

    name: str
    operands: tuple[int, ...]
    shape: tuple[int, ...]
    dtype: torch.dtype
    attribute: Attribute = None
    origin: ProgramLine | None = field(default=None, compare=False, repr=False)

    @property
    def numel(self) -> int:
        size = 1
        for extent in self.shape:
            size *= extent
        return size

    def __str__(self) -> str:
        operands = [f"%{number}" for number in self.operands]
        if isinstance(self.attribute, Constant):
            operands.append(self.attribute.text)
        elif isinstance(self.attribute, Dims | JoinedAxis):
            operands.append(str(self.attribute))
        elif isinstance(self.attribute, Map):
            operands.append(f"[{self.attribute}]")
        return f"{self.name}({', '.join(operands)}): {short(self.dtype)} {self.shape}"


@dataclass(frozen=True)
class Graph:
    """Operations in execution order, and the numbers of those whose results outlive the step."""

    ops: tuple[GraphOp, ...]
    outputs: tuple[int, ...]

    @functools.cached_property
    def inputs(self) -> tuple[int, ...]:
        """The numbers of the operations that represent buffers, in order: input 0, input 1, ..."""
        return tuple(number for number, op in enumerate(self.ops) if op.name == "input")

    def __str__(self) -> str:
        lines = [f"%{number} = {op}" for number, op in enumerate(self.ops)]
        return "\n".join([*lines, "return " + ", ".join(f"%{number}" for number in self.outputs)])


def short(dtype: torch.dtype) -> str:
    """'float32' for torch.float32."""
    return str(dtype).removeprefix("torch.")


# An operation of a trace: its name, operands, shape, dtype and attribute.
TracedOp = tuple[str, tuple[int, ...], tuple[int, ...], torch.dtype, Attribute]


@dataclass(frozen=True, slots=True)
class StepTrace:
    """What a step computes, as recorded: operations in execution order, and the numbers of the step's results.

    `form` is equal, and has an equal hash, for programs that do the same; the source lines are in `origins`.
    """

    form: tuple[tuple[TracedOp, ...], tuple[int, ...]]
    origins: tuple[ProgramLine | None, ...]

    def graph(self) -> Graph:
        ops, outputs = self.form
        return Graph(tuple(GraphOp(*op, origin) for op, origin in zip(ops, self.origins, strict=True)), outputs)


def number(roots: Iterable[LazyValue]) -> tuple[StepTrace, tuple[ValueBuffer, ...]]:
    """The trace that computes `roots`, and the buffer of each of its inputs.

    It does not recurse: a thousand updates in a row make a trace of depth a thousand.
    """
    ops: list[TracedOp] = []
    origins: list[ProgramLine | None] = []
    buffers: list[ValueBuffer] = []
    numbers: dict[int, int] = {}
    input_of: dict[int, int] = {}
    outputs: list[int] = []

    def place(value: LazyValue) -> int:
        origin = value.origin
        if value.buffer is None:
            operands = tuple([numbers[id(operand)] for operand in value.operands])
            ops.append((value.op, operands, value.shape, value.dtype, value.attribute))
        elif value.buffer.number not in input_of:
            input_of[value.buffer.number] = len(ops)
            buffers.append(value.buffer)
            ops.append(("input", (), value.shape, value.dtype, None))
            origin = None
        else:  # a second tensor on the same buffer, perhaps with another shape
            first = input_of[value.buffer.number]
            if ops[first][2] == value.shape:
                return first
            ops.append(("view", (first,), value.shape, value.dtype, Map.whole(value.shape)))
        origins.append(origin)
        return len(ops) - 1

    for root in roots:
        stack = [root]
        while stack:
            value = stack[-1]
            if id(value) in numbers:
                stack.pop()
                continue
            before = len(stack)
            for operand in reversed(value.operands):
                if id(operand) not in numbers:
                    stack.append(operand)
            if len(stack) == before:
                stack.pop()
                numbers[id(value)] = place(value)
        outputs.append(numbers[id(root)])
    return StepTrace((tuple(ops), tuple(outputs)), tuple(origins)), tuple(buffers)
