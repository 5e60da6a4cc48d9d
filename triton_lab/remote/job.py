"""A launch as data, and what became of it: all that travels between a notebook and a worker."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.kernel_errors import KernelErrorData
from triton_lab.interpreter.machine import Limits
from triton_lab.interpreter.runtime_values import Value

FORMAT = 3
"""Of what travels: a worker refuses another one's jobs."""

Bytes = NDArray[np.uint8]


@dataclass(frozen=True)
class Sent:
    """One run of memory, whole: its first address here, its bytes, and whether a kernel may write to them."""

    start: int
    data: bytes
    writable: bool


@dataclass(frozen=True)
class TensorArgument:
    """An argument that points into memory that was sent; ``strides`` count elements."""

    address: int
    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]


@dataclass(frozen=True)
class Reinterpreted:
    """A tensor whose elements are read as Triton's type ``dtype``."""

    base: TensorArgument
    dtype: str


@dataclass(frozen=True)
class DescriptorArgument:
    """A host-side tensor descriptor: its tensor, and its other fields by name."""

    base: TensorArgument
    fields: dict[str, Any]


@dataclass(frozen=True)
class Interpreted:
    """Work for the CPU: ``plan`` as our backend has made it, and what its kernel is given.

    ``owners`` are the first addresses of the runs that each argument points into; None for any.
    """

    plan: str
    values: tuple[Value, ...]
    owners: tuple[tuple[int, ...] | None, ...]
    limits: Limits


@dataclass(frozen=True)
class CompiledJob:
    """Work for a GPU: the front end's module for ``target`` (backend, architecture, lanes), options as JSON, and the
    arguments by name as Triton's launcher takes them. ``seconds`` are for measuring its time; 0: it runs once."""

    module: str
    target: tuple[str, int | str, int]
    options: str
    triton: str
    signature: tuple[tuple[str, Any], ...]
    arguments: tuple[Any, ...]
    seconds: float


@dataclass(frozen=True)
class ShardWork:
    """Work of another kind for the CPU: the programs ``own`` of a launch that runs in parts, which comes apart."""

    own: range


@dataclass(frozen=True)
class Called:
    """Work of another kind for the CPU: a function of Python's, pickled. It is code, and unpickled in the job alone."""

    call: bytes


@dataclass(frozen=True)
class Job:
    """One launch of ``kernel``, or another piece of work under this name."""

    kernel: str
    grid: tuple[int, int, int]
    memory: tuple[Sent, ...]
    work: Interpreted | CompiledJob | ShardWork | Called
    format: int = FORMAT

    @property
    def kind(self) -> str:
        """``"cpu"`` or ``"gpu"``."""
        return "gpu" if isinstance(self.work, CompiledJob) else "cpu"


@dataclass(frozen=True)
class Changed:
    """What a launch made of a run of memory: which of its bytes are others now (a bit each), and what they are."""

    start: int
    flags: bytes
    data: bytes

    @classmethod
    def between(cls, start: int, before: Bytes, after: Bytes) -> Changed | None:
        """The difference; None where there is none."""
        differs = before != after
        if not differs.any():
            return None
        return cls(start, np.packbits(differs).tobytes(), after[differs].tobytes())

    def fits(self, size: int) -> bool:
        """Whether this can be of a run of so many bytes."""
        return len(self.flags) == (size + 7) // 8 and int(self.where(size).sum()) == len(self.data)

    def where(self, size: int) -> NDArray[np.bool_]:
        """Which of the run's ``size`` bytes have changed."""
        return np.unpackbits(np.frombuffer(self.flags, np.uint8), count=size).astype(bool)


@dataclass(frozen=True)
class Raised:
    """Another error: the name of its type, what it says, and its arguments where these are plain."""

    type: str
    text: str
    arguments: tuple[Any, ...] = ()


@dataclass(frozen=True)
class JobEnded:
    """The job's process was ended: ``why`` it was, in words."""

    why: str


@dataclass(frozen=True)
class JobAnswer:
    """What became of a job: seconds of the kernel, each time, and of its compiler; what it printed, where it ran.

    ``other`` names the target that a GPU wants the kernel read for, where that is not the one sent. ``returned`` is
    the result of what was `Called`, or what a `ShardWork` did, as `data.packed` has it.
    """

    changed: tuple[Changed, ...] = ()
    times: tuple[float, ...] = ()
    compile: float = 0.0
    device: str = ""
    worker: str = ""
    printed: str = ""
    failure: KernelErrorData | Raised | JobEnded | None = None
    other: tuple[str, int | str, int] | None = None
    returned: bytes = b""


@dataclass(frozen=True)
class Reply:
    """What a worker sends back: the job's answer, packed, as its process has written it, and what is known beside it.

    ``why`` says why there is no answer. The worker does not look into the answer: it is whatever the job has made it.
    """

    worker: str
    printed: str
    why: str
    answer: bytes
    format: int = FORMAT


def changes(memory: Sequence[Sent], after: Sequence[Bytes]) -> tuple[Changed, ...]:
    """What differs from what was sent."""
    found = (
        Changed.between(sent.start, np.frombuffer(sent.data, np.uint8), now)
        for sent, now in zip(memory, after, strict=True)
    )
    return tuple(one for one in found if one is not None)
