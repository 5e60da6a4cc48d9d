"""Kernels compiled for GPUs, in a process of their own: stages and figures are those of Triton in this process."""

from __future__ import annotations

import time

import pytest
import torch
import triton
import triton.language as tl
from triton.compiler import ASTSource

import triton_lab as lab
from tests.wordings import Wording
from triton_lab.compiled import compile, compiler_client
from triton_lab.compiled.architecture import ARCHITECTURES, architecture

SCALE = tl.constexpr(2.0)
NAMES = [one.name for one in ARCHITECTURES]


@triton.jit
def scaled(value):
    return value * SCALE


@triton.jit
def product(x, y, z, length, N: tl.constexpr):
    rows, columns = tl.arange(0, N)[:, None], tl.arange(0, N)[None, :]
    total = tl.zeros((N, N), tl.float32)
    for step in range(0, length, N):
        a = tl.load(x + rows * length + step + columns)
        total += tl.dot(a, tl.load(y + (step + rows) * N + columns))
    tl.store(z + rows * N + columns, scaled(total))


@triton.jit
def shift(x, y, n, BLOCK: tl.constexpr = 256):
    k = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + k, tl.load(x + k, mask=k < n) + 1, mask=k < n)


TYPES = {"x": "*fp16:16", "y": "*fp16:16", "z": "*fp32:16", "length": "i32:16"}


@pytest.fixture(scope="module")
def all_targets(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRITON_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        compile.forget()
        yield lab.compile(product, TYPES, {"N": 32}, NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_the_stages_are_those_of_triton_in_this_process(all_targets, name, monkeypatch, tmp_path):
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    signature = {name: type.removesuffix(":16") for name, type in TYPES.items()}
    attributes = {(place,): [["tt.divisibility", 16]] for place in range(4)}
    source = ASTSource(product, {**signature, "N": "constexpr"}, {"N": 32}, attributes)
    real = triton.compile(source, target=architecture(name).target, options={"enable_fp_fusion": True})
    ours = all_targets[NAMES.index(name)]
    for stage, text in ours.stages.items():
        assert text == real.asm[stage], stage
    assert list(ours.stages)[-1] == ("sass" if name.startswith("sm") else "hsaco")
    assert ours.metadata.shared == real.metadata.shared
    assert ours.metadata.warps == real.metadata.num_warps
    assert ours.metadata.tensor_memory == (real.metadata.tmem_size if name == "sm_100" else None)


@pytest.mark.parametrize(
    ("name", "instruction"),
    [("sm_80", "HMMA"), ("sm_90", "HMMA"), ("sm_120", "HMMA"), ("gfx942", "v_mfma"), ("gfx1200", "v_wmma")],
)
def test_matrix_instructions_are_found(all_targets, name, instruction):
    found = all_targets[NAMES.index(name)].metadata.matrix
    assert found
    assert all(one.startswith(instruction) for one in found), found


def test_each_instruction_has_a_kind(all_targets):
    for one in all_targets:
        metadata = one.metadata
        assert sum(metadata.instructions.values()) == sum(metadata.opcodes.values()) > 50
        assert metadata.instructions.get("other", 0) == 0, one
        assert metadata.registers and metadata.spills == 0 and not metadata.unknown
        assert metadata.instructions["global memory"] > 1


def test_several_targets_are_a_table(all_targets):
    lines = str(all_targets).splitlines()
    assert lines[0].split() == NAMES
    assert "shared memory" in str(all_targets)
    data, _ = all_targets._repr_mimebundle_()
    assert str(all_targets) in data["text/plain"]
    assert data["text/plain"].splitlines()[1].split() == NAMES


def test_two_configurations_are_compared(cache, wording: Wording):
    few, many = (lab.compile(shift, "*fp32, *fp32, i32", {}, "gfx942", num_warps=count) for count in (1, 8))
    difference = few.compare(many)
    assert difference.titles == ("gfx942, 1 warp", "gfx942, 8 warps")
    table = {row[0]: row[1:] for row in difference.table()}
    assert table["warps"] == ("1 of 64 lanes", "8 of 64 lanes")
    opcode, (before, after) = next(iter(difference.opcodes().items()))
    assert few.metadata.opcodes.get(opcode, 0) == before != after == many.metadata.opcodes.get(opcode, 0)
    assert "+module attributes" in difference.diff("ttgir")
    assert "loc(" not in difference.diff("ttgir")
    assert few.compare(few).diff("ttgir") == ""
    with wording.raises(LookupError):
        difference.diff("ptx")


def test_a_launch_is_compiled_with_what_it_had(cache, wording: Wording):
    x, y = torch.zeros(1000), torch.zeros(1000)
    with lab.record() as launches:
        shift[(4,)](x, y, 1000, BLOCK=128, num_warps=2)
    nvidia, amd = launches[0].compile(["sm_90", "gfx942"])
    assert nvidia.constants == {"BLOCK": 128}
    assert nvidia.metadata.warps == amd.metadata.warps == 2
    assert str(nvidia.stages["ttir"]).count("tt.divisibility = 16") == 2, "1000 is no multiple of 16"
    assert str(amd.stages["ttir"]).count("tt.pointer_range = 32") == 2
    assert launches[0].compile("sm_90", num_warps=4).metadata.warps == 4
    with wording.raises(ValueError):
        launches[0].compile("sm_90", num_wraps=4)


def test_what_was_compiled_is_kept(cache, monkeypatch):
    asked = []
    ask = compiler_client.ask
    monkeypatch.setattr(compiler_client, "ask", lambda *given: asked.append(1) or ask(*given))

    def made(**options):
        return lab.compile(shift, "*fp32, *fp32, i32", {"BLOCK": 64}, "gfx942", **options)

    first = made()
    begun = time.perf_counter()
    assert made() is first
    assert time.perf_counter() - begun < 0.02
    compile.forget()
    again = made()
    assert again.stages == first.stages
    assert again.metadata == first.metadata
    assert len(asked) == 1
    made(num_warps=8)
    lab.compile(shift, "*fp32, *fp32, i64", {"BLOCK": 64}, "gfx942")
    monkeypatch.setenv("TRITON_DISABLE_LINE_INFO", "1")
    assert ".loc" not in str(made().stages["amdgcn"])
    assert len(asked) == 4


def test_a_helper_that_has_changed_is_compiled_anew(cache, monkeypatch):
    first = lab.compile(product, TYPES, {"N": 16}, "gfx942")
    monkeypatch.setitem(globals(), "SCALE", tl.constexpr(3.0))
    second = lab.compile(product, TYPES, {"N": 16}, "gfx942")
    assert first.compare(second).diff("ttir")


def test_a_file_of_the_cache_that_is_cut_is_made_anew(cache, tmp_path):
    first = lab.compile(shift, "*fp32, *fp32, i32", {}, "gfx942")
    (file,) = tmp_path.rglob("compiled.json")
    file.write_text(file.read_text()[:1000])
    compile.forget()
    assert lab.compile(shift, "*fp32, *fp32, i32", {}, "gfx942").stages == first.stages


@pytest.mark.parametrize(
    ("signature", "constants", "label", "facts"),
    [
        ("*fp32, *fp32", {}, "few", {"kernel": "shift", "types": 2, "parameters": 3, "names": "x, y, n"}),
        ("*fp32, *fp99, i32", {}, "type", {"kernel": "shift", "given": "'*fp99'", "parameter": "y"}),
        ("*fp32, *fp32, i32:8", {}, "multiple", {"given": "'i32:8'", "parameter": "n", "multiple": 16}),
        ({"x": "*fp32", "y": "*fp32"}, {}, "none", {"kernel": "shift", "parameter": "n"}),
        ({"w": "*fp32"}, {}, "parameter", {"kernel": "shift", "parameter": "'w'"}),
        ("*fp32, *fp32, i32", {"BLOK": 4}, "constant", {"parameter": "'BLOK'", "meant": "BLOCK"}),
    ],
)
def test_a_signature_that_does_not_fit_is_refused(signature, constants, label, facts, wording: Wording):
    with wording.raises(ValueError, label, **facts):
        lab.compile(shift, signature, constants, "sm_90")


def test_what_is_no_kernel_is_refused(wording: Wording):
    with wording.raises(TypeError):
        lab.compile(len, "", {}, "sm_90")
    with wording.raises(ValueError):
        lab.compile(product, TYPES, {}, "sm_90")
    with pytest.raises(ValueError, match=r"num_warps=3: .* power of 2"):
        lab.compile(shift, "*fp32, *fp32, i32", {}, "sm_90", num_warps=3)
    with wording.raises(ValueError):
        lab.compile(shift, "*fp32, *fp32, i32", {}, "gfx940")
