"""Executes schedules: on NumPy arrays, and as a list of visits."""

from __future__ import annotations

import keyword
import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import islpy as isl
import numpy as np
from numpy.typing import NDArray

from triton_lab.localization import _
from triton_lab.polyhedral.core.isl_effort import answered
from triton_lab.polyhedral.core.loop_nest import (
    CALLS,
    MATHEMATICS,
    Assign,
    Binary,
    Call,
    Compare,
    Expr,
    For,
    Load,
    Logic,
    Name,
    Node,
    Number,
    Unary,
    walk,
)
from triton_lab.polyhedral.core.nest_printer import PythonPrinter, compiled
from triton_lab.polyhedral.core.schedule_visits import Ordered, Visits
from triton_lab.polyhedral.core.static_part import StaticPart
from triton_lab.polyhedral.frontends.from_python import shape_parameter
from triton_lab.polyhedral.scheduled_program import program, with_bodies


class _Executable(PythonPrinter):
    """Prints Python that runs: scalars are arrays without dimensions, and a vectorized loop is one NumPy operation."""

    def __init__(self, language: str) -> None:
        self.language = language
        self.vector: str | None = None

    def lines(self, node: Node, indent: int) -> list[str]:
        if isinstance(node, For) and node.mark == "vectorize" and all(isinstance(n, Assign) for n in node.body):
            space = "    " * indent
            head = f"{space}{_safe(node.iterator)} = {self.range(node, '_arange')}"
            self.vector = node.iterator
            body = self.statement_lines(node.body, indent)
            self.vector = None
            return [head, *body]
        if isinstance(node, Assign) and node.target.array == CALLS:
            return [f"{'    ' * indent}{self.text(node.value)}"]
        if isinstance(node, Assign) and node.op:
            # On a vector's fancy indices `+=` would do the same; on scalars, this keeps the array's dtype.
            target = self.load(node.target)
            return [f"{'    ' * indent}{target} = {self.text(Binary(node.op, node.target, node.value))}"]
        return super().lines(node, indent)

    @property
    def functions(self) -> Mapping[str, str]:
        return {"/": "_c_divide", "%": "_c_remainder"} if self.language == "c" else {}

    def header(self, node: For) -> str:
        return f"for {_safe(node.iterator)} in {self.range(node)}:"

    def load(self, load: Load) -> str:
        return f"{_safe(load.array)}[{', '.join(self.text(i) for i in load.indices) or '()'}]"

    def pieces(self, expression: Expr) -> tuple[str, int]:
        if isinstance(expression, Name):
            return _safe(expression.id), 9
        if isinstance(expression, Unary) and expression.op == "-":
            expression = Unary("-", self.as_number(expression.operand))
        return super().pieces(expression)

    def as_number(self, expression: Expr) -> Expr:
        """``expression`` where a number is wanted: a condition counts as 0 or 1 (two truths of NumPy add up to one)."""
        if not (isinstance(expression, Compare | Logic) or (isinstance(expression, Unary) and expression.op == "not")):
            return expression
        if isinstance(expression, Logic) and self.language == "c":  # in Python, the value is one of its operands
            expression = Compare("!=", expression, Number(0))
        return Call("number", (expression,))

    def call(self, call: Call) -> str:
        return f"_{call.function}({', '.join(self.text(a) for a in call.arguments)})"


# The names that the executed text itself uses.
_OWN_WORDS = frozenset({"range", "min", "max"})


def _safe(name: str) -> str:
    return f"{name}_" if keyword.iskeyword(name) or name in _OWN_WORDS else name


def _c_divide(left: Any, right: Any) -> Any:
    """``left / right`` by C's rules: integers truncate."""
    if not np.issubdtype(np.result_type(left, right), np.integer):
        return left / right
    quotient = abs(left) // abs(right)
    return np.where((left < 0) != (right < 0), -quotient, quotient)[()]


def _c_remainder(left: Any, right: Any) -> Any:
    if not np.issubdtype(np.result_type(left, right), np.integer):
        return np.fmod(left, right)
    return left - right * _c_divide(left, right)


def _number(value: Any) -> Any:
    """A boolean as an integer; for a vector, an array."""
    if np.result_type(value) != np.bool_:
        return value
    return value.astype(np.int64) if isinstance(value, np.ndarray) else int(value)


def _integer(kind: str, value: Any) -> Any:
    """``value`` as C casts it; with short types, C computes as with int."""
    cast = np.asarray(value).astype(kind)
    return cast[()] if kind in ("uint32", "uint64") else cast.astype(np.int64)[()]


def _extreme(function: Callable[[Any, Any], Any], plain: Callable[..., Any]) -> Callable[..., Any]:
    def call(*values: Any) -> Any:
        if all(type(v) is int for v in values):
            return plain(values)
        total = values[0]
        for value in values[1:]:
            total = function(total, value)
        return total

    return call


# NumPy's names, where they differ.
_NUMPY = {
    "asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh",
    "atan2": "arctan2",
}  # fmt: skip

_FUNCTIONS: dict[str, Any] = {
    "_number": _number,
    "_c_divide": _c_divide, "_c_remainder": _c_remainder, "_arange": np.arange, "_min": _extreme(np.minimum, min),
    "_max": _extreme(np.maximum, max), "_abs": abs, "_floord": lambda a, b: a // b, "_ceild": lambda a, b: -(-a // b),
    "_pow": lambda a, b: np.power(1.0 * a, b), "_erf": np.vectorize(math.erf, otypes=[np.float64]),
    **{f"_{name}": getattr(np, _NUMPY.get(name, name)) for name in MATHEMATICS if name not in ("pow", "erf")},
    "_float32": np.float32, "_float64": np.float64, "_int32": np.int32, "_int64": np.int64,
    **{f"_{kind}": partial(_integer, kind) for kind in ("int8", "int16", "uint8", "uint16", "uint32", "uint64")},
}  # fmt: skip


def run(schedule: Ordered, arrays: Mapping[str, Any], values: Mapping[str, int]) -> dict[str, NDArray[Any]]:
    """See `Schedule.run`."""
    scop = schedule.scop
    bound = scop.bind(**known_parameters(scop, arrays, values))
    functions = _given_functions(scop, arrays)
    memory: dict[str, NDArray[Any]] = {}
    written = {a.array for a in scop.accesses if a.kind == "write"}
    for array in scop.arrays:
        if array.name in arrays:
            memory[array.name] = np.array(arrays[array.name])
        elif array.local or (array.ndim == 0 and array.name in written):
            shape = least_shape(bound, array.name)
            memory[array.name] = np.zeros(shape, dtype=array.dtype or np.float64)
        else:
            raise ValueError(_("the program uses the array {name}. Pass a value for it").format(name=array.name))
    _refuse_endless(bound)
    nodes = with_bodies(schedule, program(schedule, bound.values))
    _check_bounds(bound, memory)
    text = "\n".join(_Executable(scop.language).statement_lines(nodes))
    names = {_safe(k): v for k, v in {**bound.values, **memory}.items()}
    exec(compiled(text), {**_FUNCTIONS, **functions, **names})
    return {name: memory[name] for name in memory if not _is_local(scop, name) and name != CALLS}


def _given_functions(scop: StaticPart, arrays: Mapping[str, Any]) -> dict[str, Callable[..., Any]]:
    """The functions that the program only declares, from ``arrays``."""
    called = {
        part.function
        for statement in scop.statements
        if statement.body is not None
        for expression in (statement.body.value, statement.body.guard)
        for part in (walk(expression) if expression is not None else ())
        if isinstance(part, Call)
    }
    unknown = sorted(name for name in called if f"_{name}" not in _FUNCTIONS)
    for name in unknown:
        if not callable(arrays.get(name)):
            raise ValueError(_("the program calls {name}. Pass a function for it").format(name=name))
    return {f"_{name}": arrays[name] for name in unknown}


def known_parameters(scop: StaticPart, arrays: Mapping[str, Any], values: Mapping[str, int]) -> dict[str, int]:
    """The scop's parameters: from ``values``, from the scop, from arrays' shapes, or from ``arrays`` by their names."""
    known = {**_shapes(scop.parameters, arrays), **scop.values, **values}
    known |= {p: int(arrays[p]) for p in scop.parameters if p in arrays and p not in values}
    missing = [p for p in scop.parameters if p not in known]
    if missing:
        raise ValueError(_("no value for the parameter {missing}").format(missing=", ".join(missing)))
    return {p: known[p] for p in scop.parameters}


def _is_local(scop: StaticPart, name: str) -> bool:
    return any(a.local for a in scop.arrays if a.name == name)


def _shapes(parameters: tuple[str, ...], arrays: Mapping[str, Any]) -> dict[str, int]:
    """The parameters that are sizes of arrays."""
    sizes = {shape_parameter(n, k): s for n, a in arrays.items() for k, s in enumerate(np.shape(a))}
    return {p: sizes[p] for p in parameters if p in sizes}


def extent(scop: StaticPart, array: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The least and the greatest subscripts of ``array``, at the scop's values."""
    lows, highs = [], []
    for access in scop.accesses:
        if access.array != array:
            continue
        ends = answered(_("the range of {text}").format(text=access.text), partial(_ends, scop.fixed(access.relation)))
        if ends is not None:
            lows.append(ends[0])
            highs.append(ends[1])
    rank = next(a.ndim for a in scop.arrays if a.name == array)
    if not lows:
        return np.zeros(rank, np.int64), np.full(rank, -1, np.int64)
    return np.min(lows, axis=0).astype(np.int64), np.max(highs, axis=0).astype(np.int64)


def _ends(relation: isl.Map) -> tuple[list[int], list[int]] | None:
    reached = relation.range()
    if reached.is_empty():
        return None
    size = range(reached.dim(isl.dim_type.set))
    return [reached.dim_min_val(k).to_python() for k in size], [reached.dim_max_val(k).to_python() for k in size]


def least_shape(scop: StaticPart, array: str) -> tuple[int, ...]:
    """The smallest shape that holds every access, at the scop's values."""
    _, high = extent(scop, array)
    return tuple(int(h) + 1 for h in high)


def _refuse_endless(scop: StaticPart) -> None:
    """Raise ValueError for a statement with infinitely many instances, which only data ends."""
    for statement in scop.statements:
        if not scop.fixed(statement.domain.set).is_bounded():
            raise ValueError(
                _(
                    "{name} has no last instance, as only data ends its loop: it has dependences, but cannot be run"
                ).format(name=statement.name)
            )


def _check_bounds(scop: StaticPart, memory: Mapping[str, NDArray[Any]]) -> None:
    """Raise IndexError before anything runs: NumPy would wrap negative subscripts around."""
    for name, array in memory.items():
        low, high = extent(scop, name)
        if np.any(low < 0) or np.any(high >= array.shape):
            used = ", ".join(f"{a}..{b}" for a, b in zip(low.tolist(), high.tolist(), strict=True))
            raise IndexError(
                _("{name} has shape {shape}, but the program uses [{used}]").format(
                    name=name, shape=array.shape, used=used
                )
            )


def call_visits(schedule: Ordered, functions: Mapping[str, Callable[..., Any]]) -> None:
    """Call ``functions[statement](*instance)`` for every visit, in order, at the scop's values."""
    scop = schedule.scop
    missing = [p for p in scop.parameters if p not in scop.values]
    if missing:
        raise ValueError(
            _("give a value for {missing}: .bind({missing2}=8)").format(missing=", ".join(missing), missing2=missing[0])
        )
    _refuse_endless(scop)
    text = "\n".join(_Executable(scop.language).statement_lines(program(schedule, scop.values)))
    names = {_safe(p): scop.values[p] for p in scop.parameters}
    exec(compiled(text), {**_FUNCTIONS, **names, **functions})


def visits(schedule: Ordered) -> Visits:
    """See `Schedule.order`."""
    names = tuple(s.name for s in schedule.scop.statements)
    width = max(len(s.iterators) for s in schedule.scop.statements)
    found: list[tuple[int, ...]] = []

    def record(position: int, size: int) -> Callable[..., None]:
        padding = (0,) * (width - size)
        return lambda *point: found.append((position, *point, *padding))

    functions = {s.name: record(k, len(s.iterators)) for k, s in enumerate(schedule.scop.statements)}
    call_visits(schedule, functions)
    table = np.array(found, dtype=np.int64).reshape(len(found), width + 1)
    return Visits(names, table[:, 0].astype(np.int32), table[:, 1:])
