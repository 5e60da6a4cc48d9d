"""Steps: compute everything that was recorded so far.

In this order: number and simplify the graph; decide the donors; hash the graph with its donors (`known_traces`
remembers all of that); look in the cache; compile on a miss; run the executable; put the pending tensors on their new
buffers. Until that last action, no tensor changes.
"""

from __future__ import annotations

import copyreg
import functools
import itertools
import sys
import time
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import torch

from triton_lab.launch.recording import progress_callback
from triton_lab.lazy import storage as devices
from triton_lab.lazy.buffer import Gone, ValueBuffer, place_of
from triton_lab.lazy.compile_cache import Nearest, cache
from triton_lab.lazy.executable import Lost, StepExecutable, StepFailed, compile_graph
from triton_lab.lazy.graph import Graph, LazyValue, StepTrace, number
from triton_lab.lazy.hashing import Ingredients, donors_included
from triton_lab.lazy.simplification import simplify
from triton_lab.lazy.storage import Storage, live, lock, restored
from triton_lab.localization import _

SHOWN = 16  # elements of a buffer that a step copies, to show its contents
_numbers = itertools.count(1)


@dataclass(frozen=True)
class BufferState:
    """A buffer before or after a step. `seen_by` are the tensors that use it after the step."""

    role: str  # in0, in1, ... or out0, ...
    name: str
    place: int  # the number of its memory, in the order of allocation
    numel: int
    dtype: torch.dtype
    values: tuple[float | int | bool, ...]  # empty if there are more than `SHOWN`
    seen_by: tuple[str, ...]


@dataclass(frozen=True)
class Step:
    """The record of a step. It keeps no buffer alive."""

    number: int
    trace: StepTrace
    ingredients: Ingredients
    key: str
    donors: tuple[int, ...]
    donors_hashed: bool
    hit: bool
    nearest: Nearest | None
    executable: StepExecutable
    before: tuple[BufferState, ...]  # the inputs
    after: tuple[BufferState, ...]  # the inputs that are still in use, then the outputs
    seconds: float  # the time of the kernels
    compile_seconds: float  # seconds, 0 after a hit

    @functools.cached_property
    def traced(self) -> Graph:
        """The graph as it was recorded."""
        return self.trace.graph()

    @functools.cached_property
    def graph(self) -> Graph:
        """The simplified graph."""
        return simplify(self.traced)[0]

    @property
    def stale(self) -> bool:
        """Whether the executable was compiled for other donors than this step's: it may overwrite memory in use."""
        return self.executable.donors != self.donors


history: deque[Step] = deque(maxlen=16)


def mark_step() -> Step | None:
    """Compute all pending values; None if there are none. If it fails, no tensor changes.

    It runs automatically before a value is read. Raises RuntimeError (`StepFailed`) if a kernel could not be compiled
    or failed: the tensors that need it are left out of later steps until they are read. Raises RuntimeError (`Lost`)
    if it failed while it overwrote a donated buffer of more than `UNDO_LIMIT` bytes.

    >>> t = lab.lazy.tensor([1.0, 2.0]) * 2
    >>> step = lab.lazy.mark_step()
    >>> len(step.graph.ops), step.donors
    (3, (0,))
    >>> lab.lazy.mark_step() is None  # nothing is pending
    True
    """
    with lock:
        storages = live()
        _find_names(storages)
        pending = [storage for storage in storages if storage.pending]
        latest = None
        for place in dict.fromkeys(storage.device for storage in pending):
            latest = _step([storage for storage in pending if storage.device == place], storages, place)
            history.append(latest)
        return latest


def look(storage: Storage) -> torch.Tensor:
    """The flat memory of a storage's value, after a step if needed. Values that only other tensors need may fail."""
    with lock:
        storage.failed = None
        while storage.buffer is None:
            try:
                mark_step()
            except (StepFailed, Lost, Gone):
                if not storage.pending:
                    raise
        return storage.buffer.read()


def _reduced(storage: Storage) -> tuple[Any, ...]:
    """A storage's values for pickle, after a step if needed."""
    return restored, (look(storage).cpu(), storage.value.shape, storage.device)


copyreg.pickle(Storage, _reduced)


def _leave_out(failed: Iterable[int], graph: Graph, pending: list[Storage]) -> None:
    """Leave out of later steps the storages that need one of these operations."""
    spoilt = set(failed)
    if not spoilt:
        return
    for number_, op in enumerate(graph.ops):
        if spoilt.intersection(op.operands):
            spoilt.add(number_)
    for storage, output in zip(pending, graph.outputs, strict=True):
        if output in spoilt:
            storage.failed = storage.value


def _step(pending: list[Storage], storages: list[Storage], place: torch.device) -> Step:
    trace, every = number(storage.value for storage in pending)
    known = cache.traces.find(trace)
    graph = known.graph  # its lines may be those of an earlier step
    buffers = [every[index] for index in known.kept]

    def own() -> Graph:
        return simplify(trace.graph())[0]

    gone = [number_ for number_, buffer in zip(graph.inputs, buffers, strict=True) if buffer.memory is None]
    _leave_out(gone, graph, pending)
    inputs = [buffer.read() for buffer in buffers]
    seen_by = _seen_by(graph, buffers, pending, storages)

    donors = known.donors({index for index, names in enumerate(seen_by) if names})
    target, included = f"{devices.target()} on {place}", donors_included()
    recipe, key = known.recipe(donors, target), known.key(donors, target, included)
    executable = cache.find(key)
    hit = executable is not None
    nearest = None if hit else cache.nearest(recipe, included)
    began = time.perf_counter()
    if executable is None:
        try:
            with progress_callback.sign():
                executable = compile_graph(own(), recipe, donors, place)
        except StepFailed as failure:
            _leave_out(failure.operations, graph, pending)
            raise
        cache.keep(key, executable)
    compiling = 0.0 if hit else time.perf_counter() - began

    before = tuple(_sight(f"in{i}", buffer, seen_by[i]) for i, buffer in enumerate(buffers))
    began = time.perf_counter()
    try:
        memories = executable.run(inputs, place, own)
    except StepFailed as failure:
        _leave_out(failure.operations, graph, pending)
        raise
    except Lost as lost:
        for index in lost.inputs:
            buffers[index].lose(_("a kernel failed while overwriting it, and it was too large for a backup copy"))
        raise
    seconds = time.perf_counter() - began

    cache.ledger.note(key, tuple(kernel.name for kernel in executable.kernels), compiling, seconds)
    made = _settle(graph, buffers, memories, pending)
    for index in executable.overwritten:
        if index in donors:
            buffers[index].lose(_("a step overwrote it, because it was donated"))
    after = (
        *(_sight(f"in{i}", buffer, seen_by[i]) for i, buffer in enumerate(buffers) if seen_by[i]),
        *(_sight(f"out{i}", buffer, names) for i, (buffer, names) in made.items()),
    )
    return Step(
        next(_numbers), trace, recipe, key, donors, included, hit, nearest, executable, before, after,
        seconds, compiling,
    )  # fmt: skip


def _seen_by(
    graph: Graph, buffers: list[ValueBuffer], pending: list[Storage], storages: list[Storage]
) -> list[tuple[str, ...]]:
    """For each input, the names of the tensors that use it after the step. An input without any can be donated."""
    holders: dict[int, list[str]] = {buffer.number: [] for buffer in buffers}
    asked = {storage.number for storage in pending}
    for storage in storages:
        if storage.buffer is not None:
            storage.buffer.name = _named(storage) or storage.buffer.name
        for number_ in () if storage.number in asked else _stands_on(storage.value):
            if number_ in holders:
                holders[number_] += storage.names()
    position = {number_: index for index, number_ in enumerate(graph.inputs)}
    for storage, output in zip(pending, graph.outputs, strict=True):
        if output in position:  # the step returns an input unchanged to this tensor
            holders[buffers[position[output]].number] += storage.names()
    return [tuple(holders[buffer.number]) for buffer in buffers]


def _stands_on(value: LazyValue) -> set[int]:
    """The numbers of the buffers that a value uses: its own, or those that it is computed from."""
    found, seen, stack = set(), {id(value)}, [value]
    while stack:
        here = stack.pop()
        if here.buffer is not None:
            found.add(here.buffer.number)
        for operand in here.operands:
            if id(operand) not in seen:
                seen.add(id(operand))
                stack.append(operand)
    return found


def _settle(
    graph: Graph, buffers: list[ValueBuffer], memories: list[torch.Tensor], pending: list[Storage]
) -> dict[int, tuple[ValueBuffer, tuple[str, ...]]]:
    """Put the storages on their new buffers; returns these by output index, each with the tensors that use it."""
    on: dict[int, ValueBuffer] = {number_: buffers[index] for index, number_ in enumerate(graph.inputs)}
    made: dict[int, tuple[ValueBuffer, tuple[str, ...]]] = {}
    first: dict[int, int] = {}
    for index, (storage, output) in enumerate(zip(pending, graph.outputs, strict=True)):
        names = storage.names()
        if output not in on:
            on[output] = ValueBuffer(memories[index], _named(storage))
            first[output] = index
        if output in first:
            buffer, others = made.get(first[output], (on[output], ()))
            made[first[output]] = (buffer, others + names)
        storage.settle(on[output])
    return made


def _named(storage: Storage) -> str | None:
    known = [tensor.known_as for tensor in storage.tensors if tensor.known_as]
    return known[0] if known else None


def _sight(role: str, buffer: ValueBuffer, seen_by: tuple[str, ...]) -> BufferState:
    memory = buffer.read()
    values = tuple(memory.tolist()) if buffer.numel <= SHOWN else ()
    return BufferState(role, buffer.name or "", place_of(memory), buffer.numel, buffer.dtype, values, seen_by)


def _find_names(storages: list[Storage]) -> None:
    """Name the tensors that are held by global variables of the calling module, or of the notebook.

    Locals of functions are left alone: asking Python for them would keep them alive, and a tensor that is alive
    is never donated.
    """
    spaces = {id(space): space for space in (sys.modules["__main__"].__dict__, _caller_globals())}
    holders = {id(tensor): tensor for storage in storages for tensor in storage.tensors}
    for space in spaces.values():
        for name, value in list(space.items()):
            found = holders.get(id(value))
            if found is not None and not name.startswith("_"):
                found.variable = name


def _caller_globals() -> dict[str, object]:
    frame = sys._getframe(1)
    while frame.f_back is not None and str(frame.f_globals.get("__name__", "")).startswith("triton_lab.lazy"):
        frame = frame.f_back
    return frame.f_globals
