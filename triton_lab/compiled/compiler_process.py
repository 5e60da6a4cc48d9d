"""The process that compiles.

Reads requests from standard input, a line of JSON each: ``module``, ``target``, ``options``, ``language`` (TRITON or
GLUON), and ``memory``, the most bytes it may take. With ``dump``, a file's name, it writes there what each pass did,
and compiles no further than to LLVM IR. With ``generic``, the name of a file with a list of modules in JSON, it prints
these in MLIR's generic form, as stages with their numbers, and compiles nothing. ``disassembled`` asks for the text of
NVIDIA's machine code.

It answers in lines of JSON on its original standard output: ``begun``; for each stage ``stage``, ``seconds`` and
``text`` or ``base64``; at the end ``metadata`` with what the tools reported, or ``failed``. All other output goes to
standard error. It ends after a while without requests.
"""

from __future__ import annotations

import base64
import contextlib
import io
import json
import os
import resource
import select
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from triton_lab.localization import _

FOLDER = "triton-lab-compiler-"  # how the name of its temporary folder begins
IDLE = 300.0  # seconds that it waits for the next request
_METADATA = ("name", "num_warps", "num_stages", "num_ctas", "warp_size", "shared", "tmem_size")
Answer = Callable[[dict[str, Any]], None]


def main() -> None:
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)

    def answer(told: dict[str, Any]) -> None:
        answers.write(json.dumps(told) + "\n")

    import triton  # noqa: F401  loaded before the first request

    try:
        _answer_all(answer)
    finally:  # the client may be gone, and would not remove it
        if os.path.basename(folder := tempfile.gettempdir()).startswith(FOLDER):
            shutil.rmtree(folder, ignore_errors=True)


def _answer_all(answer: Answer) -> None:
    while select.select([sys.stdin], [], [], IDLE)[0]:
        line = sys.stdin.readline()
        if not line:
            return
        answer({"begun": True})
        try:
            answer(_compiled(json.loads(line), answer))
        except Exception as error:  # compilers raise exceptions of any type
            answer({"failed": f"{type(error).__name__}: {error}"})


def _compiled(asked: dict[str, Any], answer: Answer) -> dict[str, Any]:
    """Run the stages one after the other; returns the final facts."""
    from triton import knobs
    from triton.backends.compiler import GPUTarget, Language
    from triton.compiler.compiler import make_backend

    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (asked["memory"], most))
    target = GPUTarget(*asked["target"])
    backend = make_backend(target)
    options = backend.parse_options(asked["options"])
    metadata: dict[str, Any] = {"target": target, **options.__dict__}
    stages: dict[str, Any] = {}
    backend.add_stages(stages, options, Language[asked["language"]])
    if asked.get("generic"):
        from triton_lab.ir.lower import generic_text

        for number, text in enumerate(json.loads(Path(asked["generic"]).read_text(encoding="utf-8"))):
            with contextlib.suppress(RuntimeError):  # a module that cannot be read back has no generic form
                begun = time.perf_counter()
                _tell(str(number), generic_text(_parsed(text, backend)), time.perf_counter() - begun, answer)
        return {}
    if asked.get("dump"):
        # Two runs: the time that writing takes must not count as a pass's.
        for wanted in ("MLIR_ENABLE_TIMING", "MLIR_ENABLE_DUMP"):
            with _told_by_mlir(wanted, asked["dump"]):
                module, told = _parsed(asked["module"], backend), dict(metadata)
                for name in stages:
                    module = stages[name](module, told)
                    if name == "llir":
                        break
        return {}
    module = _parsed(asked["module"], backend)
    log = io.StringIO()
    # ptxas reports registers only when asked to.
    with contextlib.redirect_stdout(log), knobs.nvidia.scope():
        knobs.nvidia.dump_ptxas_log = True
        for name, run in stages.items():
            begun = time.perf_counter()
            module = run(module, metadata)
            _tell(name, module, time.perf_counter() - begun, answer)
    tools, lacking = "", dict[str, str]()
    if target.backend == "cuda" and asked["disassembled"]:
        tools, lacking = _disassembled(module, answer)
    known = {name: metadata[name] for name in _METADATA if name in metadata}
    return {"metadata": known, "log": log.getvalue(), "usage": tools, "lacking": lacking}


def _parsed(text: str, backend: Any) -> Any:
    """Parse the module, in an MLIR context of its own."""
    from triton._C.libtriton import ir

    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "kernel.mlir"
        file.write_text(text, encoding="utf-8")
        module = ir.parse_mlir_module(str(file), context)
    module.context = context
    return module


@contextlib.contextmanager
def _told_by_mlir(wanted: str, path: str) -> Iterator[None]:
    """Append what compilers print to a file; ``wanted`` is the environment variable that makes MLIR print it."""
    before = {name: os.environ.pop(name, None) for name in ("MLIR_ENABLE_DUMP", "MLIR_ENABLE_TIMING")}
    kept = os.dup(2)
    with open(path, "ab") as file:
        os.dup2(file.fileno(), 2)
    os.environ[wanted] = "1"
    try:
        yield
    finally:
        del os.environ[wanted]
        os.environ.update({name: value for name, value in before.items() if value is not None})
        os.dup2(kept, 2)
        os.close(kept)


def _tell(name: str, made: Any, seconds: float, answer: Answer) -> None:
    held = {"base64": base64.b64encode(made).decode()} if isinstance(made, bytes) else {"text": str(made)}
    answer({"stage": name, "seconds": seconds, **held})


def _disassembled(cubin: bytes, answer: Answer) -> tuple[str, dict[str, str]]:
    """The machine code as text; what the cubin says of registers; and what is missing, with the reason."""
    from triton import knobs
    from triton.tools.disasm import get_sass

    begun = time.perf_counter()
    try:
        _tell("sass", get_sass(cubin), time.perf_counter() - begun, answer)
        with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
            file.write(cubin)
            file.flush()
            command = [knobs.nvidia.cuobjdump.path, "--dump-resource-usage", file.name]
            return subprocess.run(command, capture_output=True, text=True, check=True).stdout, {}
    except (OSError, RuntimeError, subprocess.SubprocessError) as error:
        return "", {"sass": _("cuobjdump cannot be run: {error}").format(error=error)}
