"""Tools for testing Triton kernels.

A pytest plugin runs any project's tests on the CPU and checks each launch. There is also coverage of kernels,
strategies for hypothesis, and a comparison that knows what rounding explains.

Names are imported on first use: pytest loads `plugin` wherever this package is installed.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from triton_lab.localization import _

if TYPE_CHECKING:
    from triton_lab.testing.baseline import BaselineError as BaselineError
    from triton_lab.testing.close import NotClose as NotClose
    from triton_lab.testing.close import assert_close as assert_close
    from triton_lab.testing.strategies import dtypes as dtypes
    from triton_lab.testing.strategies import elements as elements
    from triton_lab.testing.strategies import shapes as shapes
    from triton_lab.testing.strategies import tensors as tensors

_PUBLIC = {
    "BaselineError": "baseline",
    "NotClose": "close",
    "assert_close": "close",
    "dtypes": "strategies",
    "elements": "strategies",
    "shapes": "strategies",
    "tensors": "strategies",
}

__all__ = ["BaselineError", "NotClose", "assert_close", "dtypes", "elements", "shapes", "tensors"]


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(_("module 'triton_lab.testing' has no attribute {name}").format(name=repr(name)))
    value = getattr(importlib.import_module(f"triton_lab.testing.{_PUBLIC[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
