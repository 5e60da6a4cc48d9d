"""Runs a function of lazy tensors in a cache of its own, so that its compilations depend on nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from triton_lab.course.attempt import Attempt, Placed, bytes_of
from triton_lab.localization import _

if TYPE_CHECKING:
    import torch

    from triton_lab.lazy.operations.make_tensor import Tensor
    from triton_lab.lazy.step import BufferState
    from triton_lab.lazy.step import Step as Made


@dataclass(frozen=True)
class JudgedStep:
    """A step of the answer.

    It says whether the step was found in the cache, whether it ran code compiled for other donors, which ingredients of
    its key were new, and the buffers before and after it.
    """

    hit: bool
    stale: bool
    differences: tuple[str, ...]
    before: tuple[BufferState, ...]
    after: tuple[BufferState, ...]


@dataclass(frozen=True)
class StepsRun:
    """The outcome of a function: ``results`` are its return values, ``inputs`` its tensors afterwards, by name.

    Both are torch's. ``steps`` are its own steps, the last 16 at most. ``pending``: it left a value that no step
    computed. ``began`` has the arguments in their first places, and the launches; ``ended`` and ``gave`` have the last
    places of arguments and results.
    """

    results: tuple[torch.Tensor, ...]
    inputs: Mapping[str, torch.Tensor]
    steps: tuple[JudgedStep, ...]
    pending: bool
    began: Attempt
    ended: Mapping[str, Placed]
    gave: tuple[Placed, ...]


@contextmanager
def alone() -> Iterator[None]:
    """Compute what is pending, then use an empty cache inside. The history stays as it was."""
    from triton_lab.backend.targets.active_target import target
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
    """Compute what is pending. A failure is the learner's own: later steps leave it out."""
    from triton_lab.lazy.buffer import Gone
    from triton_lab.lazy.executable import Lost, StepFailed
    from triton_lab.lazy.step import mark_step

    while True:
        try:
            mark_step()
            return
        except (StepFailed, Lost, Gone):
            continue


def stepped(function: Callable[..., Any], inputs: Mapping[str, Any], *, donors_hashed: bool = True) -> StepsRun:
    """Run ``function`` once, with a lazy copy of each tensor among ``inputs``.

    Raises its exceptions, and TypeError if it returns anything but lazy tensors.
    """
    import torch

    from triton_lab.launch.recording.record import record
    from triton_lab.lazy.hashing import hash_includes_donors
    from triton_lab.lazy.operations.make_tensor import Tensor, tensor
    from triton_lab.lazy.step import history, mark_step

    with alone(), hash_includes_donors(donors_hashed), record() as launches:
        lazy = {k: tensor(v, name=k) if isinstance(v, torch.Tensor) else v for k, v in inputs.items()}
        tensors = {name: value for name, value in lazy.items() if isinstance(value, Tensor)}
        began = {name: _copied(_placed(value)) for name, value in tensors.items()}
        given = function(**lazy)
        steps = tuple(map(_noted, history))
        pending = mark_step() is not None
        several = given if isinstance(given, (tuple, list)) else () if given is None else (given,)
        for one in several:
            if not isinstance(one, Tensor):
                raise TypeError(_("it returns {type}, but must return lazy tensors").format(type=type(one).__name__))
        return StepsRun(
            tuple(one.torch() for one in several),
            {name: value.torch() for name, value in tensors.items()},
            steps,
            pending,
            Attempt(began, launches=tuple(launches)),
            {name: _copied(_placed(value)) for name, value in tensors.items()},
            tuple(_copied(_placed(one)) for one in several),
        )


def _placed(lazy: Tensor) -> Placed:
    """The memory of a lazy tensor's value."""
    from triton_lab.lazy.step import look

    memory = look(lazy.storage)
    return Placed.of(memory.as_strided(lazy.shape, lazy.map.strides, lazy.map.offset))


def _copied(placed: Placed) -> Placed:
    """A copy of its present contents: a later step may overwrite the memory, or another tensor may get it."""
    return Placed(placed.holding(bytes_of(placed.tensor)), placed.start)


def _noted(step: Made) -> JudgedStep:
    differences = () if step.nearest is None else tuple(name for name, *_ in step.nearest.differences)
    return JudgedStep(step.hit, step.stale, differences, step.before, step.after)


def unmade(
    run: StepsRun,
    inputs: Mapping[str, Any],
    others: Mapping[str, Any],
    wanted: Callable[[Mapping[str, Any]], Sequence[torch.Tensor]],
) -> str:
    """The fault of a run's launches when they are repeated on other numbers; "" if there is none.

    ``wanted`` computes from the arguments what the tensors among them must be at the end, and then the results.
    """
    from triton_lab.course.answer_replays import again
    from triton_lab.interpreter.kernel_errors import KernelError
    from triton_lab.launch.recording.replay_error import CannotReplay

    names = list(run.began.tensors)
    before = {name: bytes_of(run.began.tensors[name].tensor) for name in names}
    if any(not bool((run.began.tensors[name].tensor == inputs[name]).all()) for name in names):
        return _("The arguments were changed before the first step.")
    now = {name: bytes_of(others[name].contiguous()) for name in names}
    try:
        world = again(run.began, before, now)
    except (KernelError, CannotReplay) as error:
        return _("The numbers are right, but the steps' launches cannot be run again: {error}.").format(error=error)
    places = [*(run.ended[name] for name in names), *run.gave]
    for placed, must in zip(places, wanted(others), strict=True):
        found = placed.holding(world.over(placed.start, bytes_of(placed.tensor)))
        if found.shape != must.shape or not bool(near(found, must).all()):
            return _(
                "The numbers are right, but the steps do not compute all of them: with other inputs the same "
                "launches give wrong numbers. Compute everything from the arguments in the steps."
            )
    return ""


def near(found: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
    """Whether each element is near enough to its expected value."""
    import torch

    return torch.isclose(found, wanted, rtol=1e-5, atol=1e-6, equal_nan=True)


def stored(run: StepsRun) -> list[tuple[str, set[int]]]:
    """The kernel of each launch of a run, and the storages that it stores to, by address."""
    found = []
    for launch in run.began.launches:
        names = {access.argument for access in launch.accesses if access.kind != "load"}
        starts = {one.storage_address for one in launch.arguments if one.kind == "tensor" and one.name in names}
        found.append((launch.executable.plan.text, starts))
    return found
