"""`triton-lab doctor`: what is there, what is missing and how to get it."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

import triton_lab
from tests.command.conftest import Call
from tests.wordings import Wording
from triton_lab.command import doctor
from triton_lab.command.copy_course import notebooks
from triton_lab.command.doctor import Checked, examine

LISTED = (
    "\x1b[1mJupyterLab\x1b[0m v4.6.6\n"
    "        triton-lab v{version} \x1b[32m{enabled}\x1b[0m {sound} (python, triton-lab)\n"
)


@pytest.fixture
def listed(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """What JupyterLab says of its extensions; asking it takes a while, and test_packaging does so."""
    said = {"version": triton_lab.__version__, "enabled": "enabled", "sound": "OK", "text": LISTED}

    def run(command: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess(command, 0, "", said["text"].format(**said))

    monkeypatch.setattr(doctor.subprocess, "run", run)
    return said


def found(name: str) -> Checked:
    (one,) = (each for each in examine() if each.name == name)
    return one


def test_a_sound_installation_lacks_nothing(call: Call, listed: dict[str, str]) -> None:
    done = call("doctor", "--json")
    told = {one["name"]: one for one in json.loads(done.stdout)}
    # The environment of a worktree may have been installed before a package was declared.
    assert {one["state"] for one in told.values()} <= {"ok", "note"}, told
    assert done.exit_code == 0
    for name in ("torch", "triton", "numpy", "jupyterlab"):
        assert told[name]["told"] == metadata.version(name)
    assert {"Python", "backend", "target cpu", "target gpu", "compile for", "cache", "%%triton", "course"} <= set(told)
    text = call("doctor")
    assert text.exit_code == 0 and text.stdout.endswith("nothing is missing\n") and "\x1b" not in text.stdout


@pytest.mark.parametrize(
    ("said", "label", "facts"),
    [
        ({"enabled": "disabled"}, "disabled", {"version": triton_lab.__version__}),
        ({"version": "0.0.9"}, "older", {"extension": "0.0.9", "package": triton_lab.__version__}),
        ({"sound": "X"}, "not OK", {"version": triton_lab.__version__}),
        ({"text": "JupyterLab v4.6.6"}, "unseen", {}),
    ],
)
def test_an_extension_that_does_not_work_is_told(
    said: dict[str, str], label: str, facts: dict[str, str], listed: dict[str, str], wording: Wording
) -> None:
    listed.update(said)
    one = found("extension")
    assert one.state == "missing"
    wording(f"{one.told}\n{one.remedy}", label, **facts)


def test_packages_that_are_missing_are_told_and_jupyterlab_is_not_needed(
    call: Call, listed: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = metadata.version

    def without(name: str) -> str:
        if name in ("islpy", "jupyterlab"):
            raise metadata.PackageNotFoundError(name)
        return whole(name)

    monkeypatch.setattr(metadata, "version", without)
    assert found("islpy").state == "missing" and "pip install 'islpy" in found("islpy").remedy
    assert found("jupyterlab").state == "note" and "pip install 'jupyterlab" in found("jupyterlab").remedy
    done = call("doctor")
    assert done.exit_code == 1
    assert done.stdout.splitlines()[-1].startswith("1 of these")


def test_a_cache_that_cannot_be_written_is_told(
    tmp_path: Path, listed: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "file" / "cache"))
    one = found("cache")
    assert one.state == "missing" and "Not a directory" in one.told and "TRITON_CACHE_DIR" in one.remedy


def test_what_fails_to_be_looked_at_hides_nothing_else(listed: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    def fails() -> Any:
        raise RuntimeError("broken")

    looks = [(name, fails if name == "backend" else look) for name, look in doctor._LOOKS]
    monkeypatch.setattr(doctor, "_LOOKS", looks)
    checked = {one.name: one for one in examine()}
    assert checked["backend"].told.endswith(": RuntimeError: broken")
    assert checked["course"].state == "ok"


def test_it_works_where_next_to_nothing_is_installed() -> None:
    code = (
        "import sys\nfor name in ('numpy', 'torch', 'triton', 'IPython'): sys.modules[name] = None\n"
        "from triton_lab.command import doctor, main\n"
        "doctor._LOOKS = [one for one in doctor._LOOKS if one[1] != doctor._extension]\n"
        "sys.argv = ['triton-lab', 'doctor']\nmain.main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and done.stderr == ""
    assert ": ModuleNotFoundError" in done.stdout and f"{len(notebooks())} notebooks" in done.stdout
