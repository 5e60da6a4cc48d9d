"""A planted bug and its mended twin as two short programs, for the page of a kind of finding.

`tests/planted` holds both in one kernel, which asks `MENDED`, and in one launch, which asks `mended`. Here each becomes
a program of its own: what is asked is decided, and what is not needed is left out.
"""

from __future__ import annotations

import ast
import contextlib
import inspect
import io
import re
import runpy
import tempfile
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

import triton_lab
from tests.planted.plant import Plant, planted
from triton_lab.interpreter.kernel_errors import KernelError
from triton_lab.launch.checks.rule import Concerned, rules
from triton_lab.launch.launch import Launch

ASKED = ("MENDED", "mended")
# An address differs between runs.
_ADDRESS = re.compile(r"0x[0-9a-f]{5,}")


@dataclass(frozen=True)
class Example:
    """A planted bug: what is wrong, and the programs with the bug and without it."""

    kind: str
    why: str
    broken: str
    mended: str


@cache
def examples() -> dict[str, Example]:
    """By kind, the planted bug that is to be shown, else the shortest that becomes two programs."""
    made = [(plant, example) for plant in planted() if (example := _example(plant)) is not None]
    made.sort(key=lambda each: (not each[0].shown, len(each[1].broken)))
    return {plant.kind: example for plant, example in reversed(made)}


def launched(program: str) -> Launch:
    """The last launch of a program, which runs as a file."""
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "example.py")
        path.write_text(program, encoding="utf-8")
        with (
            triton_lab.record() as launches,
            contextlib.redirect_stdout(io.StringIO()),
            contextlib.suppress(KernelError),
        ):
            runpy.run_path(str(path))
        launch = launches[-1]
        launch.findings  # noqa: B018 - they read the file
    return launch


def finding_of(launch: Launch, kind: str) -> str:
    """The launch's first finding of this kind, as text that is the same in each run: what a race leaves may differ."""
    found = next(each for each in launch.findings if each.kind == kind)
    lines = str(found).splitlines()
    if rules()[kind].concerned is Concerned.SEVERAL:
        lines = [line for line in lines if not line.startswith("  values: ")]
    # A list of all kinds is that of `index.md`.
    return _ADDRESS.sub("0x7f0000000000", "\n".join(lines)).replace(", ".join(rules()), "race, alias, ...")


def _example(plant: Plant) -> Example | None:
    module = inspect.getmodule(plant.run)
    assert module is not None
    broken, mended = (_program(module, plant.run, state) for state in (False, True))
    return Example(plant.kind, plant.why, broken, mended) if broken and mended else None


def _program(module: ModuleType, run: Any, mended: bool) -> str:
    """The program as text; "" if something is asked in a way that is not known, or lies in another module."""
    text = inspect.getsource(module)
    tree = ast.parse(text)
    parts = {name: node for node in tree.body for name in _defined(node)}
    body = _decided(_body(text, parts[run.__name__]), mended)
    needed, todo = dict[str, str](), [body]
    while todo:
        for name in _names(todo.pop()):
            node = parts.get(name)
            if node is not None and name not in needed:
                needed[name] = _decided(_text(text, node), mended)
                if isinstance(node, ast.ImportFrom) and str(node.module).startswith("tests"):
                    return ""
                todo.append("" if isinstance(node, ast.Import | ast.ImportFrom) else needed[name])
    order = {name: place for place, name in enumerate(parts)}
    blocks = list(dict.fromkeys(needed[name] for name in sorted(needed, key=order.__getitem__)))
    imports = [block for block in blocks if block.startswith(("import ", "from "))]
    others = [block for block in blocks if block not in imports]
    program = "\n\n\n".join(["\n".join(imports), *others, body]).strip() + "\n"
    return "" if any(re.search(rf"\b{name}\b", program) for name in ASKED) else program


def _defined(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.Assign):
        yield from (one.id for target in node.targets for one in ast.walk(target) if isinstance(one, ast.Name))
    elif isinstance(node, ast.Import | ast.ImportFrom):
        yield from ((one.asname or one.name).partition(".")[0] for one in node.names)


def _names(text: str) -> Iterator[str]:
    yield from (node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name))


def _text(text: str, node: ast.stmt) -> str:
    above = [one.lineno for one in getattr(node, "decorator_list", ())]
    lines = text.splitlines()[min([node.lineno, *above]) - 1 : node.end_lineno]
    return "\n".join(lines)


def _body(text: str, function: ast.stmt) -> str:
    """The body of a function without its docstring, as statements of a program."""
    assert isinstance(function, ast.FunctionDef)
    nodes = function.body[1:] if ast.get_docstring(function) else function.body
    return textwrap.dedent("\n".join(text.splitlines()[nodes[0].lineno - 1 : function.end_lineno]))


def _decided(text: str, mended: bool) -> str:
    """The text with each question for the twin decided, and without the parameter that asks."""
    while (node := next(_questions(ast.parse(text)), None)) is not None:
        turned = isinstance(node.test, ast.UnaryOp)
        if isinstance(node, ast.IfExp):
            text = _replaced(text, node, node.body if mended != turned else node.orelse)
        else:
            text = _chosen(text, node, node.body if mended != turned else node.orelse)
    text = re.sub(r",\s*(MENDED: tl\.constexpr|MENDED=mended)(?=\W)", "", text)
    text = re.sub(r"\b(MENDED: tl\.constexpr|MENDED=mended),\s*", "", text)
    text = re.sub(r",\s*MENDED(?=[,)])", "", text)
    return re.sub(r" *# BUG.*", "", text)


def _questions(tree: ast.AST) -> Iterator[ast.If | ast.IfExp]:
    for node in ast.walk(tree):
        if isinstance(node, ast.If | ast.IfExp):
            test = node.test
            if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
                test = test.operand
            if isinstance(test, ast.Name) and test.id in ASKED:
                yield node


def _replaced(text: str, node: ast.expr, by: ast.expr) -> str:
    """The text with one expression in place of another that contains it."""
    lines = text.encode().splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    assert node.end_lineno is not None and node.end_col_offset is not None
    first, last = starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset
    whole = b"".join(lines)
    chosen = ast.get_source_segment(text, by) or ""
    return (whole[:first] + chosen.encode() + whole[last:]).decode()


def _chosen(text: str, node: ast.If, body: list[ast.stmt]) -> str:
    """The text with one branch of a condition in its place."""
    lines = text.splitlines()
    assert node.end_lineno is not None
    kept: list[str] = []
    if body:
        inside = "\n".join(lines[body[0].lineno - 1 : body[-1].end_lineno])
        kept = textwrap.indent(textwrap.dedent(inside), " " * node.col_offset).splitlines()
    return "\n".join([*lines[: node.lineno - 1], *kept, *lines[node.end_lineno :]])
