"""Sweep: rates over sizes, with a line for each function and configuration, below the roof of the GPU."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, TypedDict

from triton_lab import messages
from triton_lab.localization import N_, _, translated
from triton_lab.messages import seconds_text, si, three_digits
from triton_lab.views.drawing import style
from triton_lab.views.drawing.drawing import Drawing, DrawnText, Line, Rectangle
from triton_lab.views.drawing.drawing_pieces import wrapped
from triton_lab.views.drawing.drawing_scenes import DrawingScene
from triton_lab.views.drawing.fonts import width_of
from triton_lab.views.drawing.scene_bounds import Few, Many, Sentence
from triton_lab.views.drawing.style import SMALL
from triton_lab.views.view import View

if TYPE_CHECKING:
    from triton_lab.launch.benchmark.benchmark_result import Sweep, SweepRow

WIDE, HIGH = 560.0, 300.0  # of the plot within its axes
LEFT, TOP, RIGHT = 74.0, 34.0, 58.0
MARK = 7.0
_LOOKS = ((False, 0.0), (False, MARK / 2), (True, 0.0), (True, MARK / 2))  # dashed, and the radius of a mark's corners
_UNITS = {"bytes": "B/s", "flops": "flop/s"}
INTERPRETED = N_(
    "On the CPU target kernels run in the interpreter. Each time is compared only with the function's own time at "
    "the smallest size. It does not predict times on a GPU, nor which function is faster there."
)


class SweepScene(TypedDict):
    """``drawing`` is the figure, ``table`` every row in words below ``headings``."""

    kind: Literal["sweep"]
    title: Sentence
    drawing: DrawingScene
    headings: Few[Sentence]
    table: Many[Few[Sentence]]


class SweepView(View):
    """The figure of a `Sweep`."""

    def __init__(self, sweep: Sweep) -> None:
        self.sweep = sweep

    @cached_property
    def lines(self) -> dict[str, list[SweepRow]]:
        """The rows of each line, by size."""
        found: dict[str, list[SweepRow]] = {}
        for row in sorted(self.sweep, key=lambda row: row.size):
            found.setdefault(row.line, []).append(row)
        return found

    @cached_property
    def sizes(self) -> list[int]:
        return sorted({row.size for row in self.sweep})

    @property
    def axis(self) -> str:
        """What the sizes count."""
        return self.sweep.axis or _("size")

    def title(self) -> str:
        sweep = self.sweep
        values = messages.count(len(self.sizes), "value")
        if sweep.target == "cpu":
            return _("how the time grows with {axis}: {values} on the CPU").format(axis=self.axis, values=values)
        what = {"bytes": _("bytes per second"), "flops": _("flops per second"), "time": _("time")}[sweep.quantity]
        device = next((row.time.device for row in sweep if row.time is not None and row.time.device), _("the GPU"))
        return _("{what} by {axis}: {values} on {device}").format(
            what=what, axis=self.axis, values=values, device=device
        )

    # --- In words ---------------------------------------------------------------------------------------

    @property
    def headings(self) -> list[str]:
        where = _("time on the CPU") if self.sweep.target == "cpu" else _("time")
        rate = [] if self.sweep.quantity == "time" else [_UNITS[self.sweep.quantity], self._of_the_roof]
        return ["", self.axis, where, _("runs"), *([] if self.sweep.target == "gpu" else [_("× its own first")]), *rate]

    @property
    def _of_the_roof(self) -> str:
        """The name of a share: of the same line as in the figure, and as in `notes`."""
        return _("of a copy") if self.sweep.quantity == "bytes" else _("of the limit")

    def table(self) -> list[list[str]]:
        """A row for each measurement; an exception stands in place of a time."""
        return [
            [line, messages.number(row.size), *self._told(row)] for line, rows in self.lines.items() for row in rows
        ]

    def _told(self, row: SweepRow) -> list[str]:
        blank = [""] * (len(self.headings) - 3)
        if row.time is None:
            return [row.error, *blank]
        time = row.time
        spread = "" if time.runs == 1 else messages.spread(time.low, time.high)
        told = [seconds_text(time.median) + spread, str(time.runs)]
        if self.sweep.target == "cpu":
            return [*told, three_digits(self._value(row))]
        if self.sweep.quantity == "time":
            return told
        rate, share = self.sweep.rate(row), self.sweep.share(row)
        return [*told, "" if rate is None else si(rate).strip(), "" if share is None else _percent(share)]

    def notes(self) -> list[str]:
        """Notes: what the roof is, which exceptions were raised, and on the CPU what times mean."""
        peaks, said = self.sweep.peaks, []
        if peaks is not None and self.sweep.quantity != "time":
            copy = _("a copy through global memory, {rate}B/s").format(rate=si(peaks.bytes_per_second))
            product = _("a product of {dtype}, {rate}flop/s").format(dtype=peaks.dtype, rate=si(peaks.flops_per_second))
            roofs = copy if self.sweep.quantity == "bytes" else f"{copy}; {product}"
            said.append(_("100% is what was measured on this GPU: {roofs}").format(roofs=roofs))
        failed: dict[tuple[str, str], list[int]] = {}
        for row in self.sweep:
            if row.error:
                failed.setdefault((row.line, row.error), []).append(row.size)
        for (line, error), sizes in failed.items():
            at = f"{self.axis} = {', '.join(map(messages.number, sizes))}"
            said.append(_("{line} at {at}: {error}").format(line=line, at=at, error=error))
        return [*said, *self.sweep.remarks, *([translated(INTERPRETED)] if self.sweep.target == "cpu" else [])]

    def text(self) -> str:
        rows = [self.headings, *self.table()]
        widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
        told = ["  ".join(word.ljust(wide) for word, wide in zip(row, widths, strict=True)).rstrip() for row in rows]
        return "\n".join([self.title(), *(f"  {line}" for line in (*told, *self.notes()))])

    # --- The figure -------------------------------------------------------------------------------------

    def _value(self, row: SweepRow) -> float:
        """The drawn value of a row; NaN if there is nothing to draw."""
        if self.sweep.target == "cpu":
            first = next((one.seconds for one in self.lines[row.line] if one.seconds > 0), math.nan)
            return row.seconds / first
        if self.sweep.quantity == "time":
            return row.seconds
        rate = self.sweep.rate(row)
        return math.nan if rate is None else rate

    @cached_property
    def roof(self) -> list[tuple[int, float]]:
        """The roof of the GPU by size; empty if it is not known."""
        peaks, quantity = self.sweep.peaks, self.sweep.quantity
        if peaks is None or quantity == "time":
            return []
        work = {row.size: (row.bytes, row.flops if quantity == "flops" else None) for row in self.sweep}
        return [(size, peaks.attainable(*work[size])) for size in self.sizes]

    @cached_property
    def ends(self) -> tuple[float, float]:
        """The lowest and the highest value of the axis: whole decades, or halves of one."""
        values = [self._value(row) for row in self.sweep] + [value for _unused, value in self.roof]
        values = [value for value in values if math.isfinite(value) and value > 0] or [1.0]
        low, high = math.log10(min(values)), math.log10(max(values))
        low, high = math.floor(low * 2 - 0.1) / 2, math.ceil(high * 2 + 0.1) / 2
        return 10**low, 10**high

    def _at(self, size: int, value: float) -> tuple[float, float]:
        first, last = math.log(self.sizes[0]), math.log(self.sizes[-1])
        across = (math.log(size) - first) / (last - first) if last > first else 0.5
        low, high = map(math.log, self.ends)
        return LEFT + 12 + across * (WIDE - 24), TOP + HIGH * (1 - (math.log(value) - low) / (high - low))

    @cached_property
    def chart(self) -> Drawing:
        made = Drawing(items=[DrawnText(0, 10, self.title(), bold=True)])
        self._axes(made)
        if self.roof:
            points = [self._at(*one) for one in self.roof]
            points = points if len(points) > 1 else [(LEFT, points[0][1]), (LEFT + WIDE, points[0][1])]
            made.add(Line(tuple(points), "faint", 1.5, dashed=True, arrow=False))
        for number, rows in enumerate(self.lines.values()):
            self._line(made, number, rows)
        made.width = LEFT + WIDE + RIGHT
        y = self._legend(made, TOP + HIGH + 56)
        for note in self.notes():
            for line in wrapped(note, made.width, ""):
                made.add(DrawnText(0, y, line, SMALL, "faint"))
                y += 16
        made.height = y
        return made

    def _axes(self, made: Drawing) -> None:
        bottom = TOP + HIGH
        made.add(Rectangle(LEFT, TOP, WIDE, HIGH, "ground", "line", 0.0, 1.0, 0))
        for value in _decades(*self.ends):
            _unused, y = self._at(self.sizes[0], value)
            made.add(Line(((LEFT, y), (LEFT + WIDE, y)), "line", 1, arrow=False))
            made.add(DrawnText(LEFT - 8, y, self._tick(value), SMALL, "faint", "right"))
        shown = self.sizes[:: math.ceil(len(self.sizes) / 10)]
        for size in shown:
            x, _unused = self._at(size, self.ends[0])
            made.add(Line(((x, bottom), (x, bottom + 4)), "faint", 1, arrow=False))
            made.add(DrawnText(x, bottom + 14, binary(size), SMALL, "faint", "center"))
        made.add(DrawnText(LEFT + WIDE / 2, bottom + 32, self.axis, SMALL, "faint", "center"))
        constant = {value for _unused, value in self.roof}
        if len(constant) == 1:  # a share means the same at all sizes
            (peak,) = constant
            for share in (1.0, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01):
                if self.ends[0] <= peak * share <= self.ends[1]:
                    _unused, y = self._at(self.sizes[0], peak * share)
                    made.add(Line(((LEFT + WIDE, y), (LEFT + WIDE + 4, y)), "faint", 1, arrow=False))
                    made.add(DrawnText(LEFT + WIDE + 8, y, f"{share:.0%}", SMALL, "faint"))
            made.add(DrawnText(LEFT + WIDE + 8, TOP - 10, self._of_the_roof, SMALL, "faint", "center"))

    def _tick(self, value: float) -> str:
        if self.sweep.target == "cpu":
            return f"{three_digits(value)}×"
        return seconds_text(value) if self.sweep.quantity == "time" else si(value) + _UNITS[self.sweep.quantity]

    def _line(self, made: Drawing, number: int, rows: Sequence[SweepRow]) -> None:
        colour, dashed, radius = _look(number)
        points = [(row, self._at(row.size, value)) for row in rows if (value := self._value(row)) > 0]
        for (_unused, one), (_unused, other) in pairwise(points):
            made.add(Line((one, other), colour, 1.8, dashed=dashed, arrow=False))
        for row, (x, y) in points:
            made.add(
                Rectangle(x - MARK / 2, y - MARK / 2, MARK, MARK, colour, colour, 1, 0, radius, tag=self._point(row))
            )

    def _point(self, row: SweepRow) -> str:
        """The words of a point when it is picked."""
        told = [f"{heading} {word}" for heading, word in zip(self.headings[2:], self._told(row), strict=True) if word]
        return _("{line}, {axis} = {size}: {names}").format(
            line=row.line, axis=self.axis, size=messages.number(row.size), names=", ".join(told)
        )

    def _legend(self, made: Drawing, y: float) -> float:
        """Draw the legend below the figure, where it covers nothing."""
        x = 0.0
        roof = []
        if self.roof:
            copy = self.sweep.quantity == "bytes"
            roof = [(_("a copy through global memory") if copy else _("the limit of a copy and a product"), -1)]
        for text, number in [*((line, k) for k, line in enumerate(self.lines)), *roof]:
            wide = 36 + width_of(text, SMALL) + 20
            if x and x + wide > made.width:
                x, y = 0.0, y + 18
            colour, dashed, radius = _look(number) if number >= 0 else ("faint", True, 0.0)
            made.add(Line(((x, y), (x + 28, y)), colour, 1.8, dashed=dashed, arrow=False))
            if number >= 0:
                made.add(Rectangle(x + 14 - MARK / 2, y - MARK / 2, MARK, MARK, colour, colour, 1, 0, radius))
            made.add(DrawnText(x + 34, y, text, SMALL))
            x += wide
        return y + 24

    def scene(self) -> SweepScene:
        return {
            "kind": "sweep",
            "title": self.title(),
            "drawing": self.chart.scene("", _("{title}. The table below has its numbers").format(title=self.title())),
            "headings": self.headings,
            "table": self.table(),
        }

    def drawing(self) -> Drawing:
        return self.chart.framed()


def _look(number: int) -> tuple[str, bool, float]:
    """A line's colour, whether it is dashed, and how round its marks are: colours never stand alone."""
    colours = style.TENSOR_COLOURS
    dashed, radius = _LOOKS[number % len(_LOOKS)]
    return colours[number % len(colours)], dashed, radius


def _decades(low: float, high: float) -> list[float]:
    """The powers of ten from low to high; if they are few, also 2 and 5 times each."""
    first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
    steps = (1, 2, 5) if last - first < 2 else (1,)
    found = [step * 10.0**power for power in range(first - 1, last + 1) for step in steps]
    return [value for value in found if low * 0.999 <= value <= high * 1.001]


def _percent(share: float) -> str:
    return f"{share:.0%}" if share >= 0.1 else f"{share:.1%}"


def binary(size: int) -> str:
    """A size in words: ``1024``, and ``16 Ki``, ``4 Mi`` if that is exact; else three digits and a prefix."""
    if size < 10_000:
        return str(size)
    for prefix, unit in (("Gi", 1 << 30), ("Mi", 1 << 20), ("Ki", 1 << 10)):
        if size >= unit and not size % unit:
            return f"{size // unit} {prefix}"
    return si(size).strip()
