"""One door for everything that can be a scop."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import textwrap
from collections.abc import Mapping
from typing import Any

from .build import build
from .from_c import nest_from_c
from .from_python import nest_from_python, python_source
from .scop import Scop
from .source import SourceText

# Python that holds a loop starts like this, C never does.
_PYTHON = re.compile(r"\s*(?:@|def\s|for\s+\w+\s+in\s)")


def scop(source: Any, **values: int) -> Scop:
    """The scop of ``source``: C text, Python text, a Python function with loops over arrays, or a recorded launch.

    ``values`` are numbers for parameters; a Python function's parameters take those of its globals. Raises
    `NotAScop`, with line, column and reason, for what is not a static control part.
    """
    if isinstance(source, Scop):
        return source.bind(**values)
    if isinstance(source, str):
        text = SourceText(source)
        nest = nest_from_python(text) if _is_python(source) else nest_from_c(text)
        return build(nest, text).bind(**values)
    if inspect.isfunction(source):
        text = python_source(source)
        found = build(nest_from_python(text), text)
        return found.bind(**{**_constants(source, found.parameters), **values})
    if hasattr(source, "accesses") and hasattr(source, "grid"):
        # The front end for launches, the only one that knows Triton.
        from_launch = importlib.import_module(".from_launch", __package__)
        launched: Scop = from_launch.scop_from_launch(source, **values)
        return launched
    raise TypeError(
        f"a scop comes from C text, from a Python function or from a recorded launch, not from {type(source).__name__}"
    )


def _is_python(text: str) -> bool:
    """Python or C: both are asked to be whole, but a broken text should be told its own language's error."""
    if _PYTHON.match(text):
        return True
    try:
        ast.parse(textwrap.dedent(text))
    except SyntaxError:
        return False
    return ";" not in text


def _constants(function: Any, parameters: tuple[str, ...]) -> Mapping[str, int]:
    """The values that a function's own surroundings give its parameters."""
    cells = inspect.getclosurevars(function)
    known = {**cells.globals, **cells.nonlocals}
    arguments = inspect.signature(function).parameters
    defaults = {name: p.default for name, p in arguments.items() if p.default is not p.empty}
    own = {**{k: v for k, v in known.items() if k not in arguments}, **defaults}
    return {name: own[name] for name in parameters if type(own.get(name)) is int}
