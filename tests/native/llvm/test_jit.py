"""Text becomes code that runs, for this processor and others; what LLVM refuses is told as one kind of error."""

from __future__ import annotations

import ctypes
import gc
import subprocess
import sys
import threading

import llvmlite.binding as llvm
import pytest

from tests.wordings import Wording
from triton_lab.native.llvm import jit
from triton_lab.native.runtime import background_compiler

DOUBLE = """
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
define i64 @run(ptr %a, i64 %n) {
  %v = load <16 x float>, ptr %a, align 4
  %w = fadd <16 x float> %v, %v
  store <16 x float> %w, ptr %a, align 4
  %rest = getelementptr i8, ptr %a, i64 64
  %left = sub i64 %n, 64
  call void @llvm.memset.p0.i64(ptr %rest, i8 7, i64 %left, i1 false)
  ret i64 %n
}
"""
NO_AVX512 = ("avx512", "avx10", "amx")


def run(linked: jit.Linked) -> bytes:
    data = ctypes.create_string_buffer(b"\0\0\x80\x3f" * 16, 100)
    function = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64)(linked.address)
    assert function(ctypes.addressof(data), 100) == 100
    return data.raw


@pytest.mark.parametrize("prefixes", [(), NO_AVX512, (*NO_AVX512, "avx", "fma")])
def test_text_runs_with_the_features_that_are_left(prefixes: tuple[str, ...]) -> None:
    code = jit.object_code(DOUBLE, jit.host().without(prefixes))
    assert run(jit.Linked(code, "run")) == b"\0\0\0\x40" * 16 + b"\7" * 36


def test_a_target_without_features_uses_none_of_their_registers() -> None:
    if not jit.host().has("avx512f"):
        pytest.skip("this processor has no AVX-512")

    def registers(target: jit.Target) -> str:
        module = llvm.parse_assembly(DOUBLE)
        return jit._machine(target).emit_assembly(module)

    assert "zmm" in registers(jit.host())
    assert "zmm" not in registers(jit.host().without(NO_AVX512))


def test_code_that_nobody_holds_is_given_back_once_on_the_thread_that_compiles(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where Python clears away what refers to itself, it would end an object and all that this holds, in any thread."""
    gc.collect()
    background_compiler.background.wait()  # what other tests have left
    monkeypatch.setattr(background_compiler, "background", background_compiler.Background())
    gone: list[str] = []
    dispose = llvm.orcjit.ResourceTracker._dispose

    def disposed(self) -> None:
        gone.append(threading.current_thread().name)
        dispose(self)

    monkeypatch.setattr(llvm.orcjit.ResourceTracker, "_dispose", disposed)
    code = jit.object_code(DOUBLE, jit.host())
    for _ in range(5):
        around = [jit.Linked(code, "run")]
        around.append(around)
    del around
    gc.collect()
    assert not gone  # nobody is there to do it
    background_compiler.background.wait()
    background_compiler.background.close()
    assert gone == ["triton-lab native"] * 5


def test_code_for_arm64_is_made_and_never_run_elsewhere() -> None:
    code = jit.object_code(DOUBLE, jit.ARM64)
    instructions = [each.size() for each in llvm.ObjectFileRef.from_data(code).sections() if each.is_text()]
    assert instructions and instructions[0] > 0 and instructions[0] % 4 == 0
    assert jit.made_for(code, jit.ARM64)
    if not jit.host().arm:
        with pytest.raises(jit.CannotCompile, match="another processor"):
            jit.Linked(code, "run")


@pytest.mark.parametrize("text", ["define foo", "define i64 @run() {\n ret i32 0\n}", "declare void @f(\n"])
def test_what_is_no_program_is_refused(text: str) -> None:
    with pytest.raises(jit.CannotCompile):
        jit.object_code(text, jit.host())


def test_code_that_lacks_something_is_refused() -> None:
    code = jit.object_code(DOUBLE, jit.host())
    with pytest.raises(jit.CannotCompile, match="other"):
        jit.Linked(code, "other")
    missing = jit.object_code("declare i64 @nobody_has_this()\n" + CALLS, jit.host())
    with pytest.raises(jit.CannotCompile, match="nobody_has_this"):
        jit.Linked(missing, "run")
    for end in (0, 10, 200, len(code) - 1):
        with pytest.raises(jit.CannotCompile):
            jit.Linked(code[:end], "run")


CALLS = "define i64 @run() {\n %v = call i64 @nobody_has_this()\n ret i64 %v\n}"


def test_without_llvmlite_that_is_said_and_nothing_else_happens(wording: Wording) -> None:
    program = """
import sys
sys.modules["llvmlite"] = None
from triton_lab.native.llvm import jit; from triton_lab.native.runtime import background_compiler as pool
try:
    jit.host()
except jit.CannotCompile as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    wording(done.stdout.partition(":")[0], package="llvmlite")


def test_asking_whether_there_is_a_compiler_imports_none() -> None:
    program = (
        "import sys; from triton_lab.native import engine; from triton_lab.native.llvm import jit; jit.missing(); "
        "print('llvmlite' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
