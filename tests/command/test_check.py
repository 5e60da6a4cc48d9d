"""`triton-lab check`: what is wrong with a script's kernels, for people and for machines, and the exit code."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from tests.command.conftest import Call
from tests.command.scripts import BEYOND, FINE, UNWRITTEN, written
from tests.wordings import Wording, line_of
from triton_lab.command import doctor
from triton_lab.command.main import main
from triton_lab.command.sarif import ROOT

# Some warnings and nothing worse: 1e38 * 10 is too large for a float32.
INFINITE = UNWRITTEN.replace("x + y", "x * 3e38 * y").replace("torch.empty(1000))", "torch.full((1000,), 2.0))")


def test_findings_are_told_as_a_compiler_tells_them(folder: Path, call: Call, wording: Wording) -> None:
    written(folder, UNWRITTEN)
    done = call("check", "script.py", "a", "b")
    assert done.exit_code == 1
    first, finding, source, mark, *_ = done.stdout.splitlines()
    assert first == "arguments: a b"
    assert finding.startswith("script.py:11:9: error: ") and finding.endswith(" [uninitialized]")
    assert source == "        x = tl.load(x_ptr + offsets, mask=mask)" and mark.strip() == "^" * 35
    wording(
        done.stdout.partition("\n")[2],
        place="script.py:11:9",
        program="program (0, 0, 0)",
        element="x_ptr[0]",
        lanes="1,000 lanes",
        launch="add[8, 1, 1]",
        launches="3 launches",
        errors="1 error",
    )


def test_a_fine_script_ends_with_0(folder: Path, call: Call, wording: Wording) -> None:
    written(folder, FINE)
    done = call("check", "script.py", "--strict")
    (told,) = done.stdout.splitlines()[1:]
    assert done.exit_code == 0
    wording(told, launches="6 launches", kernels="1 kernel")


def test_the_compiler_s_passes_are_run_on_request(folder: Path, call: Call) -> None:
    written(folder, FINE)
    done = call("check", "script.py", "--strict", "--passes", "sm_90")
    assert done.exit_code == 0
    assert call("check", "script.py", "--passes", "sm90").exit_code == 2


def test_what_stops_a_launch_is_a_finding_and_another_error_is_the_scripts(
    folder: Path, call: Call, wording: Wording
) -> None:
    written(folder, BEYOND)
    stopped = call("check", "script.py")
    assert stopped.exit_code == 1
    assert re.search(r"script\.py:19:5: error: .*lane 72 of program \(1, 0, 0\)", stopped.stdout)
    assert "-> tl.store(x_ptr + offsets, offsets, mask=" not in stopped.stdout.partition("A fix")[0]
    assert "the script failed" not in stopped.stdout
    # Its traceback has the script's lines, and none of Triton's or ours.
    assert [line for line in stopped.stderr.splitlines() if line.startswith("  File")] == [
        f'  File "{folder / "script.py"}", line 27, in <module>'
    ]
    chained = (
        BEYOND.replace("fill[", "try:\n    fill[") + "except Exception as error:\n    raise RuntimeError from error"
    )
    written(folder, chained)
    assert call("check", "script.py").exit_code == 1
    written(folder, UNWRITTEN + "print({}['größe'])")
    failed = call("check", "script.py")
    assert failed.exit_code == 2
    wording(line_of(failed.stdout, "script failed"), error="KeyError: 'größe'")
    assert "[uninitialized]" in failed.stdout
    written(folder, FINE + "sys.exit(3)")
    assert "exit code 3" in call("check", "script.py").stdout


def test_strict_takes_warnings_and_doubts_for_errors(folder: Path, call: Call, wording: Wording) -> None:
    written(folder, INFINITE)
    calm, strict = call("check", "script.py"), call("check", "--strict", "script.py")
    assert (calm.exit_code, strict.exit_code) == (0, 1)
    assert "warning: " in calm.stdout and "1 warning" in calm.stdout
    written(folder, "print(1)")
    calm, strict = call("check", "script.py"), call("check", "script.py", "--strict")
    assert (calm.exit_code, strict.exit_code) == (0, 1)
    wording(calm.stdout.splitlines()[-1])


def test_kinds_are_selected_and_ignored(folder: Path, call: Call) -> None:
    written(folder, UNWRITTEN)
    for given, code in (
        (("--select", "race,alias"), 0),
        (("--select=uninitialized",), 1),
        (("--ignore", "race", "--ignore", "uninitialized"), 0),
    ):
        done = call("check", "script.py", *given)
        assert (done.exit_code, "[uninitialized]" in done.stdout) == (code, bool(code))
    wrong = call("check", "--ignore", "rase", "script.py")
    assert wrong.exit_code == 2 and "'rase'" in wrong.stderr and "uninitialized" in wrong.stderr


def test_json_is_all_there_is_on_standard_output(folder: Path, call: Call) -> None:
    written(folder, UNWRITTEN)
    done = call("check", "script.py", "--format", "json")
    told = json.loads(done.stdout)
    assert "arguments:" in done.stderr
    (finding,) = told["findings"]
    assert (told["exit_code"], told["launches"], told["kernels"], told["failure"]) == (1, 3, {"add": 3}, "")
    assert (finding["kind"], finding["severity"], finding["line"], finding["column"], finding["launches"]) == (
        *("uninitialized", "error"),
        *(11, 9, 3),
    )
    assert finding["file"] == str(folder / "script.py")


def test_a_file_is_written_though_the_script_goes_elsewhere(folder: Path, call: Call) -> None:
    written(folder, UNWRITTEN + "import os; os.chdir('/')")
    done = call("check", "script.py", "--format=json", "--output", "found.json")
    assert len(json.loads((folder / "found.json").read_text())["findings"]) == 1
    assert done.stdout == "arguments:\n" and "wrote found.json" in done.stderr
    assert call("check", "script.py", "--output", "found.txt").exit_code == 1
    assert "script.py:11:9: error: " in (folder / "found.txt").read_text()


def test_what_is_known_no_longer_counts(folder: Path, call: Call) -> None:
    written(folder, UNWRITTEN)
    assert call("check", "script.py", "--format", "json", "--output", "known.json").exit_code == 1
    # The code around it may change, and where the line stands.
    written(folder, "# more above\n" + UNWRITTEN.replace("arguments:", "words:"))
    done = call("check", "script.py", "--baseline", "known.json")
    assert done.exit_code == 0 and "uninitialized" not in done.stdout
    assert "no errors" in done.stdout and "1 known finding" in done.stdout
    sarif = json.loads(call("check", "script.py", "--baseline", "known.json", "--format", "sarif").stdout)
    assert [result["suppressions"][0]["kind"] for result in sarif["runs"][0]["results"]] == ["external"]
    # Another one is told.
    written(folder, UNWRITTEN.replace("tl.load(x_ptr + offsets", "tl.load(offsets + x_ptr"))
    assert call("check", "script.py", "--baseline", "known.json").exit_code == 1
    assert call("check", "script.py", "--baseline", "script.py").exit_code == 2
    assert call("check", "script.py", "--baseline", "nowhere.json").exit_code == 2


def test_what_cannot_be_written_after_all_is_told_and_not_lost(folder: Path, call: Call, wording: Wording) -> None:
    written(folder, UNWRITTEN)
    done = call("check", "script.py", "--format", "json", "--output", "/dev/full")
    assert done.exit_code == 2
    assert json.loads(done.stdout.partition("\n")[2])["findings"][0]["kind"] == "uninitialized"
    wording(done.stderr, path="/dev/full", reason="No space left on device")
    written(folder, "import sys; sys.exit(int(sys.argv[1]))")
    for code, expected in ((0, 2), (7, 7)):
        ran = call("run", "script.py", str(code), "--html", "/dev/full")
        assert (ran.exit_code, ran.stderr.splitlines()[-1]) == (expected, done.stderr.strip())


@pytest.mark.parametrize("words", [["check", "script.py"], ["run", "script.py"], ["doctor", "--json"]])
def test_closed_streams_swallow_what_would_go_there(
    words: list[str], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after ``triton-lab ... >&- 2>&-``: Python has None in their place."""
    written(folder, FINE)
    monkeypatch.setattr(doctor, "examine", lambda: ())
    monkeypatch.setattr(sys, "argv", ["triton-lab", *words])
    for name in ("stdout", "stderr"):
        monkeypatch.setattr(sys, name, None)
    with pytest.raises(SystemExit) as ended:
        main()
    for stream in (sys.stdout, sys.stderr):
        assert stream.name == os.devnull
        stream.close()
    assert ended.value.code == 0


@pytest.mark.parametrize(
    ("words", "label", "facts"),
    [
        (["check"], "none", {}),
        (["check", "nowhere.py"], "file", {"file": "nowhere.py"}),
        (["check", "-m", "no.such"], "module", {"module": "no.such"}),
        (["check", "script.py", "--output", "no/such/folder"], "output", {"folder": "no/such/folder"}),
        (["check", "script.py", "--target", "tpu"], "target", {"target": "tpu"}),
        (["run", "script.py", "--html", "no/such/folder"], "output", {"folder": "no/such/folder"}),
    ],
)
def test_a_wrong_line_ends_with_2_and_says_why(
    words: list[str], label: str, facts: dict[str, str], folder: Path, call: Call, wording: Wording
) -> None:
    written(folder, "print('ran')")
    done = call(*words)
    assert done.exit_code == 2 and "ran" not in done.stdout
    wording(done.stderr.partition("Error: ")[2].replace(f"{folder}/", ""), label, **facts)


def test_a_wrong_option_ends_with_2_and_is_named(folder: Path, call: Call) -> None:
    written(folder, "print('ran')")
    done = call("check", "--wrong", "script.py")
    assert done.exit_code == 2 and "option" in done.stderr and "--wrong" in done.stderr and "ran" not in done.stdout


# --- SARIF ----------------------------------------------------------------------------------------


def is_sarif(log: dict[str, Any]) -> None:
    """Held to what SARIF 2.1.0 requires of what we write, and to what code hosts ask for besides."""
    assert log["version"] == "2.1.0" and log["$schema"].startswith("https://")
    (run,) = log["runs"]
    driver = run["tool"]["driver"]
    assert driver["name"] and driver["version"]
    ids = [rule["id"] for rule in driver["rules"]]
    assert len(ids) == len(set(ids))
    for rule in driver["rules"]:
        assert rule["shortDescription"]["text"] and rule["fullDescription"]["text"] and rule["help"]["text"]
        assert rule["defaultConfiguration"]["level"] in ("none", "note", "warning", "error")
    base = run["originalUriBaseIds"][ROOT]["uri"]
    assert base.startswith("file:///") and base.endswith("/")
    assert run["columnKind"] in ("utf16CodeUnits", "unicodeCodePoints")
    (invocation,) = run["invocations"]
    assert isinstance(invocation["executionSuccessful"], bool)
    for notification in invocation["toolExecutionNotifications"]:
        assert notification["message"]["text"] and notification["level"] in ("note", "warning", "error")
    for result in run["results"]:
        assert driver["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["message"]["text"] and result["level"] in ("none", "note", "warning", "error")
        assert all(isinstance(each, str) for each in result["partialFingerprints"].values())
        assert isinstance(result["occurrenceCount"], int) and result["occurrenceCount"] >= 1
        assert len(result["locations"]) == 1
        physical = result["locations"][0]["physicalLocation"]
        uri = physical["artifactLocation"]["uri"]
        assert uri.isascii() and " " not in uri
        if "uriBaseId" in physical["artifactLocation"]:
            assert physical["artifactLocation"]["uriBaseId"] == ROOT and not uri.startswith(("/", "file:"))
            assert ".." not in uri.split("/")
        else:
            assert uri.startswith("file:///")
        assert physical["region"]["startLine"] >= 1 and physical["region"].get("startColumn", 1) >= 1


def test_sarif_shows_findings_at_their_lines(folder: Path, call: Call) -> None:
    # In a repository paths begin at its root, wherever the command is called.
    subprocess.run(["git", "init", "--quiet", str(folder.parent)], check=True)
    written(folder, UNWRITTEN + "launch(torch.full((1000,), float('nan')))\n", "größe.py")
    done = call("check", "größe.py", "--format", "sarif")
    log = json.loads(done.stdout)
    is_sarif(log)
    (run,) = log["runs"]
    (result,) = run["results"]
    physical = result["locations"][0]["physicalLocation"]
    assert done.exit_code == run["invocations"][0]["exitCode"] == 1
    assert unquote(physical["artifactLocation"]["uri"]) == "Größe 1/größe.py"
    assert run["originalUriBaseIds"][ROOT]["uri"] == folder.parent.as_uri() + "/"
    assert (physical["region"]["startLine"], physical["region"]["startColumn"]) == (11, 9)
    source = (folder / "größe.py").read_text().splitlines()
    assert physical["region"]["snippet"]["text"] == source[10]
    assert result["ruleId"] == "uninitialized" and result["occurrenceCount"] == 3
    assert "torch.zeros" in result["message"]["text"]


def test_sarif_tells_of_a_script_that_failed_and_of_kernels_elsewhere(
    folder: Path, tmp_path: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    far = tmp_path / "elsewhere"
    far.mkdir()
    written(far, UNWRITTEN.partition("for _")[0], "kernels.py")
    written(
        folder,
        f"import sys\nsys.path.append({str(far)!r})\nimport kernels, torch\nkernels.launch(torch.empty(9), 9)\nx",
    )
    log = json.loads(call("check", "script.py", "--format", "sarif").stdout)
    is_sarif(log)
    (run,) = log["runs"]
    assert run["invocations"][0]["executionSuccessful"] is False
    assert run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"].startswith("NameError: name 'x'")
    artifact = run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert artifact == {"uri": (far / "kernels.py").as_uri()}
