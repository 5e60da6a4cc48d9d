"""The examples' kernels for other processors than this one: without AVX-512 they run here, for arm64 they compile."""

from __future__ import annotations

import dataclasses

import llvmlite.binding as llvm
import pytest

import triton_lab as lab
from triton_lab.examples import example
from triton_lab.native import engine
from triton_lab.native.function_contract import Signature
from triton_lab.native.llvm import jit
from triton_lab.native.lowering.kernel_function import generate
from triton_lab.native.runtime import compiled_function

NAMES = ("vector_add", "attention_causal", "matmul_float16", "softmax", "histogram", "layer_norm", "prefix_sum")
# What has no AVX-512, and what has no AVX.
NARROWER = {"avx2": ("avx512", "avx10", "amx"), "sse": ("avx", "amx", "fma", "f16c", "vaes", "vpclmul", "gfni", "xop")}
_LATER = ("avx10", "amx", "f16c", "vaes", "vpclmul", "gfni", "xop")
# The first ones of their kind: SSE2 alone, SSE4.1, AVX without whole numbers and fma, AVX-512 without short ones.
EARLY = {
    "sse2": ("avx", "fma", "sse3", "ssse3", "sse4", *_LATER),
    "sse4.1": ("avx", "fma", "sse4.2", "sse4a", *_LATER),
    "avx": ("avx2", "avx5", "avxi", "avxv", "avxn", "fma", *_LATER),
    "avx512f": ("avx512b", "avx512d", "avx512v", "avx512i", "avx512c", "avx512p", "avx512fp16", *_LATER),
}
# What the C library has. Object code for arm64 may want nothing else.
LIBRARY = {"memcpy", "memset", "memmove"}


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch):
    """The plans and signatures of what is built, each of which is made anew."""
    found = []
    own = compiled_function.build

    def noting(plan, signature):
        found.append((plan, signature))
        return own(plan, signature)

    monkeypatch.setattr(compiled_function, "build", noting)
    monkeypatch.setattr(engine, "_kernel_of", engine.NativeKernel)
    return found


def run(name: str) -> None:
    page = example(name)
    engine.lately.clear()
    with lab.limits(engine="native"):
        page.check_on(**page.inputs("small", 0, "cpu"))


def run_without(lacking: tuple[str, ...], name: str, monkeypatch: pytest.MonkeyPatch) -> jit.Target:
    """Run an example with code for a processor that lacks these features."""
    if jit.host().arm:
        pytest.skip("this processor has others")
    target = dataclasses.replace(jit.host().without(lacking), cpu="x86-64")
    monkeypatch.setattr(jit, "host", lambda: target)
    monkeypatch.setattr(engine, "_kernel_of", engine.NativeKernel)
    run(name)
    return target


@pytest.mark.parametrize("features", NARROWER)
@pytest.mark.parametrize("name", NAMES)
def test_an_example_runs_with_narrower_vectors(name: str, features: str, monkeypatch: pytest.MonkeyPatch) -> None:
    run_without(NARROWER[features], name, monkeypatch)
    assert {(ran.engine, ran.why) for ran in engine.lately} == {("native", "")}
    found = compiled_function.host_signature(())
    # What converts fp16 has come with AVX.
    assert (found.vector, found.halves) == {"avx2": (32, True), "sse": (16, False)}[features]


@pytest.mark.parametrize("features", EARLY)
@pytest.mark.parametrize("name", ["softmax", "histogram", "matmul_float16", "matmul_float32"])
def test_an_example_runs_on_early_processors(name: str, features: str, monkeypatch: pytest.MonkeyPatch) -> None:
    target = run_without(EARLY[features], name, monkeypatch)
    assert {(ran.engine, ran.why) for ran in engine.lately} == {("native", "")}
    found = compiled_function.host_signature(())
    assert (found.fused, found.halves) == (target.has("fma"), False)


def test_a_product_calls_nobody_where_nothing_multiplies_and_adds_at_once(seen: list) -> None:
    run("matmul_float32")
    target = jit.Target("x86_64-unknown-linux-gnu", "x86-64", "")
    for plan, signature in seen:
        code = jit.object_code(generate(plan, Signature(signature.groups, 16, 16, fused=False)).text, target)
        assert jit.undefined_names(code) <= LIBRARY
        code = jit.object_code(generate(plan, Signature(signature.groups, 16, 16)).text, target)
        assert "fmaf" in jit.undefined_names(code)


@pytest.mark.parametrize("name", NAMES)
def test_an_example_compiles_for_arm64_without_calling_anybody(name: str, seen: list) -> None:
    run(name)
    assert seen
    for plan, signature in seen:
        made = generate(plan, Signature(signature.groups, 16, 32))
        code = jit.object_code(made.text, jit.ARM64)
        assert jit.made_for(code, jit.ARM64)
        assert sum(each.size() for each in llvm.ObjectFileRef.from_data(code).sections() if each.is_text())
        assert jit.undefined_names(code) <= LIBRARY
        called = {line.partition("@")[2].partition("(")[0] for line in made.text.splitlines() if line[:7] == "declare"}
        assert all(each.startswith("llvm.") for each in called)
