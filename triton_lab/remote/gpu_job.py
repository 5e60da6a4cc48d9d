"""A job run on this machine's GPU: compiled from the module that arrived, launched on mirrors of the memory."""

from __future__ import annotations

import functools
import hashlib
import json
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from triton.compiler import ASTSource

from triton_lab.localization import _
from triton_lab.remote.job import (
    Bytes,
    CompiledJob,
    Job,
    JobAnswer,
    Raised,
    Sent,
    changes,
)
from triton_lab.remote.job_arguments import object_of

_ALIGNMENT = 256


class _Function:
    """The attributes that Triton reads of a kernel's function, without the function."""

    launch_metadata = None
    fn = None

    def __init__(self, names: Sequence[str]) -> None:
        self.arg_names = list(names)


class Travelled(ASTSource):
    """A kernel that Triton's front end has read on another machine."""

    def __init__(self, kernel: str, work: CompiledJob) -> None:
        signature = dict(work.signature)
        self.work = work
        self.fn = _Function(list(signature))
        self.fn.__name__ = kernel  # type: ignore[attr-defined]
        super().__init__(self.fn, signature)

    def hash(self) -> str:
        told = json.dumps([self.name, self.work.module, self.work.target, str(self.work.signature)])
        return hashlib.sha256(told.encode()).hexdigest()

    def make_ir(self, target: Any, options: Any, codegen_fns: Any, module_map: Any, context: Any) -> Any:
        from triton._C.libtriton import ir

        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "kernel.mlir"
            file.write_text(self.work.module, encoding="utf-8")
            module = ir.parse_mlir_module(str(file), context)
        module.context = context
        return module


def perform(job: Job) -> JobAnswer:
    """Compile and launch the job; errors are raised."""
    import triton

    from triton_lab.backend.targets.device_copies import HostMirrors, tensors_of
    from triton_lab.backend.targets.gpu import gpu_driver
    from triton_lab.backend.targets.gpu_timer import Watched, device_name, measured

    work = job.work
    assert isinstance(work, CompiledJob)
    driver = gpu_driver()
    if driver is None:
        return _refused(_("this worker was started with the GPU resource, but Triton finds no GPU here"))
    if triton.__version__.split(".")[:2] != work.triton.split(".")[:2]:
        return _refused(
            _("this worker has Triton {version}, the notebook has {triton}. Install the same version in both").format(
                version=triton.__version__, triton=work.triton
            )
        )
    target = driver.get_current_target()
    here = (target.backend, target.arch, target.warp_size)
    if here != work.target:
        return JobAnswer(other=here)
    start = time.perf_counter()
    kernel = triton.compile(Travelled(job.kernel, work), target=target, options=json.loads(work.options))
    launch = kernel[job.grid]  # this loads it
    compiled = time.perf_counter() - start
    regions = [_placed(sent) for sent in job.memory]
    signature = [type for _name, type in work.signature]
    objects = [object_of(one, job.memory, regions) for one in work.arguments]
    hosts = [tensor for pair in zip(signature, objects, strict=True) for tensor in tensors_of(*pair)]
    mirrors = HostMirrors(hosts, driver.get_active_torch_device())
    placed = [mirrors.replaced(*pair) for pair in zip(signature, objects, strict=True)]
    run = functools.partial(launch, *placed)
    watched = Watched(run, driver.get_device_interface())
    watched()
    seconds = watched.seconds()
    mirrors.write_back()
    made = changes(job.memory, [region.data for region in regions])
    # A kernel that prints must not run again.
    if work.seconds > seconds[0] and '"tt.print"' not in work.module:
        seconds = measured(run, driver, work.seconds, mirrors.restore)
    return JobAnswer(made, tuple(seconds), compiled, device_name(driver))


def _refused(why: str) -> JobAnswer:
    return JobAnswer(failure=Raised("RuntimeError", why))


def _placed(sent: Sent) -> Any:
    """A copy of the bytes in our memory, with the same offset from a multiple of 256."""
    from triton_lab.interpreter.memory_regions import MemoryRegion

    whole = np.empty(len(sent.data) + 2 * _ALIGNMENT, np.uint8)
    shift = (sent.start - whole.ctypes.data) % _ALIGNMENT
    data: Bytes = whole[shift : shift + len(sent.data)]
    data[:] = np.frombuffer(sent.data, np.uint8)
    return MemoryRegion(data.ctypes.data, data)
