"""Tensors over memory that another object owns."""

from __future__ import annotations

import ctypes
import warnings
from typing import Any

import numpy as np


def tensor_of_bytes(start: int, stop: int, owner: Any, *, writable: bool) -> Any:
    """A tensor of uint8 over the addresses ``start .. stop - 1``, which keeps ``owner`` alive.

    If the memory is not ``writable``, the launch knows it, since the tensor borrows an array that may not be written.
    """
    import torch

    memory = (ctypes.c_uint8 * (stop - start)).from_address(start)
    memory.owner = owner  # type: ignore[attr-defined]
    array = np.ctypeslib.as_array(memory)
    array.flags.writeable = writable
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # torch warns of what may only be read
        return torch.from_numpy(array)
