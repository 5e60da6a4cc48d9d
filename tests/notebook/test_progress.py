"""The notebook's progress bar: late, counted, gone at the end."""

from __future__ import annotations

from typing import Any

from triton_lab.backend import launcher
from triton_lab.notebook.progress import NotebookBar, notebook_bar


def test_a_bar_comes_after_a_second_and_goes() -> None:
    shown: list[Any] = []
    times = iter([0.0, 0.5, 1.5, 1.55, 3.0])
    bar = NotebookBar(shown.append, lambda: next(times))
    bar(1, 10)
    assert not shown
    bar(2, 10)
    progress, words = shown[0].children
    assert (progress.value, progress.max) == (2, 10)
    assert words.value.startswith("2 of 10 programs, 6 s to go; interrupt the kernel")
    bar(3, 10)
    assert progress.value == 2, "not drawn again at once"
    bar(9, 10)
    assert progress.value == 9 and len(shown) == 1
    bar.close()
    assert shown[0].comm is None


def test_without_a_notebook_nothing_listens() -> None:
    with notebook_bar():
        assert launcher.progress is None
