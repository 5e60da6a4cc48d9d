"""`save`: writes a launch to a file."""

from __future__ import annotations

import dataclasses
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from triton_lab.interpreter.affine_block import AffineBlock
from triton_lab.interpreter.runtime_values import Descriptor, Value
from triton_lab.launch.argument import Argument
from triton_lab.launch.comparison.number_formats import as_array
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.launch.recording.replay_error import CannotReplay
from triton_lab.launch.replay.program_trace import twin_lines
from triton_lab.launch.replay.replay_run import is_cut_short
from triton_lab.launch.saving.file_format import FORMAT, NAME, OPTIONS, Array, Writer, simple
from triton_lab.localization import _
from triton_lab.providers import provided

if TYPE_CHECKING:
    from triton_lab.backend.targets.autotuner_trials import Tuning
    from triton_lab.launch.launch import Launch

_PLAIN = ("kernel", "target", "source", "first_line", "file", "thread", "seconds", "printed", "dropped", "remark")
FINDING_TEXTS = ("kind", "message", "hint", "kernel", "file")
FINDING_ARRAYS = ("programs", "lanes", "elements", "events", "values")


def save(launch: Launch, path: str | PathLike[str]) -> None:
    """See `Launch.save`."""
    Path(path).write_bytes(packed(launch))


def packed(launch: Launch) -> bytes:
    """The bytes of the file of a launch. Raises CannotReplay."""
    writer = Writer()
    head = _head(launch, writer) | {
        "twin": _twin(launch),
        "findings": [_finding(writer, finding) for finding in launch.findings],
        "unchecked": [[one.what, one.why] for one in launch.unchecked],
    }
    return writer.packed(head)


def packed_unchecked(launch: Launch) -> bytes:
    """The bytes of the file without findings: the reader checks the launch. Raises CannotReplay."""
    writer = Writer()
    head = _head(launch, writer)
    tape = launch.tape
    unwritten = (
        None if tape is None else [[one.start.tolist(), one.stop.tolist()] for one in (tape.unwritten, tape.blank)]
    )
    return writer.packed({**head, "twin": None, "findings": None, "unchecked": [], "unwritten": unwritten})


def _head(launch: Launch, writer: Writer) -> dict[str, Any]:
    """All but what checks and replays with other probes say."""
    snapshot = launch.snapshot
    if snapshot is None or snapshot.missing:
        reason = _("it was not recorded with its memory") if snapshot is None else snapshot.missing
        raise CannotReplay(
            _("the launch of {kernel} cannot be saved: {reason}").format(kernel=launch.kernel, reason=reason)
        )
    limits = launch.tape.limits if launch.tape is not None else None
    head: dict[str, Any] = {"format": NAME, "version": FORMAT}
    head |= {name: getattr(launch, name) for name in _PLAIN}
    head |= {
        "grid": list(launch.grid),
        "plan": launch.executable.plan.text,
        "error": None if launch.error is None else str(launch.error),
        "batch": None if limits is None else limits.batch,
        "memory": None if limits is None else limits.memory,
        "steps": None if limits is None else limits.steps,
        "cut_short": is_cut_short(launch),
        "time": None if launch.time is None else dataclasses.astuple(launch.time),
        "tuning": _tuning(launch.tuning),
        "configs": [[text, seconds] for text, seconds in launch.configs],
        "arguments": [_argument(argument) for argument in launch.arguments],
        "lines": [
            [index, line.line, line.column, list(line.excerpt), line.file]
            for index, line in launch.lines.items()
            if line is not None
        ],
        "values": [_value(writer, value) for value in snapshot.arguments],
        "owners": [None if at is None else list(at) for at in snapshot.owners],
        "regions": [
            [held.start, writer.array(held.data), held.verified, held.writable] for held in snapshot.regions
        ],
        "outputs": [
            [name, str(theirs.dtype).removeprefix("torch."), *_both(writer, theirs, ours)]
            for name, theirs, ours in launch.outputs
        ],
        "compilations": provided("Launch.saved_compilations")(launch, writer.array),
        "options": _options(launch),
    }  # fmt: skip
    return head


def _options(launch: Launch) -> dict[str, int] | None:
    """The options of the launch by which a GPU's compiler divides its work, to compile it without its source."""
    metadata = launch.compiled[1]
    if metadata is None:  # it was loaded from a file without them
        return None
    return {name: value for name in OPTIONS if isinstance(value := getattr(metadata, name, None), int)}


def _tuning(tuning: Tuning | None) -> dict[str, Any] | None:
    if tuning is None:
        return None
    plain = {one.name: getattr(tuning, one.name) for one in dataclasses.fields(tuning) if one.name != "tried"}
    tried = [
        [{name: simple(value) for name, value in one.config.items()}, [one.seconds, one.low, one.high], one.failed]
        for one in tuning.tried
    ]
    protected = None if tuning.protected is None else list(tuning.protected)
    return {**plain, "key": list(tuning.key), "tried": tried, "protected": protected}


def _twin(launch: Launch) -> dict[str, Any] | None:
    """The probed kernel, for the values of variables; None if it cannot be built."""
    try:
        twin = launch.twin
    except CannotReplay:
        return None
    return {
        "plan": twin.executable.plan.text,
        "lines": [[index, line] for index, line in twin_lines(launch).items()],
        "variables": [[one.number, one.name, one.line] for one in twin.variables],
        "fixed": {str(number): repr(value)[:200] for number, value in twin.fixed.items()},
    }


def _argument(argument: Argument) -> dict[str, Any]:
    found = dataclasses.asdict(dataclasses.replace(argument, value=None))
    plain = argument.value is None or type(argument.value) in (bool, int, float, str)
    found["value"] = argument.value if plain else {"shown": repr(argument.value)[:200]}
    return found


def _value(writer: Writer, value: Value) -> dict[str, Any]:
    """An argument of the plan's kernel: a number, an address or a descriptor."""
    if isinstance(value, Descriptor):
        return {
            "base": writer.array(value.base),
            "shape": [writer.array(one) for one in value.shape],
            "strides": [writer.array(one) for one in value.strides],
            "padding_nan": value.padding_nan,
        }
    array = value.base if isinstance(value, AffineBlock) else np.asarray(value)
    return {"dtype": array.dtype.name, "array": writer.array(np.ascontiguousarray(array).view(_raw(array.dtype)))}


def _raw(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype for storing the bits: ``dtype`` itself if NumPy's file format has it, else an unsigned integer."""
    return dtype if dtype.kind in "biu" or dtype.name in ("float16", "float32", "float64") else np.dtype(
        f"u{dtype.itemsize}"
    )  # fmt: skip


def _both(writer: Writer, theirs: Any, ours: Any) -> tuple[int, int]:
    """Store the results of the GPU and of the interpreter. Most bits are the same, so the second is a difference."""
    first = _raw_bits(theirs)
    number = writer.array(first)
    second = _raw_bits(ours)
    alike = first.shape and (first.shape, first.dtype) == (second.shape, second.dtype)
    return number, writer.array(second, near=number if alike else None)


def _raw_bits(tensor: Any) -> Array:
    array = as_array(tensor)
    return np.ascontiguousarray(array).view(_raw(array.dtype))


def _finding(writer: Writer, finding: Finding) -> dict[str, Any]:
    found: dict[str, Any] = {name: getattr(finding, name) for name in FINDING_TEXTS}
    found |= {name: getattr(finding, name) for name in ("line", "column", "argument", "count", "stopped")}
    for name in FINDING_ARRAYS:
        array = np.asarray(getattr(finding, name))
        kept = array if array.dtype.kind in "biu" else array.astype(np.float64)
        found[name] = writer.array(kept)
    found["extent"] = writer.array(finding.extent)
    found["ends"] = [[name, writer.array(elements)] for name, elements in finding.ends]
    return {**found, "excerpt": list(finding.excerpt), "orders": list(finding.orders)}
