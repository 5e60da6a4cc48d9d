"""Arrays of other libraries as kernel arguments: a kernel gets a tensor that shares an array's memory.

NumPy's arrays are taken, those of JAX, CuPy and others with ``__dlpack__``, and all objects that describe their memory
by ``__array_interface__`` or ``__cuda_array_interface__``. Nothing is copied.
"""

from __future__ import annotations

import ctypes
import functools
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from triton.runtime import jit

from triton_lab.backend.plugin.kernel_arguments import ArgumentError, is_bare
from triton_lab.backend.plugin.memory_tensor import tensor_of_bytes
from triton_lab.localization import _

_PROTOCOLS = ("__dlpack__", "__array_interface__", "__cuda_array_interface__")


def install() -> None:
    """Let kernels take such arrays from now on. Without them, Triton finds a type for each argument, as ever."""
    made = jit.create_function_from_signature
    if hasattr(made, "__wrapped__"):
        return

    @functools.wraps(made)
    def create(signature: Any, parameters: Any, backend: Any) -> Any:
        bind = made(signature, parameters, backend)

        def bound(*arguments: Any, **named: Any) -> Any:
            try:
                return bind(*arguments, **named)
            except (TypeError, AttributeError, KeyError):
                given = {**dict(zip((each.name for each in parameters), arguments, strict=False)), **named}
                if not any(map(_is_array, given.values())):
                    _check_types(given)
                    raise
            names = (parameter.name for parameter in parameters)
            return bind(
                *map(tensor_over, names, arguments), **{name: tensor_over(name, one) for name, one in named.items()}
            )

        # Errors of launches pass through: in a traceback this is as Triton's own function, which it calls.
        bound.__code__ = bound.__code__.replace(co_filename="<string>")
        return bound

    jit.create_function_from_signature = create


def _is_array(value: Any) -> bool:
    if isinstance(value, tuple):
        return any(map(_is_array, value))
    known = hasattr(value, "data_ptr") or isinstance(value, np.generic)
    return not known and any(hasattr(type(value), protocol) for protocol in _PROTOCOLS)


def tensor_over(name: str, value: Any) -> Any:
    """A tensor that shares the memory of argument ``name``, if it is an array; in a tuple, each of its arrays.

    Raises ArgumentError for an array that no tensor can describe.
    """
    if isinstance(value, tuple) and _is_array(value):
        items = [tensor_over(f"{name}[{position}]", item) for position, item in enumerate(value)]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    if not _is_array(value):
        return value
    import torch
    import torch.utils.dlpack

    try:
        if hasattr(value, "__cuda_array_interface__"):
            return torch.as_tensor(value, device="cuda")
        if isinstance(value, np.ndarray) or not hasattr(value, "__dlpack__"):
            with warnings.catch_warnings():
                # What may only be read stays so: a store to it is an error of the launch.
                warnings.simplefilter("ignore", UserWarning)
                return torch.from_numpy(np.asarray(value))
        shared = torch.utils.dlpack.from_dlpack(value)
        return shared if shared.device.type != "cpu" or _may_change(value) else _fixed(shared)
    except (TypeError, ValueError, RuntimeError, BufferError, AssertionError, AttributeError) as error:
        raise ArgumentError(
            _(
                "argument {name} is a {kind} whose memory no tensor can share ({reason}). Copy it to an array of "
                "numbers with positive strides, for example np.array(..., dtype=np.float32), and pass that"
            ).format(name=repr(name), kind=_kind(value), reason=str(error).split("\n", 1)[0].rstrip("."))
        ) from None


class _Capsule:
    """What DLPack says of an array beside its tensor: names and fields of its C structures."""

    VERSIONED = b"dltensor_versioned"
    FLAGS_AT, READ_ONLY = 24, 1  # behind the version, the manager's context and the deleter


def _may_change(value: Any) -> bool:
    """Whether an exporter says that its memory may be written. One without versions cannot say so: see NumPy's
    ``from_dlpack``. JAX's arrays never change, and several may share memory.
    """
    try:
        capsule = value.__dlpack__(max_version=(1, 0))
    except TypeError:  # an exporter from before versions
        return False
    of = ctypes.pythonapi.PyCapsule_GetPointer
    of.restype, of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    if not ctypes.pythonapi.PyCapsule_IsValid(ctypes.py_object(capsule), _Capsule.VERSIONED):
        return False
    flags = ctypes.c_uint64.from_address(of(capsule, _Capsule.VERSIONED) + _Capsule.FLAGS_AT).value
    return not flags & _Capsule.READ_ONLY


def _fixed(tensor: Any) -> Any:
    """A tensor over the same memory that a kernel may only read."""
    import torch

    storage = tensor.untyped_storage()
    if not storage.nbytes():
        return tensor
    start = storage.data_ptr()
    held = tensor_of_bytes(start, start + storage.nbytes(), tensor, writable=False)
    made = torch.empty(0, dtype=tensor.dtype).set_(held.untyped_storage())
    return made.as_strided(tensor.shape, tensor.stride(), tensor.storage_offset())


def _check_types(given: Mapping[str, Any]) -> None:
    """Raise ArgumentError for an object with ``data_ptr()`` whose ``dtype`` is none that Triton knows."""
    for name, value in given.items():
        if not is_bare(value):
            continue
        if not hasattr(value, "dtype"):
            text = _(
                "argument {name} has data_ptr() but no dtype, so its elements have no type. Give the object a dtype, "
                "such as torch.float32"
            )
        elif str(value.dtype).split(".")[-1] not in jit.type_canonicalisation_dict:
            text = _(
                "argument {name} has data_ptr() and the dtype {dtype}, which Triton does not know. Give the object a "
                "dtype of torch, such as torch.float32, or its name"
            )
        else:
            continue
        raise ArgumentError(text.format(name=repr(name), dtype=repr(getattr(value, "dtype", None)))) from None


def _kind(value: Any) -> str:
    """The type of an array as its users call it: ``numpy.ndarray of int64``."""
    kind = type(value)
    library, dtype = kind.__module__.split(".")[0], getattr(value, "dtype", None)
    return f"{library}.{kind.__name__}" + ("" if dtype is None else f" of {dtype}")
