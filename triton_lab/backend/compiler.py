"""The compiler half of the plugin: Triton's front end, then our plan as the "binary".

Kernels are held to what CUDA sm_90 accepts, so that what runs here compiles there. Options, number types and the
smallest dot are those of Triton's own CUDA backend.
"""

from __future__ import annotations

import functools
import hashlib
from dataclasses import fields
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol

from triton.backends.compiler import BaseBackend, GPUTarget, Language

TARGET = GPUTarget("cpu", 90, 32)
_MODEL = GPUTarget("cuda", 90, 32)


@functools.cache
def _sources_hash() -> str:
    """A digest of those of our sources that decide what a cached plan means."""
    digest = hashlib.sha256()
    package = Path(__file__).parent.parent
    for folder in ("ir", "backend"):
        for file in sorted((package / folder).rglob("*.py")):
            digest.update(file.read_bytes())
    return digest.hexdigest()


class Reading(Protocol):
    """Called when Triton's front end begins and ends reading a kernel.

    For a kernel that the front end refuses, ``end`` is not called.
    """

    def begin(self) -> None: ...
    def end(self, compiled: bool) -> None: ...


reading: Reading | None = None
# A name for what else kernels are compiled with; Triton's cache stores such kernels apart.
variant = ""

# The options that change the meaning of a kernel.
_MEANINGFUL = (
    "num_warps",
    "num_ctas",
    "num_stages",
    "debug",
    "sanitize_overflow",
    "default_dot_input_precision",
    "max_num_imprecise_acc_default",
)


@functools.cache
def _hints() -> frozenset[str]:
    """The options of Triton's AMD backend. Those that CUDA lacks say how to compile, not what, and do nothing here:
    programs choose them where they see that the target is not CUDA.
    """
    from triton.backends.amd.compiler import HIPOptions

    return frozenset(field.name for field in fields(HIPOptions))


def options_of(metadata: Any) -> dict[str, Any]:
    """The options under which a kernel was compiled, for compiling it again for this target."""
    return {name: getattr(metadata, name) for name in _MEANINGFUL if hasattr(metadata, name)}


def plan_of(source: Any, options: dict[str, Any]) -> str:
    """The plan of ``source`` (Triton's ASTSource), compiled in memory: nothing goes through Triton's cache on the disk.

    Raises the errors of Triton's front end.
    """
    from triton._C.libtriton import ir

    from triton_lab.backend.source import recursion_depth
    from triton_lab.backend.source.held_errors import HeldErrors

    global reading
    backend = CPUBackend(TARGET)
    parsed = backend.parse_options({**options, **source.parse_options()})
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    before, reading = reading, None  # it is not the user who has it read
    errors = HeldErrors()
    try:
        functions, modules = backend.get_codegen_implementation(parsed), backend.get_module_map()
        stages: dict[str, Any] = {}
        backend.add_stages(stages, parsed, source.language)
        module = source.make_ir(TARGET, parsed, functions, modules, context)
        metadata: dict[str, Any] = {}
        for stage in stages.values():
            module = stage(module, metadata)
    finally:
        reading = before
        recursion_depth.ended()
        errors.pass_on(errors.end())
    return bytes(module).decode()


class CPUBackend(BaseBackend):
    """Compiles for the target ``cpu``: to TTIR (of Gluon: TTGIR), then to the same module in MLIR's generic form."""

    binary_ext = "plan"

    def __init__(self, target: GPUTarget) -> None:
        super().__init__(target)
        from triton.backends.nvidia.compiler import CUDABackend

        self._model = CUDABackend(_MODEL)

    @staticmethod
    def supports_target(target: GPUTarget) -> bool:
        return bool(target.backend == TARGET.backend)

    def hash(self) -> str:
        from triton import __version__

        return f"triton_lab-{__version__}-{_sources_hash()}{variant}"

    def parse_options(self, options: dict[str, Any]) -> object:
        # This option does not matter here. It is set so that Triton does not warn that it is missing.
        chosen: object = self._model.parse_options({"enable_fp_fusion": True, **options})
        for name in _hints().intersection(options).difference(vars(chosen)):
            object.__setattr__(chosen, name, options[name])  # Triton asks whether an option is known
        return chosen

    def pack_metadata(self, metadata: Any) -> tuple[int, ...]:
        return (metadata.num_warps, metadata.num_ctas, metadata.shared)

    def get_codegen_implementation(self, options: Any) -> dict[str, Any]:
        from triton_lab.backend.plugin.float8_e4b15 import convert_custom_types

        functions: dict[str, Any] = self._model.get_codegen_implementation(options)
        # The CUDA backend converts e4m3b15 by inline PTX.
        return functions | {"convert_custom_types": convert_custom_types}

    def get_module_map(self) -> dict[str, ModuleType]:
        from triton_lab.backend.source import (
            atomic_guard,
            kernel_breakpoints,
            layout_guard,
            printed_modules,
            recursion_depth,
        )

        layout_guard.guard()
        atomic_guard.guard()
        kernel_breakpoints.install()
        modules = recursion_depth.watched(self._model.get_module_map())
        # Triton calls this last before it reads the kernel.
        if reading is not None:
            reading.begin()
        else:
            printed_modules.hold()
        return modules

    def load_dialects(self, context: Any) -> None:
        self._model.load_dialects(context)

    def add_stages(self, stages: dict[str, Any], options: Any, language: Language) -> None:
        if language == Language.TRITON:
            stages["ttir"] = self.make_ttir
        else:
            stages["glir"] = lambda module, metadata: module  # what the front end wrote, from Triton 3.7 on
            stages["ttgir"] = self.make_ttgir
        stages["plan"] = self.make_plan

    @staticmethod
    def make_ttir(module: Any, metadata: dict[str, Any]) -> Any:
        from triton_lab.backend.source import recursion_depth
        from triton_lab.ir.lower import simplify

        recursion_depth.ended()
        if reading is not None:
            reading.end(True)
        simplify(module)
        return module

    @staticmethod
    def make_ttgir(module: Any, metadata: dict[str, Any]) -> Any:
        """The module of a Gluon kernel, with all layouts chosen."""
        from triton_lab.backend.source import recursion_depth
        from triton_lab.ir.lower import choose_layouts

        recursion_depth.ended()
        if reading is not None:
            reading.end(True)
        choose_layouts(module)
        return module

    def get_target_name(self, options: Any) -> str:
        """The target that Gluon's front end notes in the module, by which layouts are verified."""
        name: str = self._model.get_target_name(options)
        return name

    @staticmethod
    def make_plan(module: Any, metadata: dict[str, Any]) -> bytes:
        from triton_lab.backend.targets.sm90_limits import may_be_refused, refuse
        from triton_lab.ir import parse_plan
        from triton_lab.ir.lower import generic_text

        # Set here, since a module that was read from a ``.ttir`` file starts with this stage.
        metadata["name"] = module.get_entry_func_name()
        metadata["shared"] = 0
        text = generic_text(module)
        if may_be_refused(text):
            refuse(parse_plan(text), metadata["name"])
        return text.encode()
