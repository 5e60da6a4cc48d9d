"""Where the course is searched: in a clone, and in every place where pip may have put it."""

from __future__ import annotations

import sysconfig
from pathlib import Path

import pytest

from triton_lab import data_folders


def test_in_a_clone_the_course_is_the_folder_beside_the_package() -> None:
    first, *others = data_folders.course_folders()
    assert first == Path(data_folders.__file__).parents[1] / "notebooks" and list(first.glob("00_*.ipynb"))
    assert all(folder.parts[-3:] == ("share", "triton-lab", "notebooks") for folder in others)


def test_an_installation_has_it_where_pip_puts_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data_folders, "__file__", str(tmp_path / "site" / "triton_lab" / "installed.py"))
    found = list(data_folders.course_folders())
    assert found[0] == Path(sysconfig.get_path("data"), "share", "triton-lab", "notebooks")
    assert found[-1] == tmp_path / "site" / "share" / "triton-lab" / "notebooks", "pip install --target"
