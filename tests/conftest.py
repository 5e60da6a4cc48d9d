"""Common setup of all tests: the machine that they assume, and one browser per session.

Without a browser, tests that need one are skipped with a reason; under ``CI`` they fail.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import os
import resource
import shutil
import signal
import sys
import tempfile
from collections import Counter, deque
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from tests import machine, selection, sources
from tests.durations import Durations, order
from tests.wordings import wording as wording

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.hookimpl(tryfirst=True)
def pytest_collection() -> None:
    """Before any test's module is imported, and after xdist has started its workers, which see the machine as it is."""
    machine.show_gpu(False)
    os.environ["LANGUAGE"] = "en"
    gc.disable()  # what collecting makes stays


def pytest_collection_finish() -> None:
    """What is there now stays: a million objects, which each full collection would go through for half a second. Tests
    that look for live tensors and autotuners among what the collector knows find those that tests make."""
    gc.freeze()
    gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Where workers share the files, the order of `tests.durations.order`; audits share what they parse."""
    if not hasattr(config, "workerinput"):
        return
    places = order(
        [item.nodeid for item in items],
        Durations.load(),
        near={name for name, far in selection.distances(config).items() if far <= selection.NEAR},
        browser={item.nodeid.partition("::")[0] for item in items if _wants_browser(item)},
        together={item.nodeid.partition("::")[0] for item in items if _reads_sources(item)},
    )
    items[:] = [items[k] for k in places]


@pytest.hookimpl
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Under ``TRITON_LAB_ENGINE=native`` all that can be is compiled: how much that was, and why the rest was not."""
    engine = sys.modules.get("triton_lab.native.engine")
    if engine is not None and os.environ.get("TRITON_LAB_ENGINE") == "native":
        ran = engine.lately
        reasons = Counter(one.why for one in ran if one.engine == "numpy")
        handed = sum(bool(one.handed) for one in ran)
        terminalreporter.section("engines")
        terminalreporter.line(f"{len(ran)} launches, {len(ran) - reasons.total()} native, {handed} handed to NumPy")
        for why, count in reasons.most_common():
            terminalreporter.line(f"{count:6} {why}")


def pytest_sessionstart() -> None:
    # Tests end processes by signals: some systems would write the memory of each to the disk.
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    if os.environ.get("TRITON_LAB_ENGINE") == "native":
        from triton_lab.native import engine

        engine.lately = deque()


def _reads_sources(item: pytest.Item) -> bool:
    return getattr(getattr(item, "module", None), "sources", None) is sources


def pytest_runtest_teardown(nextitem: pytest.Item | None) -> None:
    if nextitem is None or not _reads_sources(nextitem):
        sources.forget()


def _wants_browser(item: pytest.Item) -> bool:
    return "browser" in getattr(item, "fixturenames", ())


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Before any fixture: one of a session may start a process, which inherits what can be seen."""
    if not _wants_browser(item):
        _ONE_BROWSER.close()
    _uncount_collections()
    _keep_what_was_made(item.nodeid.partition("::")[0])
    on_gpu = item.get_closest_marker("gpu") is not None
    if on_gpu and not machine.HAS_GPU:
        pytest.skip("needs a GPU")
    machine.show_gpu(on_gpu)


def _keep_what_was_made(file: str, _last: list[str] = [""]) -> None:  # noqa: B006 - the file of the test before
    """With a file's first test, what earlier files have left (kernels, plans) is put out of the collector's sight: by
    the end of a run that is some ten million objects, and each full collection, or search for the tensor that an
    address belongs to, would go through all of them for seconds."""
    if file != _last[0]:
        _last[0] = file
        gc.collect()
        gc.freeze()


def _uncount_collections() -> None:
    """Hypothesis measures in Python how long garbage is collected, for deadlines that no test here has. An interrupt
    that arrives in there, as in any finalizer, is printed and dropped: pytest fails the test that waited for it."""
    gc.callbacks[:] = [one for one in gc.callbacks if not getattr(one, "__module__", "").startswith("hypothesis.")]


# Triton's front end makes so many objects that hold each other that garbage would be collected a hundred times a
# second.
gc.set_threshold(10_000, 10, 10)
# What nbformat comes by: a check of internationalized addresses that nobody asks for, whose 38 grammars take 1.4 s.
# jsonschema does without where it is not installed.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
# What a shell starts in the background ignores interrupts, and so does what it starts in turn.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
# Checks and pictures that fail say so, and the rest goes on. In tests they raise, in processes that tests start too.
os.environ.setdefault("TRITON_LAB_RAISE", "1")
# Every plan is held to the rules of the IR, which launches take for granted.
os.environ.setdefault("TRITON_LAB_VERIFY", "1")
# Where two workers have the cores to themselves, torch's threads that wait for each other in turns get in each other's
# way: they sleep. It is read when torch is loaded, so by workers and what tests start; there are as many as ever.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
# Exercises that tests check leave no file in the folder that tests are run in.
os.environ["TRITON_LAB_PROGRESS"] = os.path.join(tempfile.gettempdir(), f"triton-lab-{os.getpid()}.json")


# Where pytest makes the folders of tests.
_TEMPORARY = "PYTEST_DEBUG_TEMPROOT"


def _write_to_memory(folder: str = "/dev/shm", least: int = 4 << 30) -> None:
    """Under ``CI``, where nothing was compiled before and nobody looks at what is left: what tests and Triton write
    goes to memory, if the machine offers ``least`` bytes of it as a folder. Triton makes five folders for each kernel
    that it keeps and removes them again, for which a disk may take as long as compiling does."""
    if not os.environ.get("CI") or _TEMPORARY in os.environ:  # workers find it set
        return
    if os.path.isdir(folder) and shutil.disk_usage(folder).free >= least:
        os.environ[_TEMPORARY] = root = tempfile.mkdtemp(prefix="triton-lab-", dir=folder)
        os.environ.setdefault("TRITON_CACHE_DIR", os.path.join(root, "triton"))
        owner = os.getpid()
        atexit.register(lambda: os.getpid() == owner and shutil.rmtree(root, ignore_errors=True))


_write_to_memory()

# How long examples take to make says how busy the machine is.
settings.register_profile("triton-lab", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("triton-lab")

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


# The first has nothing of a browser around its pages, and takes a quarter less of the processor for the same tests.
_NAMES = ("chromium-headless-shell", "chromium", "chromium-browser")


def _chromium() -> str | None:
    found = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, _NAMES)), None)
    return found if found and shutil.which(found) else None


def chromium() -> str:
    """The path of Chromium; without one the test is skipped, or fails under ``CI``."""
    if found := _chromium():
        return found
    named = os.environ.get("CHROMIUM")
    reason = (
        f"CHROMIUM names {named!r}, which cannot be run"
        if named
        else "no Chromium: install Debian's package `chromium-headless-shell`, or name a binary in CHROMIUM"
    )
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


class _OneBrowser:
    """Playwright keeps an event loop running on this thread as long as it lives, in which nobody else can run one:
    it goes when a test comes that wants no browser, and comes again with the next that does."""

    def __init__(self) -> None:
        self._open = contextlib.ExitStack()
        self._browser: Browser | None = None

    def get(self) -> Browser:
        from playwright.sync_api import sync_playwright  # most tests need no browser

        if self._browser is None:
            executable = chromium()
            playwright = self._open.enter_context(sync_playwright())
            self._browser = playwright.chromium.launch(
                executable_path=executable, headless=True, args=CHROMIUM_ARGUMENTS
            )
            self._open.callback(self._browser.close)
        return self._browser

    def close(self) -> None:
        self._browser = None
        self._open.close()


# Two in one process get in each other's way.
_ONE_BROWSER = _OneBrowser()


@pytest.fixture(scope="module")
def browser() -> Browser:
    return _ONE_BROWSER.get()


def pytest_sessionfinish() -> None:
    _ONE_BROWSER.close()
    gc.unfreeze()
