"""What no compiler takes is refused with the reason; much of it ends the process inside Triton."""

from __future__ import annotations

from typing import Any

import pytest

import triton_lab as lab
from tests.wordings import Wording

BLOCKED = {"size_per_thread": [1, 4], "threads_per_warp": [8, 4], "warps_per_cta": [4, 1], "order": [1, 0]}
MMA = "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>"
WGMMA = "#ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>"
NVMMA: dict[str, Any] = {"swizzlingByteWidth": 128, "transposed": False, "elementBitWidth": 16}


@pytest.mark.parametrize(
    ("spelled", "shape", "parameters", "label", "facts"),
    [
        ("blocked", (32, 24), BLOCKED, "power of two", {"size": 24, "dimension": 1}),
        ("blocked", (32,), BLOCKED, "dimensions", {"shape": "(32,)", "found": 1, "expected": 2}),
        ("blocked", (), BLOCKED, "no shape", {}),
        ("blocked", (32, 0), BLOCKED, "empty", {"size": 0, "dimension": 1}),
        ("blocked", (8, 8), {**BLOCKED, "order": [1, 1]}, "order", {"given": "[1, 1]", "dimensions": 2}),
        ("blocked", (8, 8), {**BLOCKED, "threads_per_warp": [3, 4]}, "threads", {"given": "[3, 4]", "wrong": 3}),
        ("blocked", (8, 8), {**BLOCKED, "threads_per_warp": [32]},
         "too few numbers", {"parameter": "threads_per_warp", "numbers": 1, "dimensions": 2}),
        ("blocked", (8, 8), {**BLOCKED, "order": "10"}, "no list", {"parameter": "order", "given": "'10'"}),
        ("blocked", (8, 8), {**BLOCKED, "lanes": 3},
         "unknown parameter", {"parameter": "lanes", "known": f"{', '.join(BLOCKED)}, cga_layout"}),
        ("blocked", (8, 8), {"order": [1, 0]},
         "missing", {"parameters": "size_per_thread, threads_per_warp, warps_per_cta"}),
        ("blocked", (8, 8), {**BLOCKED, "cga_layout": [[2, 0]]},
         "cluster", {"given": "[[2, 0]]", "dimension": 0, "should": "[1]"}),
        ("blocked", (8, 8), {**BLOCKED, "cga_layout": [[1, 1]]}, "cluster basis", {"given": "[1, 1]"}),
        ("blocked", (8, 8), {**BLOCKED, "cga_layout": [[1]]}, "cluster dimensions", {"numbers": 1, "dimensions": 2}),
        ("bloked", (8, 8), {},
         "unknown kind", {"given": "'bloked'", "known": "blocked, slice, dot_op", "meant": "blocked"}),
        ("#ttg.bloked<{}>", (8, 8), {}, "unknown text", {"given": "#ttg.bloked", "first": "#ttg.blocked"}),
        ("#blocked", (8, 8), {}, "alias", {"given": "#blocked"}),
        ("#ttg.blocked<{order = [1, 0]", (8, 8), {}, "closing brace", {}),
        ("#ttg.blocked<{order = maybe}>", (8, 8), {}, "number", {"given": "maybe}>"}),
        (f"{MMA} and more", (16, 16), {}, "end of text", {"given": "and more"}),
        (MMA, (16, 16), {"order": [1, 0]}, "parameters twice", {"parameter": "order"}),
        ("slice", (8,), {"dim": 2, "parent": MMA}, "parent dimensions", {"dim": 2}),
        ("slice", (8,), {"dim": 0, "parent": 5}, "parent", {"given": 5}),
        ("dot_op", (16, 16), {"opIdx": 2, "parent": MMA, "kWidth": 2}, "operand", {"parameter": "opIdx", "given": 2}),
        ("dot_op", (16, 16), {"opIdx": 0, "parent": MMA}, "width", {"parameter": "kWidth", "given": 0}),
        ("dot_op", (16, 16), {"opIdx": 1, "parent": WGMMA, "kWidth": 2}, "right operand", {"version": 3}),
        ("dot_op", (16,), {"opIdx": 0, "parent": f"#ttg.slice<{{dim = 0, parent = {MMA}}}>"},
         "parent of operand", {"kind": "slice"}),
        (WGMMA.replace("Major = 3", "Major = 5"), (64, 64), {}, "accumulator", {"version": 5}),
        (WGMMA.replace("64, 16]", "24, 16]"), (64, 64), {},
         "columns", {"given": "[16, 24, 16]", "rows": 16, "least": 8}),
        (MMA.replace("[16, 8]", "[16, 8, 8]"), (64, 64), {},
         "numbers of version", {"given": "[16, 8, 8]", "version": 2}),
        ("amd_mfma", (32, 32), {"version": 3, "warpsPerCTA": [2, 2], "instrShape": [8, 8, 8], "isTransposed": True},
         "mfma", {"given": "[8, 8, 8]", "first": "32 x 32"}),
        ("amd_wmma", (32, 32), {"version": 4, "isTranspose": True, "warpsPerCTA": [2, 2]},
         "wmma", {"given": 4, "known": "1, 2, 3"}),
        ("linear", (), {"register": [[1]], "lane": [[1]], "warp": []}, "equal bases", {}),
        ("linear", (), {"register": [[1]], "lane": [[4]], "warp": []}, "no place", {"element": "(2,)"}),
        ("linear", (), {"register": [[1, 1]], "lane": [[0, 1]], "warp": []}, "bits", {"basis": "[1, 1]"}),
        ("linear", (), {"register": [], "lane": [], "warp": []}, "no bases", {}),
        ("linear", (), {"register": [[1]], "lane": [[1, 0]], "warp": []}, "lengths", {"given": "[[1], [1, 0]]"}),
        ("swizzled_shared", (8, 8), {"vec": 3, "perPhase": 1, "maxPhase": 1, "order": [1, 0]},
         "parameter", {"parameter": "vec", "given": 3}),
        ("nvmma_shared", (64, 32), NVMMA, "line", {"found": 32, "line": 128, "elements": 64, "bits": 16}),
        ("nvmma_shared", (4, 64), NVMMA, "lines", {"needed": 8, "found": 4}),
        ("nvmma_shared", (64, 64), {**NVMMA, "swizzlingByteWidth": 48},
         "swizzle", {"parameter": "swizzlingByteWidth", "given": 48, "known": "0, 32, 64, 128"}),
        ("nvmma_shared", (64, 64), {**NVMMA, "transposed": 1}, "truth", {"parameter": "transposed", "given": 1}),
        ("#ttg.padded_shared<[60:+4] {order = [1, 0], shape = [64, 64]}>", (), {}, "interval", {"given": 60}),
        ("#ttg.padded_shared<[64:+4] {order = [1, 0], shape = [64, 64]}>", (32, 64), {},
         "padded", {"expected": "(64, 64)", "given": "(32, 64)"}),
        ("#ttg.shared_linear<{offset = [[1], [1]]}>", (), {}, "dependent bases", {}),
        ("tensor_memory_encoding", (64, 64), {"blockM": 128, "blockN": 64, "colStride": 1},
         "rows", {"found": 64, "parameter": "blockM", "needed": 128}),
        ("tensor_memory_encoding", (128, 64), {"blockM": 128, "blockN": 64, "colStride": 2, "bits": 32},
         "column", {"bits": 32, "parameter": "colStride", "stride": 2, "left": 16}),
        ("blocked", (8, 8), {**BLOCKED, "warps_per_cta": [128, 1]}, "warps", {"found": 128, "most": 64}),
        ("blocked", (8, 8), {**BLOCKED, "threads_per_warp": [8, 16]}, "lanes", {"found": 128, "nvidia": 32, "amd": 64}),
        ("blocked", (1 << 20, 2), BLOCKED, "elements", {"found": "2,097,152", "most": "1,048,576"}),
        ("blocked", "8x8", BLOCKED, "shape", {"given": "'8x8'"}),
        (5, (8, 8), {}, "layout", {"given": 5}),
        ("blocked", (8, 8), {**BLOCKED, "bits": 0}, "bits of element", {"parameter": "bits", "given": 0}),
        ("blocked", (8, 8), {"threads_per_wrap": [1]},
         "misspelt parameter", {"given": "threads_per_wrap", "meant": "threads_per_warp"}),
        ("swizzled", (8, 8), {}, "misspelt kind", {"given": "'swizzled'", "meant": "swizzled_shared"}),
        # As they were written, so they are called.
        ("swizzled_shared", (8, 8), {"vec": 1, "per_phase": 3, "max_phase": 1},
         "parameter", {"parameter": "per_phase", "given": 3}),
        ("swizzled_shared", (8, 8), {"vec": 1, "perPhase": 3, "maxPhase": 1},
         "parameter", {"parameter": "perPhase", "given": 3}),
        ("blocked", (8, 8), {"sizePerThread": [1, 1]}, "missing", {"parameters": "threadsPerWarp, warpsPerCTA"}),
        ("dot_op", (16, 16), {"opIdx": 0, "parent": MMA, "kWidth": 256},
         "most numbers", {"parameter": "kWidth", "given": 256, "most": 128}),
        (MMA.replace("Minor = 0", "Minor = -1"), (16, 16), {},
         "minor version", {"parameter": "versionMinor", "given": -1}),
        ("amd_wmma", (32, 32), {"version": 3, "isTranspose": True, "warpsPerCTA": [2, 2]},
         "known instructions", {"version": 3, "first": "16 x 16 x 4"}),
        ("dot_op", (32, 32), {"opIdx": 0, "kWidth": 2, "parent": "#ttg.amd_wmma<{version = 1, isTranspose = true, "
         "warpsPerCTA = [2, 2]}>"}, "widths", {"parameter": "kWidth", "given": 2, "version": 1, "known": "8, 16"}),
        ("tensor_memory_encoding", (64, 64), {"blockM": 32, "blockN": 64, "colStride": 1},
         "tensor memory", {"parameter": "blockM", "given": 32, "known": "64, 128"}),
    ],
)  # fmt: skip
def test_a_layout_that_cannot_be_is_refused_with_its_reason(
    spelled: Any, shape: Any, parameters: dict[str, Any], label: str, facts: dict[str, Any], wording: Wording
) -> None:
    with wording.raises(lab.LayoutError, label, **facts):
        lab.layout(spelled, shape, **parameters)


def test_questions_out_of_range_are_refused(wording: Wording) -> None:
    layout = lab.layout("blocked", (32, 16), **BLOCKED)
    with wording.raises(lab.LayoutError, dimension=0):
        layout.owner(32, 0)
    with pytest.raises(lab.LayoutError, match="has 2 coordinates"):
        layout.owner(1)
    with wording.raises(lab.LayoutError, lane=32):
        layout.elements(lane=32)
    with wording.raises(lab.LayoutError):
        layout.elements(bank=3)
