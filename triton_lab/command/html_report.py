"""A script's launches as one self-contained HTML page: the findings, the list, and cards that can be explored.

The size of the page is limited: the list has a largest number of launches, and only launches that were kept whole have
cards.
"""

from __future__ import annotations

import html
from collections.abc import Iterator
from dataclasses import asdict
from datetime import datetime

import triton_lab
from triton_lab import messages
from triton_lab.command import console_report
from triton_lab.command.launch_listener import FIRST
from triton_lab.command.launch_rows import left_out, rows
from triton_lab.command.run_script import Script
from triton_lab.command.session_log import Heard, LaunchLine, SessionFinding
from triton_lab.finding_pages import site_link
from triton_lab.launch.diagnosis.severity import SEVERITIES
from triton_lab.localization import N_, _, all_translated
from triton_lab.views.drawing import style
from triton_lab.views.launch.card.findings_text import ICONS
from triton_lab.views.launch.card.launch_table import INTERPRETED
from triton_lab.views.script_bundle import PAGE, carried_texts, page_language, script, stylesheet

ROWS = 1000  # of the list
FINDINGS = 200
HEADINGS = (N_("kernel"), N_("grid"), N_("target"), N_("time"), N_("findings"))  # of the list, behind the number


def page(heard: Heard, ran: Script, failure: str) -> str:
    """The whole page as text. ``failure`` says how the script failed, if it did."""
    title = _("Launches of {script}").format(script=ran)
    body = "".join([*_head(heard, ran, failure), *_findings(heard), *_list(heard), *_cards(heard)])
    return (
        f'<!doctype html><html lang="{page_language()}"><head><meta charset="utf-8"><title>{_escaped(title)}</title>'
        '<meta name="viewport" content="width=device-width"><style>'
        f"{_colours()}{_RULES}{stylesheet()}</style></head>"
        f'<body><main>{body}</main>{carried_texts()}<script type="module">{script(PAGE)}</script></body></html>\n'
    )


def _head(heard: Heard, ran: Script, failure: str) -> Iterator[str]:
    import torch
    import triton

    command = " ".join([str(ran), *ran.arguments])
    versions = _("triton-lab {triton_lab}, Triton {triton}, torch {torch}").format(
        triton_lab=triton_lab.__version__, triton=triton.__version__, torch=torch.__version__
    )
    yield f"<h1>{_escaped(command)}</h1><p>{_escaped(console_report.summary(heard)).capitalize()}.</p>"
    yield f'<p class="faint">{versions}; {datetime.now().astimezone():%Y-%m-%d %H:%M %Z}</p>'
    if failure:
        yield f'<h2>{_("The script failed")}</h2><pre class="error">{_escaped(failure)}</pre>'
    yield from (f'<p class="warning">{_escaped(doubt)}</p>' for doubt in console_report.doubts(heard))


def _findings(heard: Heard) -> Iterator[str]:
    found = sorted(heard.findings, key=lambda one: SEVERITIES.index(one.finding.severity))
    if not found:
        return
    yield f"<h2>{_('Findings')}</h2>"
    yield from (_finding(one, heard) for one in found[:FINDINGS])
    if len(found) > FINDINGS:
        rest = messages.count(len(found) - FINDINGS, "more finding")
        yield f"<p>{_('{findings}. triton-lab check lists all.').format(findings=rest)}</p>"


def _finding(found: SessionFinding, heard: Heard) -> str:
    finding = found.finding
    severity, place = finding.severity, _escaped(console_report.place(found))
    head = f'<b class="{severity}">{ICONS[severity]} {severity}</b> {place}'
    excerpt = "\n".join(line.removeprefix("    ") for line in finding.excerpt)
    values = f"<p>{_('values')}: {_escaped(finding.values_text)}</p>" if finding.values_text else ""
    more = "".join(f"<p>{_escaped(line)}</p>" for line in (*finding.orders, finding.hint))
    fix = f"<pre>{_escaped(chr(10).join(finding.fix_lines))}</pre>" if finding.fix_lines else ""
    seen = _escaped(console_report.seen(found))
    kind = f"<code>[{finding.kind}]</code>"
    if address := site_link(finding.kind):
        kind = f'<a href="{_escaped(address)}">{kind}</a>'
    if found.first in heard.cards:
        seen = f'<a href="#launch-{found.first}">{seen}</a>'
    return (
        f"<article><p>{head}</p><p>{_escaped(finding.message)} {kind}</p>"
        f'<pre>{_escaped(excerpt)}</pre>{values}{more}{fix}<p class="faint">{seen}</p></article>'
    )


def _list(heard: Heard) -> Iterator[str]:
    every = list(rows(heard.lines))
    if not every:
        return
    yield f"<h2>{_('Launches')}</h2>"
    if any(row.findings() for row in every) and not all(row.findings() for row in every):
        yield f'<label><input type="checkbox" id="only"> {_("only launches with findings")}</label>'
    heads = "".join(f'<th scope="col">{name}</th>' for name in ("#", *all_translated(HEADINGS)))
    yield f'<div class="list"><table><thead><tr>{heads}</tr></thead><tbody>'
    for row in every[:ROWS]:
        line = row.first
        kernel = _escaped(line.kernel)
        if line.drawn:
            kernel = f'<a href="#launch-{line.number}">{kernel}</a>'
        cells = (row.number(), kernel, row.grid(), line.target, row.time(), _worst(line) + (row.findings() or "–"))
        marked = ' class="found"' if row.findings() else ""
        yield f"<tr{marked}>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"
    yield "</tbody></table></div>"
    if len(every) > ROWS:
        yield f"<p>{_escaped(left_out(every[ROWS:]))}</p>"
    if any(line.target == "cpu" for line in heard.lines):
        yield f'<p class="faint">{_escaped(INTERPRETED)}</p>'


def _worst(line: LaunchLine) -> str:
    """The sign of the gravest finding."""
    return "" if line.worst is None else f'<b class="{line.worst}">{ICONS[line.worst]}</b> '


def _cards(heard: Heard) -> Iterator[str]:
    if not heard.cards:
        return
    yield f"<h2>{_('Cards')}</h2>"
    if len(heard.cards) < len(heard.lines):
        left = _(
            "{count} of {launches} are drawn: at most the first {most} of each kernel and of each finding."
        ).format(
            count=messages.number(len(heard.cards)),
            launches=messages.count(len(heard.lines), "launch", "launches"),
            most=FIRST,
        )
        yield f"<p>{left}</p>"
    opened = next((one.first for one in heard.findings if one.first in heard.cards), next(iter(heard.cards)))
    for number, card in heard.cards.items():
        named = _("launch {number}: {card}").format(number=number, card=card.title)
        yield (
            f"<details{' open' if number == opened else ''}>"
            f"<summary>{_worst(heard.lines[number])}{_escaped(named)}</summary>"
            f'<div id="launch-{number}"><script type="application/gzip">{card.packed}</script></div></details>'
        )


def _escaped(text: str) -> str:
    return html.escape(text)


def _colours() -> str:
    """The colours of the light and the dark theme, for the reader's system to choose."""
    light, dark = (
        "".join(f"--{name}:{value};" for name, value in asdict(theme).items() if isinstance(value, str))
        for theme in (style.LIGHT, style.DARK)
    )
    return f":root{{color-scheme:light dark;{light}}}@media(prefers-color-scheme:dark){{:root{{{dark}}}}}"


# For the page alone: the cards have their own rules.
_RULES = f"""
body{{background:var(--ground);color:var(--ink);margin:16px auto;padding:0 16px;max-width:1200px;
font-family:{style.WEB_FONT};line-height:1.4}}
h1{{font-size:22px;overflow-wrap:anywhere}}h2{{font-size:17px;margin:24px 0 8px}}main>p,article p{{margin:4px 0}}
.list a,article a{{color:var(--accent)}}.faint{{color:var(--faint);font-size:13px}}
article pre,article code,main>pre{{font-family:{style.WEB_MONO};font-size:13px;margin:4px 0;overflow-x:auto}}
.error{{color:var(--error)}}.warning{{color:var(--warning)}}.note{{color:var(--faint)}}
article{{border-left:3px solid var(--line);padding:2px 0 2px 12px;margin:12px 0;overflow-wrap:anywhere}}
.list{{overflow-x:auto}}.list table{{border-collapse:collapse;font-size:14px}}
.list :is(th,td){{text-align:left;padding:3px 14px 3px 0;border-bottom:1px solid var(--line);white-space:nowrap}}
body:has(#only:checked) .list tbody tr:not(.found){{display:none}}
main>details{{border:1px solid var(--line);border-radius:6px;margin:8px 0;padding:6px 12px}}
main>details>summary{{cursor:pointer;font-weight:600;overflow-wrap:anywhere}}
main>details>div{{scroll-margin-top:48px}}
"""
