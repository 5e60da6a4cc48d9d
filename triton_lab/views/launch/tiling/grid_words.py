"""The words of the picture of a grid: what its layers show, how much programs do, and what waves of them load."""

from __future__ import annotations

from collections.abc import Sequence

from triton_lab import messages
from triton_lab.launch.element_index import Ints
from triton_lab.launch.maps.program_work import Wave, Work
from triton_lab.launch.maps.stopping_points import StoppingPoints
from triton_lab.localization import N_, _
from triton_lab.views.drawing.drawing_text import bytes_text

SAYS = {
    "order": N_("the order in which programs start"),
    "wave": N_("which programs run together"),
    "lanes": N_("how many lanes of each program are active"),
    "bytes": N_("how many bytes each program loads and stores"),
    "iterations": N_("how many iterations each program runs"),
    "shared": N_("how many bytes of input each program shares with the selected one"),
}
MOST_WAVES = 6  # that are described


def work_words(work: Work, stopped: StoppingPoints | None) -> list[str]:
    """How many programs there are and how much they do; of a launch that was stopped also where they stood then."""
    busy = [_spread(work.lanes, "lane"), _spread(work.iterations, "iteration")]
    whole = "; ".join([messages.count(len(work.lanes), "program"), *busy])
    if stopped is None:
        return [whole]
    # The counts cover the work done until then.
    before = [_("before that: {what}").format(what="; ".join(busy))] if work.lanes.any() else []
    return ["; ".join(stopped.text()) or whole, *before]


def wave_words(waves: Sequence[Wave], sms: int, grid: Sequence[int]) -> list[str]:
    """What each of the first waves of ``sms`` programs loads, and how much of that is different."""
    lines = []
    for number, wave in enumerate(waves[:MOST_WAVES]):
        once = wave.loaded / wave.distinct if wave.distinct else 0
        lines.append(
            _(
                "wave {number}: {program_range} {verb} {bytes_text}, {bytes_text_2} of them different ({time} each)"
            ).format(
                number=number,
                program_range=messages.program_range(wave.first, wave.last, grid),
                verb=messages.noun(wave.last - wave.first + 1, "loads", "load"),
                bytes_text=bytes_text(wave.loaded),
                bytes_text_2=bytes_text(wave.distinct),
                time=messages.rounded(once, "time"),
            )
        )
    if len(waves) > MOST_WAVES:
        more = messages.count(len(waves) - MOST_WAVES, "more wave")
        lines.append(_("{waves} of {programs}").format(waves=more, programs=sms))
    return lines


def _spread(numbers: Ints, unit: str) -> str:
    """The spread of numbers in words: ``4 to 9 iterations (the maximum is 1.3 times the mean)``."""
    low, high = (int(numbers.min()), int(numbers.max())) if numbers.size else (0, 0)
    if low == high:
        return _("{count} each").format(count=messages.count(high, unit))
    return _("{span} (the maximum is {time} the mean)").format(
        span=messages.span(low, high, unit), time=messages.rounded(high / numbers.mean(), "time")
    )
