"""What a launch recorded, byte by byte: the oracle that models of launches are held to; and the model of a launch."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import triton_lab as lab
from triton_lab.polyhedral.kernels.launch_scop import KernelScop

Ints = NDArray[np.int64]


def scop(launch: Any) -> KernelScop:
    """The model of one launch."""
    found = lab.polyhedral.scop(launch)
    assert isinstance(found, KernelScop)
    return found


def touched(launch: Any, kinds: tuple[str, ...]) -> Ints:
    """All (byte, program) pairs of accesses of these kinds, each once."""
    found = [np.zeros((0, 2), np.int64)]
    for access in launch.accesses:
        if access.kind in kinds:
            for iteration in range(access.iterations):
                active = access.mask(iteration)
                first = access.address(iteration)[active]
                programs = np.nonzero(active)[0]
                for byte in range(access.itemsize):
                    found.append(np.stack([first + byte, programs], axis=1))
    return np.unique(np.concatenate(found), axis=0)


def races(launch: Any) -> bool:
    """Whether a byte is stored to by one program and touched by another; nothing orders them."""
    stored = np.unique(touched(launch, ("store",))[:, 0])
    everyone = touched(launch, ("load", "store", "atomic"))
    bytes_, programs = np.unique(everyone[:, 0], return_counts=True)
    return bool(np.isin(bytes_[programs > 1], stored).any())


def programs_at(launch: Any, address: int, size: int) -> tuple[set[int], set[int]]:
    """Who stores there, and who touches it at all."""
    result = []
    for kinds in (("store",), ("load", "store", "atomic")):
        pairs = touched(launch, kinds)
        inside = (pairs[:, 0] >= address) & (pairs[:, 0] < address + size)
        result.append(set(pairs[inside, 1].tolist()))
    return result[0], result[1]
