"""Values as data: plain values of answers, tensors, orders of loops. Each is checked when it is read.

Reading a malformed value raises Python's own errors (`MALFORMED`).
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from triton_lab.course.answer_fault import AnswerFault
from triton_lab.course.attempt import Placed, bytes_of

if TYPE_CHECKING:
    import torch

    from triton_lab.polyhedral import Schedule

MALFORMED = (TypeError, ValueError, LookupError, AttributeError, RuntimeError, RecursionError, OverflowError)
TEXT = 4000  # characters of a text from the process
LINES = 60
DEPTH = 40
_ITEMS = 10_000
_ADDRESSES = 1 << 62
DTYPES = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64")


class OpaqueValue:
    """Stands for a value that is no plain data: it has the same repr, and equals nothing."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


def encoded(value: Any, depth: int = DEPTH) -> Any:
    """A value as JSON; a value that is no plain data becomes its text."""
    import torch

    from triton_lab.compiled.layouts.layout import Layout
    from triton_lab.compiled.layouts.layout_kind import LayoutKind

    if isinstance(value, (np.generic, torch.Tensor)) and getattr(value, "ndim", 1) == 0:
        value = value.item()
    if value is None or type(value) in (bool, int, float, str):
        return value if type(value) is not int or abs(value) < 1 << 200 else _opaque(value)
    if value is ...:
        return {"dots": True}
    if depth and type(value) in (tuple, list) and len(value) <= _ITEMS:
        return {type(value).__name__: [encoded(one, depth - 1) for one in value]}
    if depth and type(value) is dict and len(value) <= _ITEMS:
        return {"dict": [[encoded(one, depth - 1) for one in pair] for pair in value.items()]}
    if type(value) is Layout:
        return {"layout": [encoded(value.kind, depth - 1), list(value.shape), value.bits]}
    if isinstance(value, LayoutKind) and depth:
        fields = {one.name: getattr(value, one.name) for one in dataclasses.fields(value)}  # type: ignore[arg-type]
        return {"kind": [value.mnemonic, {name: encoded(one, depth - 1) for name, one in fields.items()}]}
    if isinstance(value, (np.ndarray, torch.Tensor)):
        return encoded(value.tolist(), depth)
    return _opaque(value)


def _opaque(value: Any) -> dict[str, str]:
    try:
        return {"opaque": repr(value)[:TEXT]}
    except Exception:  # a class of the answer's own may raise anything
        return {"opaque": f"<{type(value).__name__}>"}


def decoded(given: Any, depth: int = DEPTH) -> Any:
    """The decoded value. Raises one of MALFORMED."""
    if given is None or type(given) in (bool, int, float, str):
        return given
    from triton_lab.compiled.layouts.layout_parser import build

    ((kind, held),) = given.items()
    if depth <= 0:
        raise ValueError("it is too deep")
    match kind:
        case "dots":
            return ...
        case "opaque":
            return OpaqueValue(text(held))
        case "tuple" | "list":
            found = [decoded(one, depth - 1) for one in held]
            return tuple(found) if kind == "tuple" else found
        case "dict":
            return {decoded(name, depth - 1): decoded(one, depth - 1) for name, one in held}
        case "kind":
            mnemonic, fields = held
            return build(mnemonic, {name: decoded(one, depth - 1) for name, one in fields.items()})
        case "layout":
            inner, shape, bits = held
            return _layout(decoded(inner, depth - 1), tuple(shape), bits)
    raise ValueError(f"there is no kind {kind!r:.40}")


def _layout(kind: Any, shape: tuple[int, ...], bits: int) -> Any:
    from triton_lab.compiled.layouts.layout import Layout
    from triton_lab.compiled.layouts.layout_kind import LayoutKind

    plain = isinstance(kind, LayoutKind) and type(bits) is int and all(type(size) is int and size > 0 for size in shape)
    if not plain or math.prod(shape) > 1 << 20:
        raise ValueError("it is no layout")
    found = Layout(kind, shape, bits)
    if found.linear.shape != shape:
        raise ValueError("it is no layout of its shape")
    return found


def text(given: Any) -> str:
    """A text of bounded length; else raises."""
    if type(given) is not str:
        raise TypeError("it is no text")
    return given[:TEXT]


def told_fault(fault: AnswerFault) -> dict[str, Any]:
    """A fault as data, without its pictures."""
    return {
        "message": fault.message[:TEXT],
        "on": fault.on[:TEXT],
        "lines": [one[:TEXT] for one in fault.lines[:LINES]],
        "untouched": fault.untouched,
    }


def fault_of(given: Any) -> AnswerFault:
    """The fault that the process reports of its answer."""
    lines = tuple(text(one) for one in given["lines"][:LINES])
    return AnswerFault(text(given["message"]), text(given["on"]), lines=lines, untouched=given["untouched"] is True)


def told_tensor(placed: Placed, pieces: list[bytes]) -> dict[str, Any]:
    """A tensor as data; its whole storage is added to ``pieces``."""
    tensor = placed.tensor
    pieces.append(bytes_of(tensor).tobytes())
    return {
        "piece": len(pieces) - 1,
        "start": placed.start,
        "dtype": str(tensor.dtype).removeprefix("torch."),
        "shape": list(tensor.shape),
        "strides": list(tensor.stride()),
        "offset": tensor.storage_offset(),
    }


def tensor_of(given: Any, pieces: Sequence[bytes], like: torch.Tensor | None = None) -> Placed:
    """The tensor in memory of this process; it must have the kind, shape and place in storage of ``like``, if given."""
    import torch

    data = pieces[whole(given["piece"], len(pieces))]
    start = whole(given["start"], _ADDRESSES)
    if like is None:
        if given["dtype"] not in DTYPES:
            raise ValueError("a dtype that no exercise has")
        dtype = getattr(torch, given["dtype"])
        shape, strides = ([whole(one, 1 << 40) for one in given[name]] for name in ("shape", "strides"))
        offset = whole(given["offset"], 1 << 40)
        last = offset + sum((size - 1) * step for size, step in zip(shape, strides, strict=True))
        if len(shape) > 16 or (0 not in shape and (last + 1) * dtype.itemsize > len(data)):
            raise ValueError("a tensor that leaves its storage")
        if 0 in shape:
            return Placed(torch.empty(shape, dtype=dtype), start)
    else:
        dtype, shape, strides, offset = like.dtype, list(like.shape), list(like.stride()), int(like.storage_offset())
        if len(data) != like.untyped_storage().nbytes():
            raise ValueError("a storage of another size")
    if not len(data):
        return Placed(torch.empty(shape, dtype=dtype), start)
    raw = torch.empty(len(data) // dtype.itemsize * dtype.itemsize, dtype=torch.uint8)
    raw.copy_(torch.frombuffer(bytearray(data), dtype=torch.uint8)[: raw.numel()])
    return Placed(raw.view(dtype).as_strided(shape, strides, offset), start)


def whole(given: Any, stop: int) -> int:
    """An integer from 0 up to ``stop``, exclusive; else raises."""
    if type(given) is not int or not 0 <= given < stop:
        raise ValueError("a number that cannot be right")
    return given


# --- Orders of loops -------------------------------------------------------------------------------------


def told_tree(tree: Any) -> Any:
    """The tree of loops of a schedule, as data."""
    from triton_lab.polyhedral.core.loop_tree import Leaf, Loop

    if isinstance(tree, Leaf):
        return {"leaf": list(tree.statements)}
    if isinstance(tree, Loop):
        times = {name: _told_affine(one) for name, one in tree.expressions.items()}
        return {"loop": [tree.name, times, told_tree(tree.body), tree.mark]}
    return {"sequence": [told_tree(one) for one in tree.children]}


def _told_affine(one: Any) -> Any:
    terms = [
        [symbol if isinstance(symbol, str) else [_told_affine(symbol.numerator), symbol.divisor], factor]
        for symbol, factor in one.terms
    ]
    return [terms, one.constant]


def schedule_of(given: Schedule, tree: Any, steps: Any) -> Schedule:
    """The order of ``given``'s instances that a tree describes.

    Raises ValueError unless each statement stands in it once, and no two of its instances have the same time.
    """
    from triton_lab.polyhedral import Schedule

    made = Schedule(given.scop, _tree(tree, given, DEPTH), tuple(text(one) for one in steps[:LINES]))
    _check_order(made)
    return made


def _tree(given: Any, of: Schedule, depth: int) -> Any:
    from triton_lab.polyhedral.core.loop_tree import Leaf, Loop, Sequence

    if depth <= 0:
        raise ValueError("loops that are too deep")
    ((kind, held),) = given.items()
    if kind == "leaf":
        return Leaf(tuple(of.scop[text(name)].name for name in held))
    if kind == "sequence":
        return Sequence(tuple(_tree(one, of, depth - 1) for one in held))
    name, times, body, mark = held
    if (
        kind != "loop"
        or not re.fullmatch(r"[A-Za-z_]\w{0,60}", name)
        or mark not in ("", "parallel", "vectorize", "unroll")
    ):
        raise ValueError("a loop that is none")
    known = {one: {*of.scop[one].iterators, *of.scop.parameters} for one in times}
    return Loop(
        name, {one: _affine(time, known[one], depth) for one, time in times.items()}, _tree(body, of, depth - 1), mark
    )


def _affine(given: Any, names: set[str], depth: int) -> Any:
    from triton_lab.polyhedral.core.affine_expr import AffineExpr, Quotient

    terms, constant = given
    found: dict[Any, int] = {}
    for symbol, factor in terms:
        if isinstance(symbol, str):
            if symbol not in names:
                raise ValueError("a name that no statement has")
        elif depth <= 0:
            raise ValueError("a quotient that is too deep")
        else:
            symbol = Quotient(_affine(symbol[0], names, depth - 1), whole(symbol[1] - 1, 1 << 30) + 1)
        found[symbol] = _small(factor)
    return AffineExpr.make(found, _small(constant))


def _small(given: Any) -> int:
    return whole(given + (1 << 30), 1 << 31) - (1 << 30)


def _check_order(made: Schedule) -> None:
    import islpy as isl

    from triton_lab.polyhedral.core.loop_tree import Leaf, Loop, time_text

    leaves: list[str] = []
    todo = [made.tree]
    while todo:
        one = todo.pop()
        if isinstance(one, Leaf):
            leaves += one.statements
        else:
            todo += [one.body] if isinstance(one, Loop) else one.children
    statements = [one.name for one in made.scop.statements]
    if sorted(leaves) != sorted(statements):
        raise ValueError("an order that has not each statement once")
    for statement in made.scop.statements:
        times = isl.Map(time_text(made.tree, statement.name, statement.iterators, made.scop.parameters))
        if not times.intersect_domain(statement.domain.set).is_injective():
            raise ValueError("an order that gives two instances one time")
