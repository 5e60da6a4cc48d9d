"""A kernel's arguments as data, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from triton_lab.backend.plugin.kernel_arguments import ArgumentError, tensor_of
from triton_lab.localization import _
from triton_lab.remote.job import DescriptorArgument, Reinterpreted, Sent, TensorArgument

# Fields of a descriptor that may be torch.Size.
_LISTS = ("shape", "strides", "block_shape")


def argument_of(name: str, type: Any, argument: Any) -> Any:
    """An argument of the kernel as data."""
    if isinstance(type, tuple):
        parts = enumerate(zip(type, argument, strict=True))
        return tuple(argument_of(f"{name}[{position}]", inner, item) for position, (inner, item) in parts)
    if type == "constexpr" or argument is None:
        return None
    if not type.startswith(("*", "tensordesc")):
        return argument
    tensor = tensor_of(argument)
    if tensor is None:
        raise ArgumentError(
            _(
                "argument {name} is only an address, and the memory behind it is not sent to a worker: pass the tensor"
            ).format(name=repr(name))
        )
    base = TensorArgument(
        tensor.data_ptr(), str(tensor.dtype).removeprefix("torch."), tuple(tensor.shape), tuple(tensor.stride())
    )
    if type.startswith("tensordesc"):
        fields = {key: value for key, value in vars(argument).items() if key != "base"}
        return DescriptorArgument(
            base, {key: [*map(int, value)] if key in _LISTS else value for key, value in fields.items()}
        )
    return base if argument is tensor else Reinterpreted(base, str(argument.dtype))


def object_of(argument: Any, memory: Sequence[Sent], regions: Sequence[Any]) -> Any:
    """An argument as Triton's launcher takes it."""
    if isinstance(argument, tuple):
        return tuple(object_of(one, memory, regions) for one in argument)
    if isinstance(argument, TensorArgument):
        return _tensor(argument, memory, regions)
    if isinstance(argument, Reinterpreted):
        import triton
        import triton.language as tl

        return triton.reinterpret(_tensor(argument.base, memory, regions), tl.dtype(argument.dtype))
    if isinstance(argument, DescriptorArgument):
        from triton.tools.tensor_descriptor import TensorDescriptor

        return TensorDescriptor(base=_tensor(argument.base, memory, regions), **argument.fields)
    return argument


def _tensor(told: TensorArgument, memory: Sequence[Sent], regions: Sequence[Any]) -> Any:
    """A CPU tensor over the bytes that arrived; its storage is the whole run."""
    import torch

    dtype = getattr(torch, told.dtype)
    for sent, region in zip(memory, regions, strict=True):
        if sent.start <= told.address < sent.start + len(sent.data):
            offset = told.address - sent.start
            phase = offset % dtype.itemsize
            data = torch.from_numpy(region.data)[
                phase : phase + (region.size - phase) // dtype.itemsize * dtype.itemsize
            ]
            return data.view(dtype).as_strided(told.shape, told.strides, (offset - phase) // dtype.itemsize)
    return torch.empty_strided(told.shape, told.strides, dtype=dtype)
