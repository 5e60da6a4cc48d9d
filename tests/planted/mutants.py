"""Mutants of the examples: each has one small mistake of a kind that people make, planted by a program.

A mutant is made by replacing a few characters of an example's page, so that every line stays where it was.
"""

from __future__ import annotations

import ast
import importlib.util
import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import triton_lab.examples


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


def _of_page(page: str) -> Iterator[Mutant]:
    source = _source(page)
    lines = source.splitlines(keepends=True)
    assert source.isascii()  # else columns, which count bytes, would not be places in the text
    begins = [sum(map(len, lines[:k])) for k in range(len(lines))]

    def start(node: ast.expr | ast.stmt) -> int:
        return begins[node.lineno - 1] + node.col_offset

    def end(node: ast.expr | ast.stmt) -> int:
        assert node.end_lineno is not None and node.end_col_offset is not None
        return begins[node.end_lineno - 1] + node.end_col_offset

    def replaced(mistake: str, first: int, last: int, text: str) -> Mutant:
        return Mutant(page, mistake, first, last, text)

    for function in ast.parse(source).body:
        if not isinstance(function, ast.FunctionDef):
            continue
        is_kernel = any(ast.unparse(each) == "triton.jit" for each in function.decorator_list)
        for node in ast.walk(function):
            if is_kernel and isinstance(node, ast.Call):
                # `other` means nothing without a mask, and follows it wherever it is given.
                masking = [each.value for each in node.keywords if each.arg in ("mask", "other")]
                if masking:
                    yield replaced("mask dropped", end(node.args[-1]), end(masking[-1]), "")
            if is_kernel and isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Lt):
                between = end(node.left), start(node.comparators[0])
                yield replaced("bound off by one", *between, source[slice(*between)].replace("<", "<="))
            if is_kernel and isinstance(node, ast.Expr) and ast.unparse(node) == "tl.debug_barrier()":
                yield replaced("barrier removed", start(node), end(node), "pass")
            if not is_kernel and isinstance(node, ast.Starred) and ast.unparse(node).endswith(".stride()"):
                yield replaced("strides swapped", end(node), end(node), "[::-1]")
