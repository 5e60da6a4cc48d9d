"""The text of a Python function, and Python's own tree of it."""

from __future__ import annotations

import ast
import inspect
import warnings
from collections.abc import Callable
from typing import Any

from triton_lab.localization import _
from triton_lab.messages import cell
from triton_lab.polyhedral.core.source_text import SourceText


def python_source(function: Callable[..., Any]) -> SourceText:
    """The source of ``function``, with the line numbers of its file or cell."""
    try:
        lines, first = inspect.getsourcelines(function)
    except (OSError, TypeError):
        raise ValueError(
            _("the source of {function} is not available: pass its text as a string").format(function=repr(function))
        ) from None
    filename = inspect.getsourcefile(function) or ""
    # A cell has no file name worth reading.
    shown = cell(filename) or ("" if filename.startswith("<") else filename.rsplit("/", 1)[-1])
    return SourceText("".join(lines), max(first, 1), shown)


def python_tree(text: str) -> ast.Module:
    """``text`` as Python. What Python would only warn of, the reader refuses where it matters."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text)
