"""Example kernels, one module each: kernel, launcher, torch reference and inputs.

Notebooks, tests and benchmarks use the same list:

    for example in triton_lab.examples.all_examples():
        example.check()

Some of their launches were recorded on a GPU: `recordings` lists their names, and `recording` opens one. `measurement`
opens a sweep that was measured on one, `profile` and `proton` what profilers said there, and `sum_errors` how exact
its sums were.

Importing this package imports neither torch nor Triton: each module is imported on first use.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from triton_lab.examples.example import Example, Size
from triton_lab.localization import _

if TYPE_CHECKING:
    from triton_lab.examples.gpu_recordings import measurement as measurement
    from triton_lab.examples.gpu_recordings import recording as recording
    from triton_lab.examples.gpu_recordings import recordings as recordings
    from triton_lab.examples.profiles import profile as profile
    from triton_lab.examples.profiles import proton as proton
    from triton_lab.examples.profiles import sum_errors as sum_errors

_RECORDED = {
    **dict.fromkeys(("measurement", "recording", "recordings"), "gpu_recordings"),
    **dict.fromkeys(("profile", "proton", "sum_errors"), "profiles"),
}

__all__ = [
    "PAGES",
    "Example",
    "Size",
    "all_examples",
    "example",
    "measurement",
    "profile",
    "proton",
    "recording",
    "recordings",
    "sum_errors",
]

PAGES: tuple[str, ...] = (
    "vector_add",
    "add_one",
    "softmax",
    "matmul",
    "dropout",
    "layer_norm",
    "rms_norm",
    "attention",
    "collatz",
    "sparse_matmul",
    "int4_matmul",
    "conv2d",
    "histogram",
    "prefix_scan",
    "grouped_gemm",
    "split_k_matmul",
    "producer_consumer",
)
"""The modules of this package, from the easiest to the hardest; each has a tuple `EXAMPLES`."""


def all_examples() -> tuple[Example, ...]:
    """Every example, in the order of `PAGES`. Raises ValueError if two have one name."""
    found: dict[str, Example] = {}
    for page in PAGES:
        for each in importlib.import_module(f"{__name__}.{page}").EXAMPLES:
            if each.name in found:
                raise ValueError(
                    _("two examples are called {name}: the second is in {page}.py").format(
                        name=repr(each.name), page=page
                    )
                )
            found[each.name] = each
    return tuple(found.values())


def example(name: str) -> Example:
    """The example called `name`. Raises KeyError, which lists the names that exist."""
    found = {each.name: each for each in all_examples()}
    if name not in found:
        raise KeyError(
            _("no example is called {name}; there are {found}").format(name=repr(name), found=", ".join(found))
        )
    return found[name]


def __getattr__(name: str) -> Any:
    if name not in _RECORDED:
        raise AttributeError(_("module {name} has no attribute {name2}").format(name=repr(__name__), name2=repr(name)))
    return getattr(importlib.import_module(f"{__name__}.{_RECORDED[name]}"), name)
