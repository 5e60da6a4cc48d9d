"""How good the tests are, measured by changing the code: ``python -m tests.mutation`` or ``make mutation``.

Draws one-token changes of the package at random, makes one at a time in a copy of the tree, and runs the tests of
the changed file's own room. A change that no test fails for has survived: the test that would have seen it is
missing, or the code means the same without it. Survivors are printed with file, line and difference.

Run by hand: a change costs a run of its room's tests, seconds to minutes. The kept tools do not fit: mutmut
rewrites functions so that their source, which Triton's front end reads, is no longer theirs; cosmic-ray changes the
working tree and knows one command for all files.
"""

from __future__ import annotations

import argparse
import difflib
import importlib.util
import os
import queue
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.mutation.bounds import BOUNDS
from tests.mutation.changes import Change, changes
from tests.mutation.rooms import own_tests, room_of

ROOT = Path(__file__).parents[2]
# A change may make a loop endless or a block huge.
LEAST_SECONDS = 60.0
MOST_TIMES = 4.0
MOST_KIB = 24 << 20  # of address space, much of which is libraries
PYTEST = ("-q", "-x", "--tb=no", "-p", "no:cacheprovider", "--no-header")


@dataclass(frozen=True)
class Outcome:
    """``fate``: killed, survived or timeout (killed too: nobody waits for ever)."""

    path: str
    change: Change
    fate: str
    seconds: float


def _files() -> list[str]:
    """The files of the tree, relative to its root: what git knows, or all where there is no git."""
    if (ROOT / ".git").exists():
        command = ["git", "ls-files", "-co", "--exclude-standard"]
        return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
    names = (path.relative_to(ROOT) for path in ROOT.rglob("*"))
    return [str(name) for name in names if not {"node_modules", ".venv", ".git"} & set(name.parts)]


class Copy:
    """A copy of the tree in which one file at a time is changed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.said = ""  # by the last run of tests
        for name in _files():
            if (ROOT / name).is_file() and not (ROOT / name).is_symlink():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(ROOT / name, folder / name)

    def write(self, path: str, text: str) -> None:
        (self.folder / path).write_text(text, encoding="utf-8")
        # Python tells versions of a file apart by second and size: a changed digit has the same.
        Path(importlib.util.cache_from_source(str(self.folder / path))).unlink(missing_ok=True)

    def passes(self, tests: tuple[str, ...], seconds: float | None) -> bool:
        """Whether all ``tests`` pass; raises TimeoutExpired."""
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join(filter(None, [str(self.folder), os.environ.get("PYTHONPATH")])),
            "OMP_NUM_THREADS": "1",  # several run at once, each on one core
            "TRITON_CACHE_DIR": str(self.folder / ".triton"),
            "HYPOTHESIS_STORAGE_DIRECTORY": str(self.folder / ".hypothesis"),
        }
        bounded = ["sh", "-c", f'ulimit -v {MOST_KIB}; exec "$@"', "sh"]
        with tempfile.TemporaryFile() as output:
            process = subprocess.Popen(
                [*bounded, sys.executable, "-m", "pytest", *PYTEST, *tests],
                cwd=self.folder,
                env=environment,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            try:
                code = process.wait(seconds)
                output.seek(0)
                self.said = output.read().decode(errors="replace")
                return code == 0
            finally:
                # Whatever the tests started goes with them.
                if process.poll() is None:
                    os.killpg(process.pid, 9)
                    process.wait()


def all_changes(only: list[str]) -> list[tuple[str, Change]]:
    """The changes of the files and folders ``only`` (``path`` or ``path:line``), or of the whole package."""
    wanted = [each.partition(":") for each in only or ["triton_lab"]]
    found = []
    for path in sorted((ROOT / "triton_lab").rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        lines = {line for start, _, line in wanted if name == start or name.startswith(f"{start.rstrip('/')}/")}
        if lines and own_tests(name, ROOT):
            every = changes(path.read_text(encoding="utf-8"), BOUNDS.get(name, ()))
            found += [(name, change) for change in every if "" in lines or str(change.line) in lines]
    return found


def measure(copy: Copy, path: str, change: Change, allowed: float) -> Outcome:
    """What becomes of one change."""
    source = (ROOT / path).read_text(encoding="utf-8")
    copy.write(path, change.applied(source))
    start = time.perf_counter()
    try:
        fate = "survived" if copy.passes(own_tests(path, ROOT), allowed) else "killed"
    except subprocess.TimeoutExpired:
        fate = "timeout"
    finally:
        copy.write(path, source)
    return Outcome(path, change, fate, time.perf_counter() - start)


def difference(path: str, change: Change) -> str:
    """The changed line before and after."""
    source = (ROOT / path).read_text(encoding="utf-8")
    before, after = source.splitlines(), change.applied(source).splitlines()
    return "\n".join(line for line in difflib.unified_diff(before, after, lineterm="", n=0) if line[:3] not in _HEADS)


_HEADS = ("---", "+++", "@@ ")


def baseline(copy: Copy, path: str) -> float:
    """The seconds that the tests of a file's room take as they are; SystemExit where they fail."""
    start = time.perf_counter()
    if not copy.passes(own_tests(path, ROOT), None):
        tests = " ".join(own_tests(path, ROOT))
        raise SystemExit(f"the tests of {room_of(path)} fail as they are: {tests}\n{copy.said}")
    seconds = time.perf_counter() - start
    print(f"{room_of(path)}: {seconds:.0f} s without a change", flush=True)
    return seconds


def told(outcome: Outcome) -> str:
    """One line: where, what, and what became of it."""
    change = outcome.change
    was = f"{change.old.strip()!r} -> {change.new!r}"
    return f"{outcome.fate:9}{outcome.seconds:5.0f} s  {outcome.path}:{change.line}  {was}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--sample", type=int, default=40, help="so many changes, drawn at random (0: all)")
    parser.add_argument("--seed", type=int, default=0, help="another seed draws others")
    parser.add_argument("--jobs", type=int, default=1, help="so many at a time, each in a copy of its own")
    parser.add_argument("--list", action="store_true", help="print what is drawn, and run nothing")
    parser.add_argument("only", nargs="*", metavar="PATH[:LINE]", help="files, folders or lines; else the package")
    options = parser.parse_args()
    every = all_changes(options.only)
    size = min(options.sample, len(every)) or len(every)
    drawn = random.Random(options.seed).sample(every, size)
    print(f"{size} of {len(every)} changes, seed {options.seed}", flush=True)
    if options.list:
        for path, change in sorted(drawn):
            print(f"{path}:{change.line}\n{difference(path, change)}")
        return
    with tempfile.TemporaryDirectory(prefix="mutation-") as folder:
        copies: queue.SimpleQueue[Copy] = queue.SimpleQueue()
        made = [Copy(Path(folder) / str(number)) for number in range(options.jobs)]
        for copy in made:
            copies.put(copy)

        def in_a_copy(do: Callable[..., Any], *given: Any) -> Any:
            copy = copies.get()
            try:
                return do(copy, *given)
            finally:
                copies.put(copy)

        rooms = {room_of(path): path for path, _ in drawn}
        with ThreadPoolExecutor(options.jobs) as pool:
            took = dict(zip(rooms, pool.map(lambda path: in_a_copy(baseline, path), rooms.values()), strict=True))
            allowed = {room: max(LEAST_SECONDS, MOST_TIMES * seconds) for room, seconds in took.items()}

            def one(entry: tuple[str, Change]) -> Outcome:
                outcome: Outcome = in_a_copy(measure, *entry, allowed[room_of(entry[0])])
                print(told(outcome), flush=True)
                return outcome

            outcomes = list(pool.map(one, drawn))
    survivors = sorted(
        (each for each in outcomes if each.fate == "survived"), key=lambda each: (each.path, each.change)
    )
    for survivor in sorted(survivors, key=lambda each: (each.path, each.change)):
        print(f"\n{survivor.path}:{survivor.change.line}\n{difference(survivor.path, survivor.change)}")
    dead = len(outcomes) - len(survivors)
    print(f"\n{dead} of {len(outcomes)} changes died ({dead / max(1, len(outcomes)):.1%})")


if __name__ == "__main__":
    main()
