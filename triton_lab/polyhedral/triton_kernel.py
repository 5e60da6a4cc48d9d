"""A Triton kernel that was written from a schedule: its text, and how to launch it."""

from __future__ import annotations

import hashlib
import linecache
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import islpy as isl
import numpy as np
from numpy.typing import NDArray

from .affine import isl_name
from .block_shape import Axis, NotABlockProgram

if TYPE_CHECKING:
    from .scop import Scop

_HEAD = "import triton\nimport triton.language as tl\n\n\n"


@dataclass(frozen=True)
class TritonKernel:
    """``text`` is the kernel; ``axes`` say which iterators are its grid and how large its blocks are."""

    text: str
    scop: Scop
    axes: tuple[Axis, ...]
    arrays: tuple[str, ...]

    @property
    def source(self) -> str:
        """The text as a module, imports included."""
        return _HEAD + self.text

    @property
    def constants(self) -> dict[str, int]:
        """The block sizes by the names of the kernel's constants."""
        return {a.size: a.block for a in self.axes if a.block > 1}

    def grid(self, scop: Scop) -> tuple[int, ...]:
        """How many programs along each axis of the grid, at the values of ``scop``. One too few dimensions are 1."""
        sizes = []
        for axis in self.axes:
            if not axis.in_grid:
                continue
            low, high = _range(scop, axis.iterator)
            if low < 0:
                raise NotABlockProgram(f"{axis.iterator} starts at {low}: blocks start at 0")
            sizes.append(high // axis.block + 1)
        return tuple(sizes) or (1,)

    @cached_property
    def function(self) -> Any:
        """The kernel, as ``triton.jit`` gives it."""
        return jit_kernel(self.text)

    def launch(self, tensors: Mapping[str, Any], scop: Scop) -> None:
        """Runs the kernel on torch tensors, in place."""
        strides = {f"stride_{n}_{k}": tensors[n].stride(k) for n in self.arrays for k in range(tensors[n].dim())}
        parameters = {p: scop.values[p] for p in scop.parameters}
        arrays = {name: tensors[name] for name in self.arrays}
        self.function[self.grid(scop)](**arrays, **parameters, **strides, **self.constants)

    def run(self, arrays: Mapping[str, Any], **values: int) -> dict[str, NDArray[Any]]:
        """The arrays after one launch, as `Schedule.run` gives them; those given stay as they are."""
        import torch

        tensors = {name: torch.tensor(np.asarray(arrays[name])) for name in self.arrays}
        self.launch(tensors, self.scop.bind(**values))
        changed = {name: tensor.numpy() for name, tensor in tensors.items()}
        return {name: changed.get(name, np.array(array)) for name, array in arrays.items()}

    def __str__(self) -> str:
        return self.text


def jit_kernel(text: str) -> Any:
    """The function ``kernel`` in ``text``, decorated by ``triton.jit``."""
    source = _HEAD + text
    # Triton reads a function's source where tracebacks do: in linecache, under the file name that it was compiled with.
    name = f"<triton-lab kernel {hashlib.sha256(source.encode()).hexdigest()[:16]}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    namespace: dict[str, Any] = {"__name__": name}
    exec(compile(source, name, "exec"), namespace)
    return namespace["kernel"]


def _range(scop: Scop, iterator: str) -> tuple[int, int]:
    """The least and greatest value of ``iterator`` in any statement."""
    lows, highs = [0], [-1]
    for statement in scop.statements:
        if iterator in statement.iterators:
            domain = statement.domain.fixed(scop.values)
            if not domain.is_empty():
                place = domain.find_dim_by_name(isl.dim_type.set, isl_name(iterator))
                lows.append(domain.dim_min_val(place).to_python())
                highs.append(domain.dim_max_val(place).to_python())
    return min(lows), max(highs)
