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
    from collections.abc import Iterable, Sequence

_LEAST = 1  # percent of the longest bar
# In JupyterLab its own colours, which follow the theme; elsewhere those of the light theme.
_BEFORE = f"var(--jp-border-color1, {style.LIGHT.line})"
_AFTER = f"var(--jp-brand-color1, {style.LIGHT.accent})"
_REMOVED, _ADDED = (
    f"var(--jp-{name}-color1, {colour})"
    for name, colour in (("error", style.LIGHT.error), ("success", style.LIGHT.good))
)
_CODE = "margin: 4px 0; overflow-x: auto"
_CELL = 'style="text-align: left; padding: 2px 12px 2px 0; vertical-align: top"'
_BAR = "width: clamp(80px, 20cqw, 220px)"  # of the longest
# Where it is narrow, an edit takes several lines: its words, its bar, and its figures, each beside its heading. The
# roles keep it a table for readers of screens. Where a page removes styles, the table scrolls.
_STYLE = """
.triton-lab-advice { container-type: inline-size }
@container (max-width: 960px) {
  .triton-lab-advice thead { display: none }
  .triton-lab-advice :is(table, tbody) { display: block }
  .triton-lab-advice tbody tr { display: flex; flex-wrap: wrap; padding: 4px 0 }
  .triton-lab-advice td:nth-child(-n + 2) { flex: 1 0 calc(100% - 12px) }
  .triton-lab-advice td:empty { display: none }
  .triton-lab-advice td[data-name]::before { content: attr(data-name) ": "; opacity: 0.75 }
}
"""


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
    titles = "".join(f'<th role="columnheader" scope="col" {_CELL}>{html.escape(name)}</th>' for name in head)
    body = "".join(f'<tr role="row">{_cells(row, head)}</tr>' for row in rows)
    return (
        f'<div class="triton-lab-advice"><style>{_STYLE}</style><div style="font-size: 1.15em; margin: 4px 0"><b>'
        f"{html.escape(advice.headline)}</b></div>"
        f'<div style="overflow-x: auto" tabindex="0" role="group" aria-label="{html.escape(advice.headline)}">'
        f'<table role="table"><thead role="rowgroup"><tr role="row">{titles}</tr></thead>'
        f'<tbody role="rowgroup">{body}</tbody></table></div>'
        f"{''.join(_change(one) for one in _distinct(advice))}"
        f"{''.join(_line(note) for note in advice.notes)}</div>"
    )


def _cells(row: Sequence[str], head: Sequence[str]) -> str:
    """The cells of a row; those after the bar know their headings."""
    named = [f' data-name="{html.escape(name)}"' if k > 1 else "" for k, name in enumerate(head)]
    return "".join(f'<td role="cell" {_CELL}{name}>{cell}</td>' for cell, name in zip(row, named, strict=True))


def _row(
    title: str, figures: LaunchFigures, longest: float, colour: str, gain: tuple[str, str], results: str
) -> list[str]:
    """The cells of a row, as HTML."""
    width = max(_LEAST, round(100 * figures.seconds / longest))
    bar = (
        f'<div aria-hidden="true" style="{_BAR}"><div style="background: {colour}; height: 10px; width: {width}%">'
        f"</div></div>{html.escape(seconds_text(figures.seconds))}"
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
    return [html.escape(title), bar, told, *map(html.escape, plain)]


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
