"""Kernels that did not run, as launches: from arguments and a grid, or from types alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from triton_lab.backend.plugin.kernel_arguments import TORCH_NAMES
from triton_lab.compiled.request import Signature, source_of
from triton_lab.launch.launch import Launch
from triton_lab.launch.recording.own_launch import unrun_launch
from triton_lab.localization import _

# Numbers of which Triton knows nothing: it compiles others for 1, and for multiples of 16.
_NUMBERS = {"i64": 2**33 + 1, "u64": 2**33 + 1, "u32": 2**31 + 1, "i1": True}


def unrun(kernel: Any, grid: Any, arguments: Mapping[str, Any]) -> Launch:
    """The launch of ``kernel`` with these arguments, which does not run. Raises TypeError, ValueError."""
    if not hasattr(kernel, "__getitem__"):
        raise TypeError(
            _("{kernel} is not a kernel and no launch: prove a launch, or a function with @triton.jit").format(
                kernel=repr(kernel)
            )
        )
    if grid is None:
        raise ValueError(
            _("a kernel that did not run needs its grid: lab.prove(kernel, grid=(8,), x=..., n=1000), or its types")
        )
    found = unrun_launch(lambda: kernel[grid](**arguments))
    if found is None:
        raise ValueError(_("the kernel was not launched: is a dimension of the grid 0?"))
    return found


def typed_launch(kernel: Any, signature: Signature, constants: Mapping[str, Any]) -> Launch:
    """A launch of ``kernel`` with small arguments of these types. Raises TypeError, ValueError."""
    import torch

    source = source_of(kernel, signature, constants)
    arguments: dict[str, Any] = {}
    for position, (name, type) in enumerate(source.signature.items()):
        if type == "constexpr":
            arguments[name] = source.constants.get((position,), source.constants.get(name))
        elif type.startswith("*") and type[1:] in TORCH_NAMES:
            arguments[name] = torch.zeros(1, dtype=torch.float32).to(getattr(torch, TORCH_NAMES[type[1:]]))
        elif type in TORCH_NAMES and type[0] in "iu":
            arguments[name] = _NUMBERS.get(type, 3)
        elif type in TORCH_NAMES:
            arguments[name] = 0.5
        else:
            raise ValueError(
                _(
                    "{name}: nothing is proved of a kernel with a parameter of type {type}, unless it is launched"
                ).format(name=name, type=repr(type))
            )
    return unrun(source.fn, (1,), arguments)


def alike(launches: Sequence[Launch]) -> list[Launch]:
    """The launches with the first one's kernel and constants. Raises ValueError where they are of several kernels."""
    first = launches[0]
    names = dict.fromkeys(one.kernel for one in launches)
    if len(names) > 1:
        raise ValueError(
            _("these launches are of several kernels: {names}. Prove those of one").format(names=", ".join(names))
        )
    return [one for one in launches if _constants(one) == _constants(first)]


def _constants(launch: Launch) -> list[tuple[str, str]]:
    return [(a.name, repr(a.value)) for a in launch.arguments if a.kind == "constexpr"]
