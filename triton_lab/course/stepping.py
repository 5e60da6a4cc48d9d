"""A function of lazy tensors is run: in a cache of its own, so that what it compiles hangs on nothing but itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

    from triton_lab.lazy.step import Step


@dataclass(frozen=True)
class Run:
    """``results`` is what the function returned, ``inputs`` what its tensors held afterwards, by name; both torch's.

    ``steps`` are those that it made itself, the last 16 at most. ``pending``: it left something that no step computed.
    """

    results: tuple[torch.Tensor, ...]
    inputs: Mapping[str, torch.Tensor]
    steps: tuple[Step, ...]
    pending: bool


@contextmanager
def alone() -> Iterator[None]:
    """What was pending is computed; then the cache is empty, until the end. The history stays as it was."""
    from triton_lab.backend.targets import target
    from triton_lab.lazy.compile_cache import cache
    from triton_lab.lazy.step import history

    _settle()
    before = list(history)
    with target("cpu"), cache.aside():
        history.clear()
        try:
            yield
        finally:
            history.clear()
            history.extend(before)


def _settle() -> None:
    """Compute what is pending. What fails of it is the learner's own affair: later steps leave it out."""
    from triton_lab.lazy.buffer import Gone
    from triton_lab.lazy.executable import Lost, StepFailed
    from triton_lab.lazy.step import mark_step

    while True:
        try:
            mark_step()
            return
        except (StepFailed, Lost, Gone):
            continue


def stepped(function: Callable[..., Any], inputs: Mapping[str, Any], *, donors_hashed: bool = True) -> Run:
    """Run ``function`` once, with a lazy copy for each tensor among ``inputs``. What it raises is raised here, and
    TypeError where it returns something else than lazy tensors."""
    import torch

    from triton_lab.lazy.hashing import hash_includes_donors
    from triton_lab.lazy.step import history, mark_step
    from triton_lab.lazy.tensors import Tensor, tensor

    with alone(), hash_includes_donors(donors_hashed):
        lazy = {k: tensor(v, name=k) if isinstance(v, torch.Tensor) else v for k, v in inputs.items()}
        given = function(**lazy)
        steps = tuple(history)
        pending = mark_step() is not None
        several = given if isinstance(given, (tuple, list)) else () if given is None else (given,)
        for one in several:
            if not isinstance(one, Tensor):
                raise TypeError(f"it returns {type(one).__name__}, and lazy tensors are asked for")
        return Run(
            tuple(one.torch() for one in several),
            {name: value.torch() for name, value in lazy.items() if isinstance(value, Tensor)},
            steps,
            pending,
        )
