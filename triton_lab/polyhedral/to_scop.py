"""`scop` and `schedule`: one entry for every kind of source."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Mapping
from typing import Any, Literal, overload

from triton_lab.localization import _
from triton_lab.messages import count as counted
from triton_lab.messages import noun
from triton_lab.polyhedral.core.source_text import SourceText
from triton_lab.polyhedral.frontends.from_c import nest_from_c
from triton_lab.polyhedral.frontends.from_python import nest_from_python
from triton_lab.polyhedral.frontends.python_text import python_source, python_tree
from triton_lab.polyhedral.frontends.source_limits import clean, in_words
from triton_lab.polyhedral.maximal_parts import Maximal
from triton_lab.polyhedral.maximal_parts import maximal as maximal_parts
from triton_lab.polyhedral.schedule import Schedule
from triton_lab.polyhedral.scop import Scop
from triton_lab.polyhedral.scop_builder import build

# Python with a loop starts like this; C never does.
_PYTHON = re.compile(r"\s*(?:@|def\s|for\s+\w+\s+in\s)")


@overload
def scop(source: Any, *, maximal: Literal[False] = False, **values: int) -> Scop: ...


@overload
def scop(source: Any, *, maximal: Literal[True], **values: int) -> Maximal: ...


def scop(source: Any, *, maximal: bool = False, **values: int) -> Scop | Maximal:
    """The scop of ``source``: C text, Python text, a Python function with loops over arrays, or a recorded launch.

    The list that `lab.record()` gives counts as a launch. ``values`` are numbers for parameters; for a Python
    function, its globals give values, too. Raises `NotAScop`, with line, column and reason, for a source that is not
    a static control part.

    ``maximal``: the text or Python function need not be a scop as a whole; the result is a `Maximal`, with its
    largest parts that are scops, and the reasons that separate them.

    >>> from triton_lab.polyhedral import scop
    >>> scop("for (int i = 0; i < n; i++) A[i] = B[i + 1];")
    parameters n
    S0: A[i] = B[i + 1]
      domain    [n] -> { S0[i] : 0 <= i < n }
      read      B[i + 1]
      write     A[i]
      schedule  (i)
    >>> scop(launch).is_race_free
    True
    >>> scop("for (int i = 0; i < n; i++) A[B[i]] = 0;")
    Traceback (most recent call last):
        ...
    NotAScop: line 1, column 31: a subscript of A must be affine in iterators and parameters, but this...
    """
    if maximal:
        return _parts(source, values)
    if isinstance(source, Scop):
        return source.bind(**values)
    if isinstance(source, str):
        text = SourceText(clean(source))
        with in_words(text):
            nest = nest_from_python(text) if _is_python(text.text) else nest_from_c(text)
            found = build(nest, text)
        return found.bind(**values)
    if isinstance(source, list) and len(source) == 1:
        return scop(source[0], maximal=False, **values)  # the list of `lab.record()`
    if inspect.isfunction(source) and not (source.__module__ or "").startswith("triton."):
        text = python_source(source)
        with in_words(text):
            found = build(nest_from_python(text), text)
        return found.bind(**{**_constants(source, found.parameters), **values})
    if _is_launch(source):
        # Imported on use: only this module needs Triton.
        from triton_lab.polyhedral.kernels.from_launch import scop_from_launch

        return scop_from_launch(source, **values)
    raise TypeError(_refusal(source))


def _parts(source: Any, values: Mapping[str, int]) -> Maximal:
    if isinstance(source, str):
        text = SourceText(clean(source))
        with in_words(text):
            python = _is_python(text.text)
            nest = nest_from_python(text, lenient=True) if python else nest_from_c(text, lenient=True)
            parts = maximal_parts(nest, text)
        return parts.bind(**values)
    if inspect.isfunction(source) and not (source.__module__ or "").startswith("triton."):
        text = python_source(source)
        with in_words(text):
            found = maximal_parts(nest_from_python(text, lenient=True), text)
        names = tuple(dict.fromkeys(name for part in found.scops for name in part.parameters))
        return found.bind(**{**_constants(source, names), **values})
    raise TypeError(_("only C text or a Python function has maximal parts; the scop of a launch has .gaps"))


def _refusal(source: Any) -> str:
    """Advice for a source that cannot be a scop."""
    if isinstance(source, list) and source and all(map(_is_launch, source)):
        launches = counted(len(source), "launch", "launches")
        return _("a scop belongs to one launch, but here {noun} {launches}: scop(launches[0])").format(
            noun=noun(len(source), "is", "are"), launches=launches
        )
    if hasattr(source, "arg_names") or (getattr(source, "__module__", None) or "").startswith("triton.runtime"):
        return _(
            "the scop of a kernel needs a launch, with its grid, sizes and strides. Record one, with "
            "lab.record() as launches: kernel[grid](...), then scop(launches[0])"
        )
    if hasattr(source, "iterations") and hasattr(source, "line"):
        return _("an access is one statement of its launch's scop: scop(launch).at({line})").format(line=source.line)
    what = type(source).__name__
    return _("scop takes C text, a Python function or a recorded launch, not {what}").format(what=what)


def _is_launch(source: Any) -> bool:
    return hasattr(source, "accesses") and hasattr(source, "grid")


def _is_python(text: str) -> bool:
    """Whether a text is Python, not C. A broken text should get its own language's error."""
    if _PYTHON.match(text):
        return True
    try:
        python_tree(textwrap.dedent(text))
    except SyntaxError:
        return False
    return ";" not in text


def _constants(function: Any, parameters: tuple[str, ...]) -> Mapping[str, int]:
    """The values that a function's globals and closure give its parameters."""
    cells = inspect.getclosurevars(function)
    known = {**cells.globals, **cells.nonlocals}
    arguments = inspect.signature(function).parameters
    defaults = {name: p.default for name, p in arguments.items() if p.default is not p.empty}
    own = {**{k: v for k, v in known.items() if k not in arguments}, **defaults}
    return {name: own[name] for name in parameters if type(own.get(name)) is int}


def schedule(source: Any, **values: int) -> Schedule:
    """The original schedule of a scop (or of any source that `scop` takes): the order of the source.

    >>> order = lab.schedule("for (int i = 0; i < n; i++) A[i] = 0;")
    >>> order.split("i", 4)
    // split(i, 4, io, ii)
    for (int io = 0; io <= floord(n - 1, 4); io++)
      for (int ii = 0; ii <= min(3, n - 4 * io - 1); ii++)
        A[4 * io + ii] = 0;
    legal: every dependence is kept
    """
    return (source.bind(**values) if isinstance(source, Scop) else scop(source, maximal=False, **values)).schedule
