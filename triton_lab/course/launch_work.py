"""Requirements on the work of a launch, from its record: programs, bytes, sectors, bank conflicts, waits."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from triton_lab import messages
from triton_lab.course.attempt import Inputs
from triton_lab.localization import _, translated

if TYPE_CHECKING:
    from triton_lab.launch.access import Access
    from triton_lab.launch.launch import Launch
    from triton_lab.launch.recording.access_event import AccessEvent

_LONG = 10_000  # elements of a row that do not fit into a block
_MEASURED = 2048  # elements: with fewer, most sectors are shared with other data, and are not counted
_GRID = 16  # programs of a launcher that does not depend on the size
_LONG_LOOP = 4  # reads: in shorter loops most steps are the first ones and the last ones

Requirement = Callable[[Sequence["Launch"], Inputs], str]
"""Says what is wrong with the work of the launches that an answer made from its inputs; "" if nothing is."""


def arguments_of(launch: Launch, starts: Collection[int]) -> list[str]:
    """The names of the arguments of ``launch`` that lie in storages at these addresses."""
    return [one.name for one in launch.arguments if one.kind != "constexpr" and one.storage_address in starts]


def _loads(launch: Launch, starts: Collection[int]) -> list[Access]:
    named = arguments_of(launch, starts)
    return [access for access in launch.done if access.kind == "load" and access.argument in named]


def _lanes(accesses: Iterable[Access]) -> int:
    """The number of lanes of all programs in these accesses, repetitions included."""
    return sum(int(event.active().sum()) for access in accesses for event in access.events)


def _distinct(accesses: Iterable[Access]) -> int:
    """The number of addresses that each program touches in each execution of these accesses, added up."""
    return sum(_addresses(event) for access in accesses for event in access.events)


def _addresses(event: AccessEvent) -> int:
    programs = len(event.programs)
    active = np.broadcast_to(event.active(), (programs, *event.shape)).reshape(programs, -1)
    addresses = np.broadcast_to(event.addresses(), (programs, *event.shape)).reshape(programs, -1)
    places = np.sort(np.where(active, addresses, -1), axis=1)
    new = np.diff(places, axis=1, prepend=-1) != 0
    return int((new & (places >= 0)).sum())


def launched() -> Requirement:
    """Require at most one launch."""

    def wrong(launches: Sequence[Launch], inputs: Inputs) -> str:
        if len(launches) <= 1:
            return ""
        return _("it needs {launches}; 1 is enough").format(
            launches=messages.count(len(launches), "launch", "launches")
        )

    return wrong


def programs(exactly: Callable[[Inputs], int]) -> Requirement:
    """Require this number of programs in the last launch, neither fewer nor more."""

    def wrong(launches: Sequence[Launch], inputs: Inputs) -> str:
        asked = exactly(inputs)
        found = launches[-1].programs
        if found == asked:
            return ""
        return _("the grid has {programs}; it must have {asked}").format(
            programs=messages.count(found, "program"), asked=messages.number(asked)
        )

    return wrong


def loads(name: str, most: Callable[[Inputs], int], because: str) -> Requirement:
    """Require at most so many loads from the argument ``name``.

    An element that several lanes of a block load counts once for each program and execution.
    """

    def wrong(launches: Sequence[Launch], inputs: Inputs) -> str:
        asked = most(inputs)
        found = _distinct(access for launch in launches for access in _loads(launch, inputs.starts[name]))
        if found <= asked:
            return ""
        size = inputs[name].element_size()
        moved = messages.count(found * size, "byte")
        return _("it loads {moved} of {name}; {asked} are enough: {because}").format(
            moved=moved, name=name, asked=messages.number(asked * size), because=translated(because)
        )

    return wrong


def once(name: str) -> Requirement:
    """Require that each element of the argument ``name`` is loaded once, by one program."""
    return loads(name, lambda inputs: inputs[name].numel(), _("load each element once, and reuse it"))


def apart(name: str, times: int = 3) -> Requirement:
    """Require that no two programs load the same element of ``name``, and that none loads it more than ``times``."""
    return loads(
        name, lambda inputs: times * inputs[name].numel(), _("give each element to one program, and reuse it there")
    )


def wide(least: int, of: Callable[[Inputs], int] | None = None) -> Requirement:
    """Require blocks of at least so many elements, if there are so many, instead of one element after the other.

    ``of`` says how many there are; by default those of the largest argument.
    """

    def wrong(launches: Sequence[Launch], inputs: Inputs) -> str:
        largest = max(value.numel() for value in inputs.values() if hasattr(value, "numel"))
        there = largest if of is None else of(inputs)
        found = width(launches)
        if found is None or found >= min(least, there):
            return ""
        return _("each access touches at most {elements} at a time: use blocks of {least} or more").format(
            elements=messages.count(found, "element"), least=least
        )

    return wrong


def bounded(of: Callable[[Inputs], int]) -> Requirement:
    """Require blocks that do not grow with the ``of`` elements of a long row: a loop goes over it."""

    def wrong(launches: Sequence[Launch], inputs: Inputs) -> str:
        there, widest = of(inputs), width(launches)
        if there < _LONG or widest is None or widest < there:
            return ""
        return _("a block has {elements}, as many as the row needs: use blocks of a fixed size, in a loop").format(
            elements=messages.count(widest, "element")
        )

    return wrong


def width(launches: Sequence[Launch]) -> int | None:
    """The elements of the blocks by which most is loaded, or most is stored, whichever is more; None if nothing is."""
    accesses = [access for launch in launches for access in launch.accesses]
    found = [_usual([one for one in accesses if (one.kind == "load") is loads]) for loads in (True, False)]
    return max((one for one in found if one is not None), default=None)


def _usual(accesses: Sequence[Access]) -> int | None:
    """The elements of a block, such that blocks of at least as many touch half of all that these accesses touch."""
    moved = sorted((math.prod(access.block), _lanes([access])) for access in accesses)
    half = sum(lanes for _, lanes in moved) / 2
    for elements, lanes in reversed(moved):
        half -= lanes
        if lanes and half <= 0:
            return elements
    return None


def atomics(most: Callable[[Inputs], int]) -> Requirement:
    """Require at most so many atomic updates, counting those of all arguments; a grid of a fixed size may make some."""

    def wrong(launches: Sequence[Launch], inputs: Inputs) -> str:
        found = _lanes(one for launch in launches for one in launch.done if one.kind.startswith("atomic"))
        enough = max(most(inputs), _GRID)
        if found <= enough:
            return ""
        return _("it makes {updates} of the result; {most} are enough. Add up each program's values first").format(
            updates=messages.count(found, "atomic update"), most=messages.number(enough)
        )

    return wrong


def described(launches: Sequence[Launch], inputs: Inputs) -> str:
    """Require that tensors are reached through descriptors, made by the launcher or by the kernel."""
    launch = launches[-1]
    if "make_tensor_descriptor" in launch.source or all(one.kind != "tensor" for one in launch.arguments):
        return ""
    return _("it gets pointers; make descriptors with TensorDescriptor.from_tensor(tensor, [rows, columns])")


def few_sectors(launches: Sequence[Launch], inputs: Inputs) -> str:
    """Limit the sectors of loads and of stores on an H100 to twice those in which the elements of ``x`` lie, and one
    more for each row and each column: a run of neighbours that begins within a sector touches one sector more.
    """
    from triton_lab.compiled.compile_failure import CompileError
    from triton_lab.compiled.launch_compilation import compiled_plan
    from triton_lab.compiled.transactions.sectors import SECTOR

    x = inputs["x"]
    if x.numel() < _MEASURED:
        return ""
    try:
        transfers = compiled_plan(launches[-1], "sm_90").transactions.transfers
    except CompileError as error:
        return _("the compiler for sm_90 refuses the kernel: {error}").format(error=error)
    ideal = x.numel() * x.element_size() // SECTOR
    most = 2 * ideal + sum(x.shape)
    for kind in ("load", "store"):
        found = [one for one in transfers if one.access.kind == kind]
        sectors = sum(one.sectors for one in found)
        if sectors > most:
            return _(
                "line {line}, a {kind}, moves {sectors} on an H100, while its elements fill only about {ideal}: "
                "neighbouring threads access addresses that are far apart"
            ).format(
                line=max(found, key=lambda one: one.sectors).line,
                kind=kind,
                sectors=messages.count(sectors, "sector"),
                ideal=messages.number(ideal),
            )
    return ""


def in_gluon(launches: Sequence[Launch], inputs: Inputs) -> str:
    """Require kernels of Gluon."""
    from triton_lab.compiled.launch_compilation import is_gluon

    found = next((launch for launch in launches if not is_gluon(launch)), None)
    if found is None:
        return ""
    return _("{kernel} is a kernel of Triton: write it with @gluon.jit").format(kernel=found.kernel)


def without_conflicts(launches: Sequence[Launch], inputs: Inputs) -> str:
    """Require that no access to shared memory has bank conflicts."""
    for launch in launches:
        for found in launch.findings:
            if found.kind == "bank-conflicts":
                return found.message.rstrip(".")
    return ""


def ahead(least: int, queue: str) -> Requirement:
    """Require that while a buffer is read, ``least`` operations of this queue (see `WORKERS`) may still run, in most
    steps.

    Operations end as late as the waits allow, so what is pending then is what the kernel lets run.
    """

    def wrong(launches: Sequence[Launch], inputs: Inputs) -> str:
        from triton_lab.launch.maps.pipeline_film import WORKERS

        if inputs["x"].numel() < _MEASURED:
            return ""
        found = [_pending(launch, queue) for launch in launches]
        worker = translated(WORKERS[queue])
        if not any(found):
            return _("it reads no buffer after the start of its first operation of this kind: {worker}").format(
                worker=worker
            )
        long = [one for one in found if len(one) >= _LONG_LOOP * least]
        usual = max((int(statistics.median(one)) for one in long), default=least)
        if usual >= least:
            return ""
        return _("while it reads a buffer, {usual} of {worker} can run; there must be {least}").format(
            usual=messages.number(usual), worker=worker, least=messages.number(least)
        )

    return wrong


def _pending(launch: Launch, queue: str) -> list[int]:
    """For each time that the first program reads a buffer, the operations of ``queue`` that have not ended."""
    from triton_lab.launch.maps.pipeline_film import PipelineFilm

    running: set[int] = set()
    found: list[int] = []
    begun = False
    for event in PipelineFilm(launch).events:
        if event.kind == "issued" and event.queue == queue:
            running.add(event.work)
            begun = True
        elif event.kind == "landed":
            running.discard(event.work)
        elif event.kind == "read" and begun:
            found.append(len(running))
    return found
