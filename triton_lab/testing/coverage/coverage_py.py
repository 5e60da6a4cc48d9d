"""Writes kernels' coverage into coverage.py's data, for its reports and the services that read them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from triton_lab.testing.coverage.coverage_data import Covered
from triton_lab.testing.coverage.mark_tracing import Arc

# The suffix of a file beside coverage.py's own, if nothing measures this process: `coverage combine` joins them.
_SUFFIX = "triton-lab"


def write(functions: Iterable[Covered], worker: str = "") -> str:
    """Add coverage to the data of the coverage.py that measures this process, or write a file of its own.

    Returns which it was, in words. In the first case only measured files count, by coverage.py's options. Raises
    ImportError if coverage.py is not installed.
    """
    import coverage

    arcs: dict[str, set[Arc]] = defaultdict(set)
    for each in functions:
        if each.arcs and Path(each.file).exists():
            arcs[each.file] |= each.arcs
    running = coverage.Coverage.current()
    if running is not None:
        data = running.get_data()
        measured = data.measured_files()
        _add(data, {file: found for file, found in arcs.items() if file in measured}, data.has_arcs())
        return "in the data of coverage.py"
    settings = coverage.Coverage()
    suffix = f"{_SUFFIX}.{worker}" if worker else _SUFFIX
    data = coverage.CoverageData(str(settings.get_option("run:data_file")), suffix)
    data.erase()
    _add(data, arcs, bool(settings.get_option("run:branch")))
    data.write()
    return f"in {Path(data.data_filename()).name}: `coverage combine` joins it with others"


def _add(data: object, arcs: dict[str, set[Arc]], branches: bool) -> None:
    import coverage

    assert isinstance(data, coverage.CoverageData)
    if branches:
        data.add_arcs(arcs)
    else:
        data.add_lines({file: {line for arc in found for line in arc if line > 0} for file, found in arcs.items()})
