"""The GPUs that a kernel can be compiled for, named as their makers name the instruction sets."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from triton_lab.localization import _

KIB = 1 << 10


@dataclass(frozen=True)
class Architecture:
    """An instruction set: Triton's names for it in ``backend`` and ``arch``, and the lanes of a warp.

    ``shared`` is how many bytes of shared memory one program may have; None if unknown.
    """

    name: str
    backend: str
    arch: int | str
    lanes: int
    shared: int | None

    @property
    def is_nvidia(self) -> bool:
        """Whether NVIDIA makes it; otherwise AMD does."""
        return self.backend == "cuda"

    @property
    def has_tensor_memory(self) -> bool:
        """Whether its tensor cores have a memory of their own."""
        return self.is_nvidia and int(self.arch) // 10 in (10, 11)

    @property
    def target(self) -> Any:
        """Triton's GPUTarget."""
        from triton.backends.compiler import GPUTarget

        return GPUTarget(self.backend, self.arch, self.lanes)


# Shared memory: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability"; for AMD the sizes of the
# LDS in the instruction set guides of CDNA 3, CDNA 4 and RDNA 4.
ARCHITECTURES = (
    Architecture("sm_80", "cuda", 80, 32, 163 * KIB),
    Architecture("sm_90", "cuda", 90, 32, 227 * KIB),
    Architecture("sm_100", "cuda", 100, 32, 227 * KIB),
    Architecture("sm_120", "cuda", 120, 32, 99 * KIB),
    Architecture("gfx942", "hip", "gfx942", 64, 64 * KIB),
    Architecture("gfx950", "hip", "gfx950", 64, 160 * KIB),
    Architecture("gfx1200", "hip", "gfx1200", 32, 64 * KIB),
)
_OTHERWISE = "sm_90"


def architecture(name: str) -> Architecture:
    """The architecture called ``name``. Raises ValueError, which lists the known names, the most similar first."""
    known = {one.name: one for one in ARCHITECTURES}
    here = of_machine()
    if here is not None:
        known.setdefault(here.name, here)
    if name not in known:
        near = difflib.get_close_matches(str(name), known, n=len(known), cutoff=0.0)
        raise ValueError(
            _("there is no target {name} to compile for; choose {near}").format(name=repr(name), near=", ".join(near))
        )
    return known[name]


def architectures(names: str | Sequence[str] | None) -> list[Architecture]:
    """The architectures called ``names``; without names, this machine's GPU, else sm_90."""
    if names is None:
        return [of_machine() or architecture(_OTHERWISE)]
    return [architecture(name) for name in ([names] if isinstance(names, str) else names)]


def of_machine() -> Architecture | None:
    """The architecture of this machine's GPU; None without a GPU."""
    from triton_lab.backend.targets.gpu import gpu_driver

    driver = gpu_driver()
    if driver is None:
        return None
    target = driver.get_current_target()
    name = f"sm_{target.arch}" if target.backend == "cuda" else str(target.arch).partition(":")[0]
    table = next((one for one in ARCHITECTURES if one.name == name), None)
    return table or Architecture(name, target.backend, target.arch, target.warp_size, None)
