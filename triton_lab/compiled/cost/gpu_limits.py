"""The peak rates of GPUs, as their makers state them: the roofs of a roofline.

Rates are without sparsity, in 1e12 operations a second; memory in 1e9 bytes a second. Each `Gpu.source` names the
maker's document, which was not opened: rates of memory and of float16 products were compared with public copies of
it, except the A100's. The A100's figures and most other rates are from the makers' tables as remembered, not looked
up. ``doubt`` says where copies differ.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from triton_lab.localization import _

PLAIN = "float32"  # the usual type outside of products of tiles


@dataclass(frozen=True)
class Gpu:
    """A GPU's peak rates by type: ``plain`` for ordinary arithmetic, ``products`` for the units that multiply tiles."""

    name: str
    target: str
    memory: float
    plain: Mapping[str, float]
    products: Mapping[str, float]
    source: str
    doubt: str = ""

    def rate(self, type: str) -> float:
        """Operations a second in products of ``type``; the plain rate for a type without its own units."""
        return self.products.get(type, self.plain.get(type, self.plain[PLAIN])) * 1e12

    @property
    def bytes(self) -> float:
        """Bytes a second."""
        return self.memory * 1e9


_HOPPER = {"float64": 66.9, "tf32": 494.7, "float16": 989.4, "bfloat16": 989.4, "float8": 1978.9, "int8": 1978.9}
GPUS = (
    Gpu(
        "A100",
        "sm_80",
        2039,
        {"float64": 9.7, "float32": 19.5, "float16": 78.0},
        {"float64": 19.5, "tf32": 156.0, "float16": 312.0, "bfloat16": 312.0, "int8": 624.0},
        "NVIDIA A100 Tensor Core GPU data sheet, A100 80GB SXM",
    ),
    Gpu(
        "H100",
        "sm_90",
        3350,
        {"float64": 33.5, "float32": 66.9, "float16": 133.8},
        _HOPPER,
        "NVIDIA H100 Tensor Core GPU architecture white paper, table of H100 SXM5; memory: H100 data sheet",
    ),
    Gpu(
        "H200",
        "sm_90",
        4800,
        {"float64": 33.5, "float32": 66.9, "float16": 133.8},
        _HOPPER,
        "NVIDIA H200 Tensor Core GPU data sheet, H200 SXM",
    ),
    Gpu(
        "B200",
        "sm_100",
        8000,
        {"float64": 37.0, "float32": 75.0},
        {"float64": 37.0, "tf32": 1125.0, "float16": 2250.0, "bfloat16": 2250.0, "float8": 4500.0, "int8": 4500.0},
        "NVIDIA HGX B200 and DGX B200 data sheets: an eighth of eight GPUs, half of the figure with sparsity",
        "copies say 7.7 to 8 TB/s of memory, 37 to 40 for float64, 75 to 80 for float32, 1.1 to 1.2 thousand for tf32",
    ),
    Gpu(
        "RTX 4090",
        "sm_89",
        1008,
        {"float64": 1.3, "float32": 82.6, "float16": 82.6},
        {"tf32": 82.6, "float16": 165.2, "bfloat16": 165.2, "float8": 330.3, "int8": 660.6},
        "NVIDIA Ada GPU architecture white paper, GeForce RTX 4090, products summed up in float32",
    ),
    Gpu(
        "MI300X",
        "gfx942",
        5300,
        {"float64": 81.7, "float32": 163.4},
        {
            "float64": 163.4,
            "float32": 163.4,
            "tf32": 653.7,
            "float16": 1307.4,
            "bfloat16": 1307.4,
            "float8": 2614.9,
            "int8": 2614.9,
        },
        "AMD Instinct MI300X accelerator data sheet",
    ),
)


def gpu(name: str) -> Gpu:
    """The GPU called ``name``, ignoring case. Raises LookupError, which lists the known ones."""
    for one in GPUS:
        if name.lower().replace(" ", "") == one.name.lower().replace(" ", ""):
            return one
    raise LookupError(
        _("there are no figures for {name}, only for {gpus}").format(
            name=repr(name), gpus=", ".join(one.name for one in GPUS)
        )
    )


def usual(target: str) -> Gpu:
    """The best-known GPU of a target: the first with its instruction set, else one of the same maker."""
    by_target = {"gfx950": "MI300X", "gfx1200": "MI300X", "sm_120": "RTX 4090", "sm_103": "B200"}
    known = next((one for one in GPUS if one.target == target), None)
    return known or gpu(by_target.get(target, "A100"))
