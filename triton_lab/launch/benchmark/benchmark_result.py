"""What a sweep has measured: a row for each function, size and configuration."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from triton_lab.backend.targets.gpu_timer import Time

if TYPE_CHECKING:
    from triton_lab.views.launch.benchmark.sweep_view import SweepView


@dataclass(frozen=True)
class SweepRow:
    """One function at one ``size``, with one ``config`` where it takes any.

    ``time`` is the GPU's, or on the CPU target that of the machine, the interpreter's for kernels; None where the
    function raised, which ``error`` tells. ``bytes`` and ``flops`` are what one run moves and computes, None where
    nobody knows.
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
        """The function and its configuration, in words: what one line of the figure stands for."""
        told = ", ".join(f"{name}={value}" for name, value in self.config.items())
        return f"{self.name} ({told})" if told else self.name

    @property
    def seconds(self) -> float:
        """The median; not a number where there is none."""
        return math.nan if self.time is None else self.time.median

    @property
    def bytes_per_second(self) -> float | None:
        """None where the bytes are not known, or the time is not."""
        return self._rate(self.bytes)

    @property
    def flops_per_second(self) -> float | None:
        """The same of floating-point operations."""
        return self._rate(self.flops)

    def _rate(self, work: float | None) -> float | None:
        return None if work is None or self.time is None or not self.time.median else work / self.time.median


@dataclass(frozen=True)
class Peaks:
    """What a GPU reaches: bytes per second of a copy there, and flops per second of a large product of ``dtype``."""

    bytes_per_second: float
    flops_per_second: float
    dtype: str
    device: str = ""

    def attainable(self, bytes: float | None, flops: float | None) -> float:
        """The roof, in flops per second where ``flops`` are known, else in bytes per second.

        With both known, a run that computes little for each byte is held back by memory.
        """
        if flops is None:
            return self.bytes_per_second
        if bytes is None or not bytes:
            return self.flops_per_second
        return min(self.flops_per_second, self.bytes_per_second * flops / bytes)


@dataclass(frozen=True)
class Sweep:
    """What `sweep` has measured on ``target``. ``peaks`` of the GPU are None on the CPU, of which times say nothing.

    >>> found = lab.sweep({"mine": lambda n: lambda: add(torch.ones(n), torch.ones(n))}, [64, 128], seconds=0.01)
    >>> [(row.name, row.size) for row in found], found.target
    ([('mine', 64), ('mine', 128)], 'cpu')
    """

    rows: tuple[SweepRow, ...]
    target: str
    peaks: Peaks | None = None
    remarks: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[SweepRow]:
        return iter(self.rows)

    @property
    def quantity(self) -> str:
        """What is drawn: ``flops`` or ``bytes`` per second on a GPU, where these are known; else ``time``."""
        if self.target == "cpu":
            return "time"
        if any(row.flops is not None for row in self.rows):
            return "flops"
        return "bytes" if any(row.bytes is not None for row in self.rows) else "time"

    def rate(self, row: SweepRow) -> float | None:
        """Of the `quantity`; None where nobody knows, and on the CPU, where such a number would mislead.

        >>> found = lab.sweep(lambda n: lambda: torch.ones(n).sum(), [64], bytes=lambda n: 4 * n, seconds=0.01)
        >>> found.rate(found.rows[0]) is None
        True
        """
        if self.target == "cpu":
            return None
        return {"flops": row.flops_per_second, "bytes": row.bytes_per_second}.get(self.quantity)

    def share(self, row: SweepRow) -> float | None:
        """The same as a share of what the GPU reaches: of the roof over its work. None where that is not known.

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
        2 sizes on the CPU: how the time grows
        """
        from triton_lab.views.launch.benchmark.sweep_view import SweepView

        return SweepView(self)

    def _repr_mimebundle_(
        self, include: object = None, exclude: object = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """The figure."""
        return self.plot()._repr_mimebundle_(include, exclude)

    def __repr__(self) -> str:
        return self.plot().text()
