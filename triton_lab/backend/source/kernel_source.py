"""Maps a plan's locations to the user's lines.

A plan may come from Triton's cache on disk, which stores a function's text and first line but not its file. So lines
come from the plan, and files from the functions as they are now.
"""

from __future__ import annotations

import contextlib
import inspect
import linecache
import os
import types
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from triton_lab import messages
from triton_lab.backend.source.generating_source import generating_lines
from triton_lab.backend.source.source_spans import span
from triton_lab.ir import Location, Plan
from triton_lab.localization import _
from triton_lab.messages import count

# The most lines of another program that are told below a line of a generated kernel.
_MOST_GENERATING = 4


@dataclass(frozen=True, slots=True)
class SourcePlace:
    """A span of the user's source. ``line`` counts as the editor shows it, from 1; columns count from 0."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int


class KernelSource:
    """The user's source: a kernel and the functions that it may call, also those among ``values``.

    If no ``kernel`` is known, as during compilation, places are those that the compiler names.
    """

    def __init__(self, kernel: Any, plan: Plan, values: Iterable[Any] = ()) -> None:
        self.kernel = kernel
        self.functions = list(reachable([kernel, *values]))
        location = plan.kernel.location
        # The kernel's file when it was compiled.
        self._file = None if location is None else location.file
        # Versions that count columns from 0 give a `def` column 0.
        self._old = location is not None and location.column == 0

    @property
    def file(self) -> str | None:
        """The kernel's file: its function's, else the one of its compilation."""
        return _file_of(self.kernel) or self._file

    def place(self, location: Location | None) -> SourcePlace | None:
        """The innermost frame of ``location`` outside Triton's own files, as a span of the source."""
        return next(self.places(location), None)

    def places(self, location: Location | None) -> Iterator[SourcePlace]:
        """All frames of ``location`` outside Triton's own files, the innermost first."""
        for frame in location.frames() if location is not None else ():
            if not is_tritons(frame.file):
                yield self._place(frame)

    def excerpt(self, place: SourcePlace) -> list[str]:
        """The line where ``place`` begins, with carets under it; below, the lines that it was generated from."""
        text = self._line(place).rstrip()
        if not text.strip():
            return []
        end = place.end_column if place.end_line == place.line else len(text)
        carets = sum(_width(character) for character in text[place.column : max(end, place.column + 1)])
        blank = "".join("\t" if c == "\t" else " " * _width(c) for c in text[: place.column])
        return [f"    {text}", f"    {blank}{'^' * max(1, carets)}", *self._made_from(place)]

    def _made_from(self, place: SourcePlace) -> list[str]:
        function = self._function_at(place)
        found = () if function is None else generating_lines(function, place.line)
        told = _("made from {place}: {code}")
        lines = [told.format(place=messages.place(one.file, one.line), code=one.text) for one in found]
        if len(lines) > _MOST_GENERATING:
            more = len(lines) - _MOST_GENERATING
            lines[_MOST_GENERATING:] = [_("and {lines}").format(lines=count(more, "more line"))]
        return [f"    {line}" for line in lines]

    def _place(self, frame: Location) -> SourcePlace:
        function = self.function(frame)
        if function is None:
            column = frame.column if self._old else frame.column - 1
            return SourcePlace(frame.file, frame.line, column, frame.line, column + 1)
        file = _file_of(function) or frame.file
        source = "".join(function.raw_src)
        found = span(source, function.starting_line_number, frame.line, frame.column, self._old)
        if found is None:
            text = self._line(SourcePlace(file, frame.line, 0, frame.line, 0)).rstrip("\n")
            return SourcePlace(file, frame.line, len(text) - len(text.lstrip()), frame.line, len(text.rstrip()))
        return SourcePlace(file, *found.start, *found.end)

    def function(self, frame: Location) -> Any:
        """The function that contains ``frame``."""
        if self.kernel is None:
            return None
        around = [
            function
            for function in self.functions
            if 0 <= frame.line - function.starting_line_number < len(function.raw_src)
        ]
        in_kernels_file = frame.file == self._file
        kernel_file = self.file
        wanted = kernel_file if in_kernels_file else frame.file
        # If the file of the compilation is unknown now, take functions with the right lines: those in the kernel's file
        # if the frame was in it, else others.
        likely = [function for function in around if (_file_of(function) == kernel_file) == in_kernels_file]
        return next((function for function in around if _file_of(function) == wanted), next(iter(likely), None))

    def _line(self, place: SourcePlace) -> str:
        function = self._function_at(place)
        if function is not None:
            return str(function.raw_src[place.line - function.starting_line_number])
        return linecache.getline(place.file, place.line)

    def _function_at(self, place: SourcePlace) -> Any:
        """The function that has a place's line in its text; None if none has."""
        for function in self.functions:
            offset = place.line - function.starting_line_number
            if place.file == (_file_of(function) or self._file) and 0 <= offset < len(function.raw_src):
                return function
        return None


def is_tritons(file: str) -> bool:
    """Whether ``file`` belongs to Triton, here or where the kernel was compiled.

    All environments of a user share Triton's cache, and its key does not contain Triton's path. So a cached plan names
    files of the installation that compiled it, which may be gone.
    """
    return _package() in file


def line_of(kernel: Any, file: str, line: int) -> str:
    """A line of ``kernel`` or of a function that it calls, from their source text; else from the file as it is now."""
    for function in reachable([kernel]):
        offset = line - function.starting_line_number
        if file == _file_of(function) and 0 <= offset < len(function.raw_src):
            return str(function.raw_src[offset])
    return linecache.getline(file, line)


def _package() -> str:
    """The end of the path from the packages' folder to Triton's files: ``/site-packages/triton/``."""
    import triton

    return os.sep.join(["", *os.path.dirname(os.path.abspath(str(triton.__file__))).split(os.sep)[-2:], ""])


def _width(character: str) -> int:
    """How many columns of a terminal a character takes."""
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def python_function(kernel: Any) -> Any:
    """The Python function behind a kernel or a helper; None if it was released.

    Inductor releases it to send a kernel to another process, and still launches the kernel.
    """
    while kernel is not None and not inspect.isfunction(kernel):
        kernel = kernel.fn
    return kernel


def _file_of(kernel: Any) -> str | None:
    function = python_function(kernel)
    return None if function is None else str(function.__code__.co_filename)


def reachable(start: Iterable[Any]) -> Iterator[Any]:
    """Triton's functions among ``start``, and all that they name, each once."""
    from triton.runtime.jit import JITCallable

    todo = list(start)
    seen: set[int] = set()
    while todo:
        value = todo.pop(0)
        if isinstance(value, JITCallable) and id(value) not in seen:
            seen.add(id(value))
            if hasattr(value, "raw_src"):
                yield value
            function = python_function(value)
            todo.extend(_named(function) if function is not None else ())


def _named(function: Any) -> Iterator[Any]:
    """What a function's code names: globals, closure variables, and their members with any of its names."""
    names = function.__code__.co_names
    todo = [function.__globals__.get(name) for name in names]
    for cell in function.__closure__ or ():
        with contextlib.suppress(ValueError):  # not assigned yet
            todo.append(cell.cell_contents)
    seen: set[int] = set()
    while todo:
        value = todo.pop(0)
        if id(value) in seen:
            continue
        seen.add(id(value))
        yield value
        # Triton's own modules lead to hundreds of functions that do not matter here.
        if isinstance(value, (types.ModuleType, type)) and not value.__name__.startswith("triton."):
            todo.extend(vars(value).get(name) for name in names)
