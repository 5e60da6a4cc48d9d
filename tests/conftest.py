"""What all tests share: the machine that they mean, and the one browser of a session.

Without a browser the tests that want one skip, naming the reason, but under ``CI`` they fail.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests import machine

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.hookimpl(tryfirst=True)
def pytest_collection() -> None:
    """Before any test's module is imported, and after xdist has started its workers, which see the machine as it is."""
    machine.show_gpu(False)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files whose tests take long come first, the others as they are: what is left at the end is short, and several
    workers, each of which takes file after file, end together."""
    long = {item.path for item in items if item.get_closest_marker("browser") or item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in long)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Before any fixture: one of a session may start a process, which inherits what can be seen."""
    on_gpu = item.get_closest_marker("gpu") is not None
    if on_gpu and not machine.HAS_GPU:
        pytest.skip("needs a GPU")
    machine.show_gpu(on_gpu)


# Checks and pictures that fail say so, and the rest goes on. In tests they raise, in processes that tests start too.
os.environ.setdefault("TRITON_LAB_RAISE", "1")
# Every plan is held to the rules of the IR, which launches take for granted.
os.environ.setdefault("TRITON_LAB_VERIFY", "1")
# Exercises that tests check leave no file in the folder that tests are run in.
os.environ.setdefault("TRITON_LAB_PROGRESS", os.path.join(tempfile.gettempdir(), f"triton-lab-{os.getpid()}.json"))

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


def has_chromium() -> bool:
    return _chromium() is not None


def _chromium() -> str | None:
    found = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    return found if found and shutil.which(found) else None


def chromium() -> str:
    """The path of Chromium; without one the test is skipped, or fails under ``CI``."""
    if found := _chromium():
        return found
    named = os.environ.get("CHROMIUM")
    reason = (
        f"CHROMIUM names {named!r}, which cannot be run"
        if named
        else "no Chromium: install Debian's package `chromium`, or name a binary in CHROMIUM"
    )
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


# Two in one process get in each other's way.
@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright  # most tests need no browser

    executable = chromium()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, headless=True, args=CHROMIUM_ARGUMENTS)
        yield browser
        browser.close()
