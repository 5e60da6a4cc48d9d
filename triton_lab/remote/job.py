"""A launch and its answer as data: everything that travels between a notebook and a worker."""

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
"""The version of the format: a worker refuses jobs of another version."""

Bytes = NDArray[np.uint8]


@dataclass(frozen=True)
class Sent:
    """One whole run of memory: its first address here, its bytes, and whether a kernel may write to them."""

    start: int
    data: bytes
    writable: bool


@dataclass(frozen=True)
class TensorArgument:
    """An argument that points into sent memory; ``strides`` count elements."""

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
    """Work for the CPU: ``plan``, made by our backend, and the kernel's arguments.

    ``owners`` are the first addresses of the runs that each argument may access; None for all.
    """

    plan: str
    values: tuple[Value, ...]
    owners: tuple[tuple[int, ...] | None, ...]
    limits: Limits


@dataclass(frozen=True)
class CompiledJob:
    """Work for a GPU: the front end's module, options and arguments.

    The module is for ``target`` (backend, architecture, lanes); options are JSON; arguments are by name, as Triton's
    launcher takes them. ``seconds`` is for measuring its time; with 0 it runs once.
    """

    module: str
    target: tuple[str, int | str, int]
    options: str
    triton: str
    signature: tuple[tuple[str, Any], ...]
    arguments: tuple[Any, ...]
    seconds: float


@dataclass(frozen=True)
class ShardWork:
    """Work for the CPU: the programs ``own`` of a launch that runs in parts; the launch travels separately."""

    own: range


@dataclass(frozen=True)
class Called:
    """Work for the CPU: a pickled Python function. It is code, and is unpickled only in the job."""

    call: bytes


@dataclass(frozen=True)
class Job:
    """One launch of ``kernel``, or other work under this name."""

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
    """The change of a run of memory by a launch: which bytes differ now (one bit each), and their new values."""

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
        """Whether this can be a change of a run of ``size`` bytes."""
        return len(self.flags) == (size + 7) // 8 and int(self.where(size).sum()) == len(self.data)

    def where(self, size: int) -> NDArray[np.bool_]:
        """Which of the run's ``size`` bytes have changed."""
        return np.unpackbits(np.frombuffer(self.flags, np.uint8), count=size).astype(bool)


@dataclass(frozen=True)
class Raised:
    """Another error: its type's name, its text, and its arguments if they are plain."""

    type: str
    text: str
    arguments: tuple[Any, ...] = ()


@dataclass(frozen=True)
class JobEnded:
    """The job's process ended or was ended: ``why``, in words."""

    why: str


@dataclass(frozen=True)
class JobAnswer:
    """The result of a job: seconds of each run of the kernel and of its compiler, printed text, and where it ran.

    ``other`` names the target that a GPU needs the kernel for, if that is not the one sent. ``returned`` is the
    result of a `Called` or of a `ShardWork`, from `wire_data.packed`.
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
    """A worker's message: the packed answer that the job's process wrote, and facts about it.

    ``why`` says why there is no answer. The worker does not read the answer: it may be anything that the job wrote.
    """

    worker: str
    printed: str
    why: str
    answer: bytes
    format: int = FORMAT


def changes(memory: Sequence[Sent], after: Sequence[Bytes]) -> tuple[Changed, ...]:
    """The changes to the memory that was sent."""
    found = (
        Changed.between(sent.start, np.frombuffer(sent.data, np.uint8), now)
        for sent, now in zip(memory, after, strict=True)
    )
    return tuple(one for one in found if one is not None)
