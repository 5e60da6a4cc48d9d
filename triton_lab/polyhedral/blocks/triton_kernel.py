"""A Triton program written from a schedule: its text, and how to run it."""

from __future__ import annotations

import hashlib
import linecache
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.localization import _
from triton_lab.messages import count as counted
from triton_lab.polyhedral.core.static_part import StaticPart

_HEAD = "import triton\nimport triton.language as tl\n\n\n"
# Offsets are 32-bit integers in the kernels.
_MOST_ELEMENTS = 1 << 31


class NotABlockProgram(ValueError):
    """No Triton kernel can be written from the schedule (or the nest); the message says why."""


@dataclass(frozen=True)
class KernelLaunch:
    """One kernel and the sizes of its grid, as text; ``host`` are its arguments for the host's iterations."""

    name: str
    host: tuple[str, ...]
    grid: tuple[str, ...]


@dataclass(frozen=True)
class TritonKernel:
    """The generated program: ``text`` holds the kernels and ``run``, which launches them.

    ``constants`` are the sizes of the blocks.
    """

    text: str
    scop: StaticPart
    launches: tuple[KernelLaunch, ...]
    constants: Mapping[str, int] = field(default_factory=dict)

    @property
    def source(self) -> str:
        """The text as a module, imports included."""
        return _HEAD + self.text

    @property
    def arrays(self) -> tuple[str, ...]:
        """The arrays that `launch` takes, in the order of ``run``."""
        return tuple(a.name for a in self.scop.arrays)

    def grid(self, scop: StaticPart) -> tuple[int, ...]:
        """The number of programs along each axis of the only launch's grid, at the values of ``scop``.

        >>> kernel = lab.schedule("for (int i = 0; i < n; i++) A[i] = 2 * B[i];").split("i", 128).to_triton()
        >>> kernel.grid(kernel.scop.bind(n=1000))
        (8,)
        """
        if len(self.launches) > 1 or self.launches[0].host:
            raise ValueError(_("there are several launches, each with a grid of its own: see .launches"))
        known = {**self.namespace, **scop.values, **self.constants}
        return tuple(int(eval(size, known)) for size in self.launches[0].grid)

    @cached_property
    def namespace(self) -> dict[str, Any]:
        """The names that the text defines: its kernels, decorated by ``triton.jit``, and ``run``."""
        return _executed(self.text)

    @property
    def function(self) -> Any:
        """The only kernel, decorated by ``triton.jit``."""
        if len(self.launches) > 1:
            raise ValueError(
                _("there are several kernels, {launches}: see .namespace").format(
                    launches=", ".join(a.name for a in self.launches)
                )
            )
        return self.namespace[self.launches[0].name]

    def launch(self, tensors: Mapping[str, Any], scop: StaticPart, **constants: int) -> None:
        """Run the program on torch tensors, in place.

        ``constants`` replace the sizes of blocks. Arrays that are local to the nest may be left out.

        >>> kernel = lab.schedule("for (int i = 0; i < n; i++) A[i] = 2 * B[i];").split("i", 128).to_triton()
        >>> a, b = torch.zeros(3, dtype=torch.float64), torch.arange(3, dtype=torch.float64)
        >>> kernel.launch({"A": a, "B": b}, kernel.scop.bind(n=3))
        >>> a
        tensor([0., 2., 4.], dtype=torch.float64)
        """
        import torch

        given = dict(tensors)
        for array in scop.arrays:
            if array.name not in given:
                shape, dtype = _own(scop, array.name)
                device = next(iter(tensors.values())).device if tensors else "cpu"
                given[array.name] = torch.zeros(shape, dtype=getattr(torch, dtype), device=device)
        for array in scop.arrays:
            _check_tensor(given[array.name], array.name, array.dtype)
        values = [scop.values[p] for p in scop.parameters]
        self.namespace["run"](*(given[a.name] for a in scop.arrays), *values, **{**self.constants, **constants})

    def run(self, arrays: Mapping[str, Any], **values: int) -> dict[str, NDArray[Any]]:
        """The arrays after one run, as `Schedule.run` returns them; the given arrays are not changed.

        >>> kernel = lab.schedule("for (int i = 0; i < n; i++) A[i] = 2 * B[i];").split("i", 128).to_triton()
        >>> kernel.run({"A": np.zeros(3), "B": np.arange(3.0)}, n=3)["A"]
        array([0., 2., 4.])
        """
        import torch

        from triton_lab.polyhedral.execute import known_parameters

        bound = self.scop.bind(**known_parameters(self.scop, arrays, values))
        tensors = {a.name: torch.tensor(np.asarray(arrays[a.name])) for a in bound.arrays if a.name in arrays}
        for array in bound.arrays:
            if array.name not in tensors:
                shape, dtype = _own(bound, array.name)
                tensors[array.name] = torch.zeros(shape, dtype=getattr(torch, dtype))
        self.launch(tensors, bound)
        local = {a.name for a in bound.arrays if a.local}
        changed = {name: tensor.numpy() for name, tensor in tensors.items() if name not in local}
        return {**{name: np.array(array) for name, array in arrays.items()}, **changed}

    def __str__(self) -> str:
        return self.text


def _own(scop: StaticPart, name: str) -> tuple[tuple[int, ...], str]:
    """The shape and type of an array that the caller left out, as in `Schedule.run`."""
    from triton_lab.polyhedral.execute import least_shape

    array = next(a for a in scop.arrays if a.name == name)
    if not array.local and (array.ndim or not any(w.array == name for s in scop.statements for w in s.writes)):
        raise ValueError(_("the program uses the array {name}. Pass a value for it").format(name=name))
    return least_shape(scop, name), array.dtype or "float64"


def _check_tensor(tensor: Any, name: str, dtype: str | None) -> None:
    if dtype is not None and tensor.dtype.is_floating_point != dtype.startswith("float"):
        raise TypeError(
            _(
                "{name} holds {dtype}, but the program declares it {dtype2}; the kernel's divisions depend on the type"
            ).format(name=name, dtype=tensor.dtype, dtype2=dtype)
        )
    reach = sum((size - 1) * abs(stride) for size, stride in zip(tensor.shape, tensor.stride(), strict=True))
    if tensor.numel() and reach >= _MOST_ELEMENTS:
        raise NotABlockProgram(
            _("{name} spans {elements}, but the kernel's offsets have 32 bits").format(
                name=name, elements=counted(reach + 1, "element")
            )
        )


def jit_kernel(text: str) -> Any:
    """The function ``kernel`` in ``text``, decorated by ``triton.jit``."""
    return _executed(text)["kernel"]


def _executed(text: str) -> dict[str, Any]:
    source = _HEAD + text
    # Triton reads a function's source as tracebacks do: from linecache, by the file name it was compiled with.
    name = f"<triton-lab kernel {hashlib.sha256(source.encode()).hexdigest()[:16]}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    namespace: dict[str, Any] = {"__name__": name}
    exec(compile(source, name, "exec"), namespace)
    return namespace
