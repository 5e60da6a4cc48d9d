"""The text of ``%triton``: versions, targets, and what is active."""

from __future__ import annotations

import os
import platform

from triton_lab.localization import _


def status() -> str:
    """The status in a few lines of text."""
    import torch
    import triton

    from triton_lab.backend.targets.active_target import current, shared_gpu

    lines = [
        _("triton-lab {version}, Triton {triton}, torch {torch}, Python {python_version} on {system} {machine}").format(
            version=version(),
            triton=triton.__version__,
            torch=torch.__version__,
            python_version=platform.python_version(),
            system=platform.system(),
            machine=platform.machine(),
        ),
    ]
    gpu, shared = gpu_name(), shared_gpu()
    there = [f"gpu ({gpu})"] * bool(gpu) + [_("gpu shared at {shared}").format(shared=shared)] * bool(shared)
    lines.append(_("targets: cpu") + ("".join(f", {one}" for one in there) or _(" (Triton finds no GPU)")))
    lines.append(_("active:  {target}").format(target=current()))
    lines.append(_("engine:  {engine}").format(engine=engine()))
    lines.extend(environment())
    return "\n".join(lines)


def engine() -> str:
    """The engine that runs launches on the CPU target, in a line."""
    from triton_lab.backend.plugin import launcher
    from triton_lab.native import engine_report

    return engine_report.choice(launcher.limits.engine)


def version() -> str:
    from importlib import metadata

    try:
        return metadata.version("triton-lab")
    except metadata.PackageNotFoundError:
        return "(not installed)"


def gpu_name() -> str:
    """The name of the GPU, or ""."""
    from triton_lab.backend.targets.gpu import gpu_driver_class

    if gpu_driver_class() is None:
        return ""
    import torch

    return torch.cuda.get_device_name() if torch.cuda.is_available() else "GPU"


def environment() -> list[str]:
    """The effects of the user's environment variables on the lab."""
    lines = []
    chosen = os.environ.get("TRITON_DEFAULT_BACKEND")
    if chosen and chosen != "triton_lab":
        lines.append(
            _(
                "TRITON_DEFAULT_BACKEND={chosen}: Triton starts on that backend. %%triton cpu still selects the CPU."
            ).format(chosen=chosen)
        )
    if os.environ.get("TRITON_INTERPRET") == "1":
        lines.append(
            _(
                "TRITON_INTERPRET=1: Triton's own interpreter runs kernels defined now, and their "
                "launches are not recorded. To use the lab, unset it and restart the notebook's kernel."
            )
        )
    return lines
