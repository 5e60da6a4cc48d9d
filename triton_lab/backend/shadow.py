"""Recorded launches on the GPU: the same kernel runs on the CPU, from the same memory, to be looked at.

A GPU tells nobody which lane touched what. So the CPU target runs the launch first, on copies of
all memory that it reaches; what it would do out of bounds stops it there, before it can harm the
GPU's state. Then the GPU runs it, and its result is the one that stays.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from triton_lab.backend.arguments import ArgumentError, tensor_of
from triton_lab.backend.compiler import TARGET, options_of
from triton_lab.backend.launcher import Call, interpret, prepared, recorders
from triton_lab.backend.loading import Loaded
from triton_lab.backend.mirror import Mirrors
from triton_lab.interpreter.errors import KernelError, Unsupported
from triton_lab.interpreter.memory import Region


@dataclass(frozen=True)
class Elsewhere:
    """A launch on a GPU of another machine: the seconds that it took there, and where that was."""

    seconds: float
    where: str


def launch(
    driver: Any,
    source: Any,
    metadata: Any,
    grid: tuple[int, int, int],
    objects: Sequence[Any],
    on_gpu: Callable[[], Elsewhere | None],
) -> None:
    """Launch on the GPU and let recorders hear of it.

    Raises KernelError if the launch fails on the CPU: then it is not started on the GPU.
    """
    try:
        function = _for_cpu(source, tuple(options_of(metadata).items()))
        call = prepared(source, metadata, function, grid, objects, Mirrors(), private=True)
    except (Unsupported, ArgumentError) as error:
        # What the CPU target cannot run cannot be looked at, but it can be launched.
        for recorder in recorders.hearing():
            recorder.missed(metadata.name, str(error).split("\n", 1)[0])
        on_gpu()
        return
    call.target = "gpu"
    before = {region.start: region.data.copy() for region in call.memory.regions}
    hearing = recorders.hearing()
    watches = [recorder.before(call) for recorder in hearing]
    interface = driver.get_device_interface()
    try:
        interpret(call, watches, quiet=True)
        interface.synchronize()
        start = time.perf_counter()
        told = on_gpu()
        interface.synchronize()
        call.seconds = time.perf_counter() - start if told is None else told.seconds
        call.outputs = _outputs(call, before)
        call.remark = "accesses, values and findings are those of the same launch on the CPU"
        if told is not None:
            call.remark = f"it ran on {told.where}; {call.remark} of this machine"
    except BaseException as error:
        call.error = error
        if isinstance(error, KernelError):
            error.args = (f"{error}\n  The launch was tried on the CPU first; it was not started on the GPU.",)
        raise
    finally:
        for recorder in hearing:
            recorder.after(call)


@functools.lru_cache(maxsize=256)
def _for_cpu(source: Any, options: tuple[tuple[str, Any], ...]) -> Loaded:
    """The kernel, compiled for the CPU target. (Triton's sources are compared by identity.)"""
    import triton

    return Loaded(triton.compile(source, target=TARGET, options=dict(options)).asm["plan"])


def _outputs(call: Call, before: dict[int, Any]) -> list[tuple[str, Any, Any]]:
    """For each tensor whose memory the CPU or the GPU has changed: what either has made of it."""
    result = []
    for leaf in call.leaves:
        tensor = tensor_of(leaf.object) if leaf.kind != "scalar" else None
        region = call.memory.holding(tensor.data_ptr()) if tensor is not None and tensor.numel() else None
        if tensor is None or region is None:
            continue
        ours = view_of(tensor, region)
        was = view_of(tensor, Region(region.start, before[region.start]))
        theirs = tensor.detach().cpu()
        if not _same(ours, was) or not _same(theirs, was):
            result.append((leaf.path, theirs.clone(), ours.clone()))
    return result


def view_of(tensor: Any, region: Region) -> Any:
    """A tensor like ``tensor``, of the same shape and strides, over the bytes of ``region``."""
    import torch

    size = tensor.element_size()
    start = tensor.data_ptr() - region.start
    phase = start % size
    data = torch.from_numpy(region.data[phase : phase + (len(region.data) - phase) // size * size])
    return data.view(tensor.dtype).as_strided(tensor.shape, tensor.stride(), (start - phase) // size)


def _same(a: Any, b: Any) -> bool:
    """Whether two tensors of one shape and dtype hold the same bytes."""
    import torch

    # A tensor of no dimension has none whose length another size of element could change.
    return torch.equal(*(tensor.contiguous().reshape(-1).view(torch.uint8) for tensor in (a, b)))
