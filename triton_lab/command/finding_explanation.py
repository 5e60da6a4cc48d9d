"""``triton-lab explain``: what a kind of finding means, as its page has it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from triton_lab.finding_pages import page, site_link
from triton_lab.launch.checks.kind_filter import known_kind
from triton_lab.launch.checks.rule import rules
from triton_lab.localization import _, translated

_HEADING = re.compile(r"#+ ")


def kinds() -> Iterator[tuple[str, str]]:
    """A line for each kind, with the severity that colours it."""
    width = max(map(len, rules()))
    for kind, rule in rules().items():
        yield f"{kind:<{width}}  {rule.severity:<7}  {translated(rule.summary)}", rule.severity


def explained(kind: str) -> Iterator[tuple[str, str]]:
    """The lines of a kind's page, with their styles. Raises LookupError for an unknown kind, with all kinds."""
    path = page(known_kind(kind))
    text = _texts(kind) if path is None else path.read_text(encoding="utf-8")
    fenced = False
    for line in text.splitlines():
        if line.startswith("<!--"):
            continue
        fenced ^= line.startswith("```")
        yield line, "bold" if not fenced and _HEADING.match(line) else ""
    if address := site_link(kind):
        yield address, ""


def _texts(kind: str) -> str:
    """The texts of the rule alone, where the pages are not installed."""
    rule = rules()[kind]
    parts = (
        (_("Why it matters on a GPU"), rule.why),
        (_("What to do"), rule.remedy),
        (_("When it is right to ignore it"), rule.intended),
        (_("What it does not see"), rule.blind),
    )
    sections = [f"## {title}\n\n{translated(text)}" for title, text in parts]
    return "\n\n".join([f"# {kind}", translated(rule.summary), *sections])
