"""How many programs a multiprocessor holds at once, and what limits that.

The rules are those of NVIDIA's occupancy calculator (``cuda_occupancy.h``, which comes with the CUDA toolkit, and the
CUDA C++ Programming Guide, "Technical Specifications per Compute Capability"): registers are allocated to warps in
units, from quarters of a multiprocessor; shared memory to programs in units, plus one kibibyte for the system. For
AMD the rules are those of the instruction set guides of CDNA 3 and 4: a compute unit has four SIMDs, each with vector
registers for wavefronts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from triton_lab.compiled.resource_facts import Metadata
from triton_lab.localization import _
from triton_lab.messages import count

KIB = 1 << 10
_REGISTERS, _UNIT, _SIDES = 64 * KIB, 256, 4  # of a multiprocessor; allocated at a time; parts of the file
_SHARED_UNIT, _SYSTEM = 128, KIB


@dataclass(frozen=True)
class Multiprocessor:
    """A multiprocessor's capacity: warps, programs, bytes of shared memory; ``registers`` per lane of an AMD SIMD."""

    warps: int
    programs: int
    shared: int
    registers: int = 0
    unit: int = 0


MULTIPROCESSORS: Mapping[str, Multiprocessor] = {
    "sm_80": Multiprocessor(64, 32, 164 * KIB),
    "sm_86": Multiprocessor(48, 16, 100 * KIB),
    "sm_87": Multiprocessor(48, 16, 164 * KIB),
    "sm_89": Multiprocessor(48, 24, 100 * KIB),
    "sm_90": Multiprocessor(64, 32, 228 * KIB),
    "sm_100": Multiprocessor(64, 32, 228 * KIB),
    "sm_103": Multiprocessor(64, 32, 228 * KIB),
    "sm_120": Multiprocessor(48, 24, 100 * KIB),
    "gfx942": Multiprocessor(32, 32, 64 * KIB, registers=512, unit=8),
    "gfx950": Multiprocessor(32, 32, 160 * KIB, registers=512, unit=8),
}


def register_bytes(target: str) -> int:
    """Bytes of the registers of a multiprocessor of ``target``. Raises KeyError for a target without figures."""
    of_a_lane = MULTIPROCESSORS[target].registers
    return 4 * (of_a_lane * 64 * _SIDES if of_a_lane else _REGISTERS)  # an AMD wavefront has 64 lanes


@dataclass(frozen=True)
class Occupancy:
    """How many ``programs`` of ``warps`` each run at once, where ``most`` warps could run.

    ``limits`` has how many programs each resource would allow; ``by`` names those that allow the fewest.
    """

    programs: int
    warps: int
    most: int
    limits: Mapping[str, int]

    @property
    def share(self) -> float:
        """The fraction of possible warps that are resident."""
        return self.programs * self.warps / self.most

    @property
    def by(self) -> tuple[str, ...]:
        """The resources that limit it."""
        return tuple(name for name, programs in self.limits.items() if programs == self.programs)

    def __str__(self) -> str:
        if not self.programs:
            return _("no program fits on a multiprocessor: one program needs too much of {by}").format(
                by=" and ".join(self.by)
            )
        return _(
            "{programs} of {warps} on a multiprocessor at once, {share} of the {most} warps that it "
            "can hold; limited by {by}"
        ).format(
            programs=count(self.programs, "program"),
            warps=count(self.warps, "warp"),
            share=f"{self.share:.0%}",
            most=self.most,
            by=" and ".join(self.by),
        )


def occupancy(target: str, metadata: Metadata) -> Occupancy:
    """The occupancy of a kernel with these resources. Raises LookupError where figures of either are unknown."""
    held = MULTIPROCESSORS.get(target)
    if held is None:
        raise LookupError(
            _("the number of programs that fit on a multiprocessor of {target} is not known").format(target=target)
        )
    if metadata.registers is None or metadata.shared is None:
        raise LookupError(_("the number of registers of the kernel is not known"))
    limits = (_amd if held.registers else _nvidia)(held, metadata, metadata.registers, metadata.shared)
    return Occupancy(min(limits.values()), metadata.warps, held.warps, limits)


def _nvidia(held: Multiprocessor, metadata: Metadata, registers: int, shared: int) -> dict[str, int]:
    each = _up(max(registers, 1) * metadata.lanes, _UNIT)
    warps = _REGISTERS // _SIDES // each * _SIDES
    return {
        "registers": warps // metadata.warps,
        "shared memory": held.shared // _up(shared + _SYSTEM, _SHARED_UNIT),
        "warps": held.warps // metadata.warps,
        "programs": held.programs,
    }


def _amd(held: Multiprocessor, metadata: Metadata, registers: int, shared: int) -> dict[str, int]:
    waves = min(held.warps // _SIDES, held.registers // _up(max(registers, 1), held.unit)) * _SIDES
    limits = {"registers": waves // metadata.warps, "warps": held.warps // metadata.warps, "programs": held.programs}
    return {**limits, "shared memory": held.shared // shared} if shared else limits


def _up(value: int, unit: int) -> int:
    return -(-value // unit) * unit
