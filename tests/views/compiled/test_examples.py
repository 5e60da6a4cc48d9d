"""The examples of what a compilation gives: lines, passes and pictures."""

from __future__ import annotations

import inspect

import pytest

from tests.test_docstrings import first_lines, parsed, run
from triton_lab.compiled.compiled import Compiled
from triton_lab.compiled.lines.stage_lines import StageLines
from triton_lab.compiled.passes import Passes
from triton_lab.views.compiled.compiled_plot import CompiledPlot
from triton_lab.views.launch.card.launch_tabs import COMPILED_TABS

TOLD = {
    f"{kind.__name__}.{name}".removesuffix(".__doc__"): value
    for kind in (StageLines, Passes, CompiledPlot)
    for name, value in [("__doc__", kind), *vars(kind).items()]
    if ">>>" in (inspect.getdoc(value.fget if isinstance(value, property) else value) or "")
}


@pytest.mark.parametrize("name", TOLD)
def test_an_example_does_what_it_says(name: str) -> None:
    value = TOLD[name]
    test = parsed(name, value.fget if isinstance(value, property) else value)
    test.globs = first_lines()
    run(test)


def test_every_method_has_an_example() -> None:
    for kind in (StageLines, CompiledPlot):
        for name, value in inspect.getmembers(kind, inspect.isfunction):
            assert name.startswith("_") or f"{kind.__name__}.{name}" in TOLD, (kind, name, value)


def test_every_tab_has_its_method() -> None:
    assert all(callable(getattr(CompiledPlot, tab.name, None)) for tab in COMPILED_TABS)
    assert isinstance(inspect.getattr_static(Compiled, "plot"), property)
