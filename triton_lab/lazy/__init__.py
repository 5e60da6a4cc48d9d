"""Lazy tensors: a program becomes a graph; a step hashes, compiles, caches and runs it, in place where possible.

    t = lab.lazy.tensor([1.0, 2.0])
    t.add_(1)                    # recorded
    lab.lazy.mark_step()         # computed, by a generated Triton kernel, in t's own memory
    lab.lazy.explain()           # the graph, the hash and its ingredients, the buffers before and after
    lab.lazy.report()            # all steps: hits, misses, compiled kernels, times

Read the files in this order: `operations/` (the tensors that the user holds; `operations/torch_queries` gets shapes
and dtypes from torch) -> `graph` -> `simplification` -> `hashing` -> `known_traces` -> `compile_cache` -> `fusion` ->
`placement` (what is written where) -> `codegen/` -> `kernel_sharing` (equal kernels) -> `executable` -> `step`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from triton_lab.lazy.buffer import Gone, meter
from triton_lab.lazy.compile_cache import cache
from triton_lab.lazy.executable import Lost, StepFailed
from triton_lab.lazy.hashing import hash_includes_donors
from triton_lab.lazy.operations.factories import (
    arange,
    full,
    full_like,
    ones,
    ones_like,
    rand,
    rand_like,
    randint,
    randn,
    randn_like,
    zeros,
    zeros_like,
)
from triton_lab.lazy.operations.joining import cat, stack, where
from triton_lab.lazy.operations.make_tensor import Tensor, tensor
from triton_lab.lazy.step import Step, history, mark_step
from triton_lab.localization import _
from triton_lab.providers import provided

if TYPE_CHECKING:
    from triton_lab.views.lazy.explain import StepView
    from triton_lab.views.lazy.lazy_report import LazyReport

__all__ = [
    "Gone",
    "Lost",
    "Step",
    "StepFailed",
    "Tensor",
    "arange",
    "cache",
    "cat",
    "explain",
    "full",
    "full_like",
    "hash_includes_donors",
    "history",
    "mark_step",
    "meter",
    "ones",
    "ones_like",
    "rand",
    "rand_like",
    "randint",
    "randn",
    "randn_like",
    "report",
    "stack",
    "tensor",
    "where",
    "zeros",
    "zeros_like",
]


def __dir__() -> list[str]:
    return sorted(__all__)


def explain(step: Step | None = None) -> StepView:
    """Show a step, by default the last one, as a picture and as text: graph, hash, cache, buffers, kernels.

    Raises RuntimeError if no step has run yet, TypeError for an argument that is no step.

    >>> lab.lazy.cache.clear()
    >>> t = lab.lazy.tensor([1.0, 2.0]) * 2
    >>> step = lab.lazy.mark_step()
    >>> lab.lazy.explain(step).title().partition(": ")[2]
    'miss. 1 kernel compiled. The cache held no graph to compare with.'
    """
    if step is None:
        if not history:
            raise RuntimeError(
                _("no step has run yet. Call lab.lazy.mark_step() to run the pending operations, or read a value")
            )
        step = history[-1]
    if not isinstance(step, Step):
        raise TypeError(
            _(
                "{type} is not a step. lab.lazy.explain() explains the last step; lab.lazy.mark_step() "
                "and lab.lazy.history return steps"
            ).format(type=type(step).__name__)
        )
    view: StepView = provided("Step.explain")(step)
    return view


def report() -> LazyReport:
    """Report all steps since `cache.clear()`: hits, misses, kernels compiled and shared, and times.

    A notebook displays it; `.totals` holds the numbers, with seconds of compiling and running.

    >>> lab.lazy.cache.clear()
    >>> t = (lab.lazy.tensor([1.0, 2.0]) * 2).tolist()
    >>> lab.lazy.report().title()
    '1 step: 0 hits, 1 miss'
    """
    view: LazyReport = provided("Totals.report")(cache.totals())
    return view
