"""Any Triton kernel, in a notebook, with or without a GPU: run it, see it, understand it.

Everything is found on first use: ``import triton`` loads this package for its backend, and must
not pay for the rest.

The examples in docstrings go on from these lines:

    >>> import numpy as np
    >>> import torch
    >>> import triton_lab as lab
    >>> from triton_lab.examples.vector_add import add  # one program adds `block` elements

    >>> x, y = torch.arange(1000.0), torch.ones(1000)
    >>> with lab.record() as launches:
    ...     out = add(x, y, block=128)
    >>> launch = launches[0]

    >>> scop = lab.polyhedral.scop('''
    ... for (int i = 0; i < n; i++)
    ...   for (int j = 0; j < i; j++)
    ...     A[i][j] = A[i][j] + 1;''', n=4)
    >>> schedule = scop.schedule
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from triton_lab import course as course
    from triton_lab import examples as examples
    from triton_lab import lazy as lazy
    from triton_lab import polyhedral as polyhedral
    from triton_lab import testing as testing
    from triton_lab.backend.arguments import ArgumentError as ArgumentError
    from triton_lab.backend.limiting import limits as limits
    from triton_lab.backend.sm90 import NotCompilable as NotCompilable
    from triton_lab.backend.stopwatch import Time as Time
    from triton_lab.backend.targets import TargetError as TargetError
    from triton_lab.backend.targets import target as target
    from triton_lab.compiled.compiled import Compiled as Compiled
    from triton_lab.compiled.entry import compile as compile
    from triton_lab.compiled.failure import CompileError as CompileError
    from triton_lab.compiled.layouts.conversion import Conversion as Conversion
    from triton_lab.compiled.layouts.layout import Layout as Layout
    from triton_lab.compiled.layouts.layout import layout as layout
    from triton_lab.compiled.layouts.refusal import LayoutError as LayoutError
    from triton_lab.compiled.several import CompiledList as CompiledList
    from triton_lab.interpreter.errors import Deadlock as Deadlock
    from triton_lab.interpreter.errors import EndlessRecursion as EndlessRecursion
    from triton_lab.interpreter.errors import KernelError as KernelError
    from triton_lab.interpreter.errors import StepLimit as StepLimit
    from triton_lab.interpreter.errors import Unsupported as Unsupported
    from triton_lab.launch.access import Access as Access
    from triton_lab.launch.argument import Argument as Argument
    from triton_lab.launch.check import CheckFailed as CheckFailed
    from triton_lab.launch.check import CheckIncomplete as CheckIncomplete
    from triton_lab.launch.check import check as check
    from triton_lab.launch.comparing.compare import compare as compare
    from triton_lab.launch.comparing.comparison import Comparison as Comparison
    from triton_lab.launch.finding import Finding as Finding
    from triton_lab.launch.launch import Launch as Launch
    from triton_lab.launch.launches import Launches as Launches
    from triton_lab.launch.origin import Origin as Origin
    from triton_lab.launch.record import LaunchNotRecorded as LaunchNotRecorded
    from triton_lab.launch.record import record as record
    from triton_lab.launch.saving.archive import SavedLaunchError as SavedLaunchError
    from triton_lab.launch.saving.load import load as load
    from triton_lab.launch.snapshot import CannotReplay as CannotReplay
    from triton_lab.launch.sweep import sweep as sweep
    from triton_lab.launch.swept import Sweep as Sweep
    from triton_lab.launch.trace import Trace as Trace
    from triton_lab.launch.unseen import NotRecorded as NotRecorded
    from triton_lab.launch.values import Values as Values
    from triton_lab.launch.verdict import Unchecked as Unchecked
    from triton_lab.native.told import engines as engines
    from triton_lab.polyhedral.entry import schedule as schedule
    from triton_lab.remote.failures import RemoteError as RemoteError
    from triton_lab.remote.spread import Outcome as Outcome
    from triton_lab.remote.spread import spread as spread
    from triton_lab.views.launch.interact import interact as interact
    from triton_lab.views.launch.storage import storage as storage

__version__ = "0.1.0"  # the one place: pyproject.toml reads it here

# Public name -> where it lives; None for a module of that name.
_PUBLIC: dict[str, str | None] = {
    "Access": "triton_lab.launch.access",
    "Argument": "triton_lab.launch.argument",
    "ArgumentError": "triton_lab.backend.arguments",
    "CannotReplay": "triton_lab.launch.snapshot",
    "CheckFailed": "triton_lab.launch.check",
    "CheckIncomplete": "triton_lab.launch.check",
    "Comparison": "triton_lab.launch.comparing.comparison",
    "CompileError": "triton_lab.compiled.failure",
    "Compiled": "triton_lab.compiled.compiled",
    "CompiledList": "triton_lab.compiled.several",
    "Conversion": "triton_lab.compiled.layouts",
    "Deadlock": "triton_lab.interpreter.errors",
    "EndlessRecursion": "triton_lab.interpreter.errors",
    "Finding": "triton_lab.launch.finding",
    "KernelError": "triton_lab.interpreter.errors",
    "Launch": "triton_lab.launch.launch",
    "LaunchNotRecorded": "triton_lab.launch.record",
    "Launches": "triton_lab.launch.launches",
    "Layout": "triton_lab.compiled.layouts",
    "LayoutError": "triton_lab.compiled.layouts",
    "NotCompilable": "triton_lab.backend.sm90",
    "NotRecorded": "triton_lab.launch.unseen",
    "Origin": "triton_lab.launch.origin",
    "Outcome": "triton_lab.remote.spread",
    "RemoteError": "triton_lab.remote.failures",
    "SavedLaunchError": "triton_lab.launch.saving.archive",
    "StepLimit": "triton_lab.interpreter.errors",
    "Sweep": "triton_lab.launch.swept",
    "TargetError": "triton_lab.backend.targets",
    "Time": "triton_lab.backend.stopwatch",
    "Trace": "triton_lab.launch.trace",
    "Unchecked": "triton_lab.launch.verdict",
    "Unsupported": "triton_lab.interpreter.errors",
    "Values": "triton_lab.launch.values",
    "check": "triton_lab.launch.check",
    "compare": "triton_lab.launch.comparing.compare",
    "compile": "triton_lab.compiled.entry",
    "course": None,
    "engines": "triton_lab.native.told",
    "examples": None,
    "interact": "triton_lab.views.launch.interact",
    "layout": "triton_lab.compiled.layouts",
    "lazy": None,
    "limits": "triton_lab.backend.limiting",
    "load": "triton_lab.launch.saving.load",
    "polyhedral": None,
    "record": "triton_lab.launch.record",
    "schedule": "triton_lab.polyhedral",
    "spread": "triton_lab.remote.spread",
    "storage": "triton_lab.views.launch.storage",
    "sweep": "triton_lab.launch.sweep",
    "target": "triton_lab.backend.targets",
    "testing": None,
}

__all__ = [
    "Access",
    "Argument",
    "ArgumentError",
    "CannotReplay",
    "CheckFailed",
    "CheckIncomplete",
    "Comparison",
    "CompileError",
    "Compiled",
    "CompiledList",
    "Conversion",
    "Deadlock",
    "EndlessRecursion",
    "Finding",
    "KernelError",
    "Launch",
    "LaunchNotRecorded",
    "Launches",
    "Layout",
    "LayoutError",
    "NotCompilable",
    "NotRecorded",
    "Origin",
    "Outcome",
    "RemoteError",
    "SavedLaunchError",
    "StepLimit",
    "Sweep",
    "TargetError",
    "Time",
    "Trace",
    "Unchecked",
    "Unsupported",
    "Values",
    "__version__",
    "check",
    "compare",
    "compile",
    "course",
    "engines",
    "examples",
    "interact",
    "layout",
    "lazy",
    "limits",
    "load",
    "polyhedral",
    "record",
    "schedule",
    "spread",
    "storage",
    "sweep",
    "target",
    "testing",
]


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'triton_lab' has no attribute {name!r}")
    home = _PUBLIC[name]
    if home is None:
        return importlib.import_module(f"triton_lab.{name}")
    value = getattr(importlib.import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)


def load_ipython_extension(shell: Any) -> None:
    """``%load_ext triton_lab``: the magics ``%%triton`` and ``%triton``."""
    from triton_lab.magics import register

    register(shell)


def unload_ipython_extension(shell: Any) -> None:
    """``%unload_ext triton_lab``."""
    from triton_lab.magics import unregister

    unregister(shell)


def _tell_errors_in_the_users_lines() -> None:
    """From now on what the lab and its backend refuse is told without what lies between: in IPython and in scripts."""
    ipython = getattr(sys.modules.get("IPython.core.getipython"), "get_ipython", None)
    shell = None if ipython is None else ipython()
    if shell is not None:
        from triton_lab.notebook import uncaught

        uncaught.tell(shell)
        return
    before = sys.excepthook

    def tell(kind: type[BaseException], error: BaseException, trace: Any) -> None:
        try:
            from triton_lab.notebook.uncaught import in_short

            told = in_short(error)
        except Exception:  # whatever goes wrong in telling: the error itself is shown
            told = ""
        if told:
            print(told, file=sys.stderr)
        else:
            before(kind, error, trace)

    sys.excepthook = tell


_tell_errors_in_the_users_lines()


def _jupyter_labextension_paths() -> list[dict[str, str]]:
    """Where the prebuilt JupyterLab extension lies, for ``jupyter-builder develop``."""
    return [{"src": "labextension", "dest": "triton-lab"}]
