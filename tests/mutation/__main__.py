"""How good the tests are, measured by changing the code: ``python -m tests.mutation`` or ``make mutation``.

Draws one-token changes of the package at random, makes one at a time in a copy of the tree, and runs the tests that the
changed file reaches, the nearest first (`tests.reach`), for about ``--budget`` seconds. A change that no test fails for
has survived: the test that would have seen it is missing, or the code means the same without it, or only a test further
away sees it. So the share of changes that were killed is a lower bound. Survivors are printed with file, line and
difference.

All tests must pass without a change: one that fails kills every change. ``--results`` keeps what became of changes, so
that a further call with the same seed goes on.

Run by hand: a change costs a run of tests, seconds to a minute. The common tools do not fit. mutmut (3.8.1) changes
only functions without decorators: of the changes that are drawn here 85 %, but of those in `interpreter/ops` 52 % and
of those in `examples` 36 %. cosmic-ray (8.7.0) writes each change into the working tree, and runs one command for all
files.
"""

from __future__ import annotations

import argparse
import difflib
import importlib.util
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from queue import SimpleQueue

from tests import reach
from tests.durations import Durations, OfFile
from tests.mutation.bounds import BOUNDS, PICTURES
from tests.mutation.changes import Change, changes

ROOT = reach.ROOT
# Without our own plugin, which is found by its entry point also where what is changed has none.
PYTEST = ("-x", "-q", "--tb=no", "-p", "no:cacheprovider", "-p", "no:triton-lab", "--no-header")
# Tests that take so many times as long as without the change, and at least so many seconds, never end.
MOST_TIMES, LEAST_SECONDS = 10, 60.0
_UNMEASURED = 5.0  # seconds of a file of tests that nobody has measured
Drawn = tuple[str, Change]


@dataclass(frozen=True)
class Outcome:
    """``fate``: killed, survived or timeout (killed too: nobody waits for ever)."""

    path: str
    change: Change
    fate: str
    seconds: float

    def __str__(self) -> str:
        was = f"{self.change.old.strip()!r} -> {self.change.new!r}"
        return f"{self.fate:9}{self.seconds:5.0f} s  {self.path}:{self.change.line}  {was}"


def measured_before(file: Path | None) -> dict[Drawn, Outcome]:
    """What was kept in ``file``, a line each."""
    lines = file.read_text(encoding="utf-8").splitlines() if file and file.exists() else []
    kept = [Outcome(**known | {"change": Change(**known["change"])}) for known in map(json.loads, lines)]
    return {(outcome.path, outcome.change): outcome for outcome in kept}


def all_changes(only: Sequence[str]) -> list[Drawn]:
    """The changes of the files and folders ``only`` (``path`` or ``path:line``), or of the whole package."""
    wanted = [each.partition(":") for each in only or ["triton_lab"]]
    found = []
    for path in sorted((ROOT / "triton_lab").rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        lines = {line for start, _, line in wanted if name == start or name.startswith(f"{start.rstrip('/')}/")}
        if lines:
            every = changes(path.read_text(encoding="utf-8"), BOUNDS.get(name, ()), name in PICTURES)
            found += [(name, change) for change in every if "" in lines or str(change.line) in lines]
    return found


@cache
def nearest_tests(path: str, budget: float) -> tuple[list[str], float]:
    """The files of tests nearest to a file, and the seconds that they take: as many as fit, at least one. Audits, which
    read all sources, and tests in the browser are left out."""
    graph, durations = _graph(), Durations.load().files
    near = reach.distances([path], graph)
    files = [name for name in near if name not in graph.audits and not name.startswith("tests/browser/")]
    chosen, spent = [], 0.0
    for name in sorted(files, key=lambda name: (near[name], _seconds(durations.get(name)), name)):
        seconds = _seconds(durations.get(name))
        if chosen and spent + seconds > budget:
            continue
        chosen.append(name)
        spent += seconds
    return chosen, spent


@cache
def _graph() -> reach.Graph:
    return reach.Graph()


def _seconds(of: OfFile | None) -> float:
    return of.tests * of.usual + sum(first for first, _ in of.slow.values()) if of else _UNMEASURED


class Copy:
    """A copy of the tree in ``folder``, in which one file at a time is changed.

    ``memory``: GiB of address space that a run of tests may have.
    """

    def __init__(self, folder: Path, memory: float) -> None:
        self.folder, self.memory = folder, memory
        command = ["git", "ls-files", "-co", "--exclude-standard"]
        names = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
        for name in names:
            if (ROOT / name).is_file() and not (ROOT / name).is_symlink():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(ROOT / name, folder / name)

    def write(self, path: str, text: str) -> None:
        """Another version of a module."""
        file = self.folder / path
        file.write_text(text, encoding="utf-8")
        # Python tells versions of a file apart by second and size: a changed digit has the same.
        Path(importlib.util.cache_from_source(str(file))).unlink(missing_ok=True)

    def run(self, tests: Sequence[str], seconds: float) -> str:
        """What becomes of the change that was made here: killed, survived or timeout."""
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join(filter(None, [str(self.folder), os.environ.get("PYTHONPATH")])),
            "OMP_NUM_THREADS": "1",  # several run at once, each on one core
            "TRITON_CACHE_DIR": str(self.folder / ".triton"),
            "HYPOTHESIS_STORAGE_DIRECTORY": str(self.folder / ".hypothesis"),
        }
        bounded = ["sh", "-c", f'ulimit -v {int(self.memory * (1 << 20))}; exec "$@"', "sh"]
        with subprocess.Popen(
            [*bounded, sys.executable, "-m", "pytest", *PYTEST, *tests],
            cwd=self.folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True,
        ) as process:  # fmt: skip
            try:
                return "survived" if process.wait(seconds) == 0 else "killed"
            except subprocess.TimeoutExpired:
                return "timeout"
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)  # with all that the tests started


def measure(copy: Copy, path: str, change: Change, budget: float) -> Outcome:
    """What becomes of one change in a copy, which is afterwards as before."""
    start = time.perf_counter()
    source = (ROOT / path).read_text(encoding="utf-8")
    tests, expected = nearest_tests(path, budget)
    copy.write(path, change.applied(source))
    try:
        fate = copy.run(tests, max(LEAST_SECONDS, MOST_TIMES * expected)) if tests else "survived"
    finally:
        copy.write(path, source)
    return Outcome(path, change, fate, time.perf_counter() - start)


def difference(path: str, change: Change) -> str:
    """The changed line before and after."""
    source = (ROOT / path).read_text(encoding="utf-8")
    lines = difflib.unified_diff(source.splitlines(), change.applied(source).splitlines(), lineterm="", n=0)
    return "\n".join(line for line in lines if line[:3] not in ("---", "+++", "@@ "))


def summary(found: Sequence[Outcome | None]) -> str:
    """The survivors, and how many died of those measured.

    Measured are those up to the first that the time did not last for, so that with the others of further calls they
    are one sample."""
    measured = found[: found.index(None)] if None in found else found
    outcomes = [outcome for outcome in measured if outcome]
    survivors = sorted((one for one in outcomes if one.fate == "survived"), key=lambda one: (one.path, one.change))
    said = [f"\n{one.path}:{one.change.line}\n{difference(one.path, one.change)}" for one in survivors]
    dead = len(outcomes) - len(survivors)
    if len(measured) < len(found):
        said.append(
            f"\n{len(measured)} of {len(found)} drawn were measured; another call with the same --results goes on"
        )
    return "\n".join([*said, f"\n{dead} of {len(outcomes)} changes died ({dead / max(1, len(outcomes)):.1%})"])


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--sample", type=int, default=40, help="so many changes, drawn at random (0: all)")
    parser.add_argument("--seed", type=int, default=0, help="another seed draws others")
    parser.add_argument("--budget", type=float, default=60, help="seconds of tests that a change is tried on")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="no change is begun later than that")
    parser.add_argument("--jobs", type=int, default=1, help="so many at a time, each in a copy of its own")
    parser.add_argument("--memory", type=float, default=24, help="GiB of address space of a run, libraries included")
    parser.add_argument("--results", type=Path, help="keeps what became of changes: measured once, by any call")
    parser.add_argument("--list", action="store_true", help="print what is drawn, and run nothing")
    parser.add_argument("only", nargs="*", metavar="PATH[:LINE]", help="files, folders or lines; else the package")
    options = parser.parse_args()
    deadline = time.monotonic() + options.seconds
    every = all_changes(options.only)
    size = min(options.sample, len(every)) or len(every)
    drawn = random.Random(options.seed).sample(every, size)
    print(f"{size} of {len(every)} changes, seed {options.seed}", flush=True)
    if options.list:
        for path, change in sorted(drawn):
            print(f"{path}:{change.line}\n{difference(path, change)}")
        return
    before = measured_before(options.results)
    # What the tests have started ends when this does.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with tempfile.TemporaryDirectory(prefix="mutation-") as folder, ThreadPoolExecutor(options.jobs) as pool:
        copies: SimpleQueue[Copy] = SimpleQueue()
        for number in range(options.jobs):
            copies.put(Copy(Path(folder).resolve() / str(number), options.memory))

        def outcome(each: Drawn) -> Outcome | None:
            if each in before or time.monotonic() > deadline:
                return before.get(each)
            copy = copies.get()
            found = measure(copy, *each, options.budget)
            copies.put(copy)
            print(found, flush=True)
            if options.results:
                with options.results.open("a", encoding="utf-8") as opened:
                    opened.write(json.dumps(asdict(found)) + "\n")
            return found

        found = list(pool.map(outcome, drawn))
    print(summary(found))


if __name__ == "__main__":
    main()
