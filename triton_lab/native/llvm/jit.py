"""Compiles LLVM IR text to object code, and links that to a function's address.

llvmlite is imported when the first kernel needs it. It lets in one thread at a time: a call here may wait for a
compilation that another thread began.
"""

from __future__ import annotations

import ctypes
import functools
import importlib.util
import itertools
import struct
import sys
import threading
import weakref
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from triton_lab.localization import _
from triton_lab.native.runtime import background_compiler

if TYPE_CHECKING:
    from collections.abc import Sequence

# How hard LLVM tries to select instructions.
_EFFORT = 2
_numbers = itertools.count()
# The objects that keep linked code alive, by its number.
_linked: dict[int, Any] = {}
_once = threading.Lock()


class CannotCompile(RuntimeError):
    """There is no llvmlite, or LLVM refuses its input; the message says why."""


@dataclass(frozen=True, slots=True)
class Target:
    """A processor, as LLVM names it: ``x86_64-unknown-linux-gnu``, ``znver4``, ``+avx2,-avx512f``."""

    triple: str
    cpu: str
    features: str

    @property
    def arm(self) -> bool:
        """Whether it has arm64 instructions."""
        return self.triple.startswith(("aarch64", "arm64"))

    def has(self, feature: str) -> bool:
        """Whether ``feature`` is known to exist on it."""
        return f"+{feature}" in self.features.split(",")

    def without(self, prefixes: Sequence[str]) -> Target:
        """The same target without the features with these prefixes: ``("avx512", "avx10", "amx")`` leaves AVX2."""
        features = [f"-{one[1:]}" if one[1:].startswith(tuple(prefixes)) else one for one in self.features.split(",")]
        return replace(self, features=",".join(features))


ARM64 = Target("aarch64-unknown-linux-gnu", "generic", "+neon,+fullfp16")


def missing() -> str:
    """Why there is no compiler here; empty if there is one. Nothing is imported to find out."""
    return "" if importlib.util.find_spec("llvmlite") is not None else _("llvmlite is not installed")


def is_imported() -> bool:
    """Whether this process has imported the compiler already."""
    return "llvmlite.binding" in sys.modules


@functools.cache
def version() -> str:
    """The versions of llvmlite and LLVM."""
    llvmlite, llvm = _llvm()
    return f"{llvmlite.__version__} {'.'.join(map(str, llvm.llvm_version_info))}"


@functools.cache
def host() -> Target:
    """This processor, with all features that the system allows."""
    _unused, llvm = _llvm()
    try:
        features = llvm.get_host_cpu_features().flatten()
    except RuntimeError:  # LLVM cannot detect this processor
        features = ""
    return Target(llvm.get_process_triple(), llvm.get_host_cpu_name(), features)


def object_code(text: str, target: Target) -> bytes:
    """Compile a module of LLVM IR. Raises CannotCompile."""
    _unused, llvm = _llvm()
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
    except (RuntimeError, AttributeError) as error:  # AttributeError: llvmlite is too old
        raise CannotCompile(str(error)) from error


def _simplify(llvm: Any, module: Any, machine: Any) -> None:
    """Run the few passes that the generator needs before instruction selection.

    It writes vectors and loops itself, and no two equal operations in a block. All of LLVM's passes would double the
    time and gain one percent.
    """
    passes = llvm.create_new_module_pass_manager()
    passes.add_simplify_cfg_pass()
    passes.add_instruction_combine_pass()
    passes.run(module, llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options()))


# A table that the linker makes.
_OFFSETS = "_GLOBAL_OFFSET_TABLE_"
# LLVM's name of a processor -> its number in ELF files.
_MACHINES = {"x86_64": 62, "aarch64": 183}
# Object code is an ELF file, 64-bit and little-endian.
_MAGIC = b"\x7fELF\x02\x01"
_SYMBOLS, _UNDEFINED = 2, 0


def made_for(code: bytes, target: Target) -> bool:
    """Whether object code is for the kind of processor of ``target``, judged by its header alone."""
    return machine_of(code) == _MACHINES.get(target.triple.split("-")[0], -1)


class Linked:
    """Object code in memory, ready to run. It stays there as long as this object lives."""

    def __init__(self, code: bytes, symbol: str) -> None:
        """Link ``code``. Raises CannotCompile if it is for another processor, lacks ``symbol``, or calls missing
        functions.
        """
        _unused, llvm = _llvm()
        if not made_for(code, host()):
            raise CannotCompile(_("the object code is for another processor"))
        try:
            wanted = sorted(undefined_names(code) - {_OFFSETS})
        except ValueError as error:
            raise CannotCompile(str(error)) from error
        # Where the processor has no instruction, LLVM calls a library function, which may not exist here.
        lacking = [name for name in wanted if not hasattr(ctypes.CDLL(None), name)]
        if lacking:
            raise CannotCompile(_("this processor has no instructions for {names}").format(names=" and ".join(lacking)))
        try:
            # LLVM may call memcpy and memset of the C library in place of loops.
            library = llvm.JITLibraryBuilder().add_object_img(code).add_current_process().export_symbol(symbol)
            number = next(_numbers)
            _linked[number] = tracker = library.link(_linker(), f"kernel{number}")
        except (RuntimeError, AttributeError) as error:
            raise CannotCompile(str(error)) from error
        weakref.finalize(self, _forget, number).atexit = False
        self.address: int = tracker[symbol]


def _forget(number: int) -> None:
    # Linked code is not released by Python's garbage collection. The compiling thread releases it, where no interrupt
    # can leave LLVM's lock taken.
    background_compiler.background.clear_away(functools.partial(_linked.pop, number))


@functools.cache
def _llvm() -> tuple[Any, Any]:
    """llvmlite and its binding, initialised. Raises CannotCompile."""
    with _once:
        try:
            import llvmlite
            import llvmlite.binding as llvm
        except (ImportError, OSError) as error:  # OSError: its library cannot be loaded
            raise CannotCompile(_("llvmlite cannot be imported: {error}").format(error=error)) from error
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        return llvmlite, llvm


@functools.cache
def _machine(target: Target) -> Any:
    _unused, llvm = _llvm()
    if target.triple != llvm.get_process_triple():
        llvm.initialize_all_targets()
        llvm.initialize_all_asmprinters()
    found = llvm.Target.from_triple(target.triple)
    return found.create_target_machine(
        cpu=target.cpu, features=target.features, opt=_EFFORT, reloc="pic", codemodel="default", jit=True
    )


@functools.cache
def _linker() -> Any:
    _unused, llvm = _llvm()
    return llvm.create_lljit_compiler(_machine(host()))


def machine_of(code: bytes) -> int | None:
    """The number of the processor that object code is for, as in `_MACHINES`; None if it is no such file."""
    return int.from_bytes(code[18:20], "little") if code[:6] == _MAGIC and len(code) >= 64 else None


def undefined_names(code: bytes) -> set[str]:
    """The external functions and data that object code needs, by name. Raises ValueError if it is damaged."""
    if machine_of(code) is None:
        raise ValueError("no object code")
    try:
        table, size, count = struct.unpack_from("<Q", code, 40)[0], *struct.unpack_from("<HH", code, 58)
        sections = [struct.unpack_from("<IIQQQQIIQQ", code, table + number * size) for number in range(count)]
        found: set[str] = set()
        for _, kind, _, _, start, length, link, _, _, each in sections:
            if kind != _SYMBOLS:
                continue
            names = sections[link][4]
            for at in range(start, start + length, each):
                name, _, _, section = struct.unpack_from("<IBBH", code, at)
                if name and section == _UNDEFINED:
                    found.add(code[names + name : code.index(b"\0", names + name)].decode())
        return found
    except (struct.error, IndexError) as error:
        raise ValueError("damaged object code") from error
