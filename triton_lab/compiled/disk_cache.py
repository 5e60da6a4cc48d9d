"""Stores compilations in Triton's own cache on disk, under a key of everything that decides the result."""

from __future__ import annotations

import base64
import functools
import hashlib
import json
from pathlib import Path

from triton_lab.compiled.compiler_client import CompileOutcome, environment
from triton_lab.compiled.front_end import Request

_NAME = "compiled.json"


def find(request: Request) -> CompileOutcome | None:
    """The stored outcome of such a request; None where there is none, or it cannot be read."""
    from triton_lab.backend.plugin.triton_cache import is_readable, manager

    try:
        path = manager(_key(request)).get_file(_NAME)
        if path is None or not is_readable(path):
            return None
        held = json.loads(Path(path).read_text(encoding="utf-8"))
        stages = held["stages"] | {name: base64.b64decode(text) for name, text in held["binaries"].items()}
        return CompileOutcome({name: stages[name] for name in held["seconds"]}, held["seconds"], held["told"])
    except (
        OSError,
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        RecursionError,
    ):  # cut or changed: it is compiled again
        return None


def keep(request: Request, outcome: CompileOutcome) -> None:
    """Store an outcome. A disk that refuses is no error."""
    from triton_lab.backend.plugin.triton_cache import manager

    held = {
        "stages": {name: text for name, text in outcome.stages.items() if isinstance(text, str)},
        "binaries": {
            name: base64.b64encode(made).decode() for name, made in outcome.stages.items() if isinstance(made, bytes)
        },
        "seconds": outcome.seconds,
        "told": outcome.told,
    }
    try:
        manager(_key(request)).put(json.dumps(held), _NAME, binary=False)
    except OSError:
        return


def _key(request: Request) -> str:
    parts = (
        request.module,
        request.language,
        repr(request.target),
        request.options,
        str(request.disassembled),
        json.dumps(environment()),
        _compiler(),
    )
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


@functools.cache
def _compiler() -> str:
    """A key for the compiler: Triton's version, its binaries' size and age, and the code of the compiling process."""
    import triton

    folder = Path(str(triton.__file__)).parent
    binaries = [*folder.glob("_C/libtriton*"), *folder.glob("backends/*/bin/*"), *folder.glob("backends/*/lib/*")]
    ages = [f"{file.name} {file.stat().st_size} {file.stat().st_mtime_ns}" for file in sorted(binaries)]
    worker = (Path(__file__).parent / "compiler_process.py").read_text(encoding="utf-8")
    return "\n".join([triton.__version__, *ages, worker])
