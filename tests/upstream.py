"""Triton's own language tests, run on the CPU target: ``python -m tests.upstream CHECKOUT [pytest arguments]``.

The checkout (https://github.com/triton-lang/triton, at the tag of the installed version) is the
reader's: none of it is in this repository. Its tests ask for a device by ``--device``. Printed are
the commit, and for each file how many tests passed, were skipped and failed. The report that lists
every failure is left in the working folder as ``upstream.xml``.
"""

from __future__ import annotations

import collections
import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml
from pathlib import Path

# The option `--device` is defined in the first, so pytest starts there.
START = Path("python/test")
TESTS = Path("unit/language")
REPORT = Path("upstream.xml")
OPTIONS = ("--device", "cpu", "-q", "--tb=short", "-p", "no:cacheprovider", "-W", "ignore")
OUTCOMES = ("passed", "skipped", "failed")


def commit(checkout: Path) -> str:
    """The commit that is checked out, with its tag if it has one."""
    shown = subprocess.run(
        ["git", "-C", str(checkout), "describe", "--always", "--tags", "--dirty", "--abbrev=12"],
        capture_output=True,
        text=True,
        check=False,
    )
    return shown.stdout.strip() or "unknown commit"


def counts(report: Path) -> dict[str, collections.Counter[str]]:
    """Outcomes by file, from pytest's report."""
    result: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    for case in xml.parse(report).iter("testcase"):
        file = case.get("classname", "").split(".")[-1]
        children = {child.tag for child in case}
        outcome = "failed" if children & {"failure", "error"} else "skipped" if "skipped" in children else "passed"
        result[file][outcome] += 1
    return result


def run(checkout: Path, arguments: list[str]) -> dict[str, collections.Counter[str]]:
    """Run the tests and count their outcomes."""
    folder = (checkout / START).resolve()
    if not (folder / TESTS).is_dir():
        raise SystemExit(f"{checkout} is no checkout of Triton: it has no {START / TESTS}")
    report = REPORT.resolve()
    report.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory() as cache:
        environment = os.environ | {"TRITON_DEFAULT_BACKEND": "triton_lab", "TRITON_CACHE_DIR": cache}
        command = [sys.executable, "-m", "pytest", str(TESTS), *OPTIONS, f"--junitxml={report}", *arguments]
        subprocess.run(command, cwd=folder, env=environment, check=False)
    if not report.exists():
        raise SystemExit("pytest wrote no report")
    return counts(report)


def main(arguments: list[str]) -> None:
    if not arguments:
        raise SystemExit(__doc__)
    import triton

    checkout = Path(arguments[0])
    found = run(checkout, arguments[1:])
    total: collections.Counter[str] = collections.Counter()
    print(f"\n{checkout}: {commit(checkout)}, run with Triton {triton.__version__}")
    width = max(map(len, found), default=5)
    print(f"{'file':{width}} " + " ".join(f"{outcome:>8}" for outcome in OUTCOMES))
    for file, outcomes in sorted(found.items()):
        total += outcomes
        print(f"{file:{width}} " + " ".join(f"{outcomes[outcome]:8}" for outcome in OUTCOMES))
    print(f"{'total':{width}} " + " ".join(f"{total[outcome]:8}" for outcome in OUTCOMES))


if __name__ == "__main__":
    main(sys.argv[1:])
