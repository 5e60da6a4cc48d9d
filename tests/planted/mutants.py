"""Mutants of the examples: each has one small mistake of a kind that people make, planted by a program.

A mutant is made by replacing a few characters of an example's page, so that every line stays where it was.
"""

from __future__ import annotations

import ast
import functools
import importlib.util
import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import triton_lab.examples
from tests.planted.decisions import Decisions
from tests.planted.mistakes import Source, edits


@dataclass(frozen=True)
class Mutant:
    """`start` to `end` of the page's text becomes `text`."""

    page: str
    mistake: str
    start: int
    end: int
    text: str

    @property
    def name(self) -> str:
        """The page, the line and column as an editor counts them, and the mistake."""
        *above, here = _source(self.page)[: self.start].split("\n")
        return f"{self.page}:{len(above) + 1}:{len(here) + 1} {self.mistake}"

    @property
    def decides(self) -> str:
        """What the mistake decides: `decisions.PLACES` or `decisions.VALUES`."""
        return _decisions(self.page).of(self.mistake, self.start, self.end)

    def build(self, folder: Path) -> ModuleType:
        """The mutated page as a module of its own, its file in `folder`."""
        source = _source(self.page)
        source = source[: self.start] + self.text + source[self.end :]
        path = folder / f"{self.page}.py"
        path.write_text(source.replace("from .registry", "from triton_lab.examples.registry"))
        spec = importlib.util.spec_from_file_location(f"mutant_{self.page}", path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module


def mutants() -> list[Mutant]:
    """Every mutant of every page."""
    return [mutant for page in triton_lab.examples.PAGES for mutant in _of_page(page)]


def _source(page: str) -> str:
    return inspect.getsource(importlib.import_module(f"triton_lab.examples.{page}"))


@functools.cache
def _decisions(page: str) -> Decisions:
    return Decisions(_source(page))


def _of_page(page: str) -> Iterator[Mutant]:
    source = _source(page)
    lines = source.splitlines(keepends=True)
    assert source.isascii()  # else columns, which count bytes, would not be places in the text
    begins = [sum(map(len, lines[:k])) for k in range(len(lines))]
    for function in ast.parse(source).body:
        if isinstance(function, ast.FunctionDef):
            for name, edit in edits(Source(source, function, begins)):
                yield Mutant(page, name, *edit)
