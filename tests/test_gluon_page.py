"""The cells of the page about Gluon run in a notebook's shell, and print what stands below them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from IPython.core.interactiveshell import InteractiveShell
from triton.experimental.gluon.language.nvidia import blackwell

PAGE = Path(__file__).parents[1] / "docs" / "how-to" / "gluon.md"
SUBJECTS = 9
_CELL = re.compile(
    r"^## (.*?)\n(?:(?!^## ).)*?^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```)?", re.MULTILINE | re.DOTALL
)
pytestmark = pytest.mark.skipif(not hasattr(blackwell, "fma2"), reason="the page has the names of Triton 3.9")


def cells() -> list[tuple[str, str, str]]:
    """The heading, the cell and what it prints, of each section."""
    return [(one[1], one[2], one[3] or "") for one in _CELL.finditer(PAGE.read_text(encoding="utf-8"))]


@pytest.fixture(scope="module")
def shell() -> Iterator[InteractiveShell]:
    ipython = InteractiveShell.instance()
    first = PAGE.read_text(encoding="utf-8").split("```python\n", 1)[1].split("```", 1)[0]
    assert ipython.run_cell(first).success
    yield ipython
    InteractiveShell.clear_instance()


def test_each_subject_has_a_cell() -> None:
    assert len(cells()) == PAGE.read_text(encoding="utf-8").count("\n## ") == SUBJECTS


@pytest.mark.parametrize("number", range(SUBJECTS))
def test_a_cell_prints_what_stands_below_it(
    number: int, shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    _heading, cell, printed = cells()[number]
    if number == SUBJECTS - 1:  # it takes the kernel of the section about partitions
        assert shell.run_cell(cells()[6][1]).success
        capsys.readouterr()
    lines = cell.rstrip().splitlines()
    last = lines.pop() if re.match(r"[\w.\[\]]+(\(.*\))?$", lines[-1]) and "print" not in lines[-1] else "None"
    assert shell.run_cell("\n".join(lines)).success
    assert capsys.readouterr().out == printed
    assert last == "None" or "image/png" in shell.ev(last)._repr_mimebundle_()[0]
