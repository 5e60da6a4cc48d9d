"""The right Gluon kernels on a GPU, and with bugs under Triton's ConSan: ``python -m tests.gpu.gluon_cases OUT``.

Writes OUT/gluon.json: for each case whether the GPU's result is right and equal to the CPU target's, and for each bug
whether ConSan stops the kernel. Each bug runs in a process of its own, since a failed assertion ends the context.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

_ONE = """
import sys, torch, triton
from pathlib import Path
torch.set_default_device("cuda")
from tests.gluon.cases import cases, launch, right
from tests.gluon.plant import bugs, module_of
name, number, folder = sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])
case = next(one for one in cases() if str(one) == name)
triton.set_allocator(lambda size, align, stream: torch.empty(size, dtype=torch.int8, device="cuda"))
module = None
if number >= 0:
    module = module_of(list(bugs(Path(case.module.__file__), case.kernel))[number].source, folder, number)
result = launch(case, module)
torch.cuda.synchronize()
print("RIGHT" if right(result) else "WRONG")
"""

_BLACKWELL = ("rows", "in_tensor_memory")  # kernels with instructions that Hopper has not


def tried(name: str, number: int, folder: str, consan: bool, seconds: int = 60) -> str:
    """What one run says: RIGHT, WRONG, or the last line of its error."""
    environment = dict(os.environ)
    environment.pop("TRITON_DEFAULT_BACKEND", None)
    if consan:
        environment["TRITON_INSTRUMENTATION_MODE"] = "consan"
    command = [sys.executable, "-c", _ONE, name, str(number), folder]
    try:
        found = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        return "HANGS"
    said = found.stdout.strip().splitlines()
    if said and said[-1] in ("RIGHT", "WRONG"):
        return said[-1]
    told = [line for line in found.stderr.splitlines() if "Assertion" in line or "Error" in line]
    return (told or ["no output"])[-1][:300]


def main(out: str) -> None:
    """Try all cases, then the bugs of the deepest ones; twelve at once, for five minutes at most.

    The file is written after each, so that a run that is cut short leaves what it has found.
    """
    import time
    from concurrent.futures import ThreadPoolExecutor

    from tests.gluon.cases import cases
    from tests.gluon.plant import bugs

    Path(out).mkdir(parents=True, exist_ok=True)
    end = time.monotonic() + 240
    found: dict[str, str] = {}
    writing = threading.Lock()

    def one(label: str, name: str, number: int, folder: str) -> None:
        if time.monotonic() < end:
            said = tried(name, number, folder, consan=number >= 0)
            with writing:
                found[label] = said
                (Path(out) / "gluon.json").write_text(json.dumps(found, indent=1) + "\n")

    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(12) as pool:
        for case in cases():
            if case.kernel not in _BLACKWELL:
                pool.submit(one, str(case), str(case), -1, folder)
        for case in cases(1):
            if case.kernel in _BLACKWELL:
                continue
            for number, bug in enumerate(bugs(Path(str(case.module.__file__)), case.kernel)):
                if bug.kind in ("wait", "commit", "fence", "phase"):
                    pool.submit(one, f"{case} {bug.line} {bug.change}", str(case), number, folder)


if __name__ == "__main__":
    main(*sys.argv[1:])
