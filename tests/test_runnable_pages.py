"""The cells of pages about libraries and arguments, run as one script a page, print what stands below them."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

HOW_TO = Path(__file__).parents[1] / "docs" / "how-to"
# What each page needs beside what the tests need.
NEEDS: dict[str, tuple[str, ...]] = {
    "arguments": (),
    "torch-compile": (),
    "helion": ("helion",),
    "tritonparse": ("tritonparse", "orjson", "zstandard"),
}


def blocks(page: str, language: str) -> list[str]:
    """The code blocks of a page in one language."""
    text = (HOW_TO / f"{page}.md").read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", NEEDS)
def test_the_cells_of_a_page_print_what_stands_there(page: str, tmp_path: Path) -> None:
    for library in NEEDS[page]:
        if importlib.util.find_spec(library) is None:
            pytest.skip(f"{library} is not installed: pip install --no-deps {library.replace('_', '-')}")
    script = tmp_path / "page.py"
    cells = blocks(page, "python")
    assert cells
    script.write_text("\n".join(cells), encoding="utf-8")
    environment = os.environ | {
        "TRITON_CACHE_DIR": str(tmp_path / "cache"),
        "TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "inductor"),
    }
    command = [sys.executable, script]
    done = subprocess.run(command, capture_output=True, text=True, timeout=500, env=environment, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == "".join(blocks(page, "text")).splitlines()
