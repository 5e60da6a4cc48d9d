"""The last proof of a generated program: one run on small numbers, compared with its schedule.

By then isl has shown, for all sizes, that the loops visit each of the schedule's instances once, and that parallel
instances are independent. Expressions, types, masks and addresses remain to be tested. So the sizes are odd and fit
no block, blocks are small, so that there are several, and arrays are parts of larger ones, with strides of their own;
the other elements must not change.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.localization import _
from triton_lab.messages import element_at
from triton_lab.polyhedral.blocks.triton_kernel import NotABlockProgram, TritonKernel
from triton_lab.polyhedral.core.isl_effort import TooHard
from triton_lab.polyhedral.core.loop_tree import every_loop

if TYPE_CHECKING:
    from triton_lab.polyhedral.instances import Instances
    from triton_lab.polyhedral.schedule import Schedule

# Running the schedule takes about a microsecond per instance and access.
_MOST_INSTANCES = 40_000
_SMALL_BLOCK = 4
_FILLING = 77


def prove(kernel: TritonKernel, schedule: Schedule) -> None:
    """Raise `NotABlockProgram` if the kernel's results differ from the executed schedule's."""
    bound = schedule.scop.bind(**sizes(schedule))
    arrays = example(bound)
    try:
        with np.errstate(all="ignore"):
            expected = schedule.run(arrays, **bound.values)
    except (IndexError, KeyError, ZeroDivisionError) as error:
        raise NotABlockProgram(
            _("the schedule itself cannot be run on {bound}: {error}").format(bound=_shown(bound), error=error)
        ) from error
    tiled = {q.divisor for loop in every_loop(schedule.tree) for e in loop.expressions.values() for q in e.quotients}
    small = {} if tiled else {name: min(size, _SMALL_BLOCK) for name, size in kernel.constants.items()}
    found = _run(kernel, bound, arrays, small)
    for name, value in expected.items():
        if name not in found:
            continue
        place = _difference(found[name], value)
        if place is not None:
            where = element_at(name, place) if place else name
            raise NotABlockProgram(
                _(
                    "the generated kernel gives {found} for {where}, but the schedule {value} ({bound}), so "
                    "the kernel is not returned"
                ).format(found=repr(found[name][place]), where=where, value=repr(value[place]), bound=_shown(bound))
            )


def _shown(scop: Instances) -> str:
    return ", ".join(f"{name} = {value}" for name, value in scop.values.items()) or "no parameters"


def sizes(schedule: Schedule) -> dict[str, int]:
    """Distinct odd values for the parameters, larger than the tiles, with which every statement runs, if possible."""
    scop = schedule.scop
    tiles = [q.divisor for loop in every_loop(schedule.tree) for e in loop.expressions.values() for q in e.quotients]
    best: dict[str, int] = {}
    for least in (max(tiles, default=0) + more for more in (8, 4, 2)):
        values = {p: (least + 2 * (len(scop.parameters) - k)) | 1 for k, p in enumerate(scop.parameters)}
        bound = scop.bind(**values)
        try:
            counts = [s.domain.count(bound.values) for s in scop.statements]
        except (TooHard, ValueError):
            continue
        if sum(counts) <= _MOST_INSTANCES and _starts_at_zero(bound):
            if all(counts):
                return values
            best = best or values
    return best or dict.fromkeys(scop.parameters, 5)


def _starts_at_zero(scop: Instances) -> bool:
    from triton_lab.polyhedral.execute import extent

    return all(bool(np.all(extent(scop, a.name)[0] >= 0)) for a in scop.arrays)


def example(scop: Instances, seed: int = 0) -> dict[str, NDArray[Any]]:
    """Arrays for the scop: numbers around 1, and square matrices that can be factored (diagonally dominant)."""
    from triton_lab.polyhedral.execute import least_shape

    rng = np.random.default_rng(seed)
    arrays: dict[str, NDArray[Any]] = {}
    for array in scop.arrays:
        shape = least_shape(scop, array.name)
        if array.local:
            continue
        if (array.dtype or "").startswith("int"):
            arrays[array.name] = np.array(rng.integers(1, 9, shape), array.dtype)
            continue
        value = rng.random(shape) + 0.5
        if len(shape) == 2 and shape[0] == shape[1]:
            value = value + value.T + 4 * shape[0] * np.eye(shape[0])
        arrays[array.name] = np.array(value, array.dtype or np.float64)
    return arrays


def _run(
    kernel: TritonKernel, scop: Instances, arrays: Mapping[str, NDArray[Any]], constants: Mapping[str, int]
) -> dict[str, NDArray[Any]]:
    """The arrays after the kernel has run on copies with other strides."""
    import torch

    from triton_lab.backend.plugin.recorders import recorders
    from triton_lab.backend.targets.active_target import target

    holders: dict[str, torch.Tensor] = {}
    tensors: dict[str, torch.Tensor] = {}
    for name, array in arrays.items():
        holder = torch.full((*(size + 1 for size in array.shape), 2), _FILLING, dtype=torch.tensor(array).dtype)
        holders[name] = holder
        inner = holder[..., 1]
        for k, size in enumerate(array.shape):
            inner = inner.narrow(k, 0, size)
        tensors[name] = inner
        tensors[name].copy_(torch.tensor(array))
    try:
        with target("cpu"), recorders.unrecorded():
            kernel.launch(tensors, scop, **constants)
    except Exception as error:
        raise NotABlockProgram(
            _("the generated kernel does not run: {reason}").format(reason=_reason(error))
        ) from error
    found = {name: tensor.numpy().copy() for name, tensor in tensors.items()}
    for name, holder in holders.items():
        tensors[name].fill_(_FILLING)
        if not bool((holder == _FILLING).all()):
            raise NotABlockProgram(
                _("the generated kernel stores outside of {name}, so it is not returned").format(name=name)
            )
    return found


def _reason(error: BaseException) -> str:
    """The last line in words of the root error: Triton prints the source first, then a caret."""
    while error.__cause__ is not None:
        error = error.__cause__
    lines = [line.strip() for line in str(error).splitlines() if line.strip(" ^")]
    return lines[-1] if lines else repr(error)


def _difference(found: NDArray[Any], expected: NDArray[Any]) -> tuple[int, ...] | None:
    """The first place where the two differ by more than rounding; None without one."""
    if not np.issubdtype(expected.dtype, np.floating):
        wrong = found != expected
    else:
        finite = expected[np.isfinite(expected)]
        size = float(np.abs(finite).max()) if finite.size else 0.0
        bound = 4096 * float(np.finfo(expected.dtype).eps)
        with np.errstate(all="ignore"):
            wrong = ~np.isclose(found, expected, rtol=bound, atol=bound * size / 16, equal_nan=True)
    places = np.argwhere(np.atleast_1d(wrong)) if expected.ndim == 0 else np.argwhere(wrong)
    if not len(places):
        return None
    return tuple(int(k) for k in places[0]) if expected.ndim else ()
