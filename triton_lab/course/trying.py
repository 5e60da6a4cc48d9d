"""An answer is tried: run on each case, its launches recorded, and held to the reference.

What `torch.empty` gives out meanwhile holds NaN and huge integers, so that an element that nobody stored shows. A
finding of the gravest kind is a fault even where the numbers are right: out of bounds, or racing, is never correct.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from triton_lab import words
from triton_lab.course.cases import Case, told
from triton_lab.course.fault import Fault, raised, returned, stub_of
from triton_lab.course.luck import line_of_luck
from triton_lab.course.work import Requirement, arguments_of
from triton_lab.launch.finding import ERROR, Finding

if TYPE_CHECKING:
    import torch

    from triton_lab.launch.launch import Launch

# Beside errors: what is right on one machine by luck.
NEVER = frozenset({"same-value", "lane-order", "outside-view", "overflow"})
MOST_STEPS = 100_000  # of loops in one launch: the cases are small


def tried(
    function: Callable[..., Any],
    cases: Sequence[Case],
    reference: Callable[..., Any],
    changes: Collection[str] = (),
    tolerance: tuple[float, float] = (0.0, 0.0),
    work: Sequence[Requirement] = (),
    allowed: Collection[str] = (),
) -> Fault | None:
    """The first fault of ``function``, None where there is none; what it means is told at `Task`."""
    for number, one in enumerate(cases):
        fault = _on(one.made(number), function, reference, changes, tolerance, work, allowed)
        if fault is not None:
            return fault
    return None


def _on(
    inputs: dict[str, Any],
    function: Callable[..., Any],
    reference: Callable[..., Any],
    changes: Collection[str],
    tolerance: tuple[float, float],
    work: Sequence[Requirement],
    allowed: Collection[str],
) -> Fault | None:
    from triton_lab.backend.limiting import limits
    from triton_lab.backend.targets import target
    from triton_lab.launch.record import record

    on = told(inputs)
    expected = _several(reference(**_copies(inputs)))
    before = {name: _bytes(value) for name, value in _tensors(inputs)}
    with target("cpu"), limits(max_steps=MOST_STEPS), record() as launches:
        try:
            given = function(**inputs)
        except Exception as error:
            return _raised(error, function, on, launches)
    results = [inputs[name] for name in changes] if changes else _several(given)
    return (
        _unlike_in_kind(results, expected, on, changes)
        or _found(launches, on, allowed)
        or _unlike(results, expected, launches, on, tolerance)
        or _spoiled(inputs, before, changes, on, launches)
        or _not_launched(results, launches, on)
        or _lucky(launches, on)
        or _overworked(launches, inputs, work, on)
    )


# --- What can be wrong, in the order in which it is looked for ------------------------------------------


def _raised(error: Exception, function: Callable[..., Any], on: str, launches: Sequence[Launch]) -> Fault:
    stub = stub_of(error)
    if stub:
        return Fault(stub, untouched=True)
    failed = next((launch for launch in reversed(launches) if launch.error is not None), None)
    if failed is not None:
        found = failed.findings[0].message if failed.findings else str(error)
        return Fault(f"The launch of {failed.kernel} was stopped: {found}.".replace("..", "."), on, failed, failed)
    return raised(error, on, function)


def _unlike_in_kind(
    results: Sequence[Any], expected: Sequence[torch.Tensor], on: str, changes: Collection[str]
) -> Fault | None:
    import torch

    if len(results) != len(expected):
        want = words.count(len(expected), "tensor")
        return Fault(f"It returns {words.count(len(results), 'value')}, and must return {want}.", on)
    for result, wanted in zip(results, expected, strict=True):
        if not isinstance(result, torch.Tensor):
            return Fault(returned(result, "a tensor"), on)
        if result.shape != wanted.shape:
            return Fault(f"The result has shape {tuple(result.shape)}, and must have {tuple(wanted.shape)}.", on)
        if result.dtype != wanted.dtype:
            return Fault(f"The result is {_name(result.dtype)}, and must be {_name(wanted.dtype)}.", on)
    return None


def _found(launches: Sequence[Launch], on: str, allowed: Collection[str]) -> Fault | None:
    for launch in launches:
        for finding in launch.findings:
            if (finding.severity == ERROR or finding.kind in NEVER) and finding.kind not in allowed:
                return Fault(_of_finding(finding), on, launch, launch)
    return None


def _of_finding(finding: Finding) -> str:
    where = f"In {finding.where}: " if finding.where else ""
    message = finding.message.rstrip(".")
    return f"{where}{message if where else message[0].upper() + message[1:]}. {finding.hint}"


def _unlike(
    results: Sequence[torch.Tensor],
    expected: Sequence[torch.Tensor],
    launches: Sequence[Launch],
    on: str,
    tolerance: tuple[float, float],
) -> Fault | None:
    import torch

    for number, (result, wanted) in enumerate(zip(results, expected, strict=True)):
        rtol, atol = _widened(tolerance, wanted.dtype)
        near = torch.isclose(_wide(result), _wide(wanted), rtol=rtol, atol=atol, equal_nan=True)
        if bool(near.all()):
            continue
        first = tuple(int(k) for k in (~near).nonzero()[0]) if near.dim() else ()
        which = "The result" if len(results) == 1 else f"Result {number + 1}"
        launch, argument, program, by = _storing(launches, result, first)
        total = int((~near).sum())
        others = f" {words.count(total, 'element')} of {words.number(near.numel())} differ." if total > 1 else ""
        at = list(first) if first else "its only element"
        if launch is not None and program is None:
            message = f"{which} has no value at {at}, where {_value(wanted[first])} must be: {by}.{others}"
        else:
            message = f"{which} is {_value(result[first])} at {at}, and must be {_value(wanted[first])}: {by}.{others}"
        return Fault(message, on, launch, _picture(launch, argument, program, wanted))
    return None


def _spoiled(
    inputs: Mapping[str, Any],
    before: Mapping[str, bytes],
    changes: Collection[str],
    on: str,
    launches: Sequence[Launch],
) -> Fault | None:
    for name, value in _tensors(inputs):
        if name not in changes and _bytes(value) != before[name]:
            launch = launches[-1] if launches else None
            return Fault(f"It changes {name} itself; the result belongs into memory of its own.", on, launch, launch)
    return None


def _not_launched(results: Sequence[torch.Tensor], launches: Sequence[Launch], on: str) -> Fault | None:
    for result in results:
        if result.numel() and _storing(launches, result, (0,) * result.dim())[0] is None:
            return Fault("The numbers are right, but no kernel stored them: let a kernel of yours compute them.", on)
    return None


def _lucky(launches: Sequence[Launch], on: str) -> Fault | None:
    for launch in launches:
        line = line_of_luck(launch)
        if line is not None:
            message = (
                f"The numbers are right by luck: the load in line {line} has a mask and no other=..., and what lanes "
                "hold that it turns off goes into the result. Nobody says what that is."
            )
            return Fault(message, on, launch, launch)
    return None


def _overworked(
    launches: Sequence[Launch], inputs: Mapping[str, Any], work: Sequence[Requirement], on: str
) -> Fault | None:
    for requirement in work if launches else ():
        wrong = requirement(launches, inputs)
        if wrong:
            return Fault(f"The numbers are right, but {wrong}.", on, launches[-1], launches[-1])
    return None


# --- Where a wrong element comes from -------------------------------------------------------------------


def _storing(
    launches: Sequence[Launch], result: torch.Tensor, index: tuple[int, ...]
) -> tuple[Launch | None, str | None, int | None, str]:
    """The launch whose result it is, the name of the argument, the program that stored the element last, and words."""
    address = result.data_ptr() + sum(k * s for k, s in zip(index, result.stride(), strict=True)) * result.itemsize
    for launch in reversed(launches):
        named = arguments_of(launch, result)
        if not named:
            continue
        for access in reversed([one for one in launch.done if one.kind != "load"]):
            for event in reversed(access.events):
                programs = (
                    (event.active() & (event.addresses() == address)).reshape(len(event.programs), -1).any(axis=1)
                )
                if programs.any():
                    program = int(event.programs[programs.nonzero()[0][-1]])
                    by = f"{words.program(program, launch.grid)} stored it, in line {access.line}"
                    return launch, named[0], program, by
        return launch, named[0], None, "no program stored it"
    return None, None, None, "no launch wrote to this tensor"


def _picture(launch: Launch | None, argument: str | None, program: int | None, wanted: torch.Tensor) -> Any:
    """The result beside what was expected, or who stored it."""
    if launch is None or argument is None:
        return launch
    if launch.argument(argument).shape == tuple(wanted.shape):
        from triton_lab.launch.comparing.compare import compare

        try:
            # The cause is what the exercise asks for: it is told to those who press the button.
            return compare(launch, {argument: wanted}, seconds=1.0).plot(tries=False)
        except Exception:  # the picture is an extra: the words have told what is wrong
            return launch
    return launch.plot.tiling(argument, program)


# --- Small things ---------------------------------------------------------------------------------------


def _tensors(inputs: Mapping[str, Any]) -> Iterator[tuple[str, torch.Tensor]]:
    import torch

    return ((name, value) for name, value in inputs.items() if isinstance(value, torch.Tensor))


def _copies(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Equal arguments for the reference, which may then do what it likes."""
    return {**inputs, **{name: value.clone() for name, value in _tensors(inputs)}}


def _bytes(tensor: torch.Tensor) -> bytes:
    """All of the tensor's storage, what lies around a view included."""
    import torch

    return bytes(torch.empty(0, dtype=torch.uint8).set_(tensor.untyped_storage()).numpy())


def _several(given: Any) -> list[Any]:
    return list(given) if isinstance(given, (tuple, list)) else [given]


def _wide(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.double() if tensor.dtype.is_floating_point else tensor


def _widened(tolerance: tuple[float, float], dtype: torch.dtype) -> tuple[float, float]:
    """The tolerance for float32; a narrower type may be off by its own last rounding as well."""
    import torch

    if not dtype.is_floating_point:
        return 0.0, 0.0
    eps = torch.finfo(dtype).eps
    narrow = eps if dtype.itemsize < 4 else 0.0
    return tolerance[0] + narrow, tolerance[1] + (narrow * 2**-3 if tolerance[1] else 0.0)


def _value(element: torch.Tensor) -> str:
    value = element.item()
    return f"{value:.6g}" if isinstance(value, float) and math.isfinite(value) else str(value)


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")
