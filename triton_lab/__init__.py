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
    from triton_lab.backend.plugin.kernel_arguments import ArgumentError as ArgumentError
    from triton_lab.backend.targets.active_target import TargetError as TargetError
    from triton_lab.backend.targets.active_target import target as target
    from triton_lab.backend.targets.gpu_timer import Time as Time
    from triton_lab.backend.targets.loop_and_memory_limits import limits as limits
    from triton_lab.backend.targets.sm90_limits import NotCompilable as NotCompilable
    from triton_lab.compiled.compile import compile as compile
    from triton_lab.compiled.compile_failure import CompileError as CompileError
    from triton_lab.compiled.compiled import Compiled as Compiled
    from triton_lab.compiled.compiled_list import CompiledList as CompiledList
    from triton_lab.compiled.layouts.layout import Layout as Layout
    from triton_lab.compiled.layouts.layout import layout as layout
    from triton_lab.compiled.layouts.layout_conversion import Conversion as Conversion
    from triton_lab.compiled.layouts.layout_error import LayoutError as LayoutError
    from triton_lab.interpreter.kernel_errors import Deadlock as Deadlock
    from triton_lab.interpreter.kernel_errors import EndlessRecursion as EndlessRecursion
    from triton_lab.interpreter.kernel_errors import KernelError as KernelError
    from triton_lab.interpreter.kernel_errors import StepLimit as StepLimit
    from triton_lab.interpreter.kernel_errors import Unsupported as Unsupported
    from triton_lab.launch.access import Access as Access
    from triton_lab.launch.argument import Argument as Argument
    from triton_lab.launch.benchmark.benchmark_result import Sweep as Sweep
    from triton_lab.launch.benchmark.sweep import sweep as sweep
    from triton_lab.launch.comparison.compare import compare as compare
    from triton_lab.launch.comparison.comparison_result import Comparison as Comparison
    from triton_lab.launch.diagnosis.finding import Finding as Finding
    from triton_lab.launch.diagnosis.launch_assertion import CheckFailed as CheckFailed
    from triton_lab.launch.diagnosis.launch_assertion import CheckIncomplete as CheckIncomplete
    from triton_lab.launch.diagnosis.launch_assertion import check as check
    from triton_lab.launch.diagnosis.verdict import Unchecked as Unchecked
    from triton_lab.launch.explanation.explanation import Explanation as Explanation
    from triton_lab.launch.explanation.explanation import explain as explain
    from triton_lab.launch.launch import Launch as Launch
    from triton_lab.launch.recording.launch_list import Launches as Launches
    from triton_lab.launch.recording.record import LaunchNotRecorded as LaunchNotRecorded
    from triton_lab.launch.recording.record import record as record
    from triton_lab.launch.recording.replay_error import CannotReplay as CannotReplay
    from triton_lab.launch.recording.unrecordable import NotRecorded as NotRecorded
    from triton_lab.launch.replay.program_trace import Trace as Trace
    from triton_lab.launch.replay.value_origin import Origin as Origin
    from triton_lab.launch.replay.variable_values import Values as Values
    from triton_lab.launch.saving.file_format import SavedLaunchError as SavedLaunchError
    from triton_lab.launch.saving.launch_reader import load as load
    from triton_lab.launch.shrinking.shrink import shrink as shrink
    from triton_lab.launch.shrinking.shrunk_launch import ShrunkLaunch as ShrunkLaunch
    from triton_lab.localization import language as language
    from triton_lab.native.engine_report import engines as engines
    from triton_lab.notebook.cell.with_block import cell as cell
    from triton_lab.polyhedral.proofs.proof import Proof as Proof
    from triton_lab.polyhedral.proofs.prove import prove as prove
    from triton_lab.polyhedral.to_scop import schedule as schedule
    from triton_lab.remote.remote_errors import RemoteError as RemoteError
    from triton_lab.remote.spread import Outcome as Outcome
    from triton_lab.remote.spread import spread as spread
    from triton_lab.views.compiled.tiled_product_view import tiled_product as tiled_product
    from triton_lab.views.launch.benchmark.interact import interact as interact
    from triton_lab.views.launch.storage.storage_view import storage as storage

    last: Launch  # the last launch that was recorded; AttributeError before there is one

__version__ = "0.1.0"  # the one place: pyproject.toml reads it here

# Public name -> where it lives; None for a module of that name.
_PUBLIC: dict[str, str | None] = {
    "Access": "triton_lab.launch.access",
    "Argument": "triton_lab.launch.argument",
    "ArgumentError": "triton_lab.backend.plugin.kernel_arguments",
    "CannotReplay": "triton_lab.launch.recording.replay_error",
    "CheckFailed": "triton_lab.launch.diagnosis.launch_assertion",
    "CheckIncomplete": "triton_lab.launch.diagnosis.launch_assertion",
    "Comparison": "triton_lab.launch.comparison.comparison_result",
    "CompileError": "triton_lab.compiled.compile_failure",
    "Compiled": "triton_lab.compiled.compiled",
    "CompiledList": "triton_lab.compiled.compiled_list",
    "Conversion": "triton_lab.compiled.layouts",
    "Deadlock": "triton_lab.interpreter.kernel_errors",
    "EndlessRecursion": "triton_lab.interpreter.kernel_errors",
    "Explanation": "triton_lab.launch.explanation.explanation",
    "Finding": "triton_lab.launch.diagnosis.finding",
    "KernelError": "triton_lab.interpreter.kernel_errors",
    "Launch": "triton_lab.launch.launch",
    "LaunchNotRecorded": "triton_lab.launch.recording.record",
    "Launches": "triton_lab.launch.recording.launch_list",
    "Layout": "triton_lab.compiled.layouts",
    "LayoutError": "triton_lab.compiled.layouts",
    "NotCompilable": "triton_lab.backend.targets.sm90_limits",
    "NotRecorded": "triton_lab.launch.recording.unrecordable",
    "Origin": "triton_lab.launch.replay.value_origin",
    "Outcome": "triton_lab.remote.spread",
    "Proof": "triton_lab.polyhedral.proofs.proof",
    "RemoteError": "triton_lab.remote.remote_errors",
    "SavedLaunchError": "triton_lab.launch.saving.file_format",
    "StepLimit": "triton_lab.interpreter.kernel_errors",
    "ShrunkLaunch": "triton_lab.launch.shrinking.shrunk_launch",
    "Sweep": "triton_lab.launch.benchmark.benchmark_result",
    "TargetError": "triton_lab.backend.targets.active_target",
    "Time": "triton_lab.backend.targets.gpu_timer",
    "Trace": "triton_lab.launch.replay.program_trace",
    "Unchecked": "triton_lab.launch.diagnosis.verdict",
    "Unsupported": "triton_lab.interpreter.kernel_errors",
    "Values": "triton_lab.launch.replay.variable_values",
    "cell": "triton_lab.notebook.cell.with_block",
    "check": "triton_lab.launch.diagnosis.launch_assertion",
    "compare": "triton_lab.launch.comparison.compare",
    "compile": "triton_lab.compiled.compile",
    "course": None,
    "engines": "triton_lab.native.engine_report",
    "examples": None,
    "explain": "triton_lab.launch.explanation.explanation",
    "interact": "triton_lab.views.launch.benchmark.interact",
    "language": "triton_lab.localization",
    "layout": "triton_lab.compiled.layouts",
    "lazy": None,
    "limits": "triton_lab.backend.targets.loop_and_memory_limits",
    "load": "triton_lab.launch.saving.launch_reader",
    "polyhedral": None,
    "prove": "triton_lab.polyhedral.proofs.prove",
    "record": "triton_lab.launch.recording.record",
    "schedule": "triton_lab.polyhedral",
    "shrink": "triton_lab.launch.shrinking.shrink",
    "spread": "triton_lab.remote.spread",
    "storage": "triton_lab.views.launch.storage.storage_view",
    "sweep": "triton_lab.launch.benchmark.sweep",
    "target": "triton_lab.backend.targets.active_target",
    "testing": None,
    "tiled_product": "triton_lab.views.compiled.tiled_product_view",
}

__all__ = sorted([*_PUBLIC, "__version__"])


def __getattr__(name: str) -> Any:
    if name == "last":  # another launch each time
        from triton_lab.launch.recording.last_launch import last as last_launch

        return last_launch()
    if name not in _PUBLIC:
        raise AttributeError(f"module 'triton_lab' has no attribute {name!r}")
    home = _PUBLIC[name]
    if home is None:
        return importlib.import_module(f"triton_lab.{name}")
    value = getattr(importlib.import_module(home), name)
    globals()[name] = value
    _follow_cells()
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "last"])


def _follow_cells() -> None:
    """With the first use of a public name in IPython, do the rest of what ``%load_ext triton_lab`` does."""
    shell = _shell()
    if shell is not None:
        from triton_lab.magics import follow_once

        follow_once(shell)


def load_ipython_extension(shell: Any) -> None:
    """``%load_ext triton_lab``: the magics ``%%triton`` and ``%triton``."""
    from triton_lab.magics import register

    register(shell)


def unload_ipython_extension(shell: Any) -> None:
    """``%unload_ext triton_lab``."""
    from triton_lab.magics import unregister

    unregister(shell)


def _shell() -> Any:
    """The IPython shell that runs here, if one does."""
    ipython = getattr(sys.modules.get("IPython.core.getipython"), "get_ipython", None)
    return None if ipython is None else ipython()


def _tell_errors_in_the_users_lines() -> None:
    """From now on what the lab and its backend refuse is told without what lies between: in IPython and in scripts."""
    shell = _shell()
    if shell is not None:
        from triton_lab.notebook.cell import excepthook

        excepthook.tell(shell)
        return
    before = sys.excepthook

    def tell(kind: type[BaseException], error: BaseException, trace: Any) -> None:
        try:
            from triton_lab.notebook.cell.excepthook import in_short

            told = in_short(error)
        except Exception:  # whatever goes wrong in telling: the error itself is shown
            told = ""
        if told:
            print(told, file=sys.stderr)
        else:
            before(kind, error, trace)

    sys.excepthook = tell


_tell_errors_in_the_users_lines()


def _offer_magics() -> None:
    """Register the magics with an import in IPython, where its startup file has not."""
    shell = _shell()
    if shell is not None and "triton" not in shell.magics_manager.magics["cell"]:
        try:
            from triton_lab.magics import offer

            offer(shell)
        except Exception:  # Triton imports this package, too, which must not fail: `%load_ext triton_lab` says why
            pass


_offer_magics()


def _jupyter_labextension_paths() -> list[dict[str, str]]:
    """Where the prebuilt JupyterLab extension lies, for ``jupyter-builder develop``."""
    return [{"src": "labextension", "dest": "triton-lab"}]
