"""The package's sources for audits: each file is read and parsed once for all audits.

`python -m pytest` with one file of tests parses only what that file needs. The syntax trees of all files are a
million objects, which slow down the garbage collector: they are deleted after the last audit of a run.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import triton_lab

PACKAGE = Path(triton_lab.__file__).parent


class Source(NamedTuple):
    """A file of the package."""

    path: Path
    text: str
    tree: ast.Module
    nodes: tuple[ast.AST, ...]  # all of the tree, as `ast.walk` has them

    @property
    def name(self) -> str:
        """Its path in the package."""
        return self.path.relative_to(PACKAGE).as_posix()


def python(folder: Path = PACKAGE) -> Iterator[Source]:
    """The Python files below a folder, by their names."""
    return map(source, sorted(folder.rglob("*.py")))


@functools.cache
def source(path: Path) -> Source:
    """One file. It is not read again when it changes."""
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    return Source(path, text, tree, tuple(ast.walk(tree)))


def forget() -> None:
    """Let go of all that was read."""
    source.cache_clear()
