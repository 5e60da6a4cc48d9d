"""The page that `triton-lab run --html` writes: a list that leads to cards, in both themes, with nothing fetched."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from playwright.sync_api import Browser, expect

from tests.browser.axe import violations
from tests.command.scripts import FINE, HEAD, UNWRITTEN, written
from triton_lab.command.main import triton_lab_command


def test_the_report_leads_from_findings_to_cards(
    browser: Browser, tmp_path: Path, screenshots: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path, FINE + UNWRITTEN.removeprefix(HEAD))
    monkeypatch.chdir(tmp_path)
    assert CliRunner().invoke(triton_lab_command, ["run", "script.py", "--html", "report.html"]).exit_code == 0
    wrong: list[str] = []
    for scheme, width in (("light", 1200), ("dark", 600)):
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)  # type: ignore[arg-type]
        page = context.new_page()
        page.on("console", lambda message: wrong.append(message.text))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("request", lambda request: wrong.append(request.url) if request.url[:5] != "file:" else None)
        page.goto((tmp_path / "report.html").as_uri())
        # The first launch with a finding is open; what is folded away is drawn when somebody comes there.
        expect(page.locator(".tl-view")).to_have_count(1)
        expect(page.locator("#launch-6 .tl-view")).to_contain_text("which was never written")
        expect(page.locator(".tl-view")).to_have_attribute("data-theme", scheme)
        other = "dark" if scheme == "light" else "light"
        page.emulate_media(color_scheme=other)  # type: ignore[arg-type]
        expect(page.locator(".tl-view")).to_have_attribute("data-theme", other)
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        expect(page.locator(".tl-view")).to_have_attribute("data-theme", scheme)
        page.get_by_role("table").first.get_by_role("link", name="add").first.click()
        expect(page.locator("#launch-0 .tl-view")).to_be_visible()
        rows = page.locator(".list tbody tr:visible")
        expect(rows).to_have_count(6)
        page.get_by_label("only launches with findings").check()
        expect(rows).to_have_count(3)
        expect(page.locator("#launch-6").get_by_role("row").filter(has_text="x_ptr")).to_be_visible()
        page.screenshot(path=screenshots / f"report-{scheme}.png", full_page=True)
        assert page.evaluate("document.documentElement.scrollWidth") == width
        assert violations(page) == []
        context.close()
    assert wrong == []
