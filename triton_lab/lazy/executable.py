"""Executables: a graph compiled to kernels, and the run that a step makes of it.

What can fail is done first: kernels are compiled and memory is allocated before anything is written. An
executable decides by itself, when it is compiled, which inputs it writes over; whoever runs it hands over inputs
and gets outputs, some of which may be the same memory. That is why the donors belong in the cache key.
"""

from __future__ import annotations

import contextlib
import itertools
import linecache
import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice

from triton_lab.lazy.buffer import allocate
from triton_lab.lazy.codegen import Kernel, write_kernels
from triton_lab.lazy.graph import Graph
from triton_lab.lazy.hashing import Ingredients
from triton_lab.lazy.placement import Placement, place
from triton_lab.lazy.regions import partition

# A GPU may join a product and a sum and round once: faster, but not what the operations mean one by one.
OPTIONS = {"enable_fp_fusion": False}
UNDO_LIMIT = 16 * 2**20  # bytes of donated memory that a step copies first, so that it can fail without loss
_numbers = itertools.count()


class Lost(RuntimeError):
    """A kernel failed while it wrote over donated buffers too large to have been copied first (`inputs`)."""

    def __init__(self, inputs: tuple[int, ...]):
        told = ", ".join(f"in{index}" for index in inputs)
        super().__init__(
            f"a kernel failed while it wrote over {told}, donated and larger than {UNDO_LIMIT >> 20} MiB: "
            "its old values are gone, and tensors that need them can no longer be computed"
        )
        self.inputs = inputs


@dataclass(frozen=True, eq=False)
class Executable:
    """Kernels in order, where their arguments live, and the ingredients of the graph that they were made from."""

    graph: Graph
    ingredients: Ingredients
    donors: tuple[int, ...]
    placement: Placement
    kernels: tuple[Kernel, ...]
    functions: tuple[Any, ...]  # triton.JITFunction, or the interpreter's stand-in

    @property
    def source(self) -> str:
        """All generated kernels, as they were compiled."""
        return "\n\n".join(kernel.source for kernel in self.kernels)

    @property
    def aliases(self) -> dict[int, int]:
        """Output index -> index of the input whose memory it is written into."""
        return self.placement.aliases(self.graph)

    @property
    def overwritten(self) -> tuple[int, ...]:
        """The indices of the inputs that kernels write over, for outputs or for temporaries."""
        inputs = {self.placement.slots[slot].input for kernel in self.kernels for slot in kernel.writes}
        return tuple(sorted(index for index in inputs if index is not None))

    def run(self, inputs: Sequence[torch.Tensor], device: torch.device) -> list[torch.Tensor]:
        """The memory of each output. Inputs that the executable donates have been written over.

        If a kernel fails, donated memory is put back as it was. Where it was too large for a copy and had already
        been written, Lost is raised from the kernel's error.
        """
        slots = [
            allocate(slot.numel, slot.dtype, device) if slot.input is None else inputs[slot.input]
            for slot in self.placement.slots
        ]
        overwritten = [n for n, slot in enumerate(self.placement.slots) if slot.input in self.overwritten]
        size = sum(slots[slot].numel() * slots[slot].element_size() for slot in overwritten)
        undo = {slot: _copied(slots[slot]) for slot in overwritten} if size <= UNDO_LIMIT else {}
        touched: set[int] = set()
        try:
            with _on(device):
                for kernel, function in zip(self.kernels, self.functions, strict=True):
                    if 0 not in kernel.grid:
                        touched.update(slot for slot in kernel.writes if slot in overwritten)
                        function[kernel.grid](*(slots[slot] for slot in kernel.slots), **dict(kernel.tiles), **OPTIONS)
        except BaseException as error:
            for slot, before in undo.items():
                slots[slot].copy_(before)
            gone = tuple(self._input(slot) for slot in sorted(touched) if slot not in undo)
            if gone:
                raise Lost(gone) from error
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


def compile_graph(graph: Graph, ingredients: Ingredients, donors: tuple[int, ...], device: torch.device) -> Executable:
    """Partition, place, write down, compile, load. What fails in this is raised here, before anything has run."""
    offered = [graph.inputs[index] for index in donors]
    placement = place(graph, partition(graph, offered), donors)
    kernels = write_kernels(graph, placement)
    functions = tuple(map(define, kernels))
    with _on(device):
        for kernel, function in zip(kernels, functions, strict=True):
            dtypes = (placement.slots[slot].dtype for slot in kernel.slots)
            compiled = function.warmup(*dtypes, grid=kernel.grid, **dict(kernel.tiles), **OPTIONS)
            if compiled is not None:  # None under TRITON_INTERPRET
                compiled[kernel.grid]  # loads it onto the device, which can fail, too
    executable = Executable(graph, ingredients, donors, placement, kernels, functions)
    weakref.finalize(executable, _forget, functions).atexit = False
    return executable


def define(kernel: Kernel) -> Any:
    """The Triton function of a generated kernel.

    Triton reads a kernel's source through `inspect`, so the text is registered with `linecache`, as IPython does
    for cells: errors and pictures show its lines, and no file is left behind. It goes when the executable goes.
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


def _forget(functions: tuple[Any, ...]) -> None:
    """Take the sources of functions that are gone out of `linecache`. (Triton's registry keeps the last of a name.)"""
    for function in functions:
        linecache.cache.pop(function.fn.__code__.co_filename, None)
