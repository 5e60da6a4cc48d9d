"""Docstrings of public names: each function and method has an example, and every example works.

All examples continue the lines in the docstring of `triton_lab`. An exception is written with its bare name, and
`...` stands for text that does not matter.
"""

from __future__ import annotations

import doctest
import functools
import inspect
import re
from collections.abc import Iterator
from typing import Any

import pytest
import torch

import triton_lab
import triton_lab.course
import triton_lab.lazy
import triton_lab.polyhedral
import triton_lab.testing
from triton_lab.views.launch.card.launch_plot_accessor import LaunchPlot

DOORS = (triton_lab, triton_lab.polyhedral, triton_lab.lazy, triton_lab.course, triton_lab.testing)
# The pictures of a launch under their old names: `launch.plot` has the examples.
PICTURES = {"tiling", "storage", "heatmap", "grid_view", "steps", "origins_view"}
# What a public name leads to without being one.
BEHIND = {"triton_lab.Launch.plot": LaunchPlot}
CLASSES = [found for door in DOORS for name in door.__all__ if inspect.isclass(found := getattr(door, name))]
PARSER = doctest.DocTestParser()


class Checker(doctest.OutputChecker):
    """Takes `KernelError: ...` for what Python prints as `triton_lab.interpreter.kernel_errors.KernelError: ...`."""

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        return super().check_output(want, re.sub(r"^triton_lab\.[\w.]*\.(\w+: )", r"\1", got), optionflags)


def named() -> Iterator[tuple[str, Any]]:
    """What the doors give, and what is behind it, by its full name."""
    for door in DOORS:
        yield from ((f"{door.__name__}.{name}", getattr(door, name)) for name in door.__all__)
    yield from BEHIND.items()


def public() -> Iterator[tuple[str, Any]]:
    """Of that functions, classes, and the classes' methods and properties."""
    for full, found in named():
        if inspect.isfunction(found) or inspect.isclass(found):
            yield full, found
        if inspect.isclass(found):
            yield from ((f"{full}.{member}", value) for member, value in members(found))


def members(kind: type) -> Iterator[tuple[str, Any]]:
    """The public methods and properties that a class has of ours, but for those of a base that is public itself."""
    seen: set[str] = set()  # what a class has of its own hides what its bases have
    for base in kind.__mro__:
        if base.__module__.startswith("triton_lab") and (base is kind or base not in CLASSES):
            for name, value in vars(base).items():
                value = value.__func__ if isinstance(value, staticmethod | classmethod) else value
                kinds = property | functools.cached_property
                shown = name not in seen and not name.startswith("_")
                if shown and (inspect.isfunction(value) or isinstance(value, kinds)):
                    yield name, value
                seen.add(name)


def parsed(name: str, found: Any) -> doctest.DocTest:
    return PARSER.get_doctest(inspect.getdoc(found) or "", {}, name, name, 0)


EXAMPLES = {name: parsed(name, found) for name, found in public()}
EXAMPLES = {name: test for name, test in EXAMPLES.items() if test.examples}


def run(test: doctest.DocTest) -> None:
    runner = doctest.DocTestRunner(Checker(), verbose=False, optionflags=doctest.ELLIPSIS)
    told: list[str] = []
    runner.run(test, out=told.append, clear_globs=False)
    assert not runner.failures, "".join(told)


def first_lines() -> dict[str, Any]:
    """What the lines in the docstring of `triton_lab` define."""
    test = parsed("triton_lab", triton_lab)
    run(test)
    return test.globs


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_does_what_it_says(name: str) -> None:
    test = EXAMPLES[name]
    test.globs = first_lines()
    run(test)


def exempt(kind: type, name: str) -> bool:
    """What needs no example: what exceptions hold, what torch's tensors have, too, and pictures."""
    if issubclass(kind, triton_lab.lazy.Tensor):
        return hasattr(torch.Tensor, name)
    return issubclass(kind, BaseException) or (kind is triton_lab.Launch and name in PICTURES)


def test_every_public_function_and_method_has_an_example() -> None:
    lacking = []
    for full, found in named():
        if inspect.isfunction(found) and full not in EXAMPLES:
            lacking.append(full)
        elif inspect.isclass(found):
            shown = "".join(e.source for n, t in EXAMPLES.items() if n.startswith(full) for e in t.examples)
            lacking += [
                f"{full}.{member}"
                for member, value in members(found)
                if inspect.isfunction(value) and f".{member}" not in shown and not exempt(found, member)
            ]
    assert lacking == []


def test_every_public_method_and_property_says_what_it_is() -> None:
    silent = [name for name, found in public() if not inspect.getdoc(found)]
    assert [name for name in silent if not hasattr(torch.Tensor, name.rpartition(".")[2])] == []
