"""Autotune: the configurations that Triton's autotuner tried, as bars, and the one that the launch ran with."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from triton_lab import messages
from triton_lab.localization import N_, _, translated
from triton_lab.messages import seconds_text
from triton_lab.views.drawing.drawing import Drawing, DrawnText, Rectangle
from triton_lab.views.drawing.drawing_pieces import WIDTH, wrapped
from triton_lab.views.drawing.drawing_scenes import DrawingScene
from triton_lab.views.drawing.fonts import width_of
from triton_lab.views.drawing.style import SMALL
from triton_lab.views.launch.card.card_tab import NUMBERS, Panel, unknown
from triton_lab.views.view import View

if TYPE_CHECKING:
    from triton_lab.backend.targets.autotuner_trials import Tried, Tuning
    from triton_lab.launch.launch import Launch
    from triton_lab.views.drawing.drawing import Drawing

MOST = 40  # configurations that are drawn
ROW, TOP, GAP = 22.0, 30.0, 18.0
BAR = 190.0  # pixels of the slowest
_REASON = 70  # characters of a reason beside the bars; the words have it in full
INTERPRETED = N_(
    "Each configuration ran once in the interpreter, on the CPU. These times do not predict times on a GPU, where "
    "another configuration may be the fastest."
)


class Autotune(View):
    """The trials of an autotuner for ``launch``. Raises ValueError if no autotuner made it."""

    def __init__(self, launch: Launch) -> None:
        found: Tuning | None = getattr(launch, "tuning", None)
        if found is None:
            raise ValueError(_none(launch))
        self.tuning = found

    @cached_property
    def _ranked(self) -> list[Tried]:
        return self.tuning.ranked

    @cached_property
    def varied(self) -> list[str]:
        """The parameters in which configurations differ."""
        names = dict.fromkeys(name for one in self._ranked for name in one.config)
        return [name for name in names if len({repr(one.config.get(name)) for one in self._ranked}) > 1]

    def title(self) -> str:
        tried = messages.count(len(self._ranked), "configuration")
        return _("{kernel}: {tried} tried, {named} taken").format(
            kernel=self.tuning.kernel, tried=tried, named=self._named(self.tuning.choice)
        )

    def _named(self, one: Tried) -> str:
        return ", ".join(f"{name}={one.config[name]}" for name in self.varied if name in one.config) or str(one)

    def notes(self) -> list[str]:
        """Notes: the parameters that all share, what the choice depends on, and what the times mean."""
        tuning = self.tuning
        same = {name: value for name, value in self._ranked[0].config.items() if name not in self.varied}
        said = [_("all with {values}").format(values=", ".join(f"{n}={v}" for n, v in same.items()))] if same else []
        if tuning.key:
            said.append(_("chosen for {names}; other values are tuned again").format(names=", ".join(tuning.key)))
        if tuning.earlier:
            earlier = _("The choice was made at an earlier launch, unrecorded.")
            said.append(earlier if self._unknown else _("The choice was made at an earlier launch."))
        if tuning.left_out:
            said.append(
                _("{configurations} pruned, and not tried").format(
                    configurations=messages.count(tuning.left_out, "more configuration")
                )
            )
        if len(self._ranked) > MOST:
            said.append(_("{number} slower ones are not drawn").format(number=len(self._ranked) - MOST))
        return [*said, translated(INTERPRETED)] if tuning.target == "cpu" else said

    @property
    def _unknown(self) -> bool:
        return all(math.isnan(one.seconds) for one in self._ranked)

    def told(self, one: Tried) -> str:
        """The time of a configuration: ``4.9 µs (4.8 µs to 5.1 µs)``, or why it failed; "" if neither is known."""
        if one.failed:
            return _("failed: {reason}").format(reason=one.failed)
        if math.isnan(one.seconds):
            return ""
        return seconds_text(one.seconds) + messages.spread(one.low, one.high)

    def times(self, one: Tried) -> str:
        """The time relative to the chosen configuration: ``1.34×``."""
        of = one.seconds / self.tuning.choice.seconds if self.tuning.choice.seconds else math.nan
        return (f"{of:.2f}×" if of < 10 else f"{of:.3g}×") if math.isfinite(of) else ""

    def text(self) -> str:
        rows = [
            f"  {'→' if one is self.tuning.choice else ' '} {self._named(one)}: "
            + (" ".join(filter(None, (self.told(one), self.times(one)))) or _("time unknown"))
            for one in self._ranked
        ]
        return "\n".join([self.title(), *rows, *(f"  {note}" for note in self.notes())])

    # --- The picture ----------------------------------------------------------------------------------

    @cached_property
    def chart(self) -> Drawing:
        """A row for each configuration: its parameters, a bar with its spread, its time."""
        shown = self._ranked[:MOST]
        made = Drawing(items=[DrawnText(0, 12, self.title(), bold=True)])
        x = 20.0
        for name in self.varied:
            column = [_short(one.config.get(name)) for one in shown]
            made.add(DrawnText(x, TOP + ROW / 2, name, SMALL, "faint"))
            made.add(*(DrawnText(x, self._middle(k), value, mono=True) for k, value in enumerate(column)))
            x += max(width_of(name, SMALL), *(width_of(value, mono=True) for value in column)) + GAP
        heading = _("time in the interpreter") if self.tuning.target == "cpu" else _("time")
        made.add(DrawnText(x, TOP + ROW / 2, heading, SMALL, "faint"))
        for k, one in enumerate(shown):
            made.add(*self._row(k, one, x))
        y = self._middle(len(shown)) + 4
        for line in (line for note in self.notes() for line in wrapped(note, WIDTH, "")):
            made.add(DrawnText(0, y, line, SMALL, "faint"))
            y += 17
        made.height = y
        return made.fitted()

    def _row(self, k: int, one: Tried, x: float) -> list[Rectangle | DrawnText]:
        """The items right of the parameters."""
        y, chosen = self._middle(k), one is self.tuning.choice
        found: list[Rectangle | DrawnText] = []
        if chosen:
            found.append(DrawnText(2, y, "→", colour="accent", bold=True))
        long = end = self._length(one)
        if long:
            hue = "accent" if chosen else "mark"
            found.append(Rectangle(x, y - 7, long, 14, hue, hue, 0.85, 0, 0))
            low, high = (self._scaled(each) for each in (one.low, one.high))
            end = max(long, high)
            if high - low > 1:
                found.append(Rectangle(x + low, y - 1, high - low, 2, "ink", "ink", 1, 0, 0))
        hue = "error" if one.failed else "ink"
        found.append(DrawnText(x + end + 8, y, self._beside(one), colour=hue, bold=chosen))
        return found

    def _beside(self, one: Tried) -> str:
        beside = self.times(one) if one is not self.tuning.choice else _("taken")
        told = " · ".join(filter(None, (self.told(one), beside)))
        return told if len(told) <= _REASON else told[: _REASON - 1] + "…"

    def _scaled(self, seconds: float) -> float:
        most = max((one.high for one in self._ranked[:MOST] if math.isfinite(one.high)), default=0.0)
        return BAR * seconds / most if most and math.isfinite(seconds) else 0.0

    def _length(self, one: Tried) -> float:
        return max(1.0, self._scaled(one.seconds)) if math.isfinite(one.seconds) else 0.0

    @staticmethod
    def _middle(k: int) -> float:
        return TOP + ROW * (k + 1.5)

    def scene(self) -> DrawingScene:
        return self.chart.scene("", self.text())

    def drawing(self) -> Drawing:
        return self.chart.framed()

    def pieces(self) -> list[Drawing]:
        """The drawing as a piece of a card's sheet."""
        from triton_lab.views.drawing.drawing_pieces import spaced

        return [spaced(self.chart)]


class AutotunePanel(Panel):
    """The tab for launches that an autotuner made."""

    @property
    def absent(self) -> str:
        return _none(self.launch)

    def view(self, path: Sequence[str], first: int = 0, numbers: int = NUMBERS) -> Autotune:
        if list(path) == ["autotune"] and self.card.tuned:
            return Autotune(self.launch)
        raise unknown(path)

    def drawn(self) -> Sequence[Autotune]:
        return [Autotune(self.launch)] if self.card.tuned else []


def _none(launch: Launch) -> str:
    return _("no autotuner made this launch of {kernel}: @triton.autotune above a kernel tries configurations").format(
        kernel=launch.kernel
    )


def _short(value: Any) -> str:
    text = "" if value is None else str(value)
    return text if len(text) <= 16 else text[:15] + "…"
