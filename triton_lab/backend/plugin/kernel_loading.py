"""Turns a compiled kernel's bytes into something that can run."""

from __future__ import annotations

import sys
import threading
import weakref
from types import FrameType
from typing import Any

from triton_lab.backend import inductor
from triton_lab.backend.targets.sm90_resources import Measured, Resources, resources_of
from triton_lab.interpreter.bound_plan import Executable
from triton_lab.interpreter.kernel_errors import KernelError
from triton_lab.ir import Plan
from triton_lab.localization import _


class Loaded:
    """A kernel's plan, made ready at its first launch.

    Triton loads a kernel before it can report errors, and does not load it again after one. So errors must come later.
    """

    def __init__(self, kernel: bytes) -> None:
        self._kernel = kernel
        self._executable: Executable | None = None
        # Whether certain mistakes in its source have been reported, to a user who records nothing.
        self.looked_at = False
        # Whether there is a `breakpoint()` in its source; None if that is not known yet.
        self.stops: bool | None = None

    def executable(self, source: Any, metadata: Any) -> Executable:
        """The kernel, ready to run. Raises Unsupported, worded for the kernel's author."""
        if self._executable is None:
            plan = _read(self._kernel) or _read(_compiled_anew(source, metadata))
            if plan is None:
                raise RuntimeError(
                    _("the compiled code of the kernel {name} cannot be read").format(name=metadata.name)
                )
            try:
                self._executable = Executable.of(plan)
            except KernelError as error:
                from triton_lab.backend.plugin.error_report import refused

                raise refused(error, source, metadata, plan) from None
        return self._executable


def _read(kernel: bytes) -> Plan | None:
    """The plan in Triton's cache; None if the entry is empty or cut short."""
    from triton_lab.ir import ParseError, parse_plan

    try:
        plan = parse_plan(kernel.decode())
        return plan if any(function.public for function in plan.functions.values()) else None
    except (ParseError, UnicodeDecodeError):
        return None


def _compiled_anew(source: Any, metadata: Any) -> bytes:
    """The kernel, compiled again from its source. The new entry replaces the broken one in Triton's cache."""
    import triton

    from triton_lab.backend.compiler import options_of

    with triton.knobs.compilation.scope():
        triton.knobs.compilation.always_compile = True
        compiled = triton.compile(source, target=metadata.target, options=options_of(metadata))
    plan: bytes = compiled.asm["plan"]
    return plan


# Some of Triton's code paths load a kernel without a module again and again.
_loaded: weakref.WeakValueDictionary[bytes, Loaded] = weakref.WeakValueDictionary()


def _load_elsewhere(name: str, kernel: bytes, shared: int) -> tuple[Any, Any, int, int, int]:
    """Load what was compiled for a GPU while the CPU is active, as torch.compile does."""
    from triton_lab.backend.targets.gpu import gpu_driver

    driver = gpu_driver()
    if driver is None:
        raise RuntimeError(
            _("the kernel {name} was compiled for a GPU: compile it again with the target on which it must run").format(
                name=name
            )
        )
    loaded: tuple[Any, Any, int, int, int] = driver.utils.load_binary(
        name, kernel, shared, int(driver.get_current_device())
    )
    return loaded


# The kernel whose launcher Triton has just made; it loads that kernel next, on the same thread.
_next = threading.local()
_KNOWN = "triton_lab_takes"


def announce(source: Any, metadata: Any) -> None:
    """Note that Triton loads this kernel next on this thread."""
    _next.kernel = (source, metadata)


def _takes() -> tuple[Measured | int | None, Measured | int | None]:
    """Registers and spills of the kernel that is being loaded. Its metadata get the shared memory too.

    None for Inductor's own kernels: it accepts that these numbers are unknown. With numbers it would leave out
    configurations that spill on the GPU, and each would have to be compiled for a GPU only to run here.
    """
    source, metadata = _next.__dict__.pop("kernel", (None, None))
    if source is None:
        return 0, 0
    # Some Triton versions load a kernel without a module at each launch. Changing a class at each launch would be
    # costly.
    known: tuple[Measured | int | None, Measured | int | None] | None = type(metadata).__dict__.get(_KNOWN)
    if known is not None:
        return known

    def resources() -> Resources:
        return resources_of(source, metadata)

    # Triton makes a class for each kernel's metadata. While loading, Triton checks that the shared memory is enough,
    # which here it is. Inductor asks for all three numbers of every configuration and rarely uses them.
    shared = Measured(lambda: resources().shared)
    type(metadata).shared = property(lambda _: 0 if "kernel" in _next.__dict__ else shared)
    takes = Measured(lambda: resources().registers), Measured(lambda: resources().spills)
    known = (None, None) if inductor.wrote(source) else takes
    setattr(type(metadata), _KNOWN, known)
    return known


def _nothing() -> None:
    """Takes the place of Triton's loading, for a kernel that is loaded."""


def _stay(caller: FrameType) -> None:
    """Let Triton load a kernel once: without a module it would load it again at each launch, which costs 9 us."""
    kernel: Any = caller.f_locals.get("self")
    if caller.f_code.co_name == "_init_handles" and kernel is not None:
        kernel._init_handles = _nothing


class Utils:
    """The functions that Triton calls in a driver to load a kernel."""

    @staticmethod
    def load_binary(name: str, kernel: bytes, shared: int, device: int) -> tuple[Any, ...]:
        """``(module, function, registers, spills, most threads)``; the function is a `Loaded`.

        The module is None: otherwise Triton would unload it, with whatever driver is active then. Registers and spills
        are sm_90's, computed when they are first read.
        """
        if b'"builtin.module"' in kernel:
            loaded = _loaded.get(kernel) or _loaded.setdefault(kernel, Loaded(kernel))
            _stay(sys._getframe(1))
        elif not kernel.strip(b"\0 \n") or kernel.startswith(b"#loc"):
            loaded = Loaded(kernel)  # an empty or cut plan; several of them may have equal bytes
        else:
            return _load_elsewhere(name, kernel, shared)
        registers, spills = _takes()
        return None, loaded, registers, spills, 1024

    @staticmethod
    def unload_module(module: Any) -> None:
        """Unload a GPU's module that is released while the CPU is active, with its own driver."""
        from triton_lab.backend.targets.gpu import gpu_driver

        driver = gpu_driver()
        if driver is not None:
            driver.utils.unload_module(module)

    @staticmethod
    def get_device_properties(device: int) -> dict[str, int]:
        """The properties of an sm_90 device. Resource limits are not checked on the CPU."""
        return {
            "max_shared_mem": 232448,
            "max_num_regs": 65536,
            "multiprocessor_count": 132,
            "warpSize": 32,
            "sm_clock_rate": 1_000_000,
            "mem_clock_rate": 1_000_000,
            "mem_bus_width": 64,
        }
