"""The extension of the Jupyter server: the course for the launcher, and the texts of JupyterLab's language.

A kernel may run on another machine, with other files, and takes seconds to start; the server copies and reads files.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jupyter_server.base.handlers import APIHandler
from tornado import web

from triton_lab.command.copy_course import FIRST, put
from triton_lab.localization import ENGLISH, browser_texts

FOLDER = "triton-lab-course"  # in the folder that the server serves
URL = "triton-lab/course"
TEXTS_URL = "triton-lab/texts"


class CourseHandler(APIHandler):
    """``POST`` copies or renews the course, whose exercises are to be solved.

    The answer has its first notebook's path, and the files that were kept.
    """

    @web.authenticated
    async def post(self) -> None:
        root = getattr(self.contents_manager, "root_dir", None)
        if not root:
            raise web.HTTPError(501, "this server keeps no notebooks in a folder. Use triton-lab course in a terminal")
        try:
            done = put(Path(root, FOLDER))
        except OSError as error:
            raise web.HTTPError(500, str(error)) from error
        self.finish(json.dumps({"path": f"{FOLDER}/{FIRST}", "kept": [path.name for path in done.kept]}))


class TextsHandler(APIHandler):
    """``GET ?language=zh-CN`` answers with the catalogue of the browser's texts; an empty one for English."""

    @web.authenticated
    def get(self) -> None:
        self.finish(json.dumps(browser_texts(self.get_query_argument("language", ENGLISH))))


def points() -> Sequence[dict[str, str]]:
    """The entry points where Jupyter's server finds the extension."""
    return [{"module": __name__}]


def load(server: Any) -> None:
    """Add the handlers to the server."""
    base = server.web_app.settings["base_url"]
    server.web_app.add_handlers(
        ".*$", [(f"{base.rstrip('/')}/{URL}", CourseHandler), (f"{base.rstrip('/')}/{TEXTS_URL}", TextsHandler)]
    )


_jupyter_server_extension_points = points
_load_jupyter_server_extension = load
