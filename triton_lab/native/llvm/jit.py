"""LLVM IR as text -> object code -> a function's address. llvmlite is imported when the first kernel asks for it.

llvmlite lets one thread in at a time: whoever is here may have to wait for a compilation that another one began.
"""

from __future__ import annotations

import ctypes
import functools
import importlib.util
import itertools
import sys
import threading
import weakref
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from triton_lab.native.llvm import elf
from triton_lab.native.runtime import background_compiler

if TYPE_CHECKING:
    from collections.abc import Sequence

# How hard LLVM tries to select instructions.
_EFFORT = 2
_numbers = itertools.count()
# What keeps linked code where it is, by its number.
_linked: dict[int, Any] = {}
_once = threading.Lock()


class CannotCompile(RuntimeError):
    """There is no llvmlite, or LLVM refuses what it was given; the message says why."""


@dataclass(frozen=True, slots=True)
class Target:
    """A processor, in LLVM's words: ``x86_64-unknown-linux-gnu``, ``znver4``, ``+avx2,-avx512f``."""

    triple: str
    cpu: str
    features: str

    @property
    def arm(self) -> bool:
        """Whether its instructions are arm64's."""
        return self.triple.startswith(("aarch64", "arm64"))

    def has(self, feature: str) -> bool:
        """Whether it is known to have ``feature``."""
        return f"+{feature}" in self.features.split(",")

    def without(self, prefixes: Sequence[str]) -> Target:
        """The same without the features that begin so: ``("avx512", "avx10", "amx")`` leaves AVX2."""
        features = [f"-{one[1:]}" if one[1:].startswith(tuple(prefixes)) else one for one in self.features.split(",")]
        return replace(self, features=",".join(features))


ARM64 = Target("aarch64-unknown-linux-gnu", "generic", "+neon,+fullfp16")


def missing() -> str:
    """Why there is no compiler here; empty where there is one. Nothing is imported to find out."""
    return "" if importlib.util.find_spec("llvmlite") is not None else "llvmlite is not installed"


def is_imported() -> bool:
    """Whether the compiler is in this process already."""
    return "llvmlite.binding" in sys.modules


@functools.cache
def version() -> str:
    """llvmlite's version and LLVM's."""
    llvmlite, llvm = _llvm()
    return f"{llvmlite.__version__} {'.'.join(map(str, llvm.llvm_version_info))}"


@functools.cache
def host() -> Target:
    """This processor, with all that the system lets us use of it."""
    _, llvm = _llvm()
    try:
        features = llvm.get_host_cpu_features().flatten()
    except RuntimeError:  # LLVM does not know how to ask this one
        features = ""
    return Target(llvm.get_process_triple(), llvm.get_host_cpu_name(), features)


def object_code(text: str, target: Target) -> bytes:
    """Compile a module of LLVM IR. Raises CannotCompile."""
    _, llvm = _llvm()
    try:
        machine = _machine(target)
        with llvm.create_context() as context:
            module = llvm.parse_assembly(text, context)
            module.triple = target.triple
            module.data_layout = str(machine.target_data)
            module.verify()
            _simplify(llvm, module, machine)
            made: bytes = machine.emit_object(module)
            module.close()
            return made
    except (RuntimeError, AttributeError) as error:  # the second: an llvmlite that is too old
        raise CannotCompile(str(error)) from error


def _simplify(llvm: Any, module: Any, machine: Any) -> None:
    """What the generator leaves to do before instructions are selected: it writes the vectors and loops itself, and no
    two equal operations in a block. All of LLVM's passes take as long again, and gain one part in a hundred."""
    passes = llvm.create_new_module_pass_manager()
    passes.add_simplify_cfg_pass()
    passes.add_instruction_combine_pass()
    passes.run(module, llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options()))


# A table that whoever links object code makes.
_OFFSETS = "_GLOBAL_OFFSET_TABLE_"
# What an ELF file calls the processor that it is for, by what LLVM calls it.
_MACHINES = {"x86_64": 62, "aarch64": 183}


def made_for(code: bytes, target: Target) -> bool:
    """Whether object code is of the kind that ``target`` runs, by its header alone."""
    return elf.machine_of(code) == _MACHINES.get(target.triple.split("-")[0], -1)


class Linked:
    """Object code in memory, ready to run; it stays there as long as this object does."""

    def __init__(self, code: bytes, symbol: str) -> None:
        """Raises CannotCompile where ``code`` is not for this processor, lacks ``symbol`` or calls what is not here."""
        _, llvm = _llvm()
        if not made_for(code, host()):
            raise CannotCompile("the object code is for another processor")
        try:
            wanted = sorted(elf.undefined(code) - {_OFFSETS})
        except ValueError as error:
            raise CannotCompile(str(error)) from error
        # What this processor has no instruction for LLVM has a library do, which may not be here.
        lacking = [name for name in wanted if not hasattr(ctypes.CDLL(None), name)]
        if lacking:
            raise CannotCompile(f"this processor has no instructions for what {' and '.join(lacking)} would do")
        try:
            # The C library has memcpy and memset, which LLVM may call for loops that do their work.
            library = llvm.JITLibraryBuilder().add_object_img(code).add_current_process().export_symbol(symbol)
            number = next(_numbers)
            _linked[number] = tracker = library.link(_linker(), f"kernel{number}")
        except (RuntimeError, AttributeError) as error:
            raise CannotCompile(str(error)) from error
        weakref.finalize(self, _forget, number).atexit = False
        self.address: int = tracker[symbol]


def _forget(number: int) -> None:
    # What is linked is no part of what Python clears away: it ends on the thread that compiles, where no interrupt
    # leaves LLVM's lock taken.
    background_compiler.background.clear_away(functools.partial(_linked.pop, number))


@functools.cache
def _llvm() -> tuple[Any, Any]:
    """llvmlite and its binding, made ready. Raises CannotCompile."""
    with _once:
        try:
            import llvmlite
            import llvmlite.binding as llvm
        except (ImportError, OSError) as error:  # the second: its library cannot be loaded
            raise CannotCompile(f"llvmlite cannot be imported: {error}") from error
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        return llvmlite, llvm


@functools.cache
def _machine(target: Target) -> Any:
    _, llvm = _llvm()
    if target.triple != llvm.get_process_triple():
        llvm.initialize_all_targets()
        llvm.initialize_all_asmprinters()
    found = llvm.Target.from_triple(target.triple)
    return found.create_target_machine(
        cpu=target.cpu, features=target.features, opt=_EFFORT, reloc="pic", codemodel="default", jit=True
    )


@functools.cache
def _linker() -> Any:
    _, llvm = _llvm()
    return llvm.create_lljit_compiler(_machine(host()))
