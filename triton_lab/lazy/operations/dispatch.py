"""torch's and NumPy's functions on lazy tensors: `torch.exp(x)`, `torch.cat([x, y])`, `array += x`.

A function is looked up by its name among ours. One that writes into torch's or NumPy's memory (`t += x`, `t[0] = x`,
`out=`) reads the lazy tensors and then runs in torch or NumPy; so does one that returns a Python bool.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from triton_lab.lazy.index_maps import Map
from triton_lab.lazy.operations.elementwise_methods import trace
from triton_lab.lazy.operations.handle import Handle, storage_of
from triton_lab.lazy.storage import Storage
from triton_lab.localization import _

OPERATORS: dict[str, Callable[..., Any]] = {
    "add": operator.add, "sub": operator.sub, "subtract": operator.sub, "mul": operator.mul,
    "multiply": operator.mul, "div": operator.truediv, "divide": operator.truediv, "true_divide": operator.truediv,
    "floor_divide": operator.floordiv, "remainder": operator.mod, "pow": operator.pow, "power": operator.pow,
    "neg": operator.neg, "negative": operator.neg, "bitwise_and": operator.and_, "bitwise_or": operator.or_,
    "bitwise_xor": operator.xor, "bitwise_not": operator.invert, "invert": operator.invert,
    "lt": operator.lt, "less": operator.lt, "le": operator.le, "less_equal": operator.le,
    "gt": operator.gt, "greater": operator.gt, "ge": operator.ge, "greater_equal": operator.ge,
    "eq": operator.eq, "equal": operator.eq, "ne": operator.ne, "not_equal": operator.ne,
    "matmul": operator.matmul, "mm": operator.matmul, "bmm": operator.matmul, "absolute": abs,
}  # fmt: skip
FUNCTIONS: dict[str, Callable[..., Any]] = {}  # ours that are no methods: the modules that have them add them
LOOKS = ("equal", "allclose", "is_nonzero")  # their answer is a Python bool
IGNORED = {"inplace": False, "_stacklevel": 3, "out": None, "dtype": None, "rounding_mode": None}


def torch_function(function: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """torch's `function` applied to lazy tensors. Raises TypeError if there is no such operation here."""
    name = getattr(function, "__name__", str(function))
    target = keywords.get("out", arguments[0] if arguments else None)
    writes = (name.endswith("_") and not name.endswith("__")) or name == "__setitem__" or name.startswith("__i")
    writes = writes and name != "__invert__"
    if name in LOOKS or (isinstance(target, torch.Tensor) and (writes or keywords.get("out") is not None)):
        near = target.device if isinstance(target, torch.Tensor) else None
        return function(*_looked(arguments, near), **_looked(keywords, near))
    if isinstance(keywords.get("out"), Handle):
        raise TypeError(_("torch.{name} cannot write into a lazy tensor with out=. Use x.copy_(...)").format(name=name))
    keywords = {key: value for key, value in keywords.items() if IGNORED.get(key, key) != value}
    if name in ("add", "sub") and "alpha" in keywords:
        arguments = (arguments[0], arguments[1] * keywords.pop("alpha"))
    return _ours(name, arguments, keywords, f"torch.{name}")


def numpy_function(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """A ufunc applied to lazy tensors; NotImplemented for its other methods (`reduce`, ...)."""
    if keywords.get("out") is not None:
        values = [each.numpy() if isinstance(each, Handle) else each for each in inputs]
        if any(isinstance(each, Handle) for each in keywords["out"]):
            raise TypeError(
                _("np.{ufunc} cannot write into a lazy tensor with out=. Use x.copy_(...)").format(ufunc=ufunc.__name__)
            )
        return getattr(ufunc, method)(*values, **keywords)
    if method != "__call__" or keywords:
        return NotImplemented
    return _ours(ufunc.__name__, inputs, {}, f"np.{ufunc.__name__}")


def _ours(name: str, arguments: tuple[Any, ...], keywords: dict[str, Any], told: str) -> Any:
    """Our operation of this name, on operands of which at least one is lazy."""
    if name in FUNCTIONS:
        return FUNCTIONS[name](*arguments, **keywords)
    near = next((each for each in arguments if isinstance(each, Handle)), None)
    if near is None:  # lazy tensors only in lists or keywords
        raise TypeError(
            _("lazy tensors do not support {told}. x.torch() gives a torch tensor, which does").format(told=told)
        )
    if name == "where" and len(arguments) == 3 and not keywords:
        value = trace("where", *(_lazy(each, near) for each in arguments))
        return type(near)(Storage(value, near.device), Map.whole(value.shape))
    plain = name.strip("_") if name.startswith("__") else name
    if len(arguments) == 2 and name.startswith("__r") and plain[1:] in _REFLECTED:
        return _REFLECTED[plain[1:]](_lazy(arguments[1], near), _lazy(arguments[0], near))
    known = OPERATORS.get(name) or _REFLECTED.get(plain if name.startswith("__") else "")
    if known is not None and not keywords:
        return known(*(_lazy(each, near) for each in arguments))
    method = None if name.startswith("_") else getattr(type(near), name, None)
    if not callable(method):
        raise TypeError(
            _("lazy tensors do not support {told}. x.torch() gives a torch tensor, which does").format(told=told)
        )
    return method(_lazy(arguments[0], near), *arguments[1:], **keywords)


_REFLECTED: dict[str, Callable[..., Any]] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "truediv": operator.truediv,
    "div": operator.truediv, "floordiv": operator.floordiv, "mod": operator.mod, "pow": operator.pow,
    "matmul": operator.matmul, "and": operator.and_, "or": operator.or_, "xor": operator.xor,
    "lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge, "eq": operator.eq, "ne": operator.ne,
}  # fmt: skip


def _lazy(operand: Any, near: Handle) -> Any:
    """Tensors and arrays as lazy tensors on the device of `near`; any other operand unchanged."""
    if isinstance(operand, torch.Tensor | np.ndarray):
        return type(near)(*storage_of(operand, None, near.device, None))
    return operand


def _looked(given: Any, near: torch.device | None) -> Any:
    """The arguments, also in nested lists, with values in place of lazy tensors."""
    if isinstance(given, Handle):
        values = given.torch()
        return values if near is None else values.to(near)
    if isinstance(given, dict):
        return {key: _looked(value, near) for key, value in given.items()}
    if isinstance(given, tuple | list):
        return type(given)(_looked(value, near) for value in given)
    return given
