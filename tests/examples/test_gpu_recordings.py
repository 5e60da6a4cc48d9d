"""Recordings of examples: those that are there say which GPU made them, and those that are not say how to make them."""

from __future__ import annotations

import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
import torch
import triton

import triton_lab as lab
from tests.launch.on_both import on_both
from tests.wordings import Wording
from triton_lab.backend.targets.gpu_timer import Time
from triton_lab.examples import example, gpu_recordings
from triton_lab.examples.example import Example
from triton_lab.examples.gpu_recordings import FOLDER, MOST, RECORDED, make, measurement, recording, recordings
from triton_lab.launch.comparison.argument_difference import NEAR

DEVICE = "no GPU"


def planted(each: Example) -> lab.Launch:
    """A launch as a GPU would have left it."""
    with lab.record() as launches:
        each.run(**each.inputs("small", 0, "cpu"))
    return replace(on_both(launches[-1]), time=Time.of([3e-6, 4e-6], DEVICE))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("recordings")
    make(made, planted)
    return made


def test_a_recording_opens_as_the_launch_it_was(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu_recordings, "FOLDER", folder)
    assert recordings() == list(RECORDED)
    launch = recording("softmax")
    assert (launch.kernel, launch.target) == ("softmax_kernel", "gpu")
    assert launch.time.device == DEVICE
    comparison = lab.compare(launch)
    assert comparison.verdict == NEAR and comparison["y_ptr"].largest_ulps.value == 1
    each = example("softmax")
    ours = next(ours for name, _, ours in launch.outputs if name == "y_ptr")
    torch.testing.assert_close(ours, each.reference(**each.inputs("small", 0, "cpu")), rtol=each.rtol, atol=each.atol)


def test_all_of_them_are_small_and_say_nothing_of_the_machine(folder: Path) -> None:
    files = list(folder.iterdir())
    assert sum(file.stat().st_size for file in files) < MOST
    roots = [str(Path(one.__file__).resolve().parents[1]).encode() for one in (lab, triton)]
    for file in files:
        with zipfile.ZipFile(file) as archive:
            head = archive.read("head.json")
        assert not any(root in head for root in roots) and b"triton_lab/examples/" in head


def test_what_was_not_recorded_yet_says_how_to_record_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wording: Wording
) -> None:
    monkeypatch.setattr(gpu_recordings, "FOLDER", tmp_path)
    assert recordings() == []
    with wording.raises(FileNotFoundError):
        recording("softmax")
    with wording.raises(KeyError):
        recording("nonsense")


def test_without_a_gpu_nothing_is_recorded(tmp_path: Path) -> None:
    with pytest.raises(lab.TargetError, match="no GPU"):
        make(tmp_path / "none")


@pytest.mark.parametrize("name", recordings())
def test_those_in_the_package_open_and_name_their_gpu(name: str, wording: Wording) -> None:
    launch = recording(name)
    assert launch.time is not None and launch.time.device
    wording(launch.remark, device=launch.time.device)
    assert lab.compare(launch).verdict != "different"


def test_those_in_the_package_are_small() -> None:
    assert sum(file.stat().st_size for file in FOLDER.glob("*.launch")) < MOST


def test_a_measurement_opens_as_the_sweep_that_it_was() -> None:
    found = measurement("programs")
    assert found.target == "gpu" and found.quantity == "bytes" and "H100" in found.peaks.device
    assert [row.size for row in found][:3] == [1, 2, 4] and all("H100" in row.time.device for row in found)
    assert 0.9 < found.share(found.rows[-1]) <= 1 and found.share(found.rows[0]) < 0.01
    with pytest.raises(KeyError, match="programs"):
        measurement("nonsense")
