"""What to do about an error that Triton or torch words for somebody else."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from typing import Any


def hint_for(error: BaseException) -> str:
    """A sentence on how to mend what ``error``, raised by a launch, is about; empty if we know none."""
    return next((hint for hint in (rule(error) for rule in _RULES) if hint), "")


def _no_memory(error: BaseException) -> str:
    """An argument that is no tensor, or one without memory that a pointer could point to."""
    import numpy as np
    import torch

    for _, given, _ in _launches(error):
        for name, value in given.items():
            if isinstance(value, np.ndarray):
                return f"argument {name!r} is a NumPy array: pass torch.from_numpy({name}), which shares its memory"
            if isinstance(value, list):
                return f"argument {name!r} is a list: pass torch.tensor({name})"
            if isinstance(value, torch.Tensor) and value.layout != torch.strided:
                kind = str(value.layout).removeprefix("torch.")
                return f"argument {name!r} is a tensor of layout {kind}, without strides: pass {name}.to_dense()"
            if type(value).__name__ == "FakeTensor":
                return f"argument {name!r} is a fake tensor, which has a shape but no memory: pass a real one"
    return ""


def _missing(error: BaseException) -> str:
    """Python speaks of Triton's generated function; the user knows the kernel."""
    if not isinstance(error, TypeError) or not str(error).startswith("dynamic_func() missing"):
        return ""
    for kernel, given, _ in _launches(error):
        missing = [p.name for p in kernel.params if p.name not in given and not p.has_default]
        return f"the kernel is {kernel.__name__}({', '.join(kernel.arg_names)}): pass {', '.join(missing)} too"
    return ""


def _grid(error: BaseException) -> str:
    for _, _, grid in _launches(error):
        if isinstance(grid, int):
            return f"a grid is a tuple of one to three numbers of programs: kernel[({grid},)](...)"
    return ""


def _changed_global(error: BaseException) -> str:
    """Triton refuses kernels from elsewhere alone; those of the notebook are compiled anew."""
    if not isinstance(error, RuntimeError) or not str(error).startswith("Global variable "):
        return ""
    return (
        "Triton compiles a kernel once, with its globals as they are then, and does not run it with others. Kernels of "
        "the notebook follow their globals; this one is not a name of the notebook. Pass the value as a "
        "tl.constexpr argument, or import the kernel by its name before the cell: from module import kernel"
    )


_RULES: tuple[Callable[[BaseException], str], ...] = (_no_memory, _missing, _grid, _changed_global)


def _launches(error: BaseException) -> Iterator[tuple[Any, dict[str, Any], Any]]:
    """The launches that the error went through: kernel, what it was given by name, and grid."""
    from triton.runtime.jit import JITFunction

    for frame, _ in traceback.walk_tb(error.__traceback__):
        values = frame.f_locals
        kernel, args = values.get("self"), values.get("args")
        if isinstance(kernel, JITFunction) and isinstance(args, tuple):
            given = dict(zip(kernel.arg_names, args, strict=False)) | dict(values.get("kwargs") or {})
            yield kernel, given, values.get("grid")
