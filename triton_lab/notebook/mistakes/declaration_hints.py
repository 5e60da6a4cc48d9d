"""Hints for errors before a kernel is read: in its declaration, its constants, and descriptors made in the launch."""

from __future__ import annotations

import re
import traceback
import types
from collections.abc import Callable
from typing import Any

from triton_lab.localization import _
from triton_lab.messages import count


def _parameters(error: BaseException) -> str:
    """The hint for ``**options`` among a kernel's parameters."""
    found = re.fullmatch(r"JIT functions do not support (\*\*\w+) parameters", str(error))
    if not isinstance(error, TypeError) or found is None:
        return ""
    return _("a kernel has no {found}: name its parameters, and give them defaults").format(found=found[1])


def _no_definition(error: BaseException) -> str:
    if not isinstance(error, ValueError) or "No function definition found" not in str(error):
        return ""
    return _("a kernel is a plain `def` with @triton.jit above it. Remove `async`.")


def _no_source(error: BaseException) -> str:
    """The hint for a kernel without source text: made by ``exec``, passed to ``python -c``, or typed at a prompt."""
    if not isinstance(error, ValueError) or "@jit functions should be defined in a Python file" not in str(error):
        return ""
    made = (frame.f_locals.get("fn") for frame, _unused in traceback.walk_tb(error.__traceback__))
    kernel = next((one for one in made if isinstance(one, types.FunctionType)), None)
    if kernel is None:
        return ""
    known = {
        "<string>": _("was made from a string, by exec or python -c"),
        "<stdin>": _("was typed at Python's prompt or read from its input"),
    }
    file = kernel.__code__.co_filename
    return _(
        "Triton compiles the source text of a kernel, and Python has no source of {kernel}, "
        "which {get}. Write the kernel in a notebook cell, in IPython or in a .py file. A "
        "program that generates a kernel must write it to a file and import that file."
    ).format(kernel=kernel.__name__, get=known.get(file, f"is from {file}"))


def _unhashable(error: BaseException) -> str:
    """The hint for a list or dictionary that is passed for a ``tl.constexpr``."""
    found = re.fullmatch(r"unhashable type: '(list|dict|set)'", str(error))
    if not isinstance(error, TypeError) or found is None:
        return ""
    for frame, _unused in traceback.walk_tb(error.__traceback__):
        kernel, args = frame.f_locals.get("self"), frame.f_locals.get("args")
        params = getattr(kernel, "params", None)
        if params is None or not isinstance(args, tuple):
            continue
        given = dict(zip((one.name for one in params), args, strict=False)) | dict(frame.f_locals.get("kwargs") or {})
        for one in params:
            if one.is_constexpr and type(given.get(one.name)).__name__ == found[1]:
                return _unhashable_advice(one.name, found[1])
    return ""


def _unhashable_advice(name: str, kind: str) -> str:
    if kind == "dict":
        return _("argument {name} is a dictionary, which cannot be a tl.constexpr. Pass its values one by one.").format(
            name=repr(name)
        )
    return _("argument {name} is a {kind}, which can change. Pass a tuple for a tl.constexpr: tuple({plain}).").format(
        name=repr(name), kind=kind, plain=name
    )


def _descriptor(error: BaseException) -> str:
    """The hint for a TensorDescriptor that a GPU's copy engine (TMA) does not take: the tensor's own numbers."""
    if not isinstance(error, AssertionError):
        return ""
    for frame, _unused in traceback.walk_tb(error.__traceback__):
        made = frame.f_locals.get("self")
        if type(made).__name__ == "TensorDescriptor" and frame.f_code.co_name == "__post_init__":
            return _descriptor_advice(made, str(error))
    return ""


def _descriptor_advice(made: Any, said: str) -> str:
    shape, strides = tuple(made.shape), tuple(made.strides)
    size = made.base.dtype.itemsize
    tensor = _("the tensor has shape {shape} and strides {strides}, in elements of {bytes}").format(
        shape=shape, strides=strides, bytes=count(size, "byte")
    )
    if "strides must be 16-byte aligned" in said:
        wrong = next(each for each in strides[:-1] if each * size % 16)
        step = 16 // size
        return _(
            "{tensor}: a stride of {wrong} is {bytes}, and the copy engine of a GPU (TMA) needs a multiple of 16. "
            "Store the tensor with longer rows, for example torch.nn.functional.pad(x, (0, {more})), and pass the view "
            "[..., :{columns}] of it; or load with pointers and a mask, which may have any stride."
        ).format(
            tensor=tensor,
            wrong=wrong,
            bytes=count(wrong * size, "byte"),
            more=-wrong % step,
            columns=shape[-1],
        )
    if "Last dimension must be contiguous" in said:
        return _(
            "{tensor}: the last stride must be 1. Pass x.contiguous(), or a descriptor of the tensor with its axes "
            "exchanged (x.T)."
        ).format(tensor=tensor)
    if "base must be 16-byte aligned" in said:
        return _(
            "{tensor}: it begins at address {address}, which is not a multiple of 16. A view of another tensor may "
            "begin there. Pass x.clone(), or begin the view elsewhere."
        ).format(tensor=tensor, address=made.base.data_ptr())
    if "rank mismatch" in said:
        return _("{tensor}: shape, strides and block_shape ({block}) must have a number for each axis").format(
            tensor=tensor, block=tuple(made.block_shape)
        )
    return tensor


HINTS: tuple[Callable[[BaseException], str], ...] = (_parameters, _no_definition, _no_source, _unhashable, _descriptor)
