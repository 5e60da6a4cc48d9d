"""Where cells can run, and what they can be compiled for: what is there, and why the rest is not."""

from __future__ import annotations

import sys
from importlib import metadata

from triton_lab.notebook.options import TARGET_HELP
from triton_lab.views.desk import SessionTarget, SessionTargets

NO_GPU = "there is no GPU that Triton can use here"
UNKNOWN = "known once this notebook has imported Triton"


def targets() -> SessionTargets:
    """Asks Triton where it has been imported. It is not imported for this: what it then takes from the environment, a
    first cell may still set."""
    from triton_lab.compiled.architecture import ARCHITECTURES
    from triton_lab.notebook.status import gpu_name, version
    from triton_lab.notebook.templates import TEMPLATES

    known = "triton" in sys.modules and "torch" in sys.modules
    gpu = why = active = ""
    missing: dict[str, str] = {}
    if known:
        from triton_lab.backend.targets import current, has_gpu, shared_gpu

        shared = shared_gpu()
        gpu = gpu_name() or (f"shared at {shared}" if shared else "")
        active = current()
        why = "" if has_gpu() else NO_GPU
        missing = _without_compiler()
    return {
        "known": known,
        "active": active,
        "gpu": gpu,
        "triton": _version("triton"),
        "version": version(),
        "targets": [_target(name, help, why if name in ("gpu", "both") else "") for name, help in TARGET_HELP.items()],
        "compile": [_target(one.name, _maker(one.is_nvidia), missing.get(one.backend, "")) for one in ARCHITECTURES],
        "templates": [_target(one.name, one.help, "") for one in TEMPLATES],
    }


def _target(name: str, help: str, why: str) -> SessionTarget:
    return {"name": name, "help": help, "why": why}


def _maker(nvidia: bool) -> str:
    return "NVIDIA" if nvidia else "AMD"


def _without_compiler() -> dict[str, str]:
    """Why nothing can be compiled for a maker's GPUs, by the name of Triton's backend for them."""
    from triton.backends import backends

    names = {"cuda": "nvidia", "hip": "amd"}
    return {
        kind: f"this Triton has no compiler for {name.upper()}" for kind, name in names.items() if name not in backends
    }


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""
