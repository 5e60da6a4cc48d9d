"""Advice on a launch's speed as HTML: what to change first, a bar for the time of each edit, the changed lines."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from triton_lab.compiled.advice.speed_advice import Advice, LaunchFigures, SpeedSuggestion, times, told_results
from triton_lab.compiled.cost.predicted_time import LIMITS
from triton_lab.localization import _, translated
from triton_lab.messages import seconds_text
from triton_lab.views.drawing import style

if TYPE_CHECKING:
    from collections.abc import Iterable

_BAR = 220  # pixels of the launch as it is
_LEAST = 2
# In JupyterLab its own colours, which follow the theme; elsewhere those of the light theme.
_BEFORE = f"var(--jp-border-color1, {style.LIGHT.line})"
_AFTER = f"var(--jp-brand-color1, {style.LIGHT.accent})"
_REMOVED, _ADDED = (
    f"var(--jp-{name}-color1, {colour})"
    for name, colour in (("error", style.LIGHT.error), ("success", style.LIGHT.good))
)
_CODE = "margin: 4px 0; overflow-x: auto"
_CELL = 'style="text-align: left; padding: 2px 12px 2px 0; vertical-align: top"'


def advice_html(advice: Advice) -> str:
    """The headline, a table with a bar for each edit, the changed lines, and below them what was left out."""
    longest = max([advice.original.seconds, *(one.after.seconds for one in advice)])
    rows = [
        _row(_("as it is"), advice.original, longest, _BEFORE, ("1", ""), ""),
        *(_row(one.title, one.after, longest, _AFTER, _gain(one), told_results(one.results)) for one in advice),
    ]
    head = (
        _("edit"), _("measured time") if advice.is_measured else _("predicted time"), _("times as fast"),
        _("limited by"), _("sectors"), _("registers"), _("spilled"), _("occupancy"), _("results"),
    )  # fmt: skip
    titles = "".join(f'<th scope="col" {_CELL}>{html.escape(name)}</th>' for name in head)
    return (
        f'<div class="triton-lab-advice"><div style="font-size: 1.15em; margin: 4px 0"><b>'
        f"{html.escape(advice.headline)}</b></div>"
        f"<table><thead><tr>{titles}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
        f"{''.join(_change(one) for one in _distinct(advice))}"
        f"{''.join(_line(note) for note in advice.notes)}</div>"
    )


def _row(title: str, figures: LaunchFigures, longest: float, colour: str, gain: tuple[str, str], results: str) -> str:
    width = max(_LEAST, round(_BAR * figures.seconds / longest))
    bar = (
        f'<div aria-hidden="true" style="background: {colour}; height: 10px; width: {width}px"></div>'
        f"{html.escape(seconds_text(figures.seconds))}"
    )
    number, remark = gain
    told = f"<b>{html.escape(number)}</b> {html.escape(remark)}"
    plain = (
        translated(LIMITS[figures.time.limit]),
        f"{figures.sectors:,}",
        "-" if figures.registers is None else str(figures.registers),
        "-" if figures.spills is None else str(figures.spills),
        f"{figures.occupancy:.0%}",
        results,
    )
    cells = [html.escape(title), bar, told, *map(html.escape, plain)]
    return f"<tr>{''.join(f'<td {_CELL}>{cell}</td>' for cell in cells)}</tr>"


def _gain(one: SpeedSuggestion) -> tuple[str, str]:
    """The gain, and beside a measured one what was predicted."""
    if one.measured_gain is None:
        return times(one.predicted_gain), ""
    return times(one.measured_gain), _("(predicted: {gain})").format(gain=times(one.predicted_gain))


def _distinct(advice: Advice) -> Iterable[SpeedSuggestion]:
    """The suggestions that change lines of the kernel, each change once."""
    return {one.diff: one for one in reversed(advice.suggestions) if one.diff}.values()


def _change(one: SpeedSuggestion) -> str:
    lines = "\n".join(
        f'<span style="color: {_ADDED if line.startswith("+") else _REMOVED}">{html.escape(line)}</span>'
        for line in one.diff.split("\n")
    )
    where = _("line {line}: {edit}").format(line=one.line, edit=", ".join(one.edit.remarks))
    return f'<div>{html.escape(where)}</div><pre style="{_CODE}">{lines}</pre>'


def _line(text: str) -> str:
    return f'<div style="opacity: 0.75">{html.escape(text)}</div>'
