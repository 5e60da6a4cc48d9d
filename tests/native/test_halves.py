"""float16 by its bits, for processors that convert none: the bits of those that do, and nobody is called."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from tests.interpreter.support import all_bits
from tests.native.compiled import code_of, compiled
from triton_lab.native.llvm import jit
from triton_lab.native.llvm.builder import FunctionBuilder, Reg
from triton_lab.native.math import number_conversions

HALF, SINGLE = np.dtype(np.float16), np.dtype(np.float32)
# SSE4.2 and SSE2: vectors of 16 bytes, the second with few instructions to choose among.
LATER = ("avx", "amx", "fma", "f16c", "vaes", "vpclmul", "gfni", "xop")
LACKING = {"sse4.2": LATER, "sse2": ("sse3", "ssse3", "sse4", *LATER)}


@pytest.fixture(params=LACKING)
def features(request: pytest.FixtureRequest) -> str:
    """What turns this processor into an early one."""
    if jit.host().arm:
        pytest.skip("every arm64 converts float16")
    early = jit.host().without(LACKING[request.param]).features.split(",")
    return ",".join(one for one in early if one.startswith("-"))


def widen(code: FunctionBuilder, x: Reg) -> Reg:
    return number_conversions.widen(code, x, "f16")


def narrow(code: FunctionBuilder, x: Reg) -> Reg:
    return number_conversions.narrow(code, x, "f16")


def singles() -> np.ndarray:
    """All float32 by sign, exponent and the digits that float16 keeps, with what lies below: nothing, about the half
    of it and all; and random ones, for numbers so small that float16 keeps fewer."""
    kept = np.arange(1 << 19, dtype=np.uint32) << 13
    below = np.array([0, 1, 0xFFF, 0x1000, 0x1001, 0x1FFF], np.uint32)
    random = np.random.default_rng(1).integers(0, 1 << 32, 1 << 20, np.uint32)
    # Exponents of what float16 has as subnormal: the middles between two, and their neighbours.
    middles = ((np.arange(1 << 11) + 0.5) * 2.0**-25).astype(SINGLE).view(np.uint32)
    bits = np.concatenate([(kept[:, None] | below).ravel(), random, middles - 1, middles, middles + 1])
    return bits.view(SINGLE)


def same_bits(found: np.ndarray, expected: np.ndarray, *, nan: bool) -> bool:
    """Whether they are; ``nan``: those of NaN, too."""
    same = found.view(f"u{found.itemsize}") == expected.view(f"u{found.itemsize}")
    return bool((same if nan else same | np.isnan(found) & np.isnan(expected)).all())


def test_every_half_becomes_the_float32_that_it_is(features: str) -> None:
    x = all_bits(HALF)
    found = compiled(widen, [HALF], SINGLE, features=features, halves=False)(x)
    assert same_bits(found, x.astype(SINGLE), nan=False)
    nan = np.isnan(x)
    assert (found.view(np.uint32)[nan] & 0x400000).all()  # quiet


def test_float32_is_rounded_to_the_nearest_half(features: str) -> None:
    x = singles()
    found = compiled(narrow, [SINGLE], HALF, features=features, halves=False)(x)
    with np.errstate(all="ignore"):
        assert same_bits(found, x.astype(HALF), nan=False)
    nan = np.isnan(x)
    assert (found.view(np.uint16)[nan] & 0x200).all()


def test_nan_has_the_bits_that_instructions_give_it(features: str) -> None:
    if not jit.host().has("f16c"):
        pytest.skip("this processor has no such instructions")
    halves, x = all_bits(HALF), singles()
    for build, given, target in ((widen, halves, SINGLE), (narrow, x, HALF)):
        own = compiled(build, [given.dtype], target, features=features, halves=False)(given)
        assert same_bits(own, compiled(build, [given.dtype], target)(given), nan=True)


def test_all_is_the_same_where_subnormal_floats_are_taken_for_zero(features: str) -> None:
    wide = compiled(widen, [HALF], SINGLE, features=features, halves=False)
    short = compiled(narrow, [SINGLE], HALF, features=features, halves=False)
    halves, x = all_bits(HALF), singles()
    expected = wide(halves), short(x)
    try:
        if not torch.set_flush_denormal(True):
            pytest.skip("this processor cannot")
        found = wide(halves), short(x)
    finally:
        torch.set_flush_denormal(False)
    assert all(same_bits(one, other, nan=True) for one, other in zip(found, expected, strict=True))


@pytest.mark.parametrize("lacking", LACKING)
@pytest.mark.parametrize("build", [widen, narrow])
def test_nobody_is_called(build, lacking: str) -> None:
    kind = "i16" if build is widen else "float"
    target = jit.Target("x86_64-unknown-linux-gnu", "x86-64", "+sse4.2" if lacking == "sse4.2" else "")
    for lanes in (1, 4, 16):
        assert not called(build, kind, lanes, target, halves=False)
        # Without it LLVM has a function do that, which is not here.
        assert called(build, kind, lanes, target, halves=True) <= {"__extendhfsf2", "__truncsfhf2"}
        assert called(build, kind, lanes, target, halves=True)


def called(build, kind: str, lanes: int, target: jit.Target, *, halves: bool) -> set[str]:
    text = code_of(build, [kind], lanes, halves).text()
    return jit.undefined_names(jit.object_code(text, target)) - {"_GLOBAL_OFFSET_TABLE_"}
