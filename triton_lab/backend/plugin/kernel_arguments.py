"""Turns a launch's arguments into the values that the plan's kernel takes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from triton_lab.interpreter.dtypes import numpy_dtype
from triton_lab.interpreter.runtime_values import Descriptor, Value
from triton_lab.localization import _
from triton_lab.messages import count

# Triton's name of a scalar type in a signature -> MLIR's name.
_SCALARS = {
    "i1": "i1",
    "i8": "i8",
    "i16": "i16",
    "i32": "i32",
    "i64": "i64",
    "u1": "i1",
    "u8": "i8",
    "u16": "i16",
    "u32": "i32",
    "u64": "i64",
    "fp16": "f16",
    "bf16": "bf16",
    "fp32": "f32",
    "f32": "f32",
    "fp64": "f64",
}

# torch's types by those of Triton.
TORCH_NAMES = {
    "fp16": "float16",
    "bf16": "bfloat16",
    "fp32": "float32",
    "fp64": "float64",
    "fp8e5": "float8_e5m2",
    "fp8e4nv": "float8_e4m3fn",
    "i1": "bool",
    "i8": "int8",
    "u8": "uint8",
    "i16": "int16",
    "u16": "uint16",
    "i32": "int32",
    "u32": "uint32",
    "i64": "int64",
    "u64": "uint64",
}


class ArgumentError(TypeError):
    """An argument that a kernel cannot take; the message names it."""


@dataclass(frozen=True, slots=True)
class ArgumentLeaf:
    """One runtime argument. ``path`` is its name, with indices if it is inside tuples.

    ``kind`` is ``pointer``, ``scalar`` or ``descriptor``; ``object`` is what the user passed and ``values`` what the
    plan sees. A descriptor stands for several arguments of the plan: itself, then its extents and strides as scalars.
    """

    path: str
    kind: str
    type: str
    object: Any
    values: tuple[Value, ...]


def leaves(signature: Mapping[str, Any], arguments: Sequence[Any]) -> list[ArgumentLeaf]:
    """The runtime arguments in the plan's order, without constexprs."""
    if len(signature) != len(arguments):
        raise ArgumentError(
            _(
                "the kernel takes {arguments} ({names}), but {was} passed; a compiled kernel takes its constexprs "
                "too, all in order"
            ).format(
                arguments=count(len(signature), "argument"),
                names=", ".join(signature),
                was=count(len(arguments), "was", "were"),
            )
        )
    result: list[ArgumentLeaf] = []
    for (name, type), argument in zip(signature.items(), arguments, strict=True):
        result.extend(_leaves(name, type, argument))
    return result


def _leaves(path: str, type: Any, argument: Any) -> Iterator[ArgumentLeaf]:
    if isinstance(type, tuple):
        if not isinstance(argument, tuple) or len(argument) != len(type):
            raise ArgumentError(
                _("argument {path} must be a tuple of {number} items, as when it was compiled").format(
                    path=repr(path), number=len(type)
                )
            )
        for position, (inner, item) in enumerate(zip(type, argument, strict=True)):
            yield from _leaves(f"{path}[{position}]", inner, item)
    elif type == "constexpr":
        return
    elif type.startswith("tensordesc"):
        yield _descriptor(path, type, argument)
    elif type.startswith("*"):
        yield ArgumentLeaf(path, "pointer", type, argument, (np.array([address_of(path, argument)], np.int64),))
    elif type in _SCALARS:
        yield ArgumentLeaf(path, "scalar", type, argument, (_scalar(path, type, argument),))
    else:
        raise ArgumentError(
            _("argument {path} has the type {type}, which the CPU target does not support").format(
                path=repr(path), type=type
            )
        )


def _scalar(path: str, type: str, argument: Any) -> Value:
    dtype = numpy_dtype(_SCALARS[type])
    try:
        if dtype.kind == "i":
            # Unsigned arguments keep their bits.
            wide = int(argument) % (1 << (8 * dtype.itemsize))
            return np.array([wide], f"u{dtype.itemsize}").view(dtype)
        with np.errstate(all="ignore"):
            return np.array([argument]).astype(dtype)
    except (TypeError, ValueError):
        kind = argument.__class__.__name__
        raise ArgumentError(
            _("argument {path} must be a number ({type}), not of type {kind}").format(
                path=repr(path), type=type, kind=kind
            )
        ) from None


def tensor_of(argument: Any) -> Any:
    """The tensor behind an argument: itself, a descriptor's base, or what `triton.reinterpret` wraps.

    None for an argument without storage.
    """
    while argument is not None and not hasattr(argument, "untyped_storage"):
        argument = getattr(argument, "base", None)
    return argument


def is_bare(value: Any) -> bool:
    """Whether a pointer is given by an address alone, and no tensor is behind it."""
    return hasattr(value, "data_ptr") and tensor_of(value) is None


def address_of(path: str, argument: Any) -> int:
    """The address of the first element of a tensor argument, or of any object that has ``data_ptr``."""
    if argument is None:
        return 0
    if isinstance(argument, int):
        return argument
    device = getattr(getattr(argument, "device", None), "type", "cpu")
    if device == "meta":
        raise ArgumentError(
            _("argument {path} is on the meta device, which has no memory: make it with device='cpu' instead").format(
                path=repr(path)
            )
        )
    try:
        address = int(argument.data_ptr())
    except (RuntimeError, AttributeError, TypeError, NotImplementedError) as error:
        reason = str(error).split("\n", 1)[0]
        raise ArgumentError(
            _(
                "argument {path} has no memory that a kernel can access: {instead}, or pass a plain tensor ({reason})"
            ).format(path=repr(path), instead=_instead(argument), reason=reason)
        ) from None
    if address == 0 and hasattr(argument, "numel") and argument.numel() > 0:
        raise ArgumentError(
            _(
                "argument {path} has no memory that a kernel can access: such a {name} has a shape but no elements. "
                "Pass a plain tensor with elements"
            ).format(path=repr(path), name=argument.__class__.__name__)
        )
    return address


def _instead(argument: Any) -> str:
    """What to write so that a tensor with an unusual layout has memory."""
    if "sparse" in str(getattr(argument, "layout", "")):
        return "call .to_dense() first"
    if getattr(argument, "is_mkldnn", False):
        return "call .to_dense() first"
    return _("pass one of the tensors that it is made of")


def _descriptor(path: str, type: str, argument: Any) -> ArgumentLeaf:
    """The leaf of a host-side tensor descriptor."""
    if not hasattr(argument, "base"):
        raise ArgumentError(
            _("argument {path} must be a TensorDescriptor, as when it was compiled").format(path=repr(path))
        )
    base = np.array([address_of(path, argument.base)], np.int64)
    shape = tuple(np.array([int(n)], np.int64) for n in argument.shape)
    strides = tuple(np.array([int(n)], np.int64) for n in argument.strides)
    padding_nan = getattr(argument, "padding", "zero") == "nan"
    descriptor = Descriptor(base, shape, strides, padding_nan)
    scalars = [n.astype(np.int32) for n in shape] + list(strides)
    return ArgumentLeaf(path, "descriptor", type, argument, (descriptor, *scalars))
