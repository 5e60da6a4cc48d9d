"""The one browser of a test session: two in one process get in each other's way.

Without a browser the tests that want one skip, naming the reason, but under ``CI`` they fail.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

# The machine's own Chromium, told not to speak to anybody but the page under test.
CHROMIUM_ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def chromium() -> str:
    """The path of Chromium; without one the test is skipped, or fails under ``CI``."""
    named = os.environ.get("CHROMIUM")
    found = named or shutil.which("chromium") or shutil.which("chromium-browser")
    if found and shutil.which(found):
        return found
    reason = (
        f"CHROMIUM names {named!r}, which cannot be run"
        if named
        else "no Chromium: install Debian's package `chromium`, or name a binary in CHROMIUM"
    )
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright  # most tests need no browser

    executable = chromium()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, headless=True, args=CHROMIUM_ARGUMENTS)
        yield browser
        browser.close()
