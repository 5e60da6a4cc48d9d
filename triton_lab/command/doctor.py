"""The state of an installation: what it has, what it lacks, and how to get that."""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Literal

import triton_lab
from triton_lab.localization import _

State = Literal["ok", "note", "missing"]
_HOOK = "50-triton-lab.py"
_EXTENSION = re.compile(r"^\s*triton-lab v(\S+)\s+(\w+)\s+(\w+)", re.MULTILINE)
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_PIP = "python -m pip install"
PATIENCE = 60  # seconds for JupyterLab to list its extensions


@dataclass(frozen=True)
class Checked:
    """The result of one check. ``note``: the lab works without it; ``remedy`` says how to get it."""

    name: str
    state: State
    told: str
    remedy: str = ""


def examine() -> Iterator[Checked]:
    """All checks, one after the other. A check that fails with an error is reported, and hides no other."""
    for name, look in _LOOKS:
        try:
            yield from look()
        except Exception as error:
            yield Checked(
                name,
                "missing",
                _("cannot be examined: {type}: {error}").format(type=type(error).__name__, error=error),
            )


def _python() -> Iterator[Checked]:
    told = _("{python_version} on {system} {machine}, {executable}").format(
        python_version=platform.python_version(),
        system=platform.system(),
        machine=platform.machine(),
        executable=sys.executable,
    )
    linux = platform.system() == "Linux"
    remedy = "" if linux else _("Triton has wheels for Linux only: use WSL2, a Linux container or Colab.")
    yield Checked("Python", "ok" if linux else "missing", told, remedy)
    yield Checked("triton-lab", "ok", f"{triton_lab.__version__}, {Path(triton_lab.__file__).parent}")


def _packages() -> Iterator[Checked]:
    """The required packages; of those that are installed, only the three most important are listed."""
    if _version("triton-lab") is None:
        remedy = _("{pip} . in a clone's folder, or install a wheel.").format(pip=_PIP)
        yield Checked("triton-lab", "missing", _("not installed, only on Python's path"), remedy)
        return
    wanted_by_name = {re.split(r"[^\w.-]", each, maxsplit=1)[0]: each for each in metadata.requires("triton-lab") or ()}
    for name, wanted in wanted_by_name.items():
        optional = "extra ==" in wanted
        found = _version(name)
        requirement = wanted.partition(";")[0].strip()
        if found is None and not optional:
            yield Checked(name, "missing", "not installed", f"{_PIP} '{requirement}'")
        elif name in ("torch", "triton", "numpy"):
            yield Checked(name, "ok", str(found))
        elif name == "jupyterlab" and found is None:
            remedy = _("{pip} '{requirement}'. Scripts and tests work without it.").format(
                pip=_PIP, requirement=requirement
            )
            yield Checked(name, "note", "not installed", remedy)


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _backend() -> Iterator[Checked]:
    """Whether Triton finds the backend, and where launches run."""
    points = [point.value for point in metadata.entry_points(group="triton.backends") if point.name == "triton_lab"]
    from triton.backends import backends

    if "triton_lab" not in backends:
        why = _("its entry point is not registered") if not points else _("Triton does not load it")
        remedy = _("Install triton-lab into this environment. A folder on PYTHONPATH registers no backend.")
        yield Checked("backend", "missing", _("Triton does not see it: {why}").format(why=why), remedy)
        return
    from triton_lab.backend.targets.active_target import current
    from triton_lab.notebook.cell.status_text import environment

    yield Checked("backend", "ok", _("Triton sees it. Launches run on: {current}").format(current=current()))
    yield Checked("target cpu", "ok", "there")
    yield from _gpu()
    yield from (Checked("environment", "note", told) for told in environment())


def _gpu() -> Iterator[Checked]:
    import torch

    from triton_lab.notebook.cell.status_text import gpu_name

    name = gpu_name()
    if name:
        yield Checked("target gpu", "ok", name)
        return
    if torch.version.cuda is None and torch.version.hip is None:
        why, remedy = (
            _("torch was built without GPU support"),
            "If you have a GPU: https://pytorch.org/get-started/locally/",
        )
    else:
        built = f"CUDA {torch.version.cuda}" if torch.version.cuda else f"ROCm {torch.version.hip}"
        why, remedy = (
            _("torch was built for {built} and finds no device").format(built=built),
            _("If you have a GPU, check its driver."),
        )
    yield Checked(
        "target gpu", "note", _("none: {why}").format(why=why), _("No GPU is needed. {remedy}").format(remedy=remedy)
    )


def _compilers() -> Iterator[Checked]:
    """The GPUs for which kernels can be compiled with what Triton brings along."""
    from triton.backends import backends

    from triton_lab.compiled.architecture import ARCHITECTURES

    there = [one.name for one in ARCHITECTURES if ("nvidia" if one.is_nvidia else "amd") in backends]
    if there:
        yield Checked("compile for", "ok", ", ".join(there))
    else:
        remedy = f"{_PIP} --force-reinstall triton"
        yield Checked("compile for", "note", _("none: this Triton has no compiler for GPUs"), remedy)


def _cache() -> Iterator[Checked]:
    from triton import knobs

    folder = Path(knobs.cache.dir)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            yield Checked("cache", "ok", str(folder))
    except OSError as error:
        remedy = _("Set TRITON_CACHE_DIR to a folder that you can write to.")
        yield Checked(
            "cache",
            "missing",
            _("{folder} cannot be written: {strerror}").format(folder=folder, strerror=error.strerror),
            remedy,
        )


def _native() -> Iterator[Checked]:
    """Whether kernels can be compiled to machine code, and cached."""
    from triton_lab.native.llvm import jit
    from triton_lab.native.runtime import code_cache

    lacking = jit.missing()
    if lacking:
        remedy = _("NumPy runs all kernels. To speed it up: {pip} 'triton-lab[native]'").format(pip=_PIP)
        yield Checked("native engine", "note", lacking, remedy)
        return
    try:
        yield Checked(
            "native engine", "ok", _("llvmlite {version} for {cpu}").format(version=jit.version(), cpu=jit.host().cpu)
        )
    except jit.CannotCompile as error:
        yield Checked(
            "native engine",
            "note",
            str(error),
            _("NumPy runs all kernels. {pip} --force-reinstall llvmlite").format(pip=_PIP),
        )
        return
    if why := code_cache.trouble():
        remedy = _("Compiled kernels are not cached. Set TRITON_CACHE_DIR to a folder that you can write to.")
        yield Checked("native engine", "note", f"{code_cache.folder()}: {why}", remedy)


def _hook() -> Iterator[Checked]:
    """The startup file for IPython."""
    from IPython.core.application import ENV_CONFIG_DIRS, SYSTEM_CONFIG_DIRS
    from IPython.paths import get_ipython_dir

    folders = [*ENV_CONFIG_DIRS, *SYSTEM_CONFIG_DIRS, os.path.join(get_ipython_dir(), "profile_default")]
    found = [path for folder in folders if (path := Path(folder, "startup", _HOOK)).exists()]
    if found:
        yield Checked("%%triton", "ok", _("IPython loads it at startup: {found}").format(found=found[0]))
    else:
        yield Checked("%%triton", "note", _("IPython does not load it at startup"), "Run %load_ext triton_lab first.")


def _extension() -> Iterator[Checked]:
    version = _version("jupyterlab")
    if version is None:
        return
    yield Checked("jupyterlab", "ok", version)
    command = [sys.executable, "-m", "jupyter", "labextension", "list"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    found = _EXTENSION.search(_COLOURS.sub("", run.stdout + run.stderr))
    if found is None:
        remedy = _("Install triton-lab into JupyterLab's environment.")
        yield Checked("extension", "missing", _("JupyterLab does not see it"), remedy)
        return
    theirs, enabled, sound = found.groups()
    if enabled != "enabled":
        yield Checked("extension", "missing", f"{theirs}, {enabled}", _("jupyter labextension enable triton-lab"))
    elif theirs != triton_lab.__version__:
        remedy = _("Install triton-lab again, and restart JupyterLab.")
        yield Checked(
            "extension",
            "missing",
            _("{theirs}, and the package is {triton_lab}").format(theirs=theirs, triton_lab=triton_lab.__version__),
            remedy,
        )
    elif sound != "OK":
        remedy = _("Its parts do not fit this JupyterLab. For more, run jupyter labextension list.")
        yield Checked("extension", "missing", _("{version}, not OK").format(version=theirs), remedy)
    else:
        yield Checked("extension", "ok", _("{version}, enabled").format(version=theirs))


def _course() -> Iterator[Checked]:
    from triton_lab import messages
    from triton_lab.command.copy_course import notebooks

    yield Checked("course", "ok", messages.count(len(notebooks()), "notebook"))


_LOOKS: tuple[tuple[str, Callable[[], Iterator[Checked]]], ...] = (
    ("Python", _python),
    ("packages", _packages),
    ("backend", _backend),
    ("compile for", _compilers),
    ("cache", _cache),
    ("native engine", _native),
    ("%%triton", _hook),
    ("extension", _extension),
    ("course", _course),
)
