"""`LaunchCase`: a launch as sizes and contents, which can be made smaller and run on tensors of its own."""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from triton_lab.interpreter.runtime_values import Descriptor
from triton_lab.launch.argument import Argument
from triton_lab.launch.byte_ranges import Ranges
from triton_lab.launch.comparison.launch_results import read
from triton_lab.launch.comparison.number_formats import numpy_type
from triton_lab.launch.recording.replay_error import CannotReplay
from triton_lab.launch.replay.instrumented_copy import Surroundings
from triton_lab.launch.shrinking.tensor_case import TensorCase, written_runs
from triton_lab.launch.shrinking.tensor_contents import LARGE, TensorContents
from triton_lab.localization import _

if TYPE_CHECKING:
    from triton_lab.launch.launch import Launch


@dataclass(frozen=True, eq=False)
class LaunchCase:
    """All that a launch takes. ``tails``: bytes behind the last tensor of each storage. ``order`` has the arguments'
    names as the kernel takes them, nested as tuples are."""

    kernel: Any
    grid: tuple[int, ...]
    tensors: Mapping[str, TensorCase]
    values: Mapping[str, Any]
    constexprs: frozenset[str]
    tails: tuple[int, ...]
    order: tuple[Any, ...]
    options: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, launch: Launch) -> LaunchCase:
        """The case of a recorded launch. Raises CannotReplay if it cannot be launched again from its record alone."""
        kernel = _kernel(launch)
        memory = launch.snapshot.memory() if launch.snapshot is not None and not launch.snapshot.missing else None
        _own_memory(launch)
        storages = list(dict.fromkeys(one.storage_address for one in launch.arguments if _is_tensor(one)))
        tensors = {
            one.name: TensorCase(
                one.name,
                one.dtype,
                one.shape,
                one.strides,
                one.offset,
                storages.index(one.storage_address),
                _contents(launch, memory, one),
                _block(launch, one) if one.kind == "descriptor" else (),
            )
            for one in launch.arguments
            if _is_tensor(one)
        }
        size = {one.storage_address: one.storage_bytes for one in launch.arguments if _is_tensor(one)}
        ends = [
            max(one.end for one in tensors.values() if one.storage == number) for number, _unused in enumerate(storages)
        ]
        return cls(
            kernel,
            launch.grid,
            tensors,
            {one.name: one.value for one in launch.arguments if not _is_tensor(one)},
            frozenset(one.name for one in launch.arguments if one.kind == "constexpr"),
            tuple(max(size[address] - end, 0) for address, end in zip(storages, ends, strict=True)),
            _order(launch.compiled[0].signature),
            _options(launch),
        )

    def storage_bytes(self, number: int) -> int:
        """The bytes of a storage."""
        return max(one.end for one in self.tensors.values() if one.storage == number) + self.tails[number]

    @cached_property
    def literals(self) -> frozenset[int]:
        """The integers in the kernel's text: a tensor's extent of that size belongs to the kernel."""
        found = ast.walk(ast.parse(self.kernel.src))
        return frozenset(one.value for one in found if isinstance(one, ast.Constant) and type(one.value) is int)

    @property
    def size(self) -> float:
        """How large the case is: the sum of the logarithms of its sizes, and of what there is to say about contents."""
        sizes = [math.prod(self.grid), *(len(self.options) * [3])]
        sizes += [extent for one in self.tensors.values() for extent in (*one.shape, one.offset)]
        sizes += [self.storage_bytes(number) for number in range(len(self.tails))]
        sizes += [one.contents.pieces for one in self.tensors.values()]
        sizes += [int(min(abs(value), 1 << 62)) for value in self.values.values() if is_number(value)]
        return sum(math.log2(1 + size) for size in sizes)

    def arguments(self) -> list[Any]:
        """New tensors and the values of the scalars, in the kernel's order."""
        import torch

        made: dict[str, Any] = dict(self.values)
        for number in range(len(self.tails)):
            mine = [one for one in self.tensors.values() if one.storage == number]
            size = self.storage_bytes(number)
            unset = any(one.contents.lacks_some for one in mine)
            storage = torch.empty(size, dtype=torch.uint8) if unset else torch.zeros(size, dtype=torch.uint8)
            for one in mine:
                for start, data in written_runs(one, unset):
                    # By torch, so that the record sees what is written.
                    storage[start : start + len(data)] = torch.from_numpy(data)
                made[one.name] = self._tensor(one, storage)
        return [_nested(made, one) for one in self.order]

    def _tensor(self, one: TensorCase, storage: Any) -> Any:
        import torch

        dtype = getattr(torch, one.dtype)
        whole = storage[: storage.numel() // one.itemsize * one.itemsize].view(dtype)
        tensor = whole.as_strided(one.shape, one.strides, one.offset)
        if not one.block:
            return tensor
        from triton.tools.tensor_descriptor import TensorDescriptor

        return TensorDescriptor.from_tensor(tensor, list(one.block))


def is_number(value: object) -> bool:
    """Whether it is an int or a finite float, and no bool."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _is_tensor(argument: Argument) -> bool:
    return argument.kind in ("tensor", "descriptor")


def _kernel(launch: Launch) -> Any:
    source = launch.compiled[0]
    if source is None or source.fn.fn is None:
        raise CannotReplay(
            _("the Python function of {kernel} does not exist in this process, so it cannot be launched again").format(
                kernel=launch.kernel
            )
        )
    launch.surroundings.restore(source.fn)
    if Surroundings.of(source.fn).known != launch.surroundings.known:
        raise CannotReplay(
            _("what {kernel} uses has changed since the launch: launch it again, then shrink that launch").format(
                kernel=launch.kernel
            )
        )
    return source.fn


def _own_memory(launch: Launch) -> None:
    """Raise CannotReplay for a kernel that follows pointers in memory: new tensors would not lie where they point."""
    mine = {one.storage_address for one in launch.arguments if _is_tensor(one)}
    held = () if launch.snapshot is None else launch.snapshot.regions
    spans = [
        (one.storage_address, one.storage_address + one.storage_bytes) for one in launch.arguments if _is_tensor(one)
    ]
    if any(one.start not in mine and not any(a <= one.start < b for a, b in spans) for one in held):
        raise CannotReplay(
            _("{kernel} follows pointers that memory holds, and these cannot be moved to smaller tensors").format(
                kernel=launch.kernel
            )
        )


def _contents(launch: Launch, memory: Any, one: Argument) -> TensorContents:
    dtype = numpy_type(one.dtype)
    tape = launch.tape
    unwritten = Ranges.joined([tape.unwritten, tape.blank]) if tape is not None else None
    start, stop = one.storage_address, one.storage_address + one.storage_bytes
    missing = None if unwritten is None else unwritten & Ranges.of([start], [stop])
    none = missing is None or not len(missing)
    if memory is None or math.prod(one.shape) > LARGE:
        return TensorContents.filled(one.shape, dtype, unset=not none)
    try:
        values = read(memory, one)
    except CannotReplay:
        return TensorContents.filled(one.shape, dtype, unset=not none)
    if none or missing is None:
        return TensorContents(values, np.broadcast_to(np.bool_(False), one.shape))
    left = np.zeros(max(one.storage_bytes // one.itemsize, 1), np.bool_)
    for low, high in zip((missing.start - start).tolist(), (missing.stop - start).tolist(), strict=True):
        left[low // one.itemsize : -(-high // one.itemsize)] = True
    at = np.full(one.shape, one.offset, np.int64)
    for axis, stride in enumerate(one.strides):
        at += (np.arange(one.shape[axis]) * stride).reshape(-1, *(1,) * (len(one.shape) - axis - 1))
    return TensorContents(values, left[np.minimum(at, left.size - 1)])


def _block(launch: Launch, one: Argument) -> tuple[int, ...]:
    """The block's shape of a descriptor that covers its whole tensor. Raises CannotReplay for others."""
    kind = str(launch.compiled[0].signature.get(one.name, ""))
    held = [] if launch.snapshot is None else launch.snapshot.arguments
    mine = [value for value, owner in zip(held, launch.plan_arguments, strict=False) if owner is one]
    inside, bracket, rest = kind.partition("[")[2].partition("]")
    plain = bracket and rest in (">", "") and launch.compiled[0].language.name != "GLUON"
    for value in mine:
        if isinstance(value, Descriptor):
            shape = tuple(int(np.asarray(extent).reshape(-1)[0]) for extent in value.shape)
            plain = plain and shape == one.shape and not value.padding_nan
    if not plain:
        raise CannotReplay(
            _("{name} is a descriptor of a part of a tensor, or of Gluon: launches with such are not shrunk").format(
                name=one.name
            )
        )
    return tuple(int(extent) for extent in inside.split(","))


def _order(signature: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(_names(name, kind) for name, kind in signature.items())


def _names(name: str, kind: Any) -> Any:
    if isinstance(kind, tuple):
        return tuple(_names(f"{name}[{position}]", inner) for position, inner in enumerate(kind))
    return name


def _nested(made: Mapping[str, Any], name: Any) -> Any:
    return tuple(_nested(made, one) for one in name) if isinstance(name, tuple) else made[name]


def _options(launch: Launch) -> dict[str, Any]:
    """The options of the launch that are not Triton's defaults, as far as a launch takes them."""
    from triton.backends.nvidia.compiler import CUDAOptions

    metadata = launch.compiled[1]
    plain = CUDAOptions(arch="sm90")
    names = ("num_warps", "num_ctas", "num_stages", "maxnreg", "debug", "sanitize_overflow")
    found = {name: getattr(metadata, name) for name in names if hasattr(metadata, name)}
    return {name: value for name, value in found.items() if value != getattr(plain, name, None)}
