"""`Advice`: edits that make a launch faster, the best first, with what was found about each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from triton_lab.compiled.advice.launch_edit import LaunchEdit
from triton_lab.compiled.compilation_text import aligned
from triton_lab.compiled.cost.predicted_time import LIMITS, PredictedTime
from triton_lab.launch.comparison.argument_difference import EQUAL, NEAR
from triton_lab.localization import _, ngettext, translated
from triton_lab.messages import seconds_text, significant
from triton_lab.providers import provided

if TYPE_CHECKING:
    from triton_lab.backend.targets.gpu_timer import Time
    from triton_lab.launch.launch import Launch


@dataclass(frozen=True)
class LaunchFigures:
    """What is known of a launch as it was compiled.

    ``sectors`` (of 32 bytes) and ``requests`` of global memory are those of the whole launch, scaled up from the
    programs that were followed. ``registers`` and ``spills`` are those of a thread, ``shared`` the bytes of a program,
    ``occupancy`` the share of a multiprocessor's warps that are resident. ``measured`` is a time on a GPU, if there is
    one.
    """

    time: PredictedTime
    sectors: int
    requests: int
    registers: int | None
    spills: int | None
    shared: int | None
    occupancy: float
    measured: Time | None = None

    @property
    def seconds(self) -> float:
        """The measured time, else the predicted one."""
        return self.time.seconds if self.measured is None else self.measured.median


@dataclass(frozen=True, eq=False)
class SpeedSuggestion:
    """One edit that was tried: ``launch`` is the edited launch, of which some programs have run.

    ``results`` is ``bit-equal``, ``equal up to rounding``, ``not known`` (where the check took too long) or ``not
    checked``.
    """

    edit: LaunchEdit
    before: LaunchFigures = field(repr=False)
    after: LaunchFigures = field(repr=False)
    results: str
    launch: Launch = field(repr=False)
    source: str = field(repr=False)

    @property
    def title(self) -> str:
        """The edit in a line: ``num_warps=8, BLOCK=1024``."""
        return self.edit.title

    @property
    def line(self) -> int | None:
        """The first line of the kernel's file that changes; None for constants, options and the grid."""
        return self.edit.line

    @property
    def diff(self) -> str:
        """The lines of the kernel that change, as ``diff -u`` writes them; "" where none does."""
        return self.edit.diff(self.source)

    @property
    def kernel(self) -> Any:
        """The edited kernel: ``suggestion.kernel[suggestion.grid](..., **suggestion.options)`` launches it."""
        return self.launch.compiled[0].fn

    @property
    def grid(self) -> tuple[int, int, int]:
        """The grid that the edit needs."""
        return self.launch.grid

    @property
    def predicted_gain(self) -> float:
        """How many times as fast the launch should be."""
        return self.before.time.seconds / self.after.time.seconds

    @property
    def measured_gain(self) -> float | None:
        """How many times as fast it was on a GPU; None where it was not measured."""
        if self.before.measured is None or self.after.measured is None:
            return None
        return self.before.measured.median / self.after.measured.median

    @property
    def gain(self) -> float:
        """The measured gain, else the predicted one."""
        return self.predicted_gain if self.measured_gain is None else self.measured_gain


@dataclass(frozen=True)
class Dropped:
    """An edit that is no advice, and why: its results differ, or it does not compile or run."""

    title: str
    reason: str


@dataclass(frozen=True, eq=False)
class Advice:
    """Suggestions for ``launch`` on ``target``, the fastest first; it is shown as a table of them.

    ``original`` are the launch's own figures. ``tried`` counts the edits whose time was predicted; ``dropped`` lists
    those that are wrong. ``left`` says what was not looked at.

    >>> advice = launch.advise("sm_90", seconds=5)
    >>> advice.original.time.limit in ("latency", "starts", "dram")
    True
    """

    launch: Launch = field(repr=False)
    target: str
    original: LaunchFigures
    suggestions: tuple[SpeedSuggestion, ...]
    dropped: tuple[Dropped, ...]
    tried: int
    left: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.suggestions)

    def __iter__(self) -> Iterator[SpeedSuggestion]:
        return iter(self.suggestions)

    def __getitem__(self, place: int) -> SpeedSuggestion:
        return self.suggestions[place]

    @property
    def is_measured(self) -> bool:
        """Whether the times are a GPU's."""
        return self.original.measured is not None

    @property
    def headline(self) -> str:
        """The best suggestion, and by how much it helps; or that none was found."""
        if not self.suggestions:
            return ngettext(
                "No faster edit was found: {count} edit was tried.",
                "No faster edit was found: {count} edits were tried.",
                self.tried,
            ).format(count=self.tried)
        first = self.suggestions[0]
        told = (
            _("{edit}: {gain} times as fast, as measured.")
            if first.measured_gain is not None
            else _("{edit}: {gain} times as fast, as predicted.")
        )
        return told.format(edit=first.title, gain=times(first.gain))

    def rows(self) -> Iterator[tuple[str, ...]]:
        """Rows of a table: a header, the launch as it is, then each suggestion."""
        yield (
            _("edit"), _("line"), _("times as fast"), _("time"), _("limited by"), _("sectors"), _("registers"),
            _("spilled"), _("occupancy"), _("results"), _("source of the time"),
        )  # fmt: skip
        yield (_("as it is"), "", "1", *_figures(self.original), "", _source(self.original))
        for one in self.suggestions:
            line = "" if one.line is None else str(one.line)
            yield (
                one.title, line, times(one.gain), *_figures(one.after), told_results(one.results), _source(one.after),
            )  # fmt: skip

    def as_dicts(self) -> list[dict[str, Any]]:
        """The suggestions as plain data, for a data frame or JSON."""
        return [
            {
                "edit": one.title,
                "line": one.line,
                "diff": one.diff,
                "constants": dict(one.edit.constants),
                "options": dict(one.edit.options),
                "grid": list(one.grid),
                "results": one.results,
                "predicted_gain": one.predicted_gain,
                "measured_gain": one.measured_gain,
                **{f"{name}_before": value for name, value in _data(one.before).items()},
                **{f"{name}_after": value for name, value in _data(one.after).items()},
            }
            for one in self.suggestions
        ]

    @property
    def notes(self) -> list[str]:
        """What was dropped, and what was not looked at, in sentences."""
        told = []
        if self.dropped:
            told.append(
                ngettext(
                    "{count} edit was dropped: {first}",
                    "{count} edits were dropped, such as {first}",
                    len(self.dropped),
                ).format(count=len(self.dropped), first=f"{self.dropped[0].title} ({self.dropped[0].reason}).")
            )
        return [*told, *self.left]

    def __str__(self) -> str:
        table = aligned(list(self.rows()))
        diffs = [f"{one.title}:\n{one.diff}" for one in self.suggestions if one.diff]
        return "\n".join([self.headline, "", *table, *(["", *diffs] if diffs else []), "", *self.notes])

    def __repr__(self) -> str:
        return _("<advice for {kernel} on {target}: {headline}>").format(
            kernel=self.launch.kernel, target=self.target, headline=self.headline.rstrip(".")
        )

    def _repr_html_(self) -> str:
        return str(provided("Advice.html")(self))


def _figures(of: LaunchFigures) -> tuple[str, ...]:
    return (
        seconds_text(of.seconds),
        translated(LIMITS[of.time.limit]),
        f"{of.sectors:,}",
        "-" if of.registers is None else str(of.registers),
        "-" if of.spills is None else str(of.spills),
        f"{of.occupancy:.0%}",
    )


def _data(of: LaunchFigures) -> dict[str, Any]:
    return {
        "predicted": of.time.seconds,
        "measured": None if of.measured is None else of.measured.median,
        "limit": of.time.limit,
        "sectors": of.sectors,
        "requests": of.requests,
        "registers": of.registers,
        "spills": of.spills,
        "shared": of.shared,
        "occupancy": of.occupancy,
    }


def _source(of: LaunchFigures) -> str:
    return _("predicted") if of.measured is None else _("measured")


def told_results(results: str) -> str:
    """What is known of the results, as users read it."""
    return translated(results) if results in (EQUAL, NEAR) else _("not checked")


def times(gain: float) -> str:
    """A gain in two or three digits."""
    return significant(round(gain, 2 if gain < 10 else 1))
