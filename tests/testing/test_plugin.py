"""``pytest --triton-lab`` on other people's tests: what passes, what fails and how it reads."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.testing.projects import Ran, plugin, run
from tests.wordings import Wording, line_of

pytest_plugins = ["pytester"]

TESTS = """
@needs_gpu
def test_add():
    x, y = torch.rand(1000, device="cuda"), torch.rand(1000).cuda()
    out = torch.empty_like(x)
    add_kernel[(8,)](x, y, out, 1000, BLOCK=128)
    torch.testing.assert_close(out.cpu(), x.cpu() + y.cpu())


@needs_gpu
def test_unwritten():
    x = torch.empty(1000, device="cuda")
    add_kernel[(8,)](x, torch.zeros_like(x), torch.empty_like(x), 1000, BLOCK=128)


def test_race():
    race()


@pytest.mark.triton_findings("race")
def test_meant():
    race()


@pytest.mark.triton_findings("race", argument="x_ptr")
def test_meant_elsewhere():
    race()


@pytest.mark.triton_findings(allow="race")
def test_allowed():
    race(1)


@pytest.mark.triton_findings(forbid="idle-program")
def test_forbidden():
    add_kernel[(2,)](*(torch.zeros(128, device="cuda") for _ in range(3)), 128, BLOCK=128)


@pytest.mark.triton_unchecked("known to race")
def test_unchecked():
    race()


def test_far():
    far_kernel[(1,)](torch.zeros(5, device="cuda"), BLOCK=8)


def test_caught():
    with pytest.raises(Exception, match="out of bounds"):
        far_kernel[(1,)](torch.zeros(5, device="cuda"), BLOCK=8)


def test_launches(triton_launches):
    race(1)
    assert [launch.kernel for launch in triton_launches] == ["racy_kernel"]


def test_own_failure():
    race()
    assert 1 == 2, "a claim of its own"
"""


_checked: list[Ran] = []


@pytest.fixture
def checked(pytester: pytest.Pytester) -> Ran:
    """One run, which several tests look at."""
    if not _checked:
        _checked.append(run(pytester, TESTS, "--triton-lab=check"))
    return _checked[0]


def test_tests_that_ask_for_a_gpu_run_and_fail_for_what_their_launches_do(checked: Ran) -> None:
    assert checked.outcomes == {
        "test_add": "passed",
        "test_unwritten": "failed",
        "test_race": "failed",
        "test_meant": "passed",
        "test_meant_elsewhere": "failed",
        "test_allowed": "passed",
        "test_forbidden": "failed",
        "test_unchecked": "passed",
        "test_far": "failed",
        "test_caught": "passed",
        "test_launches": "passed",
        "test_own_failure": "failed",
    }
    assert checked.code == 1


def section(ran: Ran, name: str) -> str:
    """What is told of one failed test."""
    return ran.text.partition(f"_ {name} _")[2].partition("\n____")[0]


def test_a_finding_reads_as_a_failure_with_line_program_element_and_remedy(checked: Ran, wording: Wording) -> None:
    told = section(checked, "test_unwritten")
    wording(
        line_of(told, "test_project.py:11: add_kernel"),
        place="test_project.py:11",
        launch="add_kernel[(8, 1, 1)]",
        element="x_ptr[0]",
    )
    assert "x = tl.load(x_ptr + offsets, mask=mask)" in told
    assert "torch.zeros" in told
    assert '@pytest.mark.triton_findings("uninitialized")' in told
    assert "Traceback" not in told and "session.py" not in told


def test_an_error_of_a_launch_shows_the_test_and_no_frame_of_ours_or_tritons(checked: Ran) -> None:
    told = section(checked, "test_far")
    assert ">       far_kernel[(1,)](torch.zeros(5" in told
    assert all(part in told for part in ("lane 5", "program (0, 0, 0)", "element 5"))
    assert "triton/runtime" not in told and "triton_lab/" not in told


def test_a_failure_of_the_tests_own_is_told_first_and_the_finding_beside_it(checked: Ran, wording: Wording) -> None:
    told = section(checked, "test_own_failure")
    assert "its own" in told
    (finding,) = (line for line in told.splitlines() if line.startswith("test_project.py:18: "))
    wording(finding, place="test_project.py:18", launch="racy_kernel[(4, 1, 1)]", element="out_ptr[0]", lanes="4 lanes")


def test_what_was_to_be_found_and_was_not_is_named(checked: Ran, wording: Wording) -> None:
    wording(line_of(section(checked, "test_meant_elsewhere"), "race of x_ptr", "not found"), finding="race of x_ptr")


def test_the_end_tells_launches_and_findings_by_kernel(checked: Ran) -> None:
    rows = {line.split()[0]: line.split() for line in checked.text.splitlines() if "_kernel  test_project.py:" in line}
    # kernel, place, launches, programs, time and its unit, findings
    assert rows["racy_kernel"][2:4] == ["7", "22"]
    assert rows["racy_kernel"][6:] == ["1", "error"]
    assert rows["far_kernel"][2:4] == ["2", "2"]
    assert "error: race: test_project.py:18: line 18:" in checked.text
    assert re.search(r"4 launches .*racy_kernel.*test_project.py::test_race", checked.text)


def test_on_the_cpu_alone_nothing_is_checked_and_a_wrong_access_still_stops(pytester: pytest.Pytester) -> None:
    ran = run(pytester, TESTS, "--triton-lab=cpu", "-k", "add or race or far or launches")
    assert ran.outcomes == {
        "test_add": "passed",
        "test_race": "passed",
        "test_far": "failed",
        "test_launches": "passed",
    }


def test_known_findings_fail_nothing_and_are_written_on_request_by_workers_too(
    pytester: pytest.Pytester, wording: Wording
) -> None:
    given = ("--triton-lab=check", "--triton-lab-baseline=kept/known.json", "-k", "add or race or unwritten")
    written = run(pytester, TESTS, *given, "--triton-lab-update-baseline", "-n1")
    assert written.code == 0
    wording(line_of(written.text, "baseline", "added"), added="2 findings", removed="0 findings")
    held = json.loads((pytester.path / "kept" / "known.json").read_text())["findings"]
    assert [(each["kind"], each["kernel"]) for each in held] == [
        ("uninitialized", "add_kernel"),
        ("race", "racy_kernel"),
    ]
    # Lines that come before change nothing: a finding is known by the text of its line.
    moved = "\n\n" + TESTS
    known = run(pytester, moved, *given)
    assert known.code == 0 and "error: race (known)" in known.text
    mended = run(pytester, TESTS.replace("def test_race():\n    race()", "def test_race():\n    race(1)"), *given)
    assert mended.code == 0
    wording(line_of(mended.text, "baseline", "update-baseline"), known="1 known finding")


@pytest.mark.parametrize(
    ("options", "label", "facts"),
    [
        (
            ("--triton-lab-update-baseline",),
            "alone",
            {"options": "--triton-lab=cpu or --triton-lab=check"},
        ),
        (
            ("--triton-lab=check", "--triton-lab-update-baseline"),
            "no file",
            {"options": "--triton-lab=check and --triton-lab-baseline"},
        ),
        (("--triton-lab=check", "--triton-lab-baseline=test_project.py"), "no baseline", {"file": "test_project.py"}),
        (("--triton-lab=check", "--triton-lab-select=rase"), "kind", {"given": "'rase'"}),
        (("--triton-lab=cpu", "--triton-lab-json=test_project.py/told.json"), "not written", {"file": "told.json"}),
    ],
)
def test_options_that_cannot_be_are_refused_in_words(
    pytester: pytest.Pytester, options: tuple[str, ...], label: str, facts: dict[str, str], wording: Wording
) -> None:
    ran = run(pytester, TESTS, *options)
    assert ran.code == 4 and "Traceback" not in ran.text
    (error,) = (line for line in ran.text.splitlines() if line.startswith("ERROR: "))
    here = error.replace(str(pytester.path), "folder").partition("; there are")[0]  # all kinds that there are
    wording(here, label, **facts)


def test_kinds_that_are_ignored_fail_no_test_and_are_still_what_a_marker_expects(pytester: pytest.Pytester) -> None:
    test = "def test_it():\n    race()\n"
    ignored = ("--triton-lab=check", "--triton-lab-ignore=alias,race")
    assert run(pytester, test, *ignored).outcomes == {"test_it": "passed"}
    assert run(pytester, f'@pytest.mark.triton_findings("race")\n{test}', *ignored).outcomes == {"test_it": "passed"}
    assert run(pytester, test, "--triton-lab=check", "--triton-lab-select=alias").outcomes == {"test_it": "passed"}


def test_a_marker_with_a_kind_that_is_none_lists_the_kinds(pytester: pytest.Pytester) -> None:
    ran = run(pytester, '@pytest.mark.triton_findings("rase")\ndef test_it():\n    race()\n', "--triton-lab=check")
    assert ran.outcomes == {"test_it": "error"} and "session.py" not in ran.text and ran.text.count("'rase'") == 2


def test_without_the_option_nothing_is_imported_and_nothing_changes(pytester: pytest.Pytester) -> None:
    (pytester.path / "test_it.py").write_text(
        "import sys\n\ndef test_it():\n    assert not {'torch', 'triton', 'numpy', 'hypothesis'} & {*sys.modules}\n"
    )
    without = [
        word for name in ("cacheprovider", "hypothesispytest", "randomly", "cov") for word in ("-p", f"no:{name}")
    ]
    command = [sys.executable, "-m", "pytest", "-q", *plugin(), *without, "--strict-markers", str(pytester.path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[2])
    assert done.returncode == 0, done.stdout + done.stderr


FORKS = """
import os


def test_forks():
    if os.fork() == 0:
        race()
        os._exit(0)
    os.wait()


def test_none():
    race(1)
"""


@pytest.mark.parametrize("strict", [False, True])
def test_launches_of_forks_are_told_and_fail_where_that_is_asked_for(strict: bool, pytester: pytest.Pytester) -> None:
    ran = run(pytester, FORKS, "--triton-lab=check", *["--triton-lab-strict"] * strict)
    assert ran.outcomes == {"test_forks": "failed" if strict else "passed", "test_none": "passed"}
    assert re.search(r"not checked.*1 launch .*racy_kernel", ran.text)
