"""Each kind of finding has a page, which its rule and a planted bug make, and a program that shows what it says."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import pytest

from triton_lab import finding_pages
from triton_lab.launch.checks.rule import rules

ROOT = Path(__file__).parents[1]
WRITE = "python docs/_ext/finding_pages.py"
# Kinds that no launch shows, so that nothing is planted for them.
ELSEWHERE = {
    "miscompiled": "found by `triton-lab check --passes`, in passes of the compiler",
    "resources": "found by `triton-lab check --target sm_90`, in what the compiler makes of a kernel",
}


@pytest.fixture(scope="module")
def made() -> Any:
    """The module that makes the pages."""
    sys.path.insert(0, str(ROOT / "docs" / "_ext"))
    try:
        yield importlib.import_module("finding_pages")
    finally:
        sys.path.remove(str(ROOT / "docs" / "_ext"))


@pytest.mark.parametrize("kind", rules())
def test_the_page_of_a_kind_is_there_and_up_to_date(kind: str, made: Any) -> None:
    page = finding_pages.page(kind)
    assert page is not None, f"no page of {kind}: {WRITE}"
    assert page.read_text(encoding="utf-8") == made.page(kind), f"the page of {kind} is stale: {WRITE}"


def test_one_page_leads_to_all_and_none_is_left_over(made: Any) -> None:
    folder = ROOT / "docs" / "findings"
    assert (folder / "index.md").read_text(encoding="utf-8") == made.index(), WRITE
    assert {path.stem for path in folder.glob("*.md")} == {"index", *rules()}, WRITE


def test_a_bug_of_each_kind_is_planted(made: Any) -> None:
    assert {kind for kind in rules() if kind not in made.examples()} == set(ELSEWHERE)


@pytest.mark.parametrize("kind", [kind for kind in rules() if kind not in ELSEWHERE])
def test_the_twin_of_an_example_has_no_such_finding(kind: str, made: Any) -> None:
    launch = made.launched(made.examples()[kind].mended)
    assert launch.error is None and kind not in {each.kind for each in launch.findings}


def test_links_lead_to_the_file_or_to_the_site_that_the_environment_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(finding_pages.SITE, raising=False)
    assert finding_pages.link("race") == (ROOT / "docs" / "findings" / "race.md").as_uri()
    assert finding_pages.site_link("race") == ""
    monkeypatch.setenv(finding_pages.SITE, "https://example.org/lab/")
    assert finding_pages.link("race") == "https://example.org/lab/findings/race.html"
    monkeypatch.setenv(finding_pages.SITE, "javascript:alert(1)")
    assert finding_pages.site_link("race") == ""
