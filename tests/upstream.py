"""Runs Triton's own language tests on the CPU target: ``python -m tests.upstream CHECKOUT [pytest arguments]``.

The user provides the checkout (https://github.com/triton-lang/triton, at the tag of the installed version): none of
it is in this repository. Its tests take a device from ``--device``. The result is printed and written to
docs/upstream.md: the commit, how many tests of each file passed, were skipped and failed, and the reasons
(``upstream_reasons``); tests without a reason are listed with their messages. pytest's own report stays in the
working folder as ``upstream.xml``.
"""

from __future__ import annotations

import collections
import os
import platform
import subprocess
import sys
import tempfile
import textwrap
import xml.etree.ElementTree as xml
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tests.upstream_reasons import Case, Reason, reason_of

# The option `--device` is defined in the first, so pytest starts there.
START = Path("python/test")
TESTS = Path("unit/language")
REPORT = Path("upstream.xml")
PAGE = Path(__file__).parents[1] / "docs" / "upstream.md"
# A file that cannot be imported must not stop the others; what a failed test printed may tell why it failed.
OPTIONS = (
    *("--device", "cpu", "-q", "--tb=short", "-p", "no:cacheprovider", "-W", "ignore"),
    *("--continue-on-collection-errors", "-o", "junit_logging=system-out", "-o", "junit_log_passing_tests=false"),
)
OUTCOMES = ("passed", "skipped", "failed")
HEADINGS = {"failed": "Failed", "skipped": "Skipped"}
SHOWN = 160  # characters of a message that nothing explains

INTRODUCTION = """# Triton's own tests

What the CPU target makes of the language tests in Triton's own repository, and why those that fail or are skipped
do: most ask for what only a GPU, or a compiler for one, has. Written by `make upstream TESTS=path`, from a checkout of
<https://github.com/triton-lang/triton>; none of it is here.
"""


@dataclass(frozen=True)
class Run:
    """The tests of one checkout that were run: ``present`` are the files there, ``arguments`` what pytest was told."""

    commit: str
    present: tuple[str, ...]
    arguments: tuple[str, ...]
    cases: tuple[Case, ...]


Explained = list[tuple[Reason | None, list[Case]]]


def commit(checkout: Path) -> str:
    """The commit that is checked out, with its tag if it has one."""
    if not (checkout / ".git").exists():
        return "unknown commit"  # git would name that of a repository around it
    shown = subprocess.run(
        ["git", "-C", str(checkout), "describe", "--always", "--tags", "--dirty", "--abbrev=12"],
        capture_output=True,
        text=True,
        check=False,
    )
    return shown.stdout.strip() or "unknown commit"


def cases(report: Path) -> tuple[Case, ...]:
    """The tests of pytest's report."""
    return tuple(map(_case, xml.parse(report).iter("testcase")))


def _case(element: xml.Element) -> Case:
    module, name = element.get("classname", ""), element.get("name", "")
    if not module:  # a file that was not collected is a case without a class
        module, name = name, "(the whole file)"
    parts = module.split(".")
    file = next((part for part in reversed(parts) if part.startswith("test_")), parts[-1])
    function, bracket, parameters = name.partition("[")
    case = Case(file, function, bracket + parameters, "passed")
    for child in element:
        if child.tag in ("failure", "error", "skipped"):
            outcome = "skipped" if child.tag == "skipped" else "failed"
            message = child.get("message", "")
            if child.get("type") == "pytest.xfail":
                message = f"expected to fail: {message}"
            printed = "".join(output.text or "" for output in element.iter("system-out"))
            trace = "\n".join(text for text in (printed, child.text) if text)
            return Case(case.file, case.function, case.parameters, outcome, message, trace)
    return case


def counts(found: Iterable[Case]) -> dict[str, collections.Counter[str]]:
    """Outcomes by file."""
    result: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    for case in found:
        result[case.file][case.outcome] += 1
    return dict(sorted(result.items()))


def explained(found: Iterable[Case], outcome: str) -> Explained:
    """Tests of one outcome by reason, the most frequent first and what has none last."""
    groups: dict[str, tuple[Reason | None, list[Case]]] = {}
    for case in found:
        if case.outcome == outcome:
            reason = reason_of(case)
            groups.setdefault(reason.name if reason else "", (reason, []))[1].append(case)
    return sorted(groups.values(), key=lambda group: (group[0] is None, -len(group[1])))


def functions(found: Iterable[Case]) -> list[str]:
    """``file::function`` as Markdown, with how many of its tests these are."""
    counted = collections.Counter(f"{case.file}::{case.function}" for case in found)
    return [_code(name) if count == 1 else f"{_code(name)} ({count})" for name, count in sorted(counted.items())]


def said(case: Case) -> str:
    """The first line of what a test said."""
    line = (case.message.strip() or "nothing").splitlines()[0]
    return line if len(line) <= SHOWN else f"{line[:SHOWN]}..."


def run(checkout: Path, arguments: list[str]) -> Run:
    """Run the tests."""
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
    present = tuple(sorted(file.stem for file in (folder / TESTS).glob("test_*.py")))
    return Run(commit(checkout), present, tuple(arguments), cases(report))


def source(told: Run) -> list[str]:
    """Which tests these are, and what ran them."""
    import torch
    import triton

    lines = [
        f"{told.commit}, run with Triton {triton.__version__}, torch {torch.__version__}, "
        f"Python {platform.python_version()}."
    ]
    if told.commit.lstrip("v") != triton.__version__:
        lines.append(f"The checkout is not at the tag v{triton.__version__}: some tests may be of another version.")
    missing = [file for file in told.present if file not in counts(told.cases)]
    if missing:
        lines.append(f"Of {len(told.present)} files these had no test that ran: {', '.join(missing)}.")
    if told.arguments:
        lines.append(f"pytest was told `{' '.join(told.arguments)}`.")
    return lines


def summary(told: Run) -> str:
    """The counts and the reasons, for a terminal."""
    table = counts(told.cases)
    total = sum(table.values(), collections.Counter[str]())
    width = max(map(len, table), default=5)
    lines = [*source(told), f"{'file':{width}} " + " ".join(f"{outcome:>8}" for outcome in OUTCOMES)]
    for file, outcomes in [*table.items(), ("total", total)]:
        lines.append(f"{file:{width}} " + " ".join(f"{outcomes[outcome]:8}" for outcome in OUTCOMES))
    for outcome in HEADINGS:
        groups = explained(told.cases, outcome)
        lines += ["", f"{outcome}:" if groups else f"{outcome}: none"]
        for reason, found in groups:
            lines.append(f"{len(found):8}  {reason.name if reason else 'not explained'}")
            if reason is None:
                lines += [f"{'':10}{case.name}: {said(case)}" for case in found]
    return "\n".join(lines)


def page(told: Run) -> str:
    """The counts, and the reasons with the tests that each explains, as Markdown."""
    table = counts(told.cases)
    total = sum(table.values(), collections.Counter[str]())
    lines = [INTRODUCTION, *(f"{line}  " for line in source(told)), "", f"| file | {' | '.join(OUTCOMES)} |"]
    lines.append("|---|" + "---:|" * len(OUTCOMES))
    for file, outcomes in [*table.items(), ("**total**", total)]:
        lines.append(f"| {file} | {' | '.join(str(outcomes[outcome]) for outcome in OUTCOMES)} |")
    for outcome, heading in HEADINGS.items():
        for reason, found in explained(told.cases, outcome):
            name = reason.name if reason else "not explained"
            lines += ["", f"## {heading}: {name} ({len(found)})", ""]
            if reason:
                lines += [textwrap.fill(reason.why, 120), "", *(f"- {name}" for name in functions(found))]
            else:
                lines += [f"- {_code(case.name)}: {_code(said(case))}" for case in found]
    return "\n".join(lines) + "\n"


def _code(text: str) -> str:
    return f"`{text.replace('`', chr(39))}`"


def main(arguments: list[str]) -> None:
    if not arguments:
        raise SystemExit(__doc__)
    told = run(Path(arguments[0]), arguments[1:])
    print(f"\n{summary(told)}")
    PAGE.write_text(page(told))
    print(f"\nwritten: {PAGE}")


if __name__ == "__main__":
    main(sys.argv[1:])
