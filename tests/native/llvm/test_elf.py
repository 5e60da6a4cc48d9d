"""What object code is for and whom it calls, read from the file."""

from __future__ import annotations

import pytest

from triton_lab.native.llvm import jit

TEXT = """
declare float @fmaf(float, float, float)
@there = external global i64
define i64 @run(i64 %n) {
 %x = call float @fmaf(float 1.0, float 2.0, float 3.0)
 %y = load i64, ptr @there
 ret i64 %y
}
"""
TARGETS = {62: jit.Target("x86_64-unknown-linux-gnu", "x86-64", ""), 183: jit.ARM64}


@pytest.mark.parametrize("machine", TARGETS)
def test_names_that_others_must_have_are_found(machine: int) -> None:
    code = jit.object_code(TEXT, TARGETS[machine])
    assert jit.machine_of(code) == machine
    assert jit.undefined_names(code) - {"_GLOBAL_OFFSET_TABLE_"} == {"fmaf", "there"}


def test_damaged_files_are_refused_and_nothing_else_happens() -> None:
    code = jit.object_code(TEXT, TARGETS[62])
    assert jit.machine_of(b"\x7fELF") is None
    for end in range(0, len(code), 7):
        try:
            assert jit.undefined_names(code[:end]) <= jit.undefined_names(code) | {""}
        except ValueError:
            continue
    with pytest.raises(ValueError, match="no object code"):
        jit.undefined_names(b"text")


def test_what_the_processor_and_the_process_lack_is_told() -> None:
    code = jit.object_code(TEXT, jit.host())
    with pytest.raises(jit.CannotCompile, match="instructions"):
        jit.Linked(code, "run")
