"""Runs the student edition of each chapter from top to bottom, all in this process; prints what each cell ended with.

`python -m tests.course.handed_out` is what `test_chapters` reads: pytest has no session of IPython to run cells in.
"""

from __future__ import annotations

import contextlib
import io
import json
from dataclasses import asdict

from tests.course.chapters import chapter_files, notebook
from triton_lab.course.edition import stripped
from triton_lab.course.run_notebook import ran


def main() -> None:
    found = {}
    for path in chapter_files():
        with contextlib.redirect_stdout(io.StringIO()):
            found[path.stem] = [asdict(one) for one in ran(stripped(notebook(path), path.stem))]
    print(json.dumps(found))


if __name__ == "__main__":
    main()
