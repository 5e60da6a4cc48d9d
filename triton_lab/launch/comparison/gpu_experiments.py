"""Experiments on the GPU itself: the kernel is compiled again without fusion, or with dots in full float32."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from triton_lab.launch.comparison.argument_difference import Compared
from triton_lab.launch.comparison.launch_results import torch_tensors
from triton_lab.launch.comparison.number_formats import as_array
from triton_lab.localization import N_, _, translated

if TYPE_CHECKING:
    from triton_lab.launch.comparison.comparison_result import Comparison
    from triton_lab.launch.comparison.experiment import Experiment
    from triton_lab.launch.launch import Launch

# Options of Triton's compiler for NVIDIA: name, cause, keyword arguments.
_OPTIONS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("enable_fp_fusion=False", N_("fused multiply-add on the GPU"), {"enable_fp_fusion": False}),
    ('input_precision="ieee"', N_("tf32 inputs of tl.dot on the GPU"), {"default_dot_input_precision": "ieee"}),
)


def gpu_experiments(comparison: Comparison, measured: Callable[..., Experiment]) -> Iterator[Experiment]:
    """Experiments that run the launch on the GPU again with each option; none if this machine has no GPU."""
    import torch

    first = comparison.launch.target == "gpu"
    launch = comparison.launch if first else comparison.other
    if launch is None or not torch.cuda.is_available():
        return
    title = comparison.titles[0 if first else 1]
    unchanged = ""
    plain = [one for one in comparison if one.written]
    for name, marked, options in _OPTIONS:
        cause = translated(marked)
        try:
            unchanged = unchanged or _again(launch, {})[1]
            made, code = _again(launch, options)
        except Exception as error:  # Triton may raise anything for an option that it does not know
            yield measured(name, cause, title, plain, None, f"{type(error).__name__}: {str(error).splitlines()[0]}")
            continue
        if code and code == unchanged:
            # Such as a precision that the source gives itself: that of the option is only the default.
            yield measured(name, cause, title, plain, None, _("the kernel compiles to the same code with it"))
            continue
        found = [
            Compared(one.name, made[one.name], one.b) if first else Compared(one.name, one.a, made[own])
            for one, own in zip(plain, comparison.names, strict=False)
        ]
        yield measured(name, cause, title, plain, found)


def _again(launch: Launch, options: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """The results of the launch on the GPU with other options, from its tensors as they were, and the PTX that ran.

    It is not recorded.
    """
    from triton_lab.backend.compiler import options_of
    from triton_lab.backend.plugin.recorders import recorders
    from triton_lab.backend.targets.active_target import target

    kernel, metadata = launch.compiled[0].fn, launch.compiled[1]
    tensors = torch_tensors(launch)
    named = {argument.name: argument.value for argument in launch.arguments} | tensors
    parameters = inspect.signature(kernel.fn).parameters
    missing = [name for name in parameters if name not in named]
    if missing:
        raise ValueError(_("the argument {missing} cannot be passed again").format(missing=missing[0]))
    kept = {key: value for key, value in options_of(metadata).items() if key in ("num_warps", "num_stages", "num_ctas")}
    with recorders.unrecorded(), target("gpu"):
        compiled = kernel[launch.grid](**{name: named[name] for name in parameters}, **kept, **options)
    code = getattr(compiled, "asm", {}).get("ptx", "")
    return {name: as_array(tensor) for name, tensor in tensors.items()}, str(code)
