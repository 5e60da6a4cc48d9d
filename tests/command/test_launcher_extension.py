"""The course for JupyterLab's launcher, as the Jupyter server gives it."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tornado import web

from tests.wordings import Wording
from triton_lab.command import launcher_extension
from triton_lab.command.copy_course import FIRST

ROOT = Path(__file__).parents[2]


class Handler(launcher_extension.CourseHandler):
    """One request, without a server around it."""

    def __init__(self, root: str | None) -> None:
        self._root = root
        self.sent = ""

    @property
    def current_user(self) -> Any:  # type: ignore[override]
        return "somebody"

    @property
    def contents_manager(self) -> Any:
        return SimpleNamespace(root_dir=self._root)

    def finish(self, chunk: Any = None) -> Any:
        self.sent = chunk


def asked(root: str | None) -> Any:
    handler = Handler(root)
    asyncio.run(handler.post())
    return json.loads(handler.sent)


def test_the_course_is_put_where_the_server_serves_and_never_over_changes(tmp_path: Path) -> None:
    told = asked(str(tmp_path))
    first = tmp_path / told["path"]
    assert first.name == FIRST and told["kept"] == [] and "BEGIN SOLUTION" not in first.read_text()
    first.write_text("mine")
    assert asked(str(tmp_path)) == {"path": told["path"], "kept": [FIRST]}
    assert first.read_text() == "mine"


def test_what_cannot_be_is_said(tmp_path: Path, wording: Wording) -> None:
    with pytest.raises(web.HTTPError) as refused:
        asked(None)
    assert refused.value.status_code == 501
    wording(refused.value.log_message)
    (tmp_path / launcher_extension.FOLDER).write_text("in the way")
    with pytest.raises(web.HTTPError, match="cannot be copied"):
        asked(str(tmp_path))


def test_the_server_is_told_of_it() -> None:
    enabled = json.loads((ROOT / "labextension/server.json").read_text())["ServerApp"]["jpserver_extensions"]
    assert enabled == {point["module"]: True for point in launcher_extension._jupyter_server_extension_points()}
