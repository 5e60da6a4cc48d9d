"""Hints for errors whose messages from Triton or torch do not speak to the user."""

from __future__ import annotations

import difflib
import linecache
import re
import sys
import traceback
from collections.abc import Callable, Iterator
from typing import Any

from triton_lab.localization import _
from triton_lab.messages import a, count
from triton_lab.notebook.mistakes import declaration_hints, name_hints


def hint_for(error: BaseException) -> str:
    """A sentence on how to fix ``error``, raised by a launch; "" if we know none."""
    if "triton" not in sys.modules:
        return ""
    return next((hint for hint in (rule(error) for rule in _RULES) if hint), "")


def in_the_kernels_name(error: BaseException) -> str:
    """The message of ``error``. Python names a function that Triton generates for each launch; the user knows the
    kernel.
    """
    kernel = next((kernel.__name__ for kernel, _unused, _unused in _launches(error)), "dynamic_func")
    return re.sub(r"^dynamic_func\(", f"{kernel}(", str(error)) if "triton" in sys.modules else str(error)


def _no_memory(error: BaseException) -> str:
    """The hint for an argument that is no tensor, or has no memory that a pointer could point to."""
    import torch

    for _unused, given, _unused in _launches(error):
        for name, value in given.items():
            if isinstance(value, list):
                return _(
                    "argument {name} is a list, but a kernel needs a tensor. Pass torch.tensor(...) of it."
                ).format(name=repr(name))
            if isinstance(value, torch.Tensor) and value.layout != torch.strided:
                kind = str(value.layout).removeprefix("torch.")
                return _(
                    "argument {name} is a tensor of layout {kind}, which has no strides. Pass {name2}.to_dense()."
                ).format(name=repr(name), kind=kind, name2=name)
            if type(value).__name__ == "FakeTensor":
                return _("argument {name} is a fake tensor: it has a shape but no memory. Pass a real tensor.").format(
                    name=repr(name)
                )
    return ""


# The options that a launch takes beside the kernel's own arguments.
_LAUNCH_OPTIONS = (
    "num_warps",
    "num_stages",
    "num_ctas",
    "maxnreg",
    "enable_fp_fusion",
    "debug",
    "warmup",
    "grid",
    "ir_override",
    "pre_hook",
    "launch_pdl",
    "launch_cooperative_grid",
    "instrumentation_mode",
)


def _missing(error: BaseException) -> str:
    """The hint for a missing argument: Python's message names Triton's generated function, not the user's kernel."""
    if not isinstance(error, TypeError) or not str(error).startswith("dynamic_func() missing"):
        return ""
    for kernel, given, _unused in _launches(error):
        missing = [p.name for p in kernel.params if p.name not in given and not p.has_default]
        for name in given:
            meant = difflib.get_close_matches(name, missing, n=1) if name not in kernel.arg_names else []
            if meant:
                return _("{signature}: it has no {name}; did you mean {meant}?").format(
                    signature=_signature(kernel), name=name, meant=meant[0]
                )
        strange = [name for name in given if name not in kernel.arg_names and name not in _LAUNCH_OPTIONS]
        has_no = _("it has no {strange}; ").format(strange=", ".join(strange)) if strange else ""
        return _("{signature}: {has_no}pass {missing} too").format(
            signature=_signature(kernel), has_no=has_no, missing=", ".join(missing)
        )
    return ""


def _signature(kernel: Any) -> str:
    return _("the kernel is {kernel}({arg_names})").format(
        kernel=kernel.__name__, arg_names=", ".join(kernel.arg_names)
    )


def _too_many(error: BaseException) -> str:
    found = re.fullmatch(
        r"dynamic_func\(\) (?:takes (\d+) .*arguments? but (\d+) .*given|got multiple values for argument '(\w+)')",
        str(error),
    )
    if not isinstance(error, TypeError) or found is None:
        return ""
    for kernel, _unused, _unused in _launches(error):
        if found[1]:
            return _("{signature}: it takes {arguments}, and the launch passes {found}").format(
                signature=_signature(kernel), arguments=count(int(found[1]), "argument"), found=found[2]
            )
        return _("{signature}: the launch passes {name} twice, by position and by name. Remove one of them.").format(
            signature=_signature(kernel), name=found[3]
        )
    return ""


def _unknown_keyword(error: BaseException) -> str:
    found = re.search(r"Keyword argument (\w+) was specified but unrecognised", str(error))
    if not isinstance(error, KeyError) or found is None:
        return ""
    for kernel, _unused, _unused in _launches(error):
        meant = difflib.get_close_matches(found[1], [*kernel.arg_names, *_LAUNCH_OPTIONS], n=1)
        return _("{signature}: it has no {found}").format(signature=_signature(kernel), found=found[1]) + (
            _("; did you mean {meant}?").format(meant=meant[0]) if meant else ""
        )
    return ""


def _warps(error: BaseException) -> str:
    if not isinstance(error, AssertionError) or "num_warps must be a power of 2" not in str(error):
        return ""
    return _("num_warps is the number of warps of a program, each of 32 threads. Pass 1, 2, 4, 8 or 16.")


def _not_launched(error: BaseException) -> str:
    if not isinstance(error, RuntimeError) or "Cannot call @triton.jit'd outside of the scope" not in str(error):
        return ""
    for name, args in _called(error):
        grid = args[0] if args and isinstance(args[0], (tuple, list)) else None
        return _("a kernel is launched over a grid of programs. Write {name}[{grid}](...), not {name}(...).").format(
            name=name, grid="(programs,)" if grid is None else tuple(grid)
        )
    return ""


def _called(error: BaseException) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """The kernels that were called as functions, each with its arguments."""
    for frame, _unused in traceback.walk_tb(error.__traceback__):
        kernel, args = frame.f_locals.get("self"), frame.f_locals.get("args", ())
        if frame.f_code.co_name == "__call__" and "__name__" in getattr(kernel, "__dict__", {}):
            yield str(vars(kernel)["__name__"]), args


def _strange_argument(error: BaseException) -> str:
    """The hint for an argument of a type that no kernel takes."""
    found = re.fullmatch(r"failed to specialize argument of type: (\w+)", str(error))
    if not isinstance(error, TypeError) or found is None:
        return ""
    for _unused, given, _unused in _launches(error):
        for name, value in given.items():
            if type(value).__name__ == found[1]:
                return _(
                    "argument {name} is {found}. A kernel takes tensors, numbers, None, and tuples of these. "
                    "To pass anything else, declare {name2}: tl.constexpr."
                ).format(name=repr(name), found=a(found[1]), name2=name)
    return ""


def _grid(error: BaseException) -> str:
    asked = False
    for _unused, _unused, grid in _launches(error):
        asked |= callable(grid)
        if isinstance(grid, int):
            if asked:
                return _(
                    "the function of the grid gives the number {grid}: a grid is a tuple of one to three numbers of "
                    "programs. Write lambda meta: (...,)."
                ).format(grid=grid)
            return _("a grid is a tuple of one to three numbers of programs. Write kernel[({grid},)](...).").format(
                grid=grid
            )
        if isinstance(grid, (tuple, list)) and not len(grid) and isinstance(error, IndexError):
            return _("the grid is empty. For one program, write kernel[(1,)](...).")
        wrong = isinstance(error, TypeError) and re.search(r"takes 0 positional arguments but 1 was given", str(error))
        if wrong and callable(grid) and f"{grid.__name__}()" in str(error):
            return _(
                "the function of the grid takes one argument, a dictionary of the launch's arguments. "
                "Write lambda meta: (...,)."
            )
    return ""


def _asked_by_another_name(error: BaseException) -> str:
    """The hint for ``meta["BLOCK_SIZE"]`` if the kernel says ``BLOCK``, in the function of a grid or a heuristic."""
    if not isinstance(error, KeyError) or len(error.args) != 1 or not isinstance(error.args[0], str):
        return ""
    frame, line = list(traceback.walk_tb(error.__traceback__))[-1]
    code = frame.f_code

    def asked(function: Any) -> bool:
        inner = getattr(function, "__code__", None)
        names = code.co_varnames[:1]
        return inner is code and bool(names) and f"{names[0]}[" in linecache.getline(code.co_filename, line)

    for _unused, given, grid in _launches(error):
        if asked(grid):
            return _("the function of the grid gets a dictionary of the launch's arguments: {given}").format(
                given=", ".join(given)
            )
    for tuner in _around(error):
        if any(map(asked, getattr(tuner, "values", {}).values())):
            return _(
                "the function of @triton.heuristics gets a dictionary of the kernel's arguments: {arg_names}"
            ).format(arg_names=", ".join(tuner.arg_names))
    return ""


def _tuned(error: BaseException) -> str:
    """The hint for an argument from both the launch and the autotuner, or a tuner below the kernel's own decorator."""
    found = re.match(r"Conflicting meta-parameters: ([\w, ]+)\.", str(error))
    if isinstance(error, ValueError) and found is not None:
        return _("the autotuner chooses {found}. Do not pass it in the launch.").format(found=found[1])
    if isinstance(error, AttributeError) and str(error) == "'function' object has no attribute 'arg_names'":
        return _("@triton.autotune and @triton.heuristics apply to a kernel. Write them above @triton.jit.")
    return ""


def _around(error: BaseException) -> Iterator[Any]:
    """The objects in which Triton wraps kernels, among those that the error passed through."""
    from triton.runtime.jit import KernelInterface

    for frame, _unused in traceback.walk_tb(error.__traceback__):
        if isinstance(frame.f_locals.get("self"), KernelInterface):
            yield frame.f_locals["self"]


def _no_gpu(error: BaseException) -> str:
    """The hint for tensors of the GPU on a machine that has none."""
    if "Torch not compiled with CUDA" not in str(error) and "Found no NVIDIA driver" not in str(error):
        return ""
    return _('there is no GPU here; kernels run on CPU tensors. Remove device="cuda" and .cuda().')


def _changed_global(error: BaseException) -> str:
    """The hint for a changed global, which Triton refuses in kernels outside of the notebook.

    Kernels of the notebook are compiled again.
    """
    if not isinstance(error, RuntimeError) or not str(error).startswith("Global variable "):
        return ""
    return _(
        "Triton compiles a kernel with the current values of its globals, and refuses to run it after they change. "
        "The lab recompiles kernels of the notebook, but this kernel is not a name in the notebook. Pass the value "
        "as a tl.constexpr argument, or import the kernel by name before the cell: from module import kernel"
    )


_RULES: tuple[Callable[[BaseException], str], ...] = (
    *declaration_hints.HINTS,
    name_hints.no_kernel,
    _no_memory,
    _missing,
    _too_many,
    _unknown_keyword,
    _warps,
    _not_launched,
    _strange_argument,
    _grid,
    _asked_by_another_name,
    _tuned,
    _no_gpu,
    _changed_global,
)


def _launches(error: BaseException) -> Iterator[tuple[Any, dict[str, Any], Any]]:
    """The launches that the error passed through: kernel, arguments by name, and grid."""
    from triton.runtime.jit import JITFunction

    for frame, _unused in traceback.walk_tb(error.__traceback__):
        values = frame.f_locals
        kernel, args = values.get("self"), values.get("args")
        if isinstance(kernel, JITFunction) and isinstance(args, tuple):
            given = dict(zip(kernel.arg_names, args, strict=False)) | dict(values.get("kwargs") or {})
            yield kernel, given, values.get("grid")
