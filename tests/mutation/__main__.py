"""How good the tests are, measured by changing the code: ``python -m tests.mutation`` or ``make mutation``.

Draws one-token changes of the package at random, makes one at a time in a copy of the tree, and runs the tests of
the changed file's own room: first those that run the changed line, and if these pass, all. A change that no test
fails for has survived: the test that would have seen it is missing, or the code means the same without it. Survivors
are printed with file, line and difference.

``--near`` is the quick look: a line that some test runs is tried on the tests that run it, in forks of one pytest, and
not on the others of the room. What is killed then is killed; what survives may yet be seen by a test that runs the line
another way (in a process of its own, or through what an earlier test left in a cache). So the rate is a lower bound.

Tests that fail as they are say nothing, and are left out by name. What pytest shall leave out besides is told by
``PYTEST_ADDOPTS``, as everywhere.

A large sample is measured in parts: ``--baseline`` and ``--results`` keep what is known, so that a further call with
the same seed goes on, and ``--within`` takes those of some rooms. With ``--seconds 0`` a call only sums up.

Run by hand: a change costs a run of tests, seconds to minutes. The kept tools do not fit. mutmut (3.8.1) changes only
functions without decorators: of the changes that are drawn here 85 %, but of those in `interpreter/ops` 52 % and of
those in `examples` 36 %. cosmic-ray (8.7.0) writes each change into the working tree, and runs one command for all
files.
"""

from __future__ import annotations

import argparse
import asyncio
import difflib
import json
import random
import signal
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import pytest

from tests.mutation import baseline
from tests.mutation.baseline import Ran
from tests.mutation.bounds import BOUNDS, PICTURES
from tests.mutation.changes import Change, changes
from tests.mutation.forks import LEAST_SECONDS, MOST_TIMES, Drawn, tried
from tests.mutation.rooms import files_of_tests, own_tests
from tests.mutation.tree import ROOT, Copy

# A test whose name is another one each time is not found again, and then none is run.
_NO_SUCH_TEST = (pytest.ExitCode.USAGE_ERROR, pytest.ExitCode.NO_TESTS_COLLECTED)
_UNDECIDED = "undecided"


@dataclass(frozen=True)
class Outcome:
    """``fate``: killed, survived or timeout (killed too: nobody waits for ever)."""

    path: str
    change: Change
    fate: str
    seconds: float


def measured_before(file: Path | None) -> dict[Drawn, Outcome]:
    """What was kept in ``file``, a line each."""
    lines = file.read_text(encoding="utf-8").splitlines() if file and file.exists() else []
    kept = [Outcome(**known | {"change": Change(**known["change"])}) for known in map(json.loads, lines)]
    return {(outcome.path, outcome.change): outcome for outcome in kept}


def lies_in(path: str, folder: str) -> bool:
    """Whether a file is ``folder`` or in it."""
    return path == folder or path.startswith(f"{folder.rstrip('/')}/")


def all_changes(only: list[str]) -> list[Drawn]:
    """The changes of the files and folders ``only`` (``path`` or ``path:line``), or of the whole package."""
    wanted = [each.partition(":") for each in only or ["triton_lab"]]
    found = []
    for path in sorted((ROOT / "triton_lab").rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        lines = {line for start, _, line in wanted if lies_in(name, start)}
        if lines and own_tests(name, ROOT):
            every = changes(path.read_text(encoding="utf-8"), BOUNDS.get(name, ()), name in PICTURES)
            found += [(name, change) for change in every if "" in lines or str(change.line) in lines]
    return found


class Measure:
    """Baselines and changes, side by side in the ``copies``. ``kept``, ``results``: files of what is known of tests
    and of changes, which grow. ``deadline``: nothing is begun later, by the clock of `time.monotonic`. ``near``: where
    tests run a line, no others are tried."""

    def __init__(
        self,
        copies: Sequence[Copy],
        kept: Path | None,
        deadline: float,
        near: bool = False,
        results: Path | None = None,
    ) -> None:
        self.kept, self.deadline, self.near, self.results = kept, deadline, near, results
        self.copies: asyncio.Queue[Copy] = asyncio.Queue()
        for copy in copies:
            self.copies.put_nowait(copy)
        self.known = baseline.load(kept)
        self.asked: dict[str, asyncio.Task[Ran | None]] = {}
        self.failed: set[str] = set()  # tests that fail as they are

    @asynccontextmanager
    async def copy(self) -> AsyncIterator[Copy]:
        copy = await self.copies.get()
        try:
            yield copy
        finally:
            self.copies.put_nowait(copy)

    def late(self) -> bool:
        return time.monotonic() > self.deadline

    async def outcomes(self, drawn: Sequence[Drawn]) -> list[Outcome | None]:
        """Of each change in turn; None where the time did not last."""
        before = measured_before(self.results)
        found = {each: before[each] for each in drawn if each in before}

        def decided(outcome: Outcome) -> None:
            found[outcome.path, outcome.change] = outcome
            if self.results:
                with self.results.open("a", encoding="utf-8") as opened:
                    opened.write(json.dumps(asdict(outcome)) + "\n")
            print(told(outcome), flush=True)

        if self.near:
            rooms: dict[str, list[Drawn]] = {}
            for each in drawn:
                if each not in found:
                    rooms.setdefault(each[0].split("/")[1], []).append(each)
            await asyncio.gather(*(self.nearby(room, decided) for room in rooms.values()))
        left = [] if self.late() else [each for each in drawn if each not in found]
        waiting = iter(left)
        self.ask(sorted({file for path, _ in left for file in files_of_tests(path, ROOT)}))

        async def worker() -> None:
            for path, change in waiting:
                ran = await asyncio.gather(*(self.asked[file] for file in files_of_tests(path, ROOT)))
                if self.late():
                    return
                decided(await self.measure(path, change, [each for each in ran if each]))

        # While some wait for a baseline, others have theirs.
        await asyncio.gather(*(worker() for _ in range(2 * self.copies.qsize())))
        for ran in await asyncio.gather(*self.asked.values()):
            self.failed.update(ran.failed if ran else ())
        return [found.get(each) for each in drawn]

    async def nearby(self, drawn: Sequence[Drawn], decided: Callable[[Outcome], None]) -> None:
        """What becomes of a room's changes in the tests that run their lines; of what no test runs nothing is said."""
        async with self.copy() as copy:
            if not self.late():
                near, failed = await tried(copy, drawn, self.deadline - time.monotonic())
                self.failed.update(failed)
                for each in near:
                    decided(Outcome(*drawn[each.place], each.fate, each.seconds))

    def ask(self, files: Sequence[str]) -> None:
        """Begins the baselines, of the longest files first."""

        def length(file: str) -> float:
            return (ROOT / file).stat().st_size

        for file in sorted(files, key=length, reverse=True):
            self.asked[file] = asyncio.create_task(self.baseline(file))

    async def baseline(self, file: str) -> Ran | None:
        if file in self.known:
            return self.known[file]
        async with self.copy() as copy:
            if self.late():
                return None
            record = copy.folder / ".record.json"
            record.unlink(missing_ok=True)
            start = time.perf_counter()
            await copy.run(["-p", "tests.mutation.recorder"], [file], None, {"MUTATION_RECORD": str(record)})
            if not record.exists():
                raise RuntimeError(f"{file} was not recorded:\n{copy.said}")
            ran = Ran(file, time.perf_counter() - start, **json.loads(record.read_text(encoding="utf-8")))
        if self.kept:
            baseline.keep(ran, self.kept)
        print(f"{file}: {ran.seconds:.0f} s, {len(ran.tests)} tests, without a change", flush=True)
        return ran

    async def measure(self, path: str, change: Change, room: Sequence[Ran]) -> Outcome:
        """What becomes of one change."""
        start = time.perf_counter()
        source = (ROOT / path).read_text(encoding="utf-8")
        first = baseline.likely(room, path, source, change.line)
        fate = _UNDECIDED
        if first:
            fate = await self.fate(path, change, list(first), sum(first.values()), _NO_SUCH_TEST)
        if fate in (_UNDECIDED, "survived"):
            fate = await self.whole(path, change, room)
        return Outcome(path, change, fate, time.perf_counter() - start)

    async def whole(self, path: str, change: Change, room: Sequence[Ran]) -> str:
        """What becomes of a change when all tests of its room run, in parts at a time."""
        runs = [
            asyncio.create_task(self.fate(path, change, baseline.arguments(part), sum(ran.seconds for ran in part)))
            for part in baseline.parts(room)
        ]
        try:
            for run in asyncio.as_completed(runs):
                fate = await run
                if fate != "survived":
                    return fate
            return "survived"
        finally:
            for each in runs:
                each.cancel()
            await asyncio.gather(*runs, return_exceptions=True)

    async def fate(
        self, path: str, change: Change, tests: Sequence[str], expected: float, undecided: Collection[int] = ()
    ) -> str:
        """What becomes of a change in one run of tests, which take ``expected`` seconds without it.

        Of pytest's exit statuses, those ``undecided`` prove nothing: then no test was run.
        """
        source = (ROOT / path).read_text(encoding="utf-8")
        async with self.copy() as copy:
            copy.write(path, change.applied(source))
            try:
                code = await copy.run(["-x"], tests, max(LEAST_SECONDS, MOST_TIMES * expected))
            except asyncio.TimeoutError:
                return "timeout"
            finally:
                copy.write(path, source)
            if code in undecided:
                return _UNDECIDED
            return "survived" if code == 0 else "killed"


def difference(path: str, change: Change) -> str:
    """The changed line before and after."""
    source = (ROOT / path).read_text(encoding="utf-8")
    before, after = source.splitlines(), change.applied(source).splitlines()
    return "\n".join(line for line in difflib.unified_diff(before, after, lineterm="", n=0) if line[:3] not in _HEADS)


_HEADS = ("---", "+++", "@@ ")


def told(outcome: Outcome) -> str:
    """One line: where, what, and what became of it."""
    change = outcome.change
    was = f"{change.old.strip()!r} -> {change.new!r}"
    return f"{outcome.fate:9}{outcome.seconds:5.0f} s  {outcome.path}:{change.line}  {was}"


def summary(found: Sequence[Outcome | None], near: bool = False) -> str:
    """The survivors, how many died of those measured, and on which tests.

    Measured are those up to the first that the time did not last for, so that with the others of further calls they
    are one sample."""
    measured = found[: found.index(None)] if None in found else found
    outcomes = [outcome for outcome in measured if outcome]
    survivors = sorted(
        (each for each in outcomes if each.fate == "survived"), key=lambda each: (each.path, each.change)
    )
    said = [f"\n{each.path}:{each.change.line}\n{difference(each.path, each.change)}" for each in survivors]
    dead = len(outcomes) - len(survivors)
    if len(measured) < len(found):
        said.append(
            f"\n{len(measured)} of {len(found)} drawn were measured; another call with the same --results goes on"
        )
    tried = "tried on the tests that run the line, or on the whole room where none does" if near else "whole rooms"
    return "\n".join([*said, f"\n{dead} of {len(outcomes)} changes died ({dead / max(1, len(outcomes)):.1%}); {tried}"])


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--sample", type=int, default=40, help="so many changes, drawn at random (0: all)")
    parser.add_argument("--seed", type=int, default=0, help="another seed draws others")
    parser.add_argument("--within", action="append", default=[], metavar="PATH", help="of the drawn those in here")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="no change is begun later than that")
    parser.add_argument("--jobs", type=int, default=1, help="so many at a time, each in a copy of its own")
    parser.add_argument("--memory", type=float, default=24, help="GiB of address space of a run, libraries included")
    parser.add_argument("--baseline", type=Path, help="keeps what the tests do as they are, for the next call")
    parser.add_argument("--results", type=Path, help="keeps what became of changes: measured once, by any call")
    parser.add_argument("--near", action="store_true", help="where tests run a line, try no others of the room")
    parser.add_argument("--list", action="store_true", help="print what is drawn, and run nothing")
    parser.add_argument("only", nargs="*", metavar="PATH[:LINE]", help="files, folders or lines; else the package")
    options = parser.parse_args()
    deadline = time.monotonic() + options.seconds
    every = all_changes(options.only)
    size = min(options.sample, len(every)) or len(every)
    drawn = random.Random(options.seed).sample(every, size)
    drawn = [each for each in drawn if not options.within or any(lies_in(each[0], path) for path in options.within)]
    print(f"{size} of {len(every)} changes, seed {options.seed}", flush=True)
    if options.list:
        for path, change in sorted(drawn):
            print(f"{path}:{change.line}\n{difference(path, change)}")
        return
    # What the tests have started ends when this does.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with tempfile.TemporaryDirectory(prefix="mutation-") as folder:
        copies = [Copy(Path(folder).resolve() / str(number), options.memory) for number in range(options.jobs)]

        async def measured() -> tuple[list[Outcome | None], list[str]]:
            measure = Measure(copies, options.baseline, deadline, options.near, options.results)
            found = await measure.outcomes(drawn)
            return found, sorted(measure.failed)

        found, left_out = asyncio.run(measured())
    for test in left_out:
        print(f"fails as it is, and was left out: {test}")
    print(summary(found, options.near))


if __name__ == "__main__":
    main()
