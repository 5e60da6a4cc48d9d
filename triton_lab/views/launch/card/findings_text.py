"""Findings in words for a cell's output: each with its severity, its source line and its fix."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from triton_lab.finding_pages import site_link
from triton_lab.launch.checks.rule import rules
from triton_lab.localization import _, translated
from triton_lab.messages import noun
from triton_lab.views.drawing import style

if TYPE_CHECKING:
    from triton_lab.launch.diagnosis.finding import Finding
    from triton_lab.views.launch.card.card_scenes import FindingScene

# Severities differ by shape and word, not only by colour.
ICONS = {"error": "✖", "warning": "▲", "note": "●"}
# In JupyterLab its own colours, which follow the theme; elsewhere those of the light theme.
COLOURS = {
    "error": f"var(--jp-error-color1, {style.LIGHT.error})",
    "warning": f"var(--jp-warn-color1, {style.LIGHT.warning})",
    "note": f"var(--jp-brand-color1, {style.LIGHT.accent})",
}

# Never wrapped, as JupyterLab would do: the line below points at a place in this line.
_CODE = "margin: 4px 0; overflow-x: auto; white-space: pre"


def findings_html(findings: Sequence[Finding]) -> str:
    """All findings as HTML, one below the other."""
    return "".join(map(_one, findings)) or "<div>no findings</div>"


def finding_scene(one: Finding) -> FindingScene:
    """A finding in plain words, for the card."""
    return {
        "severity": one.severity,
        "icon": ICONS[one.severity],
        "line": one.line,
        "where": one.where,
        "program": next((int(program) for program in one.programs), None),
        "message": one.message,
        "orders": list(one.orders),
        "hint": one.hint,
        "fix": None if one.fix is None else [(e.line, e.before, e.after) for e in one.fix.edits],
        "excerpt": list(one.excerpt),
        "stopped": one.stopped,
        "explains": rules()[one.kind].explains,
        "sort": one.kind,
        "about": about(one.kind),
        "page": site_link(one.kind),
    }


def about(kind: str) -> list[str]:
    """What a kind of finding means: why it matters, when it is right to ignore it, and the command that says more."""
    rule = rules()[kind]
    ignored = _("When it is right to ignore it: {intended}").format(intended=translated(rule.intended))
    more = _("An example and more: triton-lab explain {kind}").format(kind=kind)
    return [translated(rule.summary), translated(rule.why), ignored, more]


def fix_lines(edits: Sequence[Sequence[Any]] | None) -> list[str]:
    """The lines of a tested fix: which lines to replace by what."""
    if not edits:
        return []
    return [
        _("A fix, tried on copies:"),
        *(line for number, _unused, after in edits for line in (_("line {line}:").format(line=number), after)),
    ]


def excerpt_lines(excerpt: Sequence[str], stopped: bool) -> list[str]:
    """What a static card shows of a finding's excerpt: all of what stopped the launch, else what was generated from.

    The first two lines of an excerpt are the kernel's, the others those of another language that they were made from.
    """
    return list(excerpt if stopped else excerpt[2:])


def _one(finding: Finding) -> str:
    colour, icon = COLOURS[finding.severity], ICONS[finding.severity]
    where = f"{finding.where}: " if finding.where else ""
    excerpt = "\n".join(finding.excerpt)
    fix = "\n".join(finding.fix_lines)
    told = [_("values: {values}").format(values=finding.values_text)] if finding.values.size else []
    return (
        f'<div style="border-left: 3px solid {colour}; margin: 6px 0; padding: 2px 10px">'
        f'<div><span aria-hidden="true" style="color: {colour}">{icon}</span> <b>{noun(1, finding.severity)}:</b> '
        f"{html.escape(where + finding.message)}</div>"
        + (f'<pre style="{_CODE}">{html.escape(excerpt)}</pre>' if excerpt else "")
        + "".join(
            f'<div style="opacity: 0.75">{html.escape(line)}</div>' for line in [*told, *finding.orders, finding.hint]
        )
        + (f'<pre style="{_CODE}">{html.escape(fix)}</pre>' if fix else "")
        + _about(finding.kind)
        + "</div>"
    )


def _about(kind: str) -> str:
    """What the kind means, folded below its name; a link to its page if a site is known."""
    paragraphs = "".join(f"<div>{html.escape(line)}</div>" for line in about(kind))
    page = html.escape(site_link(kind))
    more = f'<div><a href="{page}" target="_blank" rel="noopener">{page}</a></div>' if page else ""
    return f'<details style="opacity: 0.75"><summary>{kind}</summary>{paragraphs}{more}</details>'
