"""A kernel is compiled once and kept; processes share what is kept, whatever happens to one of them."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
import torch

import triton_lab as lab
from tests import warm
from tests.native.launches import add, on_both
from triton_lab.native import engine
from triton_lab.native.llvm import jit
from triton_lab.native.runtime import code_cache, compiled_function
from triton_lab.native.threads import thread_team

# The kernel is known to Triton before anybody forks, and llvmlite to nobody.
START = """
import os, signal, sys, time
import torch
import triton_lab as lab
from tests.native.launches import add
from triton_lab.native import engine

def launched(chosen):
    x, out = torch.arange(3000.0), torch.zeros(3000)
    with lab.limits(engine=chosen):
        add[(3,)](x, x, out, 3000, BLOCK=1024)
    return bool((out == 2 * x).all()) and (chosen == "numpy" or engine.lately[-1].engine == "native")

assert launched("numpy")

def child(work):
    number = os.fork()
    if not number:
        os._exit(0 if work() else 1)
    return number

def ended(number):
    return os.waitstatus_to_exitcode(os.waitpid(number, 0)[1])
"""
EIGHT = """
print([ended(number) for number in [child(lambda: launched("native")) for _ in range(8)]])
"""
KILLED = """
from triton_lab.native.runtime import code_cache as cache; from triton_lab.native.llvm import jit

def dying(module, name):
    setattr(module, name, lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL))
    return launched("native")

for place in ((jit, "Linked"), (os, "rename"), (cache, "_prune")):
    assert ended(child(lambda: dying(*place))) == -signal.SIGKILL, place
print(ended(child(lambda: launched("native"))))
"""


def run(script: str) -> str:
    command = warm.command("-c", START + script, modules=warm.LAUNCH)
    environment = os.environ | {"TRITON_DEFAULT_BACKEND": "triton_lab", "TRITON_LAB_RAISE": "1"}
    root = Path(__file__).parents[3]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment, cwd=root, check=False)
    assert not done.returncode, done.stderr
    return done.stdout


# What threads run around any kernel is kept beside it: a process's first kernel has it compiled.
FOR_THREADS = 2


def kept() -> list[str]:
    return [each.name for each in code_cache.folder().iterdir() if each.suffix == ".native"]


def test_eight_processes_compile_one_kernel_at_once() -> None:
    assert run(EIGHT) == f"{[0] * 8}\n"
    assert len(kept()) == 1 + FOR_THREADS


def test_whoever_is_killed_while_it_compiles_leaves_all_in_order() -> None:
    assert run(KILLED) == "0\n"
    assert len(kept()) == 1 + FOR_THREADS


@pytest.fixture
def forgetting(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is compiled from here on, where launches know nothing of those before; nothing is kept."""
    thread_team.make_ready()  # else the first of these tests keeps that, too
    shutil.rmtree(code_cache.folder(), ignore_errors=True)
    compiled: list[str] = []
    own = compiled_function.compiled

    def noting(plan, signature):
        compiled.append(plan.kernel.name)
        return own(plan, signature)

    monkeypatch.setattr(compiled_function, "compiled", noting)
    monkeypatch.setattr(engine, "_kernel_of", engine.NativeKernel)
    return compiled


def test_a_kernel_is_compiled_once_for_each_pattern_of_aliasing(forgetting: list[str]) -> None:
    x, y, out = (torch.rand(1000) for _ in range(3))
    for tensors in ((x, y, out), (x, y, x), (x, x, out), (x, y, out)):
        error, ran = on_both(lambda tensors=tensors: add[(1,)](*tensors, 1000, BLOCK=1024), *dict.fromkeys(tensors))
        assert not error and ran.engine == "native"
    assert len(forgetting) == 3 and len(kept()) == 3


@pytest.mark.parametrize("damage", ["cut", "foreign"])
def test_what_was_damaged_is_compiled_anew(forgetting: list[str], damage: str) -> None:
    x, out = torch.rand(1000), torch.zeros(1000)
    with lab.limits(engine="native"):
        add[(1,)](x, x, out, 1000, BLOCK=1024)
        (path,) = code_cache.folder().iterdir()
        if damage == "cut":
            path.write_bytes(path.read_bytes()[:-1])
        else:  # sound, and for a processor that is not here
            notes, _ = code_cache.find(path.stem)
            other = jit.Target("x86_64-unknown-linux-gnu", "x86-64", "") if jit.host().arm else jit.ARM64
            code_cache.keep(path.stem, notes, jit.object_code("define i64 @run() {\n ret i64 0\n}", other))
        add[(1,)](x, x, out, 1000, BLOCK=1024)
        assert len(forgetting) == 2
        add[(1,)](x, x, out, 1000, BLOCK=1024)
    assert len(forgetting) == 2
    assert (out == 2 * x).all()
