"""`LaunchCost`: what a launch's kernel moves and computes, a GPU's upper limit for it, and each line's share."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from triton_lab.compiled.compilation_text import aligned
from triton_lab.compiled.cost.gpu_limits import PLAIN, Gpu, gpu, usual
from triton_lab.compiled.cost.occupancy import Occupancy, occupancy
from triton_lab.compiled.cost.operation_counts import OperationCounts, arithmetic
from triton_lab.compiled.resource_facts import Metadata
from triton_lab.compiled.transactions.transactions import Transactions
from triton_lab.ir import effects
from triton_lab.launch.access import Access
from triton_lab.launch.access_footprint import runs
from triton_lab.launch.byte_ranges import Ranges
from triton_lab.launch.recording.launch_record import Recorded
from triton_lab.launch.replay.execution_counts import Executed, executed
from triton_lab.localization import _
from triton_lab.messages import count, seconds_text, si, significant


@dataclass(frozen=True)
class Bytes:
    """Bytes of global memory.

    ``ideal``: bytes read plus bytes written, each byte counted once. ``asked``: bytes that lanes access, each time.
    ``moved``: bytes in whole sectors, None where sectors are not counted.
    """

    ideal: int
    asked: int
    moved: int | None


@dataclass(frozen=True)
class LineCost:
    """One line of the kernel: its bytes, operations and instructions.

    ``moved`` is bytes in sectors (accessed bytes, where sectors are not counted), ``operations`` those on numbers,
    and ``instructions`` those of PTX that warps run, None without PTX.
    """

    number: int
    text: str
    moved: int
    operations: int
    instructions: int | None


@dataclass(frozen=True)
class Roof:
    """A launch under the roofline of a GPU.

    ``rate`` is the most operations a second that its ``intensity`` allows; ``memory_bound`` says which part of the
    roof applies; ``peak`` is the flat part, for ``kind`` numbers; ``seconds`` is the shortest time that the launch
    could take. ``measured`` is the rate that was measured on this GPU, if the launch ran there.
    """

    gpu: Gpu
    intensity: float
    peak: float
    kind: str
    rate: float
    seconds: float
    measured: float | None = None

    @property
    def ridge(self) -> float:
        """The intensity above which arithmetic is the limit."""
        return self.peak / self.gpu.bytes

    @property
    def memory_bound(self) -> bool:
        return self.intensity < self.ridge

    def __str__(self) -> str:
        limit = (
            f"limited by memory ({significant(self.gpu.memory)} GB/s)"
            if self.memory_bound
            else f"limited by arithmetic ({self.kind}, {si(self.peak)}flop/s)"
        )
        return _(
            "{name}: {limit}, at best {rate}flop/s and {seconds}; memory is the limit below {ridge} flop per byte"
        ).format(
            name=self.gpu.name,
            limit=limit,
            rate=si(self.rate),
            seconds=seconds_text(self.seconds),
            ridge=significant(round(self.ridge, 1)),
        )


@dataclass(frozen=True, eq=False)
class LaunchCost:
    """The bytes, operations, intensity and occupancy of a launch, and the shares of its lines.

    >>> cost = launch.compile("sm_90").cost
    >>> cost.bytes.ideal, cost.arithmetic.flops, round(cost.intensity, 3)
    (12000, 1024, 0.085)
    >>> cost.occupancy.programs, cost.occupancy.by
    (16, ('registers', 'warps'))
    """

    launch: Recorded
    accesses: Sequence[Access] = field(repr=False)
    target: str
    metadata: Metadata = field(repr=False)
    transactions: Transactions | None = field(repr=False)

    @cached_property
    def executed(self) -> Executed:
        """How often each operation ran."""
        return executed(self.launch) if self.transactions is None else self.transactions.executed

    @cached_property
    def by_operation(self) -> Mapping[int, OperationCounts]:
        """The arithmetic counts of each operation."""
        return arithmetic(self.launch.executable.plan, self.executed)

    @cached_property
    def arithmetic(self) -> OperationCounts:
        """The arithmetic counts of the whole launch."""
        found = OperationCounts()
        for one in self.by_operation.values():
            found.add(one)
        return found

    @cached_property
    def bytes(self) -> Bytes:
        """Bytes moved to and from global memory."""
        ops = {op.index: op for op in self.launch.executable.plan.walk()}
        done = [access.completed for access in self.accesses]
        sides: tuple[list[Any], list[Any]] = ([], [])
        for access in done:
            touched = [runs(event, access.itemsize) for event in access.events]
            for side, takes_part in zip(sides, (effects.reads, effects.writes), strict=True):
                side.extend(touched if takes_part(ops[access.op]) else ())
        ideal = sum(int((each.stop - each.start).sum()) for each in map(Ranges.joined, sides))
        asked = sum(access.asked for access in done)
        moved = None if self.transactions is None else sum(one.moved for one in self.transactions.transfers)
        return Bytes(ideal, asked, moved)

    @property
    def intensity(self) -> float:
        """Operations on floating-point numbers per byte that must be moved (flop/byte)."""
        return self.arithmetic.flops / self.bytes.ideal if self.bytes.ideal else math.inf

    @cached_property
    def occupancy(self) -> Occupancy | None:
        """How many programs a multiprocessor holds at once; None if unknown."""
        try:
            return occupancy(self.target, self.metadata)
        except LookupError:
            return None

    @property
    def kind(self) -> str:
        """The number type of most operations: that of products of tiles, if there are any, else float32."""
        products = self.arithmetic.products
        return max(products, key=lambda name: products[name]) if products else PLAIN

    def roof(self, name: str | None = None) -> Roof:
        """The launch under the roofline of the GPU called ``name``; the default is the target's best-known GPU.

        Raises LookupError for a GPU without known figures.

        >>> print(launch.compile("sm_90").cost.roof("A100"))
        A100: limited by memory (2,039 GB/s), at best 174 Gflop/s and 5.89 ns; memory is the limit below ...
        """
        chosen = usual(self.target) if name is None else gpu(name)
        peak = chosen.rate(self.kind)
        rate = min(peak, self.intensity * chosen.bytes)
        plain = self.arithmetic.floats / chosen.rate(PLAIN)
        products = sum(times / chosen.rate(kind) for kind, times in self.arithmetic.products.items())
        seconds = max(self.bytes.ideal / chosen.bytes, plain, products)
        time = self.launch.time
        here = time is not None and f" {chosen.name.lower()} " in f" {time.device.lower()} "
        measured = self.arithmetic.flops / time.median if time is not None and here and time.median else None
        return Roof(chosen, self.intensity, peak, self.kind, rate, seconds, measured)

    @cached_property
    def lines(self) -> list[LineCost]:
        """The kernel's lines, in order, each with its share."""
        moved: dict[int, int] = {}
        operations: dict[int, int] = {}
        for op, each in self.by_operation.items():
            self._add(operations, op, each.total)
        if self.transactions is not None:
            for one in self.transactions.transfers:
                self._add(moved, one.access.op, one.moved)
        else:
            for access in self.accesses:
                self._add(moved, access.op, access.asked)
        run = self._instructions()
        first = self.launch.first_line
        return [
            LineCost(k, text, moved.get(k, 0), operations.get(k, 0), None if run is None else run.get(k, 0))
            for k, text in enumerate(self.launch.source.splitlines(), first)
        ]

    def _add(self, into: dict[int, int], op: int, amount: int) -> None:
        line = self.launch.lines.get(op)
        if line is not None:
            into[line.line] = into.get(line.line, 0) + amount

    def _instructions(self) -> dict[int, int] | None:
        """Instructions of PTX by line, times the warps that run them."""
        held = self.transactions
        if held is None:
            return None
        found: dict[int, int] = {}
        for one in held.ptx.instructions:
            line = held.line(one.chain)
            times = held.times(one)
            if line is not None and times:
                found[line] = found.get(line, 0) + times * self.metadata.warps
        return found

    def rows(self) -> list[tuple[str, str]]:
        """Rows of name and value, as they are shown."""
        held, moved = self.arithmetic, self.bytes
        told = [
            (_("bytes, each counted once"), f"{moved.ideal:,}"),
            (_("bytes that lanes access"), f"{moved.asked:,}"),
            ("bytes in sectors", _("not known for this target") if moved.moved is None else f"{moved.moved:,}"),
            ("operations on floats", f"{held.floats:,}"),
            *(
                (_("in products of {name} tiles").format(name=name), f"{times:,}")
                for name, times in sorted(held.products.items())
            ),
            ("operations on integers", f"{held.integers:,}"),
            (
                "intensity",
                _("{intensity} flop per byte").format(intensity=significant(round(self.intensity, 3)))
                if moved.ideal
                else _("no bytes are moved"),
            ),
            ("occupancy", str(self.occupancy) if self.occupancy else _("not known for this target")),
        ]
        return [*told, ("roof", str(self.roof()))]

    def listing(self) -> list[str]:
        """The kernel's lines, each after its share of bytes, operations and instructions."""
        totals = [max(1, sum(getattr(line, name) or 0 for line in self.lines)) for name in SHARES]
        rows = ["  ".join(f"{title:>12}" for title in ("bytes", "operations", "instructions"))]
        for line in self.lines:
            parts = [_share(getattr(line, name), total) for name, total in zip(SHARES, totals, strict=True)]
            rows.append(("  ".join(f"{part:>12}" for part in parts) + f"  {line.number:>4}  {line.text}").rstrip())
        return rows

    def __str__(self) -> str:
        problem = [self.executed.problem] if self.executed.problem else []
        return "\n".join([*aligned(self.rows()), *problem, "", *self.listing()])

    def __repr__(self) -> str:
        return str(self)


SHARES = ("moved", "operations", "instructions")


def _share(value: int | None, total: int) -> str:
    if value is None:
        return "-"
    return f"{value / total:.0%}" if value else ""


def told(value: int, one: str) -> str:
    """A count with its unit, shortened where it is large: ``1.05 MB``, ``12 operations``."""
    return count(value, one) if value < 1000 else si(value) + ("B" if one == "byte" else f" {one}s")
