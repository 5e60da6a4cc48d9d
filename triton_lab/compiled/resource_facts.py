"""The GPU resources that the machine code takes: read from the tools' reports, never guessed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from triton_lab.compiled import instruction_mix
from triton_lab.compiled.architecture import Architecture
from triton_lab.compiled.compiler_client import CompileOutcome
from triton_lab.localization import _
from triton_lab.messages import count

_MOST_THREADS = 1024  # of a program, on all GPUs of NVIDIA and AMD


@dataclass(frozen=True)
class Metadata:
    """The resources of one program. An unknown figure is None, and ``unknown`` has the reason under its name.

    ``registers``: 32-bit registers of a thread; on AMD its vector registers (``accumulators`` of them for matrix
    products), beside ``scalar_registers`` for the whole wavefront. ``spills``: how many registers of a thread are
    spilled, as Triton's ``kernel.n_spills``. ``stack``: bytes of a thread; ``shared``: bytes of a program.
    ``tensor_memory``: columns, of 128 words of 32 bits. ``opcodes`` counts the instructions of the machine code
    statically, by name; ``instructions`` counts them by what they do, and ``matrix`` those that multiply matrices.
    """

    registers: int | None
    spills: int | None
    stack: int | None
    shared: int | None
    tensor_memory: int | None
    scalar_registers: int | None
    accumulators: int | None
    warps: int
    lanes: int
    stages: int
    ctas: int
    opcodes: Mapping[str, int] = field(default_factory=dict)
    unknown: Mapping[str, str] = field(default_factory=dict)

    @property
    def instructions(self) -> dict[str, int]:
        """How many instructions there are, by what they do."""
        return instruction_mix.kinds(self.opcodes)

    @property
    def matrix(self) -> dict[str, int]:
        """The counts of instructions for tensor cores and similar units, by name."""
        return {
            name: count for name, count in self.opcodes.items() if instruction_mix.kind(name) == instruction_mix.MATRIX
        }

    def rows(self) -> Iterator[tuple[str, str]]:
        """Rows of name and value, as they are shown."""
        figures = (
            ("registers", self.registers, ""),
            ("scalar registers", self.scalar_registers, ""),
            ("matrix registers", self.accumulators, ""),
            ("spilled registers", self.spills, ""),
            ("shared memory", self.shared, " bytes"),
            ("tensor memory", self.tensor_memory, " columns"),
        )
        for name, value, unit in figures:
            if value is not None:
                yield name, f"{value:,}{unit}"
            elif name in self.unknown:
                yield name, _("not known: {why}").format(why=self.unknown[name])
        yield "warps", _("{warps} of {lanes}").format(warps=self.warps, lanes=count(self.lanes, "lane"))
        yield "stages", str(self.stages)
        if self.ctas > 1:
            yield _("CTAs of a cluster"), str(self.ctas)
        if "instructions" in self.unknown:
            yield "instructions", _("not known: {why}").format(why=self.unknown["instructions"])
            return
        yield "instructions", f"{sum(self.opcodes.values()):,}"
        yield from ((f"  {name}", f"{count:,}") for name, count in self.instructions.items())
        found = sorted(self.matrix.items(), key=lambda one: -one[1])
        yield "matrix instructions", ", ".join(f"{name} x {count}" for name, count in found) or "none"

    def problems(self, target: Architecture) -> tuple[str, ...]:
        """The reasons why a GPU of ``target`` could not run it, in words."""
        found = []
        most, shared = target.shared, self.shared
        if most is not None and shared is not None and shared > most:
            found.append(
                _(
                    "{target} would refuse to launch it: a program needs {shared} bytes of shared memory, "
                    "but at most {most} are allowed. Use smaller blocks or a smaller num_stages."
                ).format(target=target.name, shared=f"{shared:,}", most=f"{most:,}")
            )
        threads = self.warps * self.lanes
        if threads > _MOST_THREADS:
            found.append(
                _(
                    "{target} would refuse to launch it: a program has {threads} threads, "
                    "but at most {most} are allowed. Use a smaller num_warps."
                ).format(target=target.name, threads=f"{threads:,}", most=f"{_MOST_THREADS:,}")
            )
        return tuple(found)


def metadata_of(target: Architecture, outcome: CompileOutcome) -> Metadata:
    """The metadata of a compilation that succeeded."""
    known = outcome.told["metadata"]
    counted = instruction_mix.opcodes(outcome.stages)
    unknown = {} if counted is not None else {"instructions": outcome.told["lacking"].get("sass", "no machine code")}
    figures = _nvidia(outcome) if target.is_nvidia else _amd(str(outcome.stages["amdgcn"]))
    for name in ("registers", "spills", "stack"):
        if figures.get(name) is None:
            unknown[_TOLD[name]] = _("the tool that reports it is missing, or reported nothing")
    return Metadata(
        figures.get("registers"),
        figures.get("spills"),
        figures.get("stack"),
        known["shared"],
        known.get("tmem_size") if target.has_tensor_memory else None,
        figures.get("scalar_registers"),
        figures.get("accumulators"),
        known["num_warps"],
        known.get("warp_size", target.lanes),
        known["num_stages"],
        known.get("num_ctas", 1),
        counted or {},
        unknown,
    )


_TOLD = {"registers": "registers", "spills": "spilled registers", "stack": "stack"}


def _nvidia(outcome: CompileOutcome) -> dict[str, int | None]:
    """Registers, spills and stack from the cubin, as cuobjdump reads it; else from what ptxas reported."""
    usage = re.search(r"\bREG:(\d+) STACK:(\d+)", outcome.told["usage"])
    if usage is not None:
        registers, stack = int(usage[1]), int(usage[2])
    else:
        used = re.search(r"Used (\d+) registers", outcome.told["log"])
        frame = re.search(r"(\d+) bytes stack frame", outcome.told["log"])
        if used is None or frame is None:
            return {}
        registers, stack = int(used[1]), int(frame[1])
    # A spilled register takes four bytes of the stack: Triton counts spills of a loaded kernel the same way.
    return {"registers": registers, "spills": stack // 4, "stack": stack}


def _amd(assembly: str) -> dict[str, int | None]:
    """Registers and memory from the metadata that the assembler puts into the hsaco."""

    def told(name: str) -> int | None:
        found = re.search(rf"^\s*(?:- )?\.{name}:\s+(\d+)", assembly, re.MULTILINE)
        return None if found is None else int(found[1])

    return {
        "registers": told("vgpr_count"),
        "spills": told("vgpr_spill_count"),
        "stack": told("private_segment_fixed_size"),
        "scalar_registers": told("sgpr_count"),
        "accumulators": told("agpr_count"),
    }
