"""Recorded launches on the GPU: the same kernel also runs on the CPU, from the same memory, for the record.

A GPU does not report which lane touched which address. So the CPU target runs the launch first, on copies of all memory
that it reaches. An access out of bounds stops it there, before it can harm the GPU's state. Then the GPU runs it, and
the GPU's result stays.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from triton_lab.backend.compiler import TARGET, options_of
from triton_lab.backend.plugin.device_mirror import Mirrors
from triton_lab.backend.plugin.kernel_arguments import ArgumentError, tensor_of
from triton_lab.backend.plugin.kernel_loading import Loaded
from triton_lab.backend.plugin.launch_regions import extent_of
from triton_lab.backend.plugin.launcher import interpret, prepared
from triton_lab.backend.plugin.recorders import LaunchCall, recorders
from triton_lab.backend.source.pointer_preview import follows_pointers
from triton_lab.backend.targets.device_copies import DeviceCopies, is_in_reach, tensors_of
from triton_lab.backend.targets.gpu_timer import Time, Watched, device_name, measured
from triton_lab.interpreter.kernel_errors import KernelError, Unsupported
from triton_lab.interpreter.memory_regions import MemoryRegion
from triton_lab.localization import _

if TYPE_CHECKING:
    from triton_lab.backend.targets.offload import OffloadLauncher


def launch(
    launcher: Any,
    grid: tuple[int, int, int],
    fixed: Sequence[Any],
    objects: Sequence[Any],
    elsewhere: Callable[[float], tuple[Time, str]] | None = None,
) -> None:
    """Launch on the GPU and report the launch to recorders.

    ``elsewhere`` launches it if the GPU is in another machine: it gets the seconds that measuring may take, and returns
    the time and the place. Raises KernelError if the launch fails on the CPU; then it is not started on the GPU.
    """
    source, metadata = launcher.source, launcher.metadata
    try:
        function = _for_cpu(source, tuple(options_of(metadata).items()))
        call = prepared(source, metadata, function, grid, objects, Mirrors(), private=True)
    except (Unsupported, ArgumentError) as error:
        # A launch that the CPU target cannot run is not observed, but it still runs.
        for recorder in recorders.hearing():
            recorder.missed(metadata.name, str(error).split("\n", 1)[0])
        elsewhere(0.0) if elsewhere is not None else launcher.run(*fixed, *objects)
        return
    call.target = "gpu"
    before = {region.start: region.data.copy() for region in call.memory.regions}
    hearing = recorders.hearing()
    watches = [recorder.before(call) for recorder in hearing]
    try:
        interpret(call, watches, quiet=True)
        seconds = max((recorder.timing() for recorder in hearing), default=0.0)
        if elsewhere is None:
            where = ""
            call.time = _Here(launcher, fixed, objects, call, before).run(seconds)
        else:
            call.time, where = elsewhere(seconds)
            call.outputs = _outputs(call, before)
        call.seconds = call.time.median
        call.remark = _("accesses, values and findings are those of the same launch on the CPU")
        if where:
            call.remark = _("it ran on {where}; {remark} of this machine").format(where=where, remark=call.remark)
    except BaseException as error:
        call.error = error
        if isinstance(error, KernelError):
            error.args = (
                _("{error}\n  The launch was tried on the CPU first; it was not started on the GPU.").format(
                    error=error
                ),
            )
        raise
    finally:
        for recorder in hearing:
            recorder.after(call)


@dataclass(frozen=True)
class _Here:
    """A launch on this machine's GPU: ``call`` as the CPU has run it, and the bytes of its regions ``before``."""

    launcher: OffloadLauncher
    fixed: Sequence[Any]
    objects: Sequence[Any]
    call: LaunchCall
    before: Mapping[int, Any]

    def run(self, seconds: float) -> Time:
        """Launch, and measure for ``seconds``."""
        interface = self.launcher.driver.get_device_interface()
        interface.synchronize()
        watched = Watched(self.launcher.launch, interface)
        self.launcher.run(*self.fixed, *self.objects, launch=watched)
        (self.call.seconds,) = alone = watched.seconds()
        self.call.outputs = _outputs(self.call, self.before)
        return self._timed(seconds, alone)

    def _timed(self, seconds: float, alone: list[float]) -> Time:
        """The kernel's time: repeated on copies for ``seconds`` if possible, else the time of the launch itself
        (``alone``).
        """
        driver = self.launcher.driver
        device = device_name(driver)
        start = time.perf_counter()
        types = list(self.launcher.source.signature.values())
        tensors = [one for pair in zip(types, self.objects, strict=True) for one in tensors_of(*pair)]
        # A copied table of addresses still points into the user's own memory. Pinned memory is slower.
        if alone[0] > seconds or follows_pointers(self.launcher.source) or any(map(is_in_reach, tensors)):
            return Time.of(alone, device)
        from torch.utils._python_dispatch import _disable_current_modes

        try:
            changed = [at for at, data in self.before.items() if not np.array_equal(data, _region(self.call, at))]
            # Torch modes that look for unwritten memory must not see these copies.
            with _disable_current_modes(), recorders.unrecorded():
                copies = Copies(self.before, changed, driver.get_active_torch_device())
                # Nor may a profiler's hooks.
                arguments = [*self.fixed[:-2], None, None, *map(copies.replaced, types, self.objects)]
                found = measured(lambda: self.launcher.launch(*arguments), driver, seconds, copies.restore)
        except RuntimeError:  # mostly too little GPU memory for copies: then the launch's own time must do
            found = alone
        self.call.clocked = time.perf_counter() - start
        return Time.of(found, device)


class Copies(DeviceCopies):
    """Copies, on the GPU, of the regions of a launch before it ran.

    ``held`` are the bytes by address. ``changed`` are the addresses of those that the launch changes; `restore` resets
    them.
    """

    def __init__(self, held: Mapping[int, Any], changed: Sequence[int], device: Any) -> None:
        import torch

        super().__init__(device)
        for start, data in held.items():
            self.add(start, torch.from_numpy(data))
        self._again = [(buffer, buffer.clone()) for start, _unused, buffer in self.runs if start in changed]

    def takes(self, tensor: Any) -> bool:
        extent = extent_of(tensor)
        return extent is not None and self.holds(extent[0])

    def restore(self) -> None:
        """Restore what the last run has changed."""
        for buffer, before in self._again:
            buffer.copy_(before)


def _region(call: LaunchCall, start: int) -> Any:
    region = call.memory.holding(start)
    assert region is not None
    return region.data


@functools.lru_cache(maxsize=256)
def _for_cpu(source: Any, options: tuple[tuple[str, Any], ...]) -> Loaded:
    """The kernel, compiled for the CPU target. (Triton's sources are compared by identity.)"""
    import triton

    return Loaded(triton.compile(source, target=TARGET, options=dict(options)).asm["plan"])


def _outputs(call: LaunchCall, before: Mapping[int, Any]) -> list[tuple[str, Any, Any]]:
    """For each tensor whose memory the CPU or the GPU has changed: its name and both results."""
    result = []
    for leaf in call.leaves:
        tensor = tensor_of(leaf.object) if leaf.kind != "scalar" else None
        region = call.memory.holding(tensor.data_ptr()) if tensor is not None and tensor.numel() else None
        if tensor is None or region is None:
            continue
        ours = view_of(tensor, region)
        was = view_of(tensor, MemoryRegion(region.start, before[region.start]))
        theirs = tensor.detach().cpu()
        if not _same(ours, was) or not _same(theirs, was):
            result.append((leaf.path, theirs.clone(), ours.clone()))
    return result


def view_of(tensor: Any, region: MemoryRegion) -> Any:
    """A tensor like ``tensor``, of the same shape and strides, over the bytes of ``region``."""
    import torch

    size = tensor.element_size()
    start = tensor.data_ptr() - region.start
    phase = start % size
    data = torch.from_numpy(region.data[phase : phase + (len(region.data) - phase) // size * size])
    return data.view(tensor.dtype).as_strided(tensor.shape, tensor.stride(), (start - phase) // size)


def _same(a: Any, b: Any) -> bool:
    """Whether two tensors of one shape and dtype have the same bytes."""
    import torch

    # A tensor without dimensions, or with one expanded element, has no axis that a view with another element size could
    # change.
    flat = (tensor.contiguous().as_strided((tensor.numel(),), (1,)) for tensor in (a, b))
    return torch.equal(*(tensor.view(torch.uint8) for tensor in flat))
