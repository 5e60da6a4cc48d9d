"""Kernels that a compiler refuses, aborts at or does not finish: an error at the line, and all goes on."""

from __future__ import annotations

import os
import re
import signal
import tempfile
import threading

import pytest
import triton
import triton.language as tl

import triton_lab as lab
from tests.wordings import Wording
from triton_lab.compiled import compile, compiler_client
from triton_lab.compiled.compile_failure import place_of

pytestmark = pytest.mark.usefixtures("cache")


@triton.jit
def squared(x, z, N: tl.constexpr):
    k = tl.arange(0, N)
    value = tl.load(x + k)
    tl.store(z + k, value * value)


@triton.jit
def assembled(x, z, CODE: tl.constexpr, CONSTRAINTS: tl.constexpr):
    k = tl.arange(0, 128)
    value = tl.load(x + k)
    tl.store(z + k, tl.inline_asm_elementwise(CODE, CONSTRAINTS, [value], dtype=tl.int32, is_pure=True, pack=1))


@triton.jit
def product(x, y, z, length, N: tl.constexpr):
    rows, columns = tl.arange(0, N)[:, None], tl.arange(0, N)[None, :]
    total = tl.zeros((N, N), tl.float32)
    for step in range(0, length, N):
        a = tl.load(x + rows * length + step + columns)
        total += tl.dot(a, tl.load(y + (step + rows) * N + columns))
    tl.store(z + rows * N + columns, total)


def works() -> bool:
    return bool(lab.compile(squared, "*fp32, *fp32", {"N": 16}, "gfx942").stages["hsaco"])


def refused(kernel, signature, constants, target, **options) -> lab.CompileError:
    with pytest.raises(lab.CompileError) as caught:
        lab.compile(kernel, signature, constants, target, **options)
    error = caught.value
    assert (error.target, error.file) == (target, __file__)
    assert f"{__file__}, line {error.line}, in kernel {kernel.__name__}" in str(error)
    compile.forget()
    assert works()
    return error


@pytest.mark.parametrize("target", ["sm_90", "gfx942"])
def test_a_type_that_the_target_does_not_have_is_told_at_its_line(target, wording: Wording):
    error = refused(squared, "*fp8e5, *fp8e5", {"N": 16}, target)
    assert error.line == squared.starting_line_number + 4
    wording(error, target=target, file=__file__, line=error.line)


@pytest.mark.parametrize("target", ["sm_90", "gfx942"])
@pytest.mark.parametrize(
    ("code", "constraints", "reason"),
    [
        ("no.such $0, $1;", "=r,r", r"Not a name|[Uu]nknown modifier|invalid instruction"),
        ("mov.b32 $0, $1;", "=r", "SIGABRT: number of .* constraints"),
        ("mov.b32 $0, $5;", "=r,r", "SIGABRT: .*Invalid .* operand number"),
    ],
)
def test_a_compiler_that_aborts_or_fails_is_an_error_at_the_line(target, code, constraints, reason):
    error = refused(assembled, "*i32, *i32", {"CODE": code, "CONSTRAINTS": constraints}, target)
    assert re.search(reason, str(error)), str(error)
    assert error.line == assembled.starting_line_number + 4


def test_a_process_that_is_killed_is_an_error(monkeypatch):
    assert works()
    (waiting,) = compiler_client._idle[-1:]
    answers = waiting._answers

    def killed(*given):
        for answer in answers(*given):
            if answer.get("stage") == "ttgir":
                os.killpg(waiting.process.pid, signal.SIGKILL)
            yield answer

    monkeypatch.setattr(waiting, "_answers", killed)
    error = refused(product, "*fp16, *fp16, *fp32, i32", {"N": 32}, "gfx942")
    assert "ended by SIGKILL" in str(error)
    assert error.stage in ("llir", "amdgcn", "hsaco")
    assert error.line == product.starting_line_number + 1


def test_one_that_has_ended_while_nobody_asked_is_replaced():
    assert works()
    for waiting in compiler_client._idle:
        os.killpg(waiting.process.pid, signal.SIGKILL)
    compile.forget()
    assert lab.compile(squared, "*fp32, *fp32", {"N": 32}, "gfx942").stages


def test_time_is_limited(wording: Wording):
    error = refused(product, "*fp16, *fp16, *fp32, i32", {"N": 64}, "sm_90", seconds=0.02)
    wording(str(error).splitlines()[0], kernel="product", target=error.target)
    assert "seconds=..." in str(error)


def test_memory_is_limited(wording: Wording):
    error = refused(product, "*fp16, *fp16, *fp32, i32", {"N": 64}, "gfx942", max_bytes=4 << 20)
    wording(str(error).splitlines()[0], kernel="product", target=error.target)
    assert "max_bytes=..." in str(error)


def test_a_tool_that_is_not_there_is_named(monkeypatch):
    monkeypatch.setattr(compiler_client, "environment", lambda: {"another": "environment"})
    gone = (
        "from triton import knobs\n"
        "def gone(self): raise RuntimeError('Cannot find ptxas')\n"
        "type(knobs.nvidia).ptxas = type(knobs.nvidia).ptxas_blackwell = property(gone)\n"
    )
    monkeypatch.setattr(
        compiler_client, "_START", compiler_client._START.replace("; ", "\n").replace("main()", f"{gone}main()")
    )
    error = refused(squared, "*fp32, *fp32", {"N": 16}, "sm_90")
    assert "Cannot find ptxas" in str(error)
    assert "TRITON_PTXAS_PATH" in str(error)


def test_too_much_shared_memory_is_told(wording: Wording):
    compiled = lab.compile(product, "*fp16:16, *fp16:16, *fp32:16, i32:16", {"N": 64}, "sm_80", num_stages=12)
    (problem,) = compiled.problems
    wording(problem, target="sm_80", shared=f"{compiled.metadata.shared:,}", most=f"{163 * 1024:,}")
    assert problem in str(compiled)
    assert compiled.metadata.shared > 163 * 1024


def test_who_interrupts_does_not_wait(monkeypatch):
    monkeypatch.setattr(compiler_client, "_PAUSE", 0.01)
    asked = compiler_client.ask

    def interrupting(*given):
        threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
        return asked(*given)

    monkeypatch.setattr(compiler_client, "ask", interrupting)
    with pytest.raises(KeyboardInterrupt):  # with one warp it takes long
        lab.compile(product, "*fp32, *fp32, *fp32, i32", {"N": 128}, "sm_80", num_warps=1)
    monkeypatch.undo()
    assert works()


def test_who_interrupts_leaves_no_files_behind(monkeypatch, tmp_path):
    compiler_client.dismiss_all()
    monkeypatch.setattr(compiler_client, "_PAUSE", 0.01)
    (temporary := tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    answers = compiler_client.Child._answers

    def interrupting(self, *given):
        for answer in answers(self, *given):
            yield answer
            if answer.get("stage") == "llir":  # ptxas, or what writes for it, is at work
                raise KeyboardInterrupt

    monkeypatch.setattr(compiler_client.Child, "_answers", interrupting)
    with pytest.raises(KeyboardInterrupt):
        lab.compile(product, "*fp32, *fp32, *fp32, i32", {"N": 64}, "sm_80", num_warps=2)
    assert os.listdir(temporary) == []


def test_a_line_of_assembly_leads_to_one_of_the_source():
    text = '.file 1 "/a" "b.py"\n.file 2 "/c/d.py"\n.loc 1 7 0\nadd\n.loc 2 9 0 // b\nmul\nsub'
    assert place_of(text, 4) == ("/a/b.py", 7)
    assert place_of(text, 7) == ("/c/d.py", 9)
    assert place_of(text, 1) == ("", 0)
    assert place_of('.file 1 "/j\\303\\266s" "\\"b\\\\.py"\n.loc 1 7 0\nadd', 3) == ('/jös/"b\\.py', 7)
