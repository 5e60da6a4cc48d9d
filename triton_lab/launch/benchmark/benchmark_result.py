"""`Sweep`: the result of a sweep, with a row for each function, size and configuration."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from triton_lab.backend.targets.gpu_timer import Time
from triton_lab.providers import provided
from triton_lab.rich_display import RichDisplay

if TYPE_CHECKING:
    from triton_lab.views.launch.benchmark.sweep_view import SweepView


@dataclass(frozen=True)
class SweepRow:
    """One function at one ``size``, with one ``config`` if it takes any.

    ``time`` is the GPU's time; on the CPU target it is this machine's time, and for kernels the interpreter's. It is
    None if the function raised, and ``error`` has the error. ``bytes`` and ``flops`` are the bytes that one run moves
    and the operations that it computes; None if not known.
    """

    name: str
    size: int
    config: Mapping[str, Any] = field(default_factory=dict)
    time: Time | None = None
    bytes: float | None = None
    flops: float | None = None
    error: str = ""

    @property
    def line(self) -> str:
        """The function and its configuration as text: the name of its line in the figure."""
        told = ", ".join(f"{name}={value}" for name, value in self.config.items())
        return f"{self.name} ({told})" if told else self.name

    @property
    def seconds(self) -> float:
        """The median time in seconds; NaN if there is none."""
        return math.nan if self.time is None else self.time.median

    @property
    def bytes_per_second(self) -> float | None:
        """Bytes per second; None if the bytes or the time are not known."""
        return self._rate(self.bytes)

    @property
    def flops_per_second(self) -> float | None:
        """Floating-point operations per second; None if the flops or the time are not known."""
        return self._rate(self.flops)

    def _rate(self, work: float | None) -> float | None:
        return None if work is None or self.time is None or not self.time.median else work / self.time.median


@dataclass(frozen=True)
class Peaks:
    """A GPU's peak rates: bytes per second of a copy, and flops per second of a large matrix product of ``dtype``."""

    bytes_per_second: float
    flops_per_second: float
    dtype: str
    device: str = ""

    def attainable(self, bytes: float | None, flops: float | None) -> float:
        """The roof, in flops per second if ``flops`` are known, else in bytes per second.

        With both known, a run that computes little for each byte is bound by memory.
        """
        if flops is None:
            return self.bytes_per_second
        if bytes is None or not bytes:
            return self.flops_per_second
        return min(self.flops_per_second, self.bytes_per_second * flops / bytes)


@dataclass(frozen=True)
class Sweep(RichDisplay):
    """The measurements of `sweep` on ``target``. ``peaks`` are the GPU's; None on the CPU target.

    ``axis`` says what the sizes count, such as "programs"; empty if that is not known.

    >>> found = lab.sweep({"mine": lambda n: lambda: add(torch.ones(n), torch.ones(n))}, [64, 128], seconds=0.01)
    >>> [(row.name, row.size) for row in found], found.target
    ([('mine', 64), ('mine', 128)], 'cpu')
    """

    rows: tuple[SweepRow, ...]
    target: str
    peaks: Peaks | None = None
    remarks: tuple[str, ...] = ()
    axis: str = ""

    def __iter__(self) -> Iterator[SweepRow]:
        return iter(self.rows)

    @property
    def quantity(self) -> str:
        """The quantity in the figure: ``flops`` or ``bytes`` per second on a GPU if these are known, else ``time``."""
        if self.target == "cpu":
            return "time"
        if any(row.flops is not None for row in self.rows):
            return "flops"
        return "bytes" if any(row.bytes is not None for row in self.rows) else "time"

    def rate(self, row: SweepRow) -> float | None:
        """The row's rate of `quantity`; None if it is not known, or on the CPU, where such a number would mislead.

        >>> found = lab.sweep(lambda n: lambda: torch.ones(n).sum(), [64], bytes=lambda n: 4 * n, seconds=0.01)
        >>> found.rate(found.rows[0]) is None
        True
        """
        if self.target == "cpu":
            return None
        return {"flops": row.flops_per_second, "bytes": row.bytes_per_second}.get(self.quantity)

    def share(self, row: SweepRow) -> float | None:
        """The row's rate as a fraction of what the GPU can attain for this work; None if that is not known.

        >>> found = lab.sweep(lambda n: lambda: torch.ones(n).sum(), [64], bytes=lambda n: 4 * n, seconds=0.01)
        >>> found.share(found.rows[0]) is None
        True
        """
        rate = self.rate(row)
        if rate is None or self.peaks is None:
            return None
        return rate / self.peaks.attainable(row.bytes, row.flops if self.quantity == "flops" else None)

    def plot(self) -> SweepView:
        """The figure: a line for each function and configuration over the sizes, both axes logarithmic.

        >>> found = lab.sweep(lambda n: lambda: torch.ones(n).sum(), [64, 128], seconds=0.01)
        >>> print(found.plot().title())
        how the time grows with n: 2 values on the CPU
        """
        view: SweepView = provided("Sweep.plot")(self)
        return view

    def __repr__(self) -> str:
        return self.plot().text()
