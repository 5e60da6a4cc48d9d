"""Names that messages tell the user to write exist, and take the keywords that are named with them."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import triton_lab

PACKAGE = Path(triton_lab.__file__).parent
# `lab.limits(max_steps=...)`, `triton_lab.record`; without the prefix where a call is shown: `record(max_bytes=...)`.
# (Modules that lazy tensors generate bear a name of the package, too.)
NAMED = re.compile(r"(?<![\w./])(?:lab|triton_lab)(?!\.lazy\.generated)((?:\.[A-Za-z_]\w*)+)(?:\((\w+)=)?")
CALLED = re.compile(r"(?<![\w.])(" + "|".join(triton_lab.__all__) + r")\((\w+)=")


def strings() -> Iterator[tuple[str, str]]:
    """All texts in the package that a user may read, docstrings included, with where they stand."""
    for file in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield f"{file.relative_to(PACKAGE)}:{node.lineno}", node.value


def found(path: str) -> Any:
    """What ``triton_lab.`` and ``path`` lead to: attributes of the package, else a module. None: nothing."""
    value: Any = triton_lab
    for number, name in enumerate(parts := path.split("."), start=1):
        try:
            value = getattr(value, name)
        except AttributeError:
            try:
                value = importlib.import_module(".".join(["triton_lab", *parts[:number]]))
            except ImportError:
                return None
    return value


def test_every_name_that_is_shown_exists_and_takes_what_is_shown_with_it() -> None:
    seen, wrong = 0, []
    for where, text in strings():
        shown = [(path[1:], keyword) for path, keyword in NAMED.findall(text)] + CALLED.findall(text)
        for path, keyword in shown:
            seen += 1
            value = found(path)
            if value is None or (keyword and keyword not in inspect.signature(value).parameters):
                wrong.append(f"{where}: {path}({keyword})")
    assert not wrong
    assert seen > 20
