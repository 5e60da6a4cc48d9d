"""axe-core on a page, or on a part of one: what keeps somebody who cannot see, or point, or tell colours apart, out."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

GRAVE = ("serious", "critical")


def violations(
    page: Page, within: str | None = None, rules: Sequence[str] = (), *, but: str | None = None
) -> list[str]:
    """What axe calls serious or critical, in words: the rule, the element, and why. Empty if there is none.

    ``within``: a selector; what stands outside of it, as JupyterLab's own parts do, is not looked at, nor what ``but``
    selects. ``rules``: the only ones that are asked; all if none is named.
    """
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(_axe().axe_script)
    # Style sheets are read as they stand: axe would fetch them again, which a page in a folder cannot do.
    options = {"resultTypes": ["violations"], "preload": False, **({"runOnly": list(rules)} if rules else {})}
    found: dict[str, Any] = page.evaluate(
        "([within, but, options]) => axe.run({ include: [within ?? 'html'], ...(but && { exclude: [but] }) }, options)",
        [within, but, options],
    )
    return [
        f"{rule['id']} ({rule['impact']}): {node['html'][:160]} -- {node['failureSummary']}"
        for rule in found["violations"]
        if rule["impact"] in GRAVE
        for node in rule["nodes"]
    ]


@cache
def _axe() -> Axe:
    return Axe()
