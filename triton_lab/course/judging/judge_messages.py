"""The results of an answer as a message: attempts with their launches, in the format of saved launches, and lazy runs.

The judge trusts none of it. It runs launches again (`launch_reader.unpacked`), finds their arguments by their
pointers, and lets arguments keep their shape and place.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from triton_lab.course.attempt import Attempt, Other, Placed
from triton_lab.course.judging.answer_values import (
    DTYPES,
    decoded,
    encoded,
    fault_of,
    tensor_of,
    text,
    told_fault,
    told_tensor,
    whole,
)
from triton_lab.course.lazy_steps import JudgedStep, StepsRun
from triton_lab.interpreter.affine_block import AffineBlock
from triton_lab.interpreter.runtime_values import Descriptor
from triton_lab.launch.argument import Argument
from triton_lab.launch.launch import Launch
from triton_lab.launch.recording.snapshot import SavedRegion
from triton_lab.launch.saving.launch_reader import unpacked
from triton_lab.launch.saving.launch_writer import packed_unchecked
from triton_lab.lazy.step import BufferState

MOST_LAUNCHES = 64
MOST_BYTES = 256 << 20  # of one unpacked launch

Pieces = Sequence[bytes]


def told_inputs(inputs: Mapping[str, Any], pieces: list[bytes]) -> dict[str, Any]:
    """The arguments of a call as data: tensors and plain values."""
    return {
        name: {"tensor": told_tensor(Placed.of(value), pieces)}
        if isinstance(value, torch.Tensor)
        else {"value": encoded(value)}
        for name, value in inputs.items()
    }


def inputs_of(given: Mapping[str, Any], pieces: Pieces) -> dict[str, Any]:
    """The arguments, in new memory."""
    return {
        name: tensor_of(one["tensor"], pieces).tensor if "tensor" in one else decoded(one["value"])
        for name, one in given.items()
    }


def told_attempt(attempt: Attempt, pieces: list[bytes]) -> dict[str, Any]:
    """The outcome of a call as data."""
    if attempt.fault is not None:
        return {"fault": told_fault(attempt.fault)}
    return {
        "inputs": _told_placed(attempt.tensors, pieces),
        "given": [
            {"tensor": told_tensor(one, pieces)} if isinstance(one, Placed) and _plain(one) else {"other": _kind(one)}
            for one in attempt.given[:MOST_LAUNCHES]
        ],
        "launches": _told_launches(attempt.launches, pieces),
    }


def _plain(one: Placed) -> bool:
    dense = one.tensor.layout == torch.strided and one.tensor.device.type == "cpu"
    return dense and str(one.tensor.dtype).removeprefix("torch.") in DTYPES


def _kind(one: Placed | Other) -> str:
    return one.kind if isinstance(one, Other) else f"a tensor of {one.tensor.dtype}"


def attempt_of(given: Mapping[str, Any], pieces: Pieces, inputs: Mapping[str, Any], steps: int) -> Attempt:
    """The outcome of a call with ``inputs``; ``steps`` limits the loop iterations of a launch.

    Raises one of MALFORMED, and SavedLaunchError.
    """
    if "fault" in given:
        return Attempt(inputs, fault=fault_of(given["fault"]))
    after = {**inputs, **_placed(given["inputs"], pieces, inputs)}
    found = [
        tensor_of(one["tensor"], pieces) if "tensor" in one else Other(text(one["other"])[:100])
        for one in given["given"]
    ]
    return Attempt(after, found, _launches(given["launches"], pieces, steps))


def told_run(run: StepsRun, pieces: list[bytes]) -> dict[str, Any]:
    """The outcome of a call with lazy tensors as data."""
    return {
        "results": [told_tensor(Placed.of(one), pieces) for one in run.results],
        "inputs": {name: told_tensor(Placed.of(one), pieces) for name, one in run.inputs.items()},
        "steps": [
            {
                "hit": one.hit,
                "stale": one.stale,
                "differences": list(one.differences),
                "before": [
                    [sight.role, sight.name, sight.place, sight.numel, list(sight.seen_by)] for sight in one.before
                ],
                "after": [
                    [sight.role, sight.name, sight.place, sight.numel, list(sight.seen_by)] for sight in one.after
                ],
            }
            for one in run.steps
        ],
        "pending": run.pending,
        "began": _told_placed(run.began.tensors, pieces),
        "launches": _told_launches(run.began.launches, pieces),
        "ended": _told_placed(run.ended, pieces),
        "gave": [told_tensor(one, pieces) for one in run.gave],
    }


def run_of(given: Mapping[str, Any], pieces: Pieces, inputs: Mapping[str, Any], steps: int) -> StepsRun:
    """The outcome of a call with lazy tensors; see `attempt_of`."""
    tensors = {name: value for name, value in inputs.items() if isinstance(value, torch.Tensor)}
    plain = {name: value.contiguous().clone() for name, value in tensors.items()}
    began = _placed(given["began"], pieces, plain)
    launches = _launches(given["launches"], pieces, steps)
    ended = {name: tensor_of(given["ended"][name], pieces) for name in plain}
    gave = tuple(tensor_of(one, pieces) for one in given["gave"][:MOST_LAUNCHES])
    results = tuple(tensor_of(one, pieces).tensor for one in given["results"][:MOST_LAUNCHES])
    if len(gave) != len(results):
        raise ValueError("results and their places do not agree")
    return StepsRun(
        results,
        {name: tensor_of(given["inputs"][name], pieces).tensor for name in plain},
        tuple(_step(one) for one in given["steps"][:MOST_LAUNCHES]),
        given["pending"] is True,
        Attempt(began, launches=launches),
        ended,
        gave,
    )


def _step(given: Mapping[str, Any]) -> JudgedStep:
    before, after = (tuple(_sight(*one) for one in given[name][:MOST_LAUNCHES]) for name in ("before", "after"))
    differences = tuple(text(one)[:100] for one in given["differences"][:MOST_LAUNCHES])
    return JudgedStep(given["hit"] is True, given["stale"] is True, differences, before, after)


def _sight(role: str, name: str, place: int, numel: int, seen_by: Sequence[str]) -> BufferState:
    names = tuple(text(one)[:100] for one in seen_by[:MOST_LAUNCHES])
    return BufferState(
        text(role), text(name)[:100], whole(place, 1 << 62), whole(numel, 1 << 62), torch.float32, (), names
    )


# --- Tensors and launches with their addresses ------------------------------------------------------------


def _told_placed(tensors: Mapping[str, Placed], pieces: list[bytes]) -> dict[str, Any]:
    return {name: told_tensor(one, pieces) for name, one in tensors.items()}


def _placed(given: Mapping[str, Any], pieces: Pieces, inputs: Mapping[str, Any]) -> dict[str, Placed]:
    """The tensors among the arguments, each as it was given except for its bytes. No two may share memory."""
    found = {
        name: tensor_of(given[name], pieces, like=value)
        for name, value in inputs.items()
        if isinstance(value, torch.Tensor)
    }
    places = sorted((one.start, one.stop) for one in found.values() if one.stop > one.start)
    if any(low[1] > high[0] for low, high in itertools.pairwise(places)):
        raise ValueError("arguments that share memory")
    return found


def _told_launches(launches: Sequence[Launch], pieces: list[bytes]) -> list[int]:
    first = len(pieces)
    pieces += [packed_unchecked(one) for one in launches[:MOST_LAUNCHES]]
    return list(range(first, len(pieces)))


def _launches(given: Sequence[int], pieces: Pieces, steps: int) -> list[Launch]:
    if len(given) > MOST_LAUNCHES:
        raise ValueError("more launches than an exercise has")
    numbers = [whole(one, len(pieces)) for one in given]
    return [_grounded(unpacked(pieces[one], max_bytes=MOST_BYTES, steps=steps)) for one in numbers]


def _grounded(launch: Launch) -> Launch:
    """The same launch with its arguments' places found from its pointers and from its saved memory."""
    snapshot, flat = launch.snapshot, launch.plan_arguments
    assert snapshot is not None
    kernel = launch.executable.plan.kernel
    if len(flat) != len(snapshot.arguments):
        raise ValueError("arguments that are not the kernel's")
    places: dict[int, tuple[int, int, int]] = {}
    owners = list(snapshot.owners)
    for number, (argument, value) in enumerate(zip(flat, snapshot.arguments, strict=True)):
        pointer = isinstance(value, Descriptor) or kernel.types[kernel.arguments[number]].is_pointer
        if argument.kind != "descriptor" and pointer != (argument.kind == "tensor"):
            raise ValueError("a pointer that is said to be none")
        if not pointer:
            continue
        base = value.base if isinstance(value, (Descriptor, AffineBlock)) else value
        address = int(np.asarray(base).reshape(-1)[0])
        region = _holding(snapshot.regions, address)
        start, size = (address, 0) if region is None else (region.start, len(region.data))
        places[id(argument)] = address, start, size
        owners[number] = () if region is None else (region.start,)
    launch.arguments = tuple(_at(one, *places[id(one)]) if id(one) in places else one for one in launch.arguments)
    vars(launch).pop("plan_arguments", None)
    launch.snapshot = replace(snapshot, owners=tuple(owners))
    return launch


def _at(one: Argument, address: int, start: int, size: int) -> Argument:
    return replace(one, address=address, storage_address=start, storage_bytes=size)


def _holding(regions: Sequence[SavedRegion], address: int) -> SavedRegion | None:
    return next((one for one in regions if one.start <= address < one.start + len(one.data)), None)
