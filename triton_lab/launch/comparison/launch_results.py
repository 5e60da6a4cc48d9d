"""`Results`: a launch's tensors before and after it, and expected results, as arrays by argument."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab import messages
from triton_lab.interpreter.memory_regions import Memory
from triton_lab.ir import effects
from triton_lab.launch.argument import Argument
from triton_lab.launch.comparison.number_formats import as_array, numpy_type
from triton_lab.launch.recording.launch_record import Recorded
from triton_lab.launch.recording.replay_error import CannotReplay
from triton_lab.launch.replay.parallel_replay import memory_after
from triton_lab.localization import _

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Results:
    """The ``arrays`` of one side by argument name, with the argument's shape and dtype.

    ``written`` are the names of those that were written, and ``title`` is the name of the side.
    """

    title: str
    arrays: Mapping[str, Array]
    written: tuple[str, ...]


def tensors(launch: Recorded) -> list[Argument]:
    """The tensor arguments, and those behind descriptors."""
    return [argument for argument in launch.arguments if argument.kind in ("tensor", "descriptor")]


def read(memory: Memory, argument: Argument) -> Array:
    """A copy of the elements of ``argument`` in ``memory``.

    Raises CannotReplay if ``memory`` does not hold them.
    """
    dtype = numpy_type(argument.dtype)
    if 0 in argument.shape:
        return np.zeros(argument.shape, dtype)
    return np.array(_view(memory, argument, dtype))


def _view(memory: Memory, argument: Argument, dtype: np.dtype[Any]) -> Array:
    region = memory.holding(argument.address)
    strides = tuple(stride * argument.itemsize for stride in argument.strides)
    reach = sum(stride * (extent - 1) for stride, extent in zip(strides, argument.shape, strict=True))
    if region is None or argument.address + reach + argument.itemsize > region.stop:
        raise CannotReplay(_("the values of {name} were not recorded").format(name=argument.name))
    return np.ndarray(argument.shape, dtype, region.data, argument.address - region.start, strides)


def before(launch: Recorded) -> dict[str, Array]:
    """The tensors' values before the launch. Raises CannotReplay."""
    memory = _memory(launch)
    return {argument.name: read(memory, argument) for argument in tensors(launch)}


def _memory(launch: Recorded) -> Memory:
    if launch.snapshot is None:
        raise CannotReplay(_("the launch was recorded without the contents of its tensors"))
    return launch.snapshot.memory()


def of_launch(launch: Recorded, target: str = "") -> Results:
    """The results of the launch in its tensors; for a launch on the GPU the GPU's, or with ``target`` "cpu" the CPU's.

    A launch on the CPU is replayed to find its results. Raises CannotReplay.
    """
    target = target or launch.target
    title = f"{launch.kernel} ({target.upper()})"
    if launch.target == "gpu":  # the record has both results
        found = {name: as_array(theirs if target == "gpu" else ours) for name, theirs, ours in launch.outputs}
        was = before(launch) if launch.snapshot is not None and not launch.snapshot.missing else {}
        return Results(title, {**was, **found}, _written(launch, was, {**was, **found}))
    was, memory = before(launch), memory_after(launch)
    found = {argument.name: read(memory, argument) for argument in tensors(launch)}
    return Results(title, found, _written(launch, was, found))


def written_by(launch: Recorded) -> list[str]:
    """The names of the tensors that a store or an atomic of the launch is for."""
    writing = {op.index for op in launch.executable.plan.walk() if effects.writes(op)}
    # In a launch that was stopped, stores that did not run count too.
    owners = [launch.owner_of(op) for op in sorted(writing) if launch.events.get(op) or launch.error is not None]
    return list(dict.fromkeys(owner.name for owner in owners if owner is not None))


def _written(launch: Recorded, was: Mapping[str, Array], found: Mapping[str, Array]) -> tuple[str, ...]:
    """The names of the tensors that a store or an atomic of the launch is for, and of those whose bytes changed."""
    names = set(written_by(launch))
    names |= {name for name in found if name in was and found[name].tobytes() != was[name].tobytes()}
    names |= {name for name, _unused, _unused in launch.outputs}
    return tuple(argument.name for argument in tensors(launch) if argument.name in names)


# --- Expected results -----------------------------------------------------------------------------


def expected(launch: Recorded, given: Any, written: Sequence[str], changed: Mapping[str, Any] | None = None) -> Results:
    """The expected results in ``given`` for the ``written`` arguments.

    ``given`` is a dict of tensors by name; a tensor, or a tuple of them, for the written arguments in order; or a
    function, called by `asked`, that returns one of these, or None if it changes its tensors. Raises ValueError if
    names or shapes do not fit, TypeError if a value is no tensor. A function gets the values ``changed`` in the tensors
    of these names.
    """
    title = _("expected")
    if callable(given) and not hasattr(given, "detach"):
        title = getattr(given, "__name__", _("function"))
        title = _("expected") if title == "<lambda>" else title
        given = asked(launch, given, written, changed)
    arrays = dict(_named(launch, given, written))
    for name, array in arrays.items():
        shape = launch.argument(name).shape
        if array.shape != shape and array.size == np.prod(shape) and 1 in (*array.shape, *shape):
            arrays[name] = array = array.reshape(shape)
        if array.shape != shape:
            raise ValueError(
                _("{name} has the shape {shape}, but the expected result has {shape_2}").format(
                    name=name, shape=shape, shape_2=array.shape
                )
            )
    return Results(title, arrays, tuple(arrays))


def _named(launch: Recorded, given: Any, written: Sequence[str]) -> Iterator[tuple[str, Array]]:
    if isinstance(given, Mapping):
        for name, value in given.items():
            if launch.argument(name) not in tensors(launch):
                raise ValueError(_("{name} is not a tensor of {kernel}").format(name=name, kernel=launch.kernel))
            yield name, _array(name, value)
        return
    several = list(given) if isinstance(given, (tuple, list)) else [given]
    if len(several) != len(written):
        told = ", ".join(written) or "no argument"
        raise ValueError(
            _("{kernel} writes {told}, but {tensors} {verb} passed as expected: pass a dict by name").format(
                kernel=launch.kernel,
                told=told,
                tensors=messages.count(len(several), "tensor"),
                verb=messages.noun(len(several), "was", "were"),
            )
        )
    for name, value in zip(written, several, strict=True):
        yield name, _array(name, value)


def _array(name: str, value: Any) -> Array:
    if value is ...:
        raise TypeError(_("write what you expect of {name} in place of ...").format(name=name))
    array = as_array(value)
    if array.dtype.hasobject or array.dtype.kind in "USc":
        raise TypeError(
            _("the expected result for {name} must be a tensor of numbers, not {name_2}").format(
                name=name, name_2=type(value).__name__
            )
        )
    return array


def asked(
    launch: Recorded, function: Callable[..., Any], written: Sequence[str], changed: Mapping[str, Any] | None = None
) -> Any:
    """Call ``function`` with the launch's arguments, tensors as they were before, and return its result.

    It is called by name with the arguments that it has parameters for, or with all if it takes ``**others``. Tensors
    that shared memory share it again. If it returns None, the result is the written tensors as it has changed them.
    Raises ValueError for parameters that the kernel does not have, and CannotReplay.
    """
    held = torch_tensors(launch)
    for name, other in (changed or {}).items():
        held[name].copy_(other)
    values = {**{argument.name: argument.value for argument in launch.arguments}, **held}
    names = _asked_for(launch, function, values)
    result = function(**{name: values[name] for name in names})
    if result is not None:
        return result
    return {name: held[name] for name in written}


def _asked_for(launch: Recorded, function: Callable[..., Any], values: Mapping[str, Any]) -> list[str]:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        names = ", ".join(values)
        raise ValueError(
            _(
                "the function's parameters are not known: wrap it, as in lambda {next}, **_: ..., "
                "with names among {names}"
            ).format(next=next(iter(values), "x"), names=names)
        ) from None
    if any(one.kind is one.VAR_KEYWORD for one in parameters):
        return [name for name in values if name.isidentifier()]
    for one in parameters:
        by_name = one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)
        if one.default is one.empty and (not by_name or one.name not in values) and one.kind is not one.VAR_POSITIONAL:
            raise ValueError(
                _(
                    "the function has a parameter {name}, but it is called with the arguments of "
                    "{kernel} by name: {names}"
                ).format(name=repr(one.name), kernel=launch.kernel, names=", ".join(values))
            )
    return [one.name for one in parameters if one.name in values and one.kind is not one.POSITIONAL_ONLY]


def torch_tensors(launch: Recorded) -> dict[str, Any]:
    """Copies of the launch's tensors from before it; they share memory as the launch's tensors did."""
    import torch

    memory = _memory(launch)
    found = {}
    for argument in tensors(launch):
        dtype = getattr(torch, argument.dtype)
        if 0 in argument.shape:
            found[argument.name] = torch.zeros(argument.shape, dtype=dtype)
            continue
        _view(memory, argument, numpy_type(argument.dtype))
        region = memory.holding(argument.address)
        assert region is not None
        region.data.flags.writeable = True  # it is a copy
        shift = (argument.address - region.start) % argument.itemsize
        whole = (len(region.data) - shift) // argument.itemsize * argument.itemsize
        data = torch.from_numpy(region.data[shift : shift + whole]).view(dtype)
        start = (argument.address - region.start - shift) // argument.itemsize
        found[argument.name] = data.as_strided(argument.shape, argument.strides, start)
    return found


def inputs_differ(name: str) -> str:
    """The remark that an argument was not the same before both launches."""
    return _("{name} held different numbers before the two launches").format(name=name)
