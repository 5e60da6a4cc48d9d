"""Runs a reference function with torch, and notes what each of its operations computes."""

from __future__ import annotations

import itertools
import linecache
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.launch.comparison.launch_results import asked, torch_tensors
from triton_lab.launch.comparison.number_formats import as_array

if TYPE_CHECKING:
    from triton_lab.launch.launch import Launch

Array = NDArray[Any]

MOST_STEPS = 400
_NOTHING = np.empty(0)
# Operations that are run as the simpler ones that they consist of, whose values kernels have, too.
_APART = frozenset(
    {
        *("_softmax", "_log_softmax", "_softmax_backward_data", "logsumexp", "nll_loss_forward", "mse_loss"),
        *("native_layer_norm", "native_group_norm", "native_batch_norm", "_native_batch_norm_legit", "_fused_rms_norm"),
        *("gelu", "silu", "glu", "hardtanh", "leaky_relu", "softplus", "sigmoid_backward", "tanh_backward"),
        *("addmm", "addmv", "baddbmm", "var", "std", "var_mean", "std_mean"),
    }
)
_COPIES = frozenset({"clone", "_to_copy", "copy_", "_unsafe_view", "contiguous"})
MOST_BYTES = 256 << 20  # of all values of a reference together


@dataclass(frozen=True, eq=False)
class ReferenceStep:
    """One operation of the reference: ``line`` and ``text`` are where the function calls it, ``values`` its result.

    ``inputs`` are the numbers of the steps whose results it takes. A step without ``operation`` is an argument called
    ``text``. ``moves``: it only shows its input in another shape or order. ``reduces``: its result has fewer elements.
    """

    number: int
    operation: str
    line: int | None
    text: str
    values: Array
    inputs: tuple[int, ...] = ()
    moves: bool = False
    reduces: bool = False

    @property
    def is_argument(self) -> bool:
        """Whether it is an argument of the launch, as it was before."""
        return not self.operation


class ReferenceTrace:
    """The steps of a reference, arguments first. ``results`` gives the step of each expected result, by argument."""

    def __init__(self) -> None:
        self.steps: list[ReferenceStep] = []
        self.results: dict[str, int] = {}
        self.is_whole = True

    def ancestors(self, number: int, stops: Callable[[int], bool]) -> tuple[list[int], list[int]]:
        """The steps behind one, in order: those before any that ``stops``, and those that do."""
        passed: set[int] = set()
        ends: set[int] = set()
        todo = [number]
        while todo:
            one = todo.pop()
            if one in passed or one in ends:
                continue
            if stops(one):
                ends.add(one)
            else:
                passed.add(one)
                todo += self.steps[one].inputs
        return sorted(passed), sorted(ends)


def traced(launch: Launch, function: Callable[..., Any], written: tuple[str, ...]) -> ReferenceTrace:
    """Run the reference as `lab.compare` does, and note its steps. Raises what the function and `asked` raise."""
    import torch

    trace = ReferenceTrace()
    mode = _recorder(trace, getattr(getattr(function, "__code__", None), "co_filename", ""))
    held = torch_tensors(launch)
    kept = []

    def noted(**given: Any) -> Any:
        for name, value in given.items():
            if isinstance(value, torch.Tensor):
                mode.argument(name, value)
                kept.append(value)
        with mode:
            result = function(**given)
        found = _named(result, given, written)
        for name, value in found.items():
            number = mode.number_of(value)
            if number is not None:
                trace.results[name] = number
        return result

    noted.__signature__ = _signature(function)  # type: ignore[attr-defined]
    del held
    asked(launch, noted, written)
    return trace


def _signature(function: Callable[..., Any]) -> Any:
    import inspect

    return inspect.signature(function)


def _named(result: Any, given: Mapping[str, Any], written: tuple[str, ...]) -> dict[str, Any]:
    if result is None:
        return {name: given[name] for name in written if name in given}
    if isinstance(result, Mapping):
        return dict(result)
    several = list(result) if isinstance(result, (tuple, list)) else [result]
    return dict(zip(written, several, strict=False))


def _recorder(trace: ReferenceTrace, file: str) -> Any:
    """The dispatch mode that notes steps. Operations that consist of simpler ones are taken apart."""
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode
    from torch.utils._pytree import tree_leaves

    class Recorder(TorchDispatchMode):  # type: ignore[no-untyped-call]
        def __init__(self) -> None:
            super().__init__()  # type: ignore[no-untyped-call]
            self._of: dict[int, tuple[Any, int]] = {}
            self._bytes = 0

        def argument(self, name: str, tensor: Any) -> None:
            """Note an argument of the function."""
            self._note(tensor, ReferenceStep(0, "", None, name, _NOTHING))

        def number_of(self, tensor: Any) -> int | None:
            """The step that computed a tensor."""
            found = self._of.get(id(tensor))
            return None if found is None else found[1]

        def __torch_dispatch__(self, op: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            kwargs = kwargs or {}
            name = str(op.__name__).partition(".")[0]
            if name in _APART:
                from torch._decomp import decomposition_table

                if op in decomposition_table:
                    with self:
                        result = decomposition_table[op](*args, **kwargs)
                    if result is not NotImplemented:
                        return result
            result = op(*args, **kwargs)
            tensors = [one for one in tree_leaves((args, kwargs)) if isinstance(one, torch.Tensor)]
            numbers = tuple(dict.fromkeys(k for k in map(self.number_of, tensors) if k is not None))
            most = max((one.numel() for one in tensors), default=0)
            moves = bool(getattr(op, "is_view", False)) or name in _COPIES
            line, text = _place(file)
            for one in tree_leaves(result):
                if isinstance(one, torch.Tensor):
                    self._note(one, ReferenceStep(0, name, line, text, _NOTHING, numbers, moves, one.numel() < most))
            return result

        def _note(self, tensor: Any, step: ReferenceStep) -> None:
            self._bytes += tensor.numel() * 8
            if len(trace.steps) >= MOST_STEPS or self._bytes > MOST_BYTES:
                trace.is_whole = False
                return
            number = len(trace.steps)
            plain = tensor.detach().to(torch.float64) if tensor.dtype.is_floating_point else tensor.detach()
            trace.steps.append(replace(step, number=number, values=np.array(as_array(plain))))
            self._of[id(tensor)] = (tensor, number)

    return Recorder()


def _place(file: str) -> tuple[int | None, str]:
    """The line of the reference's file that is running, and the expression there."""
    frame = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_filename == file:
            return frame.f_lineno, _expression(frame, file)
        frame = frame.f_back  # type: ignore[assignment]
    return None, ""


def _expression(frame: Any, file: str) -> str:
    """The text of the expression that a frame is computing; of its line, if that is all that is known."""
    line = frame.f_lineno
    positions = getattr(frame.f_code, "co_positions", None)  # from Python 3.11 on
    if positions is not None:
        first, last, start, stop = next(itertools.islice(positions(), frame.f_lasti // 2, None))
        if first is not None and first == last and start is not None:
            text = linecache.getline(file, first).encode()[start:stop].decode(errors="replace")
            if text:
                return text
    return linecache.getline(file, line).strip()
