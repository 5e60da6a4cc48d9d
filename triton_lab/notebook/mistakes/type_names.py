"""Triton's types in words: ``a block of 64 × 1 float32``, ``a pointer to int32``, ``a single float32``."""

from __future__ import annotations

import re
from typing import Any

from triton_lab.localization import _
from triton_lab.messages import a

# The names that users write: tl.float32.
_LONG = {"fp16": "float16", "bf16": "bfloat16", "fp32": "float32", "fp64": "float64", "int1": "int1 (true or false)"}
# Patterns of `<['64', '1'], fp32>` and of `fp32[constexpr[64], constexpr[1]]`; of pointers, constants and scalars.
_BLOCK = re.compile(r"<\[(?P<shape>[^]]*)\], (?P<of>.+)>")
_TENSOR = re.compile(r"(?P<of>[\w.<>]+)\[(?P<shape>.*)\]")
_POINTER = re.compile(r"(?:const )?pointer<(?P<of>.+?)(?:, const)?>")


def type_told(text: str) -> str:
    """A type in words, from Triton's spelling."""
    text = text.strip().removeprefix("triton.language.")
    if text.startswith("constexpr"):
        return "a constant"
    if text.startswith("["):
        return _("a tuple of {number}").format(number=text.count(",") + 1)
    if found := _BLOCK.fullmatch(text) or _TENSOR.fullmatch(text):
        shape = [int(size) for size in re.findall(r"\d+", found["shape"])]
        one, many = _element(found["of"])
        return _("a block of {shape} {many}").format(shape=shape_told(shape), many=many) if shape else one
    return _element(text)[0]


def _element(text: str) -> tuple[str, str]:
    """The words for one element of the type, and for many."""
    if found := _POINTER.fullmatch(text):
        to = dtype_told(found["of"])
        return _("a pointer to {to}").format(to=to), _("pointers to {to}").format(to=to)
    return _("a single {dtype}").format(dtype=dtype_told(text)), dtype_told(text)


def dtype_told(text: str) -> str:
    """A dtype as kernels write it, without ``tl.``: ``float32`` for ``fp32``."""
    name = text.removeprefix("triton.language.")
    return _LONG.get(name, name)


def shape_told(shape: list[int]) -> str:
    """A shape in words: ``64 × 1``."""
    return " × ".join(map(str, shape)) or "a single number"


def is_runtime(value: Any) -> bool:
    """Whether a value is a number, block or pointer that the kernel computes, and no constant."""
    from triton.language import tensor

    return isinstance(value, tensor)


def constant(value: Any) -> Any:
    """The value of a constant of Triton's."""
    from triton.language import constexpr

    return value.value if isinstance(value, constexpr) else value


def shape_of(value: Any) -> list[int] | None:
    """The shape of a value of Triton's: empty for a scalar or a constant number, None for a value that is no number."""
    if not is_runtime(value):
        return [] if isinstance(constant(value), (bool, int, float)) else None
    return [int(constant(size)) for size in value.type.shape] if value.type.is_block() else []


def is_pointer(value: Any) -> bool:
    """Whether a value is a pointer, or a block of pointers."""
    return is_runtime(value) and bool(value.type.scalar.is_ptr())


def value_told(value: Any) -> str:
    """One of Triton's values in words: its type, or the constant itself."""
    if is_runtime(value):
        return type_told(str(value.type))
    inner = constant(value)
    if inner is None or isinstance(inner, (bool, int, float, str)):
        return _("the constant {value}").format(value=repr(inner))
    return a(type(inner).__name__)
