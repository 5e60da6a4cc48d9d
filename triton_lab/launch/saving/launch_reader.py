"""`load`: reads a saved launch and checks it field by field. Nothing in a file is executed as Python."""

from __future__ import annotations

import itertools
import time as clock
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab import messages
from triton_lab.interpreter.bound_plan import Executable
from triton_lab.interpreter.kernel_errors import KernelError, StepLimit
from triton_lab.interpreter.machine import Limits
from triton_lab.interpreter.runtime_values import Descriptor, Value
from triton_lab.ir import parse_plan
from triton_lab.ir.verify import verify
from triton_lab.launch.byte_ranges import NOTHING, Ranges
from triton_lab.launch.checks.rule import rules
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.launch.diagnosis.verdict import Unchecked, Verdict
from triton_lab.launch.launch import Launch
from triton_lab.launch.recording.snapshot import SavedRegion, Snapshot
from triton_lab.launch.recording.tape import Tape
from triton_lab.launch.replay.instrumented_copy import Surroundings, Twin, Variable
from triton_lab.launch.replay.replay_run import replay
from triton_lab.launch.saving import admission
from triton_lab.launch.saving.checked_fields import (
    Shown,
    argument,
    dtype_of,
    hold,
    lines_of,
    maybe,
    of,
    options,
    ranges,
    real,
    time,
    tuning,
)
from triton_lab.launch.saving.file_format import FORMAT, MAX_BYTES, NAME, Reader, SavedLaunchError
from triton_lab.launch.saving.launch_writer import FINDING_ARRAYS, FINDING_TEXTS
from triton_lab.localization import _
from triton_lab.providers import provided

Array = NDArray[Any]

# Bounds of a launch from a file, checked before it runs: elements of a block, programs, characters of a kernel, loop
# iterations, bytes of values.
_BLOCK = 1 << 20
_PROGRAMS = 1 << 24
_TEXT = 16 << 20
_STEPS = 10_000_000
_MEMORY = 1 << 30
_TWIN = 2  # the probed kernel may take this many times as long
_ADDRESSES = 1 << 63


def load(
    path: str | PathLike[str], *, max_bytes: int = MAX_BYTES, max_seconds: float = admission.MAX_SECONDS
) -> Launch:
    """Read the launch that `Launch.save` has written to ``path``, with results, findings and pictures.

    The file is treated as data from outside: nothing in it is run as Python, and its kernel touches only the memory in
    the file, within limits of time and memory. ``max_bytes`` bounds the unpacked size. ``max_seconds`` bounds a run of
    its kernel, whose time is estimated from its blocks, programs and loops before it runs. Raises SavedLaunchError if
    the file is no saved launch, and OSError if it cannot be read.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "add.launch")
    >>> launch.save(path)
    >>> again = lab.load(path)
    >>> again.kernel, lab.compare(launch, again).verdict
    ('add_kernel', 'bit-equal')
    """
    return _read(Path(path), str(path), max_bytes, max_seconds, _STEPS)


def unpacked(
    whole: bytes, *, max_bytes: int = MAX_BYTES, max_seconds: float = admission.MAX_SECONDS, steps: int = _STEPS
) -> Launch:
    """Read a launch from the bytes of a file (see `save`). If it holds no findings, it is checked here.

    ``steps`` bounds the iterations of its loops. Raises SavedLaunchError.
    """
    return _read(whole, "this", max_bytes, max_seconds, steps)


def _read(source: Path | bytes, name: str, max_bytes: int, seconds: float, steps: int) -> Launch:
    try:
        return _launch(Reader(source, max_bytes), seconds, steps)
    except (OSError, KeyboardInterrupt):
        raise
    except SavedLaunchError as error:
        raise SavedLaunchError(
            _("{name} is not a launch that can be loaded: {error}").format(name=name, error=error)
        ) from None
    except RecursionError:
        told = _("it is nested too deeply")
        raise SavedLaunchError(
            _("{name} is not a launch that can be loaded: {told}").format(name=name, told=told)
        ) from None
    except Exception as error:  # a wrong field, or a kernel that is not valid
        told = f"{type(error).__name__}: {error}".split("\n", 1)[0][:200]
        raise SavedLaunchError(
            _("{name} is not a launch that can be loaded: it breaks the format ({told})").format(name=name, told=told)
        ) from error


def _launch(reader: Reader, seconds: float, steps: int) -> Launch:
    head = reader.head
    if head.get("format") != NAME:
        raise SavedLaunchError(_("it is not a launch of triton-lab"))
    version = of(int, head["version"])
    if not 1 <= version <= FORMAT:
        raise SavedLaunchError(
            _("it has version {version} of the format, but this triton-lab reads versions up to {FORMAT}").format(
                version=version, FORMAT=FORMAT
            )
        )
    executable = _executable(of(str, head["plan"]))
    x, y, z = (of(int, extent) for extent in head["grid"])
    least = 0 if head["findings"] is None else 1  # an unchecked launch may have no program
    hold(
        min(x, y, z) >= least and x * y * z <= _PROGRAMS,
        _("a grid of {programs}").format(programs=messages.count(x * y * z, "program")),
    )
    batch, memory = maybe(int, head["batch"]), maybe(int, head["memory"])
    kept = maybe(int, head.get("steps"))  # missing in older files
    hold(kept is None or kept >= 0, _("the limit on iterations"))
    limits = Limits(
        batch=batch, steps=steps if kept is None else min(kept, steps), memory=min(memory or _MEMORY, _MEMORY)
    )
    hold(batch is None or batch >= 1, "the batch")
    limits = admission.admitted(executable, max(1, x * y * z), limits, seconds)
    error = maybe(str, head["error"])
    launch = Launch(
        kernel=of(str, head["kernel"]),
        grid=(x, y, z),
        arguments=tuple(argument(one) for one in head["arguments"]),
        target=of(str, head["target"]),
        source=of(str, head["source"]),
        first_line=of(int, head["first_line"]),
        file=of(str, head["file"]),
        executable=executable,
        compiled=(None, options(head.get("options"))),  # missing in older files
        surroundings=Surroundings({}, ()),
        lines=lines_of(head["lines"]),
        snapshot=_snapshot(reader),
        thread=of(str, head["thread"]),
        seconds=real(head["seconds"]),
        time=time(head.get("time")),  # missing in older files
        tuning=tuning(head.get("tuning")),
        error=None if error is None else (StepLimit if head.get("cut_short") is True else KernelError)(error),
        configs=[(of(str, text), real(seconds)) for text, seconds in head["configs"]],
        printed=of(str, head["printed"]),
        dropped=of(str, head["dropped"]),
        remark=of(str, head["remark"]),
        outputs=[_output(reader, *one) for one in head["outputs"]],
    )
    if head.get("compilations"):  # not in files of before
        launch.compilations += provided("Launch.read_compilations")(launch, head["compilations"], reader.array)
    if head["findings"] is not None:  # else it is checked here, when it is asked
        vars(launch)["verdict"] = Verdict(
            [_finding(reader, one) for one in head["findings"]],
            [Unchecked(of(str, what), of(str, why)) for what, why in head["unchecked"]],
        )
    if head["twin"] is not None:
        vars(launch)["twin"] = twin = _twin(head["twin"])
        # The twin has a probe after each assignment, and computes what the compiler removed from the kernel.
        limits = admission.admitted(twin.executable, max(1, x * y * z), limits, _TWIN * seconds)
    _watch(launch, limits, *(ranges(one) for one in head.get("unwritten") or ()))
    return launch


def _watch(launch: Launch, limits: Limits, unwritten: Ranges = NOTHING, blank: Ranges = NOTHING) -> None:
    """Run the launch again to record its accesses."""
    assert launch.snapshot is not None
    tape = Tape(_MEMORY, limits, unwritten, blank)
    tape.limits = limits  # replays of this launch have these limits too
    launch.tape = tape
    start = clock.perf_counter()
    try:
        replay(launch, access_observer=tape, limits=limits, strict=True)
    except KernelError as error:
        if launch.error is None and isinstance(error, StepLimit):
            raise admission.too_long(limits) from None
        if launch.error is None:
            raise SavedLaunchError(
                _("its kernel does not run to the end on the memory in the file ({why})").format(why=_why(error))
            ) from error
        tape.failed(error, launch.executable.plan)
    launch.interpreted = clock.perf_counter() - start
    launch.events, launch.kinds = tape.events, tape.kinds


def _why(error: KernelError) -> str:
    where = (
        ""
        if error.op is None or error.op.location is None
        else _(" in line {line}").format(line=error.op.location.line)
    )
    told = f"{error.fault.access}, {error.fault.kind}" if error.fault is not None else error.message.split("\n", 1)[0]
    return f"{told[:200]}{where}"


def _executable(text: str) -> Executable:
    hold(len(text) <= _TEXT, _("a kernel of {characters}").format(characters=messages.count(len(text), "character")))
    plan = parse_plan(text)
    admission.hold_plan(plan, _BLOCK)
    verify(plan)
    admission.hold_shapes(plan)
    return Executable.of(plan)


def _twin(given: Any) -> Twin:
    variables = tuple(Variable(of(int, n), of(str, name), of(int, line)) for n, name, line in given["variables"])
    hold([one.number for one in variables] == list(range(len(variables))), "the variables")
    fixed = {int(number): Shown(of(str, text)) for number, text in given["fixed"].items()}
    lines = None
    if "lines" in given:  # missing in older files
        lines = {of(int, index): maybe(int, line) for index, line in given["lines"]}
    return Twin(_executable(of(str, given["plan"])), variables, fixed, lines)


def _snapshot(reader: Reader) -> Snapshot:
    head = reader.head
    regions = []
    for start, number, verified, writable in head["regions"]:
        data = reader.array(number)
        hold(data.dtype == np.uint8 and data.ndim == 1, "a region")
        hold(of(int, start) >= 0 and start + len(data) < _ADDRESSES, "a region's address")
        regions.append(SavedRegion(start, data, of(bool, verified), of(bool, writable), len(data)))
    regions.sort(key=lambda held: held.start)
    apart = all(a.start + len(a.data) <= b.start for a, b in itertools.pairwise(regions))
    hold(apart, "regions that overlap")
    starts = {held.start for held in regions}
    owners = tuple(None if at is None else tuple(of(int, one) for one in at) for at in head["owners"])
    hold(all(at is None or set(at) <= starts for at in owners), "the owners")
    return Snapshot(tuple(_value(reader, one) for one in head["values"]), tuple(regions), owners)


def _value(reader: Reader, given: Any) -> Value:
    if "base" in given:
        parts = [tuple(_row(reader, one) for one in given[name]) for name in ("shape", "strides")]
        return Descriptor(_row(reader, given["base"]), parts[0], parts[1], of(bool, given["padding_nan"]))
    array = reader.array(given["array"])
    dtype = dtype_of(given["dtype"])
    hold(dtype.itemsize == array.dtype.itemsize and array.ndim == 1 and array.size == 1, "an argument's number")
    return np.array(array).view(dtype)


def _row(reader: Reader, number: Any) -> Array:
    array = np.array(reader.array(number))
    hold(array.ndim == 1 and array.size == 1 and array.dtype.kind == "i", "a descriptor")
    return array


def _output(reader: Reader, name: Any, dtype: Any, *sides: Any) -> tuple[str, Any, Any]:
    import torch

    kind = getattr(torch, of(str, dtype))
    hold(isinstance(kind, torch.dtype), "a dtype")
    theirs, ours = (reader.array(one) for one in sides)
    hold(theirs.shape == ours.shape and theirs.dtype.itemsize == kind.itemsize == ours.dtype.itemsize, "an output")

    def tensor(array: Array) -> Any:
        raw = np.array(array).reshape(-1).view(np.uint8)
        return torch.from_numpy(raw).view(kind).reshape(array.shape)

    return of(str, name), tensor(theirs), tensor(ours)


def _finding(reader: Reader, given: Any) -> Finding:
    texts: dict[str, Any] = {name: of(str, given[name]) for name in FINDING_TEXTS}
    arrays: dict[str, Any] = {name: reader.array(given[name]) for name in FINDING_ARRAYS}
    hold(texts["kind"] in rules(), "a finding's kind")
    if "extent" in given:  # missing in older files
        arrays["extent"] = reader.array(given["extent"])
        hold(arrays["extent"].ndim == 2 and arrays["extent"].shape[1] == 2, "a finding's extent")
    return Finding(
        **texts,
        line=maybe(int, given["line"]),
        column=maybe(int, given["column"]),
        argument=maybe(str, given["argument"]),
        count=of(int, given["count"]),
        stopped=of(bool, given["stopped"]),
        excerpt=tuple(of(str, one) for one in given["excerpt"]),
        orders=tuple(of(str, one) for one in given["orders"]),
        ends=tuple((of(str, name), reader.array(elements)) for name, elements in given.get("ends", ())),
        **arrays,
    )
