"""Executables: a graph compiled to kernels, and how a step runs it.

Steps that can fail come first: kernels are compiled and memory is allocated before anything is written. When it is
compiled, an executable decides which inputs it overwrites; a caller passes inputs and gets outputs, some of which may
share memory with inputs. That is why the donors belong in the cache key.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import linecache
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice

from triton_lab.lazy.buffer import allocate
from triton_lab.lazy.codegen import GeneratedKernel, write_kernels
from triton_lab.lazy.fusion import partition
from triton_lab.lazy.graph import Graph
from triton_lab.lazy.hashing import Ingredients
from triton_lab.lazy.kernel_sharing import SharedKernel, key, shared
from triton_lab.lazy.placement import Placement, place
from triton_lab.localization import _

# A GPU may fuse a product and a sum and round once: faster, but not the result of the single operations.
OPTIONS = {"enable_fp_fusion": False}
UNDO_LIMIT = 16 * 2**20  # bytes of donated memory that a step copies first, to restore it after a failure
SHOWN = 3  # operations listed in an error
_numbers = itertools.count()


class StepFailed(RuntimeError):
    """A kernel could not be compiled, or failed. `operations` are the numbers of the operations that it computes.

    Tensors that need them are left out of later steps until they are read; all others can be computed.
    """

    def __init__(self, graph: Graph, operations: tuple[int, ...], error: BaseException):
        told = "; ".join(_told(graph, number) for number in operations[:SHOWN])
        more = f" (and {len(operations) - SHOWN} more)" if len(operations) > SHOWN else ""
        super().__init__(
            _("the step failed at {told}{more}: {cause}").format(told=told, more=more, cause=_cause(error))
        )
        self.operations = operations


class Lost(RuntimeError):
    """A kernel failed while it overwrote donated buffers (`inputs`) that were too large to copy first."""

    def __init__(self, inputs: tuple[int, ...]):
        told = ", ".join(f"in{index}" for index in inputs)
        super().__init__(
            _(
                "a kernel failed while it overwrote {told}, which was donated and larger than "
                "{undo_limit} MiB. Its old values are lost, and tensors that need them cannot be "
                "computed any more"
            ).format(told=told, undo_limit=UNDO_LIMIT >> 20)
        )
        self.inputs = inputs


@dataclass(frozen=True, eq=False)
class StepExecutable:
    """Kernels in order, the memory of their arguments, and the ingredients of the graph that they were made from."""

    graph: Graph
    ingredients: Ingredients
    donors: tuple[int, ...]
    placement: Placement
    kernels: tuple[GeneratedKernel, ...]
    compiled: tuple[SharedKernel, ...]  # one per kernel; equal kernels of other graphs share it
    fresh: int  # how many of them were compiled for this graph

    @functools.cached_property
    def functions(self) -> tuple[Any, ...]:
        """The triton.JITFunction, or the interpreter's substitute, of each kernel."""
        return tuple(compiled.function for compiled in self.compiled)

    @property
    def source(self) -> str:
        """The source of all generated kernels."""
        return "\n\n".join(kernel.source for kernel in self.kernels)

    @functools.cached_property
    def aliases(self) -> dict[int, int]:
        """Output index -> index of the input whose memory it uses."""
        return self.placement.aliases(self.graph)

    @functools.cached_property
    def overwritten(self) -> tuple[int, ...]:
        """The indices of the inputs that kernels overwrite, for outputs or for temporaries."""
        inputs = {self.placement.slots[slot].input for kernel in self.kernels for slot in kernel.writes}
        return tuple(sorted(index for index in inputs if index is not None))

    def run(
        self, inputs: Sequence[torch.Tensor], device: torch.device, graph: Callable[[], Graph]
    ) -> list[torch.Tensor]:
        """Run the kernels; returns the memory of each output. Donated inputs may then be overwritten.

        `graph` gives the caller's: it is equal to the compiled one, but has the caller's source lines. If a kernel
        fails, raises StepFailed from its error, after restoring donated memory; if that was too large to copy and
        already written, raises Lost.
        """
        slots = [
            allocate(slot.numel, slot.dtype, device) if slot.input is None else inputs[slot.input]
            for slot in self.placement.slots
        ]
        overwritten = [n for n, slot in enumerate(self.placement.slots) if slot.input in self.overwritten]
        size = sum(slots[slot].numel() * slots[slot].element_size() for slot in overwritten)
        undo = {slot: _copied(slots[slot]) for slot in overwritten} if size <= UNDO_LIMIT else {}
        touched: set[int] = set()
        at: GeneratedKernel | None = None
        try:
            with _on(device):
                for kernel, function in zip(self.kernels, self.functions, strict=True):
                    if 0 not in kernel.grid:
                        touched.update(slot for slot in kernel.writes if slot in overwritten)
                        at = kernel
                        function[kernel.grid](
                            *(slots[slot] for slot in kernel.slots), **dict(kernel.tiles), **_options(kernel)
                        )
        except BaseException as error:
            for slot, before in undo.items():
                slots[slot].copy_(before)
            gone = tuple(self._input(slot) for slot in sorted(touched) if slot not in undo)
            if gone:
                raise Lost(gone) from error
            if at is not None and isinstance(error, Exception):
                raise StepFailed(graph(), self.placement.regions[at.region].computes(self.graph), error) from error
            raise
        return [slots[self.placement.slot_of[output]] for output in self.graph.outputs]

    def _input(self, slot: int) -> int:
        index = self.placement.slots[slot].input
        assert index is not None
        return index


def _on(device: torch.device) -> contextlib.AbstractContextManager[Any]:
    return torch.cuda.device(device) if device.type == "cuda" else contextlib.nullcontext()


def _copied(memory: torch.Tensor) -> torch.Tensor:
    copy = allocate(memory.numel(), memory.dtype, memory.device)
    return copy.copy_(memory)


def compile_graph(
    graph: Graph, ingredients: Ingredients, donors: tuple[int, ...], device: torch.device
) -> StepExecutable:
    """Partition, place, generate, compile and load. All errors of these are raised here, before anything has run."""
    offered = [graph.inputs[index] for index in donors]
    placement = place(graph, partition(graph, offered), donors)
    kernels = write_kernels(graph, placement)
    before = shared.compiled
    with _on(device):
        compiled = tuple(_compiled(kernel, placement, graph, ingredients.target) for kernel in kernels)
    return StepExecutable(graph, ingredients, donors, placement, kernels, compiled, shared.compiled - before)


def _compiled(kernel: GeneratedKernel, placement: Placement, graph: Graph, target: str) -> SharedKernel:
    """The compiled kernel, from an earlier compilation if there is an equal one."""
    dtypes = [placement.slots[slot].dtype for slot in kernel.slots]
    found = shared.find(key(kernel, dtypes, target))
    if found is None:
        found = SharedKernel(define(kernel))
        try:
            made = found.function.warmup(*dtypes, grid=kernel.grid, **dict(kernel.tiles), **_options(kernel))
            if made is not None:  # None under TRITON_INTERPRET
                made[kernel.grid]  # loads it onto the device, which can also fail
        except Exception as error:
            raise StepFailed(graph, _blamed(kernel, placement, graph, error), error) from error
        shared.keep(key(kernel, dtypes, target), found)
    return found


def _options(kernel: GeneratedKernel) -> dict[str, Any]:
    """Assertions are compiled only under `debug`, which would also treat integer overflow as an error."""
    return {**OPTIONS, "debug": True, "sanitize_overflow": False} if kernel.checks else OPTIONS


def _blamed(kernel: GeneratedKernel, placement: Placement, graph: Graph, error: Exception) -> tuple[int, ...]:
    """The operation on whose line the compiler stopped; all of the kernel's operations if it named no line."""
    computes = placement.regions[kernel.region].computes(graph)
    lines = str(getattr(error, "src", "")).splitlines()
    at = getattr(getattr(error, "node", None), "lineno", 0)
    if lines and lines[0].startswith(f"def {kernel.name}(") and 0 < at <= len(lines):
        found = re.match(r"\s*v(\d+) = ", lines[at - 1])
        if found and int(found[1]) in computes:
            return (int(found[1]),)
    return computes


def _told(graph: Graph, number: int) -> str:
    op = graph.ops[number]
    return f"%{number} = {op}" + (f", written at {op.origin}" if op.origin else "")


def _cause(error: BaseException) -> str:
    """The first line of an error; a compiler's error quotes the kernel before its message."""
    said = str(getattr(error, "error_message", None) or error).strip()
    return said.splitlines()[0] if said else type(error).__name__


def define(kernel: GeneratedKernel) -> Any:
    """The Triton function of a generated kernel.

    Triton reads a kernel's source through `inspect`, so the text is registered with `linecache`, as IPython does for
    cells: errors and pictures show its lines, and no file is written. The entry is removed when no executable uses
    the kernel any more (`kernel_sharing`).
    """
    filename = f"<lazy {next(_numbers)} {kernel.name}>"
    lines = kernel.source.splitlines(keepends=True)
    linecache.cache[filename] = (len(kernel.source), None, lines, filename)
    space: dict[str, Any] = {
        "triton": triton,
        "tl": tl,
        "libdevice": libdevice,
        "__name__": "triton_lab.lazy.generated",
    }
    exec(compile(kernel.source, filename, "exec"), space)
    return space[kernel.name]
