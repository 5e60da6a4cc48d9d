"""The targets on which cells can run, and the GPUs to compile for, each with the reason if it is missing."""

from __future__ import annotations

from triton_lab.compiled.architecture import ARCHITECTURES
from triton_lab.localization import N_, _, translated
from triton_lab.notebook.cell.magic_options import TARGET_HELP
from triton_lab.notebook.cell.status_text import gpu_name
from triton_lab.notebook.extension.targets_without_triton import unknown
from triton_lab.views.extension_queries import SessionTarget, SessionTargets

NO_GPU = N_("Triton finds no GPU here")


def targets() -> SessionTargets:
    """The targets that Triton reports, once it is imported."""
    from triton_lab.backend.targets.active_target import current, has_gpu, shared_gpu

    shared = shared_gpu()
    why = "" if has_gpu() else translated(NO_GPU)
    missing = _without_compiler()
    return {
        **unknown(),
        "known": True,
        "active": current(),
        "gpu": gpu_name() or (f"shared at {shared}" if shared else ""),
        "targets": [_target(name, help, why if name in ("gpu", "both") else "") for name, help in TARGET_HELP.items()],
        "compile": [_target(one.name, _maker(one.is_nvidia), missing.get(one.backend, "")) for one in ARCHITECTURES],
    }


def _target(name: str, help: str, why: str) -> SessionTarget:
    return {"name": name, "help": help, "why": why}


def _maker(nvidia: bool) -> str:
    return "NVIDIA" if nvidia else "AMD"


def _without_compiler() -> dict[str, str]:
    """The reasons why nothing can be compiled for a vendor's GPUs, by the name of Triton's backend for them."""
    from triton.backends import backends

    names = {"cuda": "nvidia", "hip": "amd"}
    return {
        kind: _("this Triton has no compiler for {upper}").format(upper=name.upper())
        for kind, name in names.items()
        if name not in backends
    }
