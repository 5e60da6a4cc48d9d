"""What ``--near`` does: changes are tried in forks of one pytest, on the tests that run the changed line.

A plugin of pytest, and `tried`, which starts it for a room. The room's tests are collected once. File by file a first
fork runs the tests with probes (`probes`) and so knows which test comes by which change, how long it takes and which
fail as they are. Then each change has a fork of its own, where the functions run what it says and the file reads so too
(for what tests start, and what is imported late): there the tests that come by run, the quickest first and about a
minute's worth, until one fails. That one runs once more without the change: if it fails again, it says nothing and is
left out.

So no interpreter is started for a change and nothing imported a second time: a change takes as long as its tests.
"""

from __future__ import annotations

import ast
import gc
import importlib
import json
import os
import resource
import signal
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.mutation.baseline import SECONDS
from tests.mutation.changes import Change
from tests.mutation.probes import Functions, listen, probed
from tests.mutation.rooms import files_of_tests
from tests.mutation.tree import Copy, write

# A change may make a loop endless or a block huge. Seconds of the processor, and for what waits those of the clock.
LEAST_SECONDS = 60.0
MOST_TIMES = 4.0
_WAITING = 10

Drawn = tuple[str, Change]


@dataclass(frozen=True)
class Near:
    """What became of the ``place``-th change: killed, survived or timeout, by which test."""

    place: int
    fate: str
    test: str | None
    seconds: float


async def tried(copy: Copy, drawn: Sequence[Drawn], seconds: float) -> tuple[list[Near], list[str]]:
    """What became of changes of one room, one each that some test runs; and the tests that fail as they are.

    After ``seconds`` nothing else is begun: what is not told then is not known.
    """
    asked, said = copy.folder / ".asked.json", copy.folder / ".said.jsonl"
    asked.write_text(json.dumps([{"path": path, **asdict(change)} for path, change in drawn]), encoding="utf-8")
    said.unlink(missing_ok=True)
    files = dict.fromkeys(file for path, _ in drawn for file in files_of_tests(path, copy.folder))
    told = {"MUTATION_ASKED": str(asked), "MUTATION_SAID": str(said), "MUTATION_UNTIL": str(time.time() + seconds)}
    await copy.run(["-p", "tests.mutation.forks"], list(files), None, told)
    if not said.exists():
        raise RuntimeError(f"nothing was collected:\n{copy.said}")
    lines = [json.loads(line) for line in said.read_text(encoding="utf-8").splitlines()]
    failed = [test for line in lines for test in line.get("failed", ())]
    return [Near(**line) for line in lines if "place" in line], failed


@dataclass(frozen=True)
class _Alone:
    """One test as it is: its seconds of the processor, whether it passes, which changes it comes by."""

    item: pytest.Item
    seconds: float
    passed: bool
    by: Sequence[int]


def by_file(found: Mapping[str, Iterable[_Alone]]) -> list[_Alone]:
    """Of the tests that pass the quickest, for about `SECONDS`; file by file, those first that are sooner done."""
    passed = sorted(
        (each.seconds, file, number, each)
        for file, some in found.items()
        for number, each in enumerate(some)
        if each.passed
    )
    taken: dict[str, list[_Alone]] = {}
    total = 0.0
    for seconds, file, _, each in passed:
        total += seconds
        if taken and total > SECONDS:
            break
        taken.setdefault(file, []).append(each)
    return [
        each for some in sorted(taken.values(), key=lambda some: sum(each.seconds for each in some)) for each in some
    ]


class Forks:
    """Of a session whose tests are collected."""

    def __init__(self) -> None:
        self.root = Path.cwd()
        self.asked: list[Drawn] = []
        for each in json.loads(Path(os.environ["MUTATION_ASKED"]).read_text(encoding="utf-8")):
            self.asked.append((each.pop("path"), Change(**each)))
        self.said = Path(os.environ["MUTATION_SAID"])
        self.record = self.root / ".fork.json"
        self.functions = Functions(self.root)
        self.probed: dict[str, ast.Module] = {}

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        files: dict[str, list[pytest.Item]] = {}
        for item in session.items:
            files.setdefault(item.nodeid.partition("::")[0], []).append(item)
        self.said.touch()
        inside = self.prepare()
        alone: dict[str, list[_Alone]] = {}
        for file, items in files.items():
            if self.late():
                return True
            alone[file] = self.alone(session, items)
            self.say({"failed": [each.item.nodeid for each in alone[file] if not each.passed]})
        for place in inside:
            if self.late():
                return True
            room = files_of_tests(self.asked[place][0], self.root)
            tests = by_file({file: [each for each in alone.get(file, ()) if place in each.by] for file in room})
            if tests:
                start = time.perf_counter()
                fate, test = self.fate(session, place, tests)
                self.say(asdict(Near(place, fate, test, time.perf_counter() - start)))
        return True

    def late(self) -> bool:
        return time.time() > float(os.environ["MUTATION_UNTIL"])

    def prepare(self) -> list[int]:
        """Imports what is to be changed, so that its functions are there, and reads it with probes. The changes that
        have one."""
        found: set[int] = set()
        for path in {path for path, _ in self.asked}:
            if not path.endswith("__main__.py"):
                importlib.import_module(path.removesuffix(".py").removesuffix("/__init__").replace("/", "."))
            own = {place: change for place, (name, change) in enumerate(self.asked) if name == path}
            self.probed[path], inside = probed((self.root / path).read_text(encoding="utf-8"), own)
            found |= inside
        gc.collect()
        self.functions.look()
        gc.freeze()  # what is collected in forks need not touch, and so copy, all of it
        return sorted(found)

    def alone(self, session: pytest.Session, items: list[pytest.Item]) -> list[_Alone]:
        """What the tests do as they are; nothing of those from one on that ends the process."""

        def work() -> int:
            for path, tree in self.probed.items():
                self.functions.become(path, tree)
            passed: list[int] = []
            listen(passed.append)
            with self.record.open("w", encoding="utf-8") as record:
                for item, after in zip(items, [*items[1:], None], strict=True):
                    passed.clear()
                    start, failed = _processor(), session.testsfailed
                    item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
                    told = [_processor() - start, session.testsfailed == failed, sorted(set(passed))]
                    record.write(json.dumps(told) + "\n")
                    record.flush()
            return 0

        self.record.unlink(missing_ok=True)
        _forked(work, None)
        lines = self.record.read_text(encoding="utf-8").splitlines() if self.record.exists() else []
        return [_Alone(item, *json.loads(line)) for item, line in zip(items, lines, strict=False)]

    def fate(self, session: pytest.Session, place: int, tests: Sequence[_Alone]) -> tuple[str, str | None]:
        """What becomes of a change in tests, and the test that it died of."""
        path, change = self.asked[place]
        source = (self.root / path).read_text(encoding="utf-8")
        changed = change.applied(source)
        left = list(tests)
        while left:
            items = [each.item for each in left]

            def work(items: list[pytest.Item] = items) -> int:
                self.functions.become(path, changed)
                return self.until_one_fails(session, items)

            self.record.unlink(missing_ok=True)
            write(self.root / path, changed)
            try:
                code = _forked(work, max(LEAST_SECONDS, MOST_TIMES * sum(each.seconds for each in left)))
            finally:
                write(self.root / path, source)
            if code is None:
                return "timeout", None
            if code == 0:
                return "survived", None
            number = int(self.record.read_text(encoding="utf-8")) if self.record.exists() else 0
            suspect = items[number]
            if _forked(lambda: self.until_one_fails(session, [suspect]), None) == 0:  # noqa: B023
                return "killed", suspect.nodeid
            del left[number]
        return "survived", None

    def until_one_fails(self, session: pytest.Session, items: list[pytest.Item]) -> int:
        for number, (item, after) in enumerate(zip(items, [*items[1:], None], strict=True)):
            self.record.write_text(str(number), encoding="utf-8")
            failed = session.testsfailed
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
            if session.testsfailed != failed:
                return 1
        return 0

    def say(self, what: Mapping[str, Any]) -> None:
        with self.said.open("a", encoding="utf-8") as said:
            said.write(json.dumps(what) + "\n")


def _processor() -> float:
    """Seconds of this process and of those that it waited for."""
    return sum(os.times()[:4])


def _forked(work: Callable[[], int], seconds: float | None) -> int | None:
    """What ``work`` returns in a process of its own, or another number if that crashes; None after ``seconds``."""
    child = os.fork()
    if not child:
        code = 99
        try:
            os.setpgid(0, 0)
            if seconds:
                resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 5))
            code = work()
        finally:
            os._exit(code)
    end, pause = time.monotonic() + _WAITING * (seconds or float("inf")), 0.005
    while not (ended := os.waitpid(child, os.WNOHANG))[0]:
        if time.monotonic() > end:
            os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return None
        time.sleep(pause)
        pause = min(0.2, 1.3 * pause)
    code = os.waitstatus_to_exitcode(ended[1])
    return None if code in (-signal.SIGXCPU, -signal.SIGKILL) else code


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Forks(), "mutation-forks")
