"""The file of known findings: whoever wrote it, it is read, and what is none is told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from triton_lab.testing.baseline import BaselineError, load, update
from triton_lab.testing.kernel_summary import SessionSummary


def test_what_the_command_line_wrote_is_kept_beside_what_the_plugin_did(tmp_path: Path) -> None:
    file = tmp_path / "known.json"
    same = {"kind": "overflow", "severity": "warning", "kernel": "add"}
    by_check = {**same, "fingerprint": "a", "argument": None, "line": 12, "message": "wraps"}
    by_pytest = {**same, "fingerprint": "b", "argument": "x_ptr", "line": "x += 1"}
    file.write_text(json.dumps({"version": 1, "findings": [by_pytest, by_check]}))
    assert update(file, load(file), SessionSummary(), []) == (0, 0)
    assert list(load(file)) == ["a", "b"]


@pytest.mark.parametrize("data", [b"\x80\x02", b"[]", b"{}", b'{"version": 1, "findings": [1]}', b"import torch"])
def test_what_is_no_baseline_is_told(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "known.json").write_bytes(data)
    with pytest.raises(BaselineError, match="not a baseline"):
        load(tmp_path / "known.json")


def test_another_version_and_a_folder_are_told(tmp_path: Path) -> None:
    with pytest.raises(BaselineError, match="Is a directory"):
        load(tmp_path)
    (tmp_path / "known.json").write_text('{"version": 2}')
    with pytest.raises(BaselineError, match="has version 2"):
        load(tmp_path / "known.json")
    assert load(tmp_path / "nowhere.json") == {}
