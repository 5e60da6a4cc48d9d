"""From a compiled kernel's bytes to something that can be run."""

from __future__ import annotations

import threading
import weakref
from typing import Any

from triton_lab.backend import inductor
from triton_lab.backend.targets.sm90_resources import Measured, Resources, resources_of
from triton_lab.interpreter.bound_plan import Executable
from triton_lab.interpreter.kernel_errors import KernelError
from triton_lab.ir import Plan


class Loaded:
    """A kernel's plan, made ready at its first launch.

    Triton loads a kernel before it knows how to report what goes wrong, and never again if it does.
    """

    def __init__(self, kernel: bytes) -> None:
        self._kernel = kernel
        self._executable: Executable | None = None
        # Whether what is certain to be wrong in its source has been told, to a user who records nothing.
        self.looked_at = False

    def executable(self, source: Any, metadata: Any) -> Executable:
        """What runs. Raises Unsupported, in the words for the kernel's author."""
        if self._executable is None:
            plan = _read(self._kernel) or _read(_compiled_anew(source, metadata))
            if plan is None:
                raise RuntimeError(f"the kernel {metadata.name} was compiled to what cannot be read")
            try:
                self._executable = Executable.of(plan)
            except KernelError as error:
                from triton_lab.backend.plugin.error_report import refused

                raise refused(error, source, metadata, plan) from None
        return self._executable


def _read(kernel: bytes) -> Plan | None:
    """The plan that Triton's cache kept; None where the entry was emptied or cut."""
    from triton_lab.ir import ParseError, parse_plan

    try:
        plan = parse_plan(kernel.decode())
        return plan if any(function.public for function in plan.functions.values()) else None
    except (ParseError, UnicodeDecodeError):
        return None


def _compiled_anew(source: Any, metadata: Any) -> bytes:
    """The kernel from its source; Triton's cache gets the new entry in place of the broken one."""
    import triton

    from triton_lab.backend.compiler import options_of

    with triton.knobs.compilation.scope():
        triton.knobs.compilation.always_compile = True
        compiled = triton.compile(source, target=metadata.target, options=options_of(metadata))
    plan: bytes = compiled.asm["plan"]
    return plan


# Kernels without a module are loaded again and again by some of Triton's paths.
_loaded: weakref.WeakValueDictionary[bytes, Loaded] = weakref.WeakValueDictionary()


def _load_elsewhere(name: str, kernel: bytes, shared: int) -> tuple[Any, Any, int, int, int]:
    """Load what was compiled for a GPU while the CPU is active, as torch.compile does."""
    from triton_lab.backend.targets.gpu import gpu_driver

    driver = gpu_driver()
    if driver is None:
        raise RuntimeError(
            f"the kernel {name} was compiled for a GPU: compile it anew under the target that it is to run on"
        )
    loaded: tuple[Any, Any, int, int, int] = driver.utils.load_binary(
        name, kernel, shared, int(driver.get_current_device())
    )
    return loaded


# What the launcher was made for that Triton asks for just before it loads the kernel, on the same thread.
_next = threading.local()
_KNOWN = "triton_lab_takes"


def announce(source: Any, metadata: Any) -> None:
    """The kernel that Triton loads next on this thread."""
    _next.kernel = (source, metadata)


def _takes() -> tuple[Measured | int | None, Measured | int | None]:
    """Registers and spills of the kernel that is being loaded, whose metadata now tell its shared memory, too.

    None for Inductor's own kernels: it leaves out configurations that spill on the GPU, and would have each compiled
    for one to be run here. That they are not known is an answer that it takes.
    """
    source, metadata = _next.__dict__.pop("kernel", (None, None))
    if source is None:
        return 0, 0
    # Some of Triton's versions load a kernel without a module at each launch; a class that changes costs all of them.
    known: tuple[Measured | int | None, Measured | int | None] | None = type(metadata).__dict__.get(_KNOWN)
    if known is not None:
        return known

    def resources() -> Resources:
        return resources_of(source, metadata)

    # Triton makes a class for the metadata of each kernel. While it loads one it asks whether the shared memory
    # suffices, which here it does. Inductor asks for all three of every configuration and hardly ever looks at them.
    shared = Measured(lambda: resources().shared)
    type(metadata).shared = property(lambda _: 0 if "kernel" in _next.__dict__ else shared)
    takes = Measured(lambda: resources().registers), Measured(lambda: resources().spills)
    known = (None, None) if inductor.wrote(source) else takes
    setattr(type(metadata), _KNOWN, known)
    return known


class Utils:
    """What Triton asks of a driver when it loads a kernel."""

    @staticmethod
    def load_binary(name: str, kernel: bytes, shared: int, device: int) -> tuple[Any, ...]:
        """``(module, function, registers, spills, most threads)``; the function is a `Loaded`.

        The module is None: Triton unloads what is not, with whatever driver is active then. Registers
        and spills are sm_90's, worked out when they are looked at.
        """
        if b'"builtin.module"' in kernel:
            loaded = _loaded.get(kernel) or _loaded.setdefault(kernel, Loaded(kernel))
        elif not kernel.strip(b"\0 \n") or kernel.startswith(b"#loc"):
            loaded = Loaded(kernel)  # a plan that was emptied or cut; several may look alike
        else:
            return _load_elsewhere(name, kernel, shared)
        registers, spills = _takes()
        return None, loaded, registers, spills, 1024

    @staticmethod
    def unload_module(module: Any) -> None:
        """Called for a GPU's module that goes while the CPU is active: its own driver unloads it."""
        from triton_lab.backend.targets.gpu import gpu_driver

        driver = gpu_driver()
        if driver is not None:
            driver.utils.unload_module(module)

    @staticmethod
    def get_device_properties(device: int) -> dict[str, int]:
        """What an sm_90 device would say; resource limits are not checked on the CPU."""
        return {
            "max_shared_mem": 232448,
            "max_num_regs": 65536,
            "multiprocessor_count": 132,
            "warpSize": 32,
            "sm_clock_rate": 1_000_000,
            "mem_clock_rate": 1_000_000,
            "mem_bus_width": 64,
        }
